/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/helper/call_filter.h"

#include <assert.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__i386__)
#define ARCH AUDIT_ARCH_I386
#elif defined(__aarch64__) && defined(__AARCH64EL__)
#define ARCH AUDIT_ARCH_AARCH64
#elif defined(__arm__) && defined(__ARMEL__)
#define ARCH AUDIT_ARCH_ARM
#elif defined(__s390x__)
#define ARCH AUDIT_ARCH_S390X
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCH AUDIT_ARCH_RISCV64
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
#define ARCH AUDIT_ARCH_PPC64LE
#elif defined(__powerpc64__)
#define ARCH AUDIT_ARCH_PPC64
#elif defined(__loongarch64) && defined(AUDIT_ARCH_LOONGARCH64)
#define ARCH AUDIT_ARCH_LOONGARCH64
#else
#define ARCH 0 /* unknown: filters are not supported */
#endif

enum {
	LOW_HALF = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0,
	HIGH_HALF = 4 - LOW_HALF
};

static void call_filter_put(struct call_filter *f, uint16_t code, uint8_t yes,
			    uint8_t no, uint32_t value)
{
	assert(f->nr < CALL_FILTER_MAX);
	f->at[f->nr++] = (struct sock_filter){ code, yes, no, value };
}

static void put_return(struct call_filter *f, uint32_t what)
{
	call_filter_put(f, BPF_RET | BPF_K, 0, 0, what);
}

static void put_load(struct call_filter *f, size_t offset)
{
	call_filter_put(f, BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)offset);
}

static size_t argument_offset(unsigned int i)
{
	return offsetof(struct seccomp_data, args) + i * sizeof(uint64_t);
}

bool call_filter_is_known(void)
{
	return ARCH;
}

/* Begins a filter with the check of the architecture. Between rules, the accumulator holds the
 * number of the call.  The two jump offsets, here and below, give the number of instructions to
 * skip if the condition is true or false. */
void call_filter_begin(struct call_filter *f, uint32_t refusal)
{
	f->refusal = refusal;
	f->nr = 0;
	put_load(f, offsetof(struct seccomp_data, arch));
	call_filter_put(f, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, ARCH);
	put_return(f, SECCOMP_RET_KILL);
	put_load(f, offsetof(struct seccomp_data, nr));
}

void call_filter_answer(struct call_filter *f, uint32_t nr, uint32_t action)
{
	call_filter_put(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, nr);
	put_return(f, action);
}

void call_filter_answer_above(struct call_filter *f, uint32_t nr, uint32_t action)
{
	call_filter_put(f, BPF_JMP | BPF_JGT | BPF_K, 0, 1, nr);
	put_return(f, action);
}

void call_filter_allow(struct call_filter *f, const uint32_t *calls, size_t nr_calls)
{
	for (size_t i = 0; i < nr_calls; i++)
		call_filter_answer(f, calls[i], SECCOMP_RET_ALLOW);
}

void call_filter_allow_rules(struct call_filter *f, const struct call_rule *rules,
			     size_t nr_rules)
{
	for (size_t i = 0; i < nr_rules; i++) {
		const struct call_rule *r = &rules[i];

		call_filter_put(f, BPF_JMP | BPF_JEQ | BPF_K, 0,
				(uint8_t)(3 + 2 * r->nr_values), r->nr);
		put_load(f, argument_offset(r->argument) + LOW_HALF);
		call_filter_put(f, BPF_ALU | BPF_AND | BPF_K, 0, 0, r->mask);
		for (size_t k = 0; k < r->nr_values; k++) {
			call_filter_put(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 1,
					r->values[k]);
			put_return(f, SECCOMP_RET_ALLOW);
		}
		put_return(f, f->refusal);
	}
}

void call_filter_allow_bits(struct call_filter *f, uint32_t nr, unsigned int argument,
			    uint32_t bits)
{
	call_filter_put(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 6, nr);
	put_load(f, argument_offset(argument) + HIGH_HALF);
	call_filter_put(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 3, 0);
	put_load(f, argument_offset(argument) + LOW_HALF);
	call_filter_put(f, BPF_JMP | BPF_JSET | BPF_K, 0, 1, bits);
	put_return(f, SECCOMP_RET_ALLOW);
	put_return(f, f->refusal);
}

int call_filter_install(struct call_filter *f, bool all_threads)
{
	struct sock_fprog program = { .filter = f->at };
	long r;

	put_return(f, f->refusal);
	program.len = f->nr;
	if (!ARCH)
		return -EOPNOTSUPP;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	/* Prefer prctl(2): the filters of service managers and containers permit it more often
	 * than seccomp(2). */
	if (!all_threads)
		return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0)
			       ? -errno
			       : 0;
	r = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
		    &program);
	/* A positive result is the id of a thread with different filters. */
	return r < 0 ? -errno : r > 0 ? -EBUSY : 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bpf_loop - makes the kernel run a BPF program that multiplies and counts down, for about a
 * second. Status 1: this process may not load BPF programs. */
#include <linux/bpf.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	RUNS = 200,
	REPEAT = 2000, /* of each */
	DATA_BYTES = 64
};

#define INSN(op, to, from, offset, value)                                              \
	{                                                                              \
		.code = (op), .dst_reg = (to), .src_reg = (from), .off = (offset),     \
		.imm = (value)                                                         \
	}

static const struct bpf_insn program[] = {
	INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0),
	INSN(BPF_ALU64 | BPF_MOV | BPF_K, 1, 0, 0, 1000),
	INSN(BPF_ALU64 | BPF_ADD | BPF_X, 0, 1, 0, 0),
	INSN(BPF_ALU64 | BPF_MUL | BPF_K, 0, 0, 0, 7),
	INSN(BPF_ALU64 | BPF_SUB | BPF_K, 1, 0, 0, 1),
	INSN(BPF_JMP | BPF_JNE | BPF_K, 1, 0, -4, 0),
	INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
};

static long bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

int main(void)
{
	static char data[DATA_BYTES];
	union bpf_attr attr;
	long fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
	attr.insns = (uintptr_t)program;
	attr.insn_cnt = sizeof(program) / sizeof(program[0]);
	attr.license = (uintptr_t) "GPL";
	memcpy(attr.prog_name, "busy_loop", sizeof("busy_loop"));
	fd = bpf(BPF_PROG_LOAD, &attr);
	if (fd < 0)
		return 1;
	for (int i = 0; i < RUNS; i++) {
		memset(&attr, 0, sizeof(attr));
		attr.test.prog_fd = (uint32_t)fd;
		attr.test.data_in = (uintptr_t)data;
		attr.test.data_size_in = sizeof(data);
		attr.test.repeat = REPEAT;
		if (bpf(BPF_PROG_TEST_RUN, &attr))
			return 1;
	}
	return 0;
}

/* fuzz_unwind.c - any bytes as call frame information, registers and a stack: the walk must
 * end.  The first byte says which machine, byte order and section, the second how many bytes
 * from the end are registers and stack. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "resolve/cfi.h"
#include "resolve/unwind.h"
#include "resolve/unwind_table.h"

enum {
	FRAMES_MAX = 256,
	BASE = 0x1000,
	CODE_BYTES = 0x10000,
	HEAD_BYTES = 2
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t same(const void *ctx, uint64_t vaddr)
{
	(void)ctx;
	return vaddr;
}

static enum unwind_code find(void *ctx, uint64_t pc,
			     const struct unwind_table **ret_table,
			     uint64_t *ret_offset)
{
	*ret_table = ctx;
	*ret_offset = pc;
	return pc < BASE || pc >= BASE + CODE_BYTES ? UNWIND_CODE_NOWHERE
	       : pc % 16 == 15                      ? UNWIND_CODE_WITHOUT
						    : UNWIND_CODE_WITH_TABLE;
}

/* Registers are the first bytes of the rest, again and again; the stack is all of it. */
static void walk(const struct unwind_arch *arch, struct unwind_table *t,
		 const uint8_t *bytes, size_t len)
{
	static uint64_t pcs[FRAMES_MAX];
	struct unwind_ops ops = { .find = find, .ctx = t };
	struct unwind_regs regs = { .known = ~0ULL, .pc = BASE };
	struct unwind_window window = { .bytes = bytes, .len = len, .swap = t->swap };
	struct unwind_moment moment = { arch, &window, &ops, &regs };
	size_t nr;

	for (unsigned int i = 0; i < arch->nr && len; i++)
		regs.at[i] = (uint64_t)bytes[i % len] * 8;
	if (len > 1)
		regs.pc += (uint64_t)bytes[0] << 8 | bytes[1];
	window.start = regs.at[arch->sp];
	(void)unwind_stack(&moment, pcs, FRAMES_MAX, &nr);
	if (nr < 1 || nr > FRAMES_MAX)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const machines[] = { "x86_64", "aarch64", "s390x", "ppc64",
						"riscv64" };
	const struct unwind_arch *arch;
	struct cfi_walk walk_of;
	struct unwind_table *t;
	size_t rest;
	bool swap;

	if (size < HEAD_BYTES)
		return 0;
	arch = data[0] & 8 ? unwind_arch_of_machine("armv7l", true)
			   : unwind_arch_of_machine(machines[(data[0] & 7) % 5], false);
	swap = data[0] & 16;
	rest = data[1] < size - HEAD_BYTES ? data[1] : size - HEAD_BYTES;
	walk_of = cfi_walk_of(data + HEAD_BYTES, size - HEAD_BYTES - rest, BASE,
			      arch->is64, swap, data[0] & 32);
	if (unwind_table_compile(arch, &walk_of, 1, same, NULL, &t))
		return 0;
	for (size_t i = 1; i < t->rows.nr; i++)
		if (t->rows.at[i].offset <= t->rows.at[i - 1].offset ||
		    t->rows.at[i].set >= t->sets.nr)
			abort();
	walk(arch, t, data + size - rest, rest);
	unwind_table_free(t);
	return 0;
}

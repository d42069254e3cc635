/* fuzz_sframe.c - any bytes as .sframe: the tables that come out are in order, and the walk ends.  The
 * first byte says the machine and the byte order. */
#include <elf.h>
#include <stdint.h>
#include <stdlib.h>

#include "resolve/sframe.h"
#include "resolve/unwind_table.h"

enum {
	BASE = 0x10000
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t same(const void *ctx, uint64_t vaddr)
{
	(void)ctx;
	return vaddr;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct unwind_arch *arch;
	struct sframe s;
	const struct unwind_sources from = { .sframe = &s };
	struct unwind_table *t;

	if (!size)
		return 0;
	arch = unwind_arch_of_elf(data[0] & 1 ? EM_AARCH64 : EM_X86_64, true);
	if (!sframe_open(&s, arch, data + 1, size - 1, BASE, data[0] & 2))
		return 0;
	if (unwind_table_compile_all(arch, &from, same, NULL, &t))
		return 0;
	for (size_t i = 1; i < t->rows.nr; i++)
		if (t->rows.at[i].offset <= t->rows.at[i - 1].offset ||
		    t->rows.at[i].set >= t->sets.nr)
			abort();
	unwind_table_free(t);
	return 0;
}

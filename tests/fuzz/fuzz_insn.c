/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_insn.c - any bytes as machine code; the first byte selects the machine. */
#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "resolve/code/insn.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct insn_machine machines[] = {
	{ EM_X86_64, true, false },  { EM_386, false, false },
	{ EM_AARCH64, true, false }, { EM_ARM, false, false },
	{ EM_S390, true, true },     { EM_PPC64, true, false },
	{ EM_RISCV, true, false },
};

enum {
	MACHINES = COUNT_OF(machines)
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct insn_decoder *decoders[MACHINES]; /* slow to create */
	size_t m = size ? data[0] % MACHINES : 0;
	enum insn_mode mode = size ? data[0] / MACHINES % (INSN_DATA + 1) : 0;
	struct insn insn;

	if (!size || (!decoders[m] && insn_open(&machines[m], &decoders[m])))
		return 0;
	for (size_t at = 1; at < size; at += insn.len) {
		insn_decode(decoders[m], mode, data + at, size - at, at, &insn);
		if (!insn.len || insn.len > size - at ||
		    !memchr(insn.text, 0, sizeof(insn.text)))
			abort();
	}
	return 0;
}

#include "resolve/insn.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct row {
	uint16_t machine;
	bool is64;
	bool big;
	const struct insn_engine *engine;
	const char *triple;
	unsigned int step; /* bytes of the smallest instruction */
};

/* The first one that is there decodes. */
static const struct row rows[] = {
	{ EM_X86_64, true, false, &insn_zydis, "x86_64", 1 },
	{ EM_X86_64, false, false, &insn_zydis, "x86_64", 1 }, /* x32 */
	{ EM_386, false, false, &insn_zydis, "i686", 1 },
	{ EM_X86_64, true, false, &insn_llvm, "x86_64-linux-gnu", 1 },
	{ EM_386, false, false, &insn_llvm, "i686-linux-gnu", 1 },
	{ EM_AARCH64, true, false, &insn_llvm, "aarch64-linux-gnu", 4 },
	{ EM_ARM, false, false, &insn_llvm, "armv8-linux-gnueabihf", 4 },
	{ EM_S390, true, true, &insn_llvm, "s390x-linux-gnu", 2 },
	{ EM_PPC64, true, false, &insn_llvm, "powerpc64le-linux-gnu", 4 },
	{ EM_PPC64, true, true, &insn_llvm, "powerpc64-linux-gnu", 4 },
	{ EM_RISCV, true, false, &insn_llvm, "riscv64-linux-gnu", 2 },
};

struct insn_decoder {
	const struct row *row;
	void *ctx;
};

int insn_open(const struct insn_machine *machine, struct insn_decoder **ret_decoder)
{
	struct insn_decoder *d;
	void *ctx = NULL;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].machine != machine->machine ||
		    rows[i].is64 != machine->is64 || rows[i].big != machine->big)
			continue;
		ctx = rows[i].engine->begin(rows[i].triple, machine);
		if (ctx)
			break;
	}
	if (!ctx)
		return -ENOTSUP;
	d = malloc(sizeof(*d));
	if (!d) {
		rows[i].engine->end(ctx);
		return -ENOMEM;
	}
	*d = (struct insn_decoder){ &rows[i], ctx };
	*ret_decoder = d;
	return 0;
}

void insn_close(struct insn_decoder *d)
{
	if (!d)
		return;
	d->row->engine->end(d->ctx);
	free(d);
}

const char *insn_engine_name(const struct insn_decoder *d)
{
	return d->row->engine->name;
}

void insn_decode(struct insn_decoder *d, const uint8_t *bytes, size_t len,
		 uint64_t address, struct insn *ret_insn)
{
	size_t most = len < INSN_BYTES_MAX ? len : INSN_BYTES_MAX;
	size_t at = 0;

	*ret_insn = (struct insn){ 0 };
	ret_insn->len = d->row->engine->decode(d->ctx, bytes, most, address, ret_insn);
	if (ret_insn->len && ret_insn->len <= most)
		return;
	*ret_insn = (struct insn){ .bad = true };
	ret_insn->len = d->row->step < most ? d->row->step : (unsigned int)most;
	for (unsigned int i = 0; i < ret_insn->len; i++)
		at += (size_t)snprintf(ret_insn->text + at, sizeof(ret_insn->text) - at,
				       i ? ",0x%02x" : ".byte  0x%02x", bytes[i]);
}

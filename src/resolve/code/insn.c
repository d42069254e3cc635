/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/code/insn.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"

struct insn_row {
	uint16_t machine;
	bool is64;
	bool big;
	const struct insn_engine *engine;
	const char *triple;
	unsigned int step; /* bytes to skip after an invalid instruction */
	enum insn_mode mode;
};

/* The first available engine is used. */
static const struct insn_row rows[] = {
	{ EM_X86_64, true, false, &insn_opcodes, "x86_64", 1, INSN_CODE },
	{ EM_X86_64, false, false, &insn_opcodes, "x86_64", 1, INSN_CODE }, /* x32 */
	{ EM_386, false, false, &insn_opcodes, "i686", 1, INSN_CODE },
	{ EM_X86_64, true, false, &insn_zydis, "x86_64", 1, INSN_CODE },
	{ EM_X86_64, false, false, &insn_zydis, "x86_64", 1, INSN_CODE }, /* x32 */
	{ EM_386, false, false, &insn_zydis, "i686", 1, INSN_CODE },
	{ EM_X86_64, true, false, &insn_llvm, "x86_64-linux-gnu", 1, INSN_CODE },
	{ EM_386, false, false, &insn_llvm, "i686-linux-gnu", 1, INSN_CODE },
	{ EM_AARCH64, true, false, &insn_llvm, "aarch64-linux-gnu", 4, INSN_CODE },
	{ EM_ARM, false, false, &insn_llvm, "armv8-linux-gnueabihf", 4, INSN_CODE },
	{ EM_ARM, false, false, &insn_llvm, "thumbv8-linux-gnueabihf", 2, INSN_THUMB },
	{ EM_S390, true, true, &insn_llvm, "s390x-linux-gnu", 4, INSN_CODE },
	{ EM_PPC64, true, false, &insn_llvm, "powerpc64le-linux-gnu", 4, INSN_CODE },
	{ EM_PPC64, true, true, &insn_llvm, "powerpc64-linux-gnu", 4, INSN_CODE },
	{ EM_RISCV, true, false, &insn_llvm, "riscv64-linux-gnu", 2, INSN_CODE },
};

/* The engine of a mode. */
struct opened {
	const struct insn_row *row; /* NULL: not open */
	void *ctx;
};

struct insn_decoder {
	struct insn_machine machine;
	/* The opened disassemblers, by mode; all but the first are opened when they are needed. */
	struct opened of[INSN_DATA];
};

static bool open_mode(struct insn_decoder *d, enum insn_mode mode)
{
	struct opened *o = &d->of[mode];

	for (size_t i = 0; !o->row && i < COUNT_OF(rows); i++) {
		const struct insn_row *row = &rows[i];

		if (row->machine != d->machine.machine ||
		    row->is64 != d->machine.is64 || row->big != d->machine.big ||
		    row->mode != mode)
			continue;
		o->ctx = row->engine->begin(row->triple, &d->machine);
		if (o->ctx)
			o->row = row;
	}
	return o->row;
}

int insn_open(const struct insn_machine *machine, struct insn_decoder **ret_decoder)
{
	struct insn_decoder *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	d->machine = *machine;
	if (!open_mode(d, INSN_CODE)) {
		free(d);
		return -ENOTSUP;
	}
	*ret_decoder = d;
	return 0;
}

void insn_close(struct insn_decoder *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < INSN_DATA; i++)
		if (d->of[i].row)
			d->of[i].row->engine->end(d->of[i].ctx);
	free(d);
}

const char *insn_engine_name(const struct insn_decoder *d)
{
	return d->of[INSN_CODE].row->engine->name;
}

/* Decodes data: 4, 2 or 1 bytes, as aligned. */
static void put_data(bool big, const uint8_t *bytes, size_t len, uint64_t address,
		     struct insn *out)
{
	static const struct {
		unsigned int len;
		const char *name;
	} sizes[] = { { 4, ".word" }, { 2, ".short" }, { 1, ".byte" } };
	uint32_t value = 0;
	size_t i = 0;

	while (i < 2 && (sizes[i].len > len || address % sizes[i].len))
		i++;
	out->is_data = true;
	out->len = sizes[i].len;
	for (unsigned int k = 0; k < out->len; k++)
		value |= (uint32_t)bytes[k] << (8 * (big ? out->len - 1 - k : k));
	snprintf(out->text, sizeof(out->text), "%-6s 0x%0*" PRIx32, sizes[i].name,
		 (int)(2 * out->len), value);
}

static void insn_put_bytes(const uint8_t *bytes, unsigned int len, struct insn *out)
{
	size_t at = 0;

	out->bad = true;
	out->len = len;
	for (unsigned int i = 0; i < len; i++)
		at += (size_t)snprintf(out->text + at, sizeof(out->text) - at,
				       i ? ",0x%02x" : ".byte  0x%02x", bytes[i]);
}

void insn_decode(struct insn_decoder *d, enum insn_mode mode, const uint8_t *bytes,
		 size_t len, uint64_t address, struct insn *ret_insn)
{
	size_t most = len < INSN_BYTES_MAX ? len : INSN_BYTES_MAX;
	const struct opened *o;
	unsigned int step;

	*ret_insn = (struct insn){ 0 };
	if (mode == INSN_DATA) {
		put_data(d->machine.big, bytes, most, address, ret_insn);
		return;
	}
	o = &d->of[open_mode(d, mode) ? mode : INSN_CODE];
	ret_insn->len = o->row->engine->decode(o->ctx, bytes, most, address, ret_insn);
	if (ret_insn->len && ret_insn->len <= most)
		return;
	*ret_insn = (struct insn){ 0 };
	step = o->row->step < most ? o->row->step : (unsigned int)most;
	insn_put_bytes(bytes, step, ret_insn);
}

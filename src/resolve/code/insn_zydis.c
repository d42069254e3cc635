/* SPDX-License-Identifier: GPL-2.0-or-later */
/* insn_zydis.c - disassembles x86-64 and i386 with Zydis 4, in AT&T syntax as printed by
 * objdump: no blanks after commas, mnemonics padded to six columns. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <Zydis/Zydis.h>

#include "base/array.h"
#include "resolve/code/insn.h"

enum {
	MNEMONIC_COLUMNS = 6
};

struct zydis {
	ZydisDecoder decoder;
	ZydisFormatter formatter;
};

static bool insn_zydis_set_up(struct zydis *z, const struct insn_machine *machine)
{
	bool is64 = machine->machine == EM_X86_64;
	static const struct {
		ZydisFormatterProperty property;
		ZyanUPointer value;
	} properties[] = {
		{ ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE },
		{ ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_PADDING_DISABLED },
		{ ZYDIS_FORMATTER_PROP_ADDR_PADDING_RELATIVE, ZYDIS_PADDING_DISABLED },
		{ ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_PADDING_DISABLED },
		{ ZYDIS_FORMATTER_PROP_IMM_PADDING, ZYDIS_PADDING_DISABLED },
		{ ZYDIS_FORMATTER_PROP_FORCE_RELATIVE_RIPREL, ZYAN_TRUE },
	};

	if (ZYAN_FAILED(ZydisDecoderInit(
		    &z->decoder,
		    is64 ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32,
		    is64 ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32)) ||
	    ZYAN_FAILED(ZydisFormatterInit(&z->formatter, ZYDIS_FORMATTER_STYLE_ATT)))
		return false;
	for (size_t i = 0; i < COUNT_OF(properties); i++)
		if (ZYAN_FAILED(ZydisFormatterSetProperty(&z->formatter,
							  properties[i].property,
							  properties[i].value)))
			return false;
	return true;
}

static void *open_zydis(const char *triple, const struct insn_machine *machine)
{
	struct zydis *z = malloc(sizeof(*z));

	(void)triple;
	if (z && insn_zydis_set_up(z, machine))
		return z;
	free(z);
	return NULL;
}

/* A condition of a jump has two names; Zydis uses those of Intel's tables. */
struct condition {
	const char *zydis;
	const char *gnu;
};

static const struct condition *find_condition(const char *name, size_t len)
{
	static const struct condition conditions[] = {
		{ "z", "e" },   { "nz", "ne" }, { "nb", "ae" },
		{ "nbe", "a" }, { "nl", "ge" }, { "nle", "g" },
	};

	for (size_t i = 0; i < COUNT_OF(conditions); i++)
		if (strlen(conditions[i].zydis) == len &&
		    strncmp(conditions[i].zydis, name, len) == 0)
			return &conditions[i];
	return NULL;
}

/* Converts the mnemonic at the start of `text` to the GNU assembler's. Returns its length in
 * `text`. */
static size_t take_mnemonic(const char *text, char *ret_name, size_t room)
{
	static const char *const families[] = { "j", "set", "cmov" };
	size_t word = strcspn(text, " ");

	snprintf(ret_name, room, "%.*s", (int)word, text);
	for (size_t i = 0; i < COUNT_OF(families); i++) {
		size_t skip = strlen(families[i]);
		const struct condition *c = NULL;

		if (strncmp(text, families[i], skip) == 0 && word > skip)
			c = find_condition(text + skip, word - skip);
		if (c)
			snprintf(ret_name, room, "%s%s", families[i], c->gnu);
	}
	return word;
}

/* Stores the text: "mov %rsp, %rbp" becomes "mov %rsp,%rbp". */
static void insn_zydis_put_text(struct insn *out, const char *text)
{
	char name[INSN_TEXT_MAX];
	size_t word = take_mnemonic(text, name, sizeof(name));
	size_t shown = strlen(name);
	int pad = shown < MNEMONIC_COLUMNS ? (int)(MNEMONIC_COLUMNS - shown) : 0;
	size_t at;

	at = (size_t)snprintf(out->text, sizeof(out->text), "%s%*s", name,
			      text[word] ? pad + 1 : 0, "");
	for (text += word + (text[word] == ' '); *text && at + 1 < sizeof(out->text);
	     text++) {
		if (text[0] == ' ' && text[-1] == ',')
			continue;
		out->text[at++] = *text;
	}
	out->text[at] = '\0';
}

/* Finds the target of a jump, and addresses relative to the instruction pointer. */
static void find_addresses(const ZydisDecodedInstruction *insn,
			   const ZydisDecodedOperand *operands, uint64_t address,
			   struct insn *out)
{
	for (unsigned int i = 0; i < insn->operand_count_visible; i++) {
		const ZydisDecodedOperand *op = &operands[i];
		bool jump =
			op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && op->imm.is_relative;
		bool data = op->type == ZYDIS_OPERAND_TYPE_MEMORY &&
			    (op->mem.base == ZYDIS_REGISTER_RIP ||
			     op->mem.base == ZYDIS_REGISTER_EIP);
		ZyanU64 to;

		if ((!jump && !data) ||
		    ZYAN_FAILED(ZydisCalcAbsoluteAddress(insn, op, address, &to)))
			continue;
		if (jump) {
			out->has_target = true;
			out->target = to;
		} else {
			out->has_data = true;
			out->data = to;
		}
	}
}

static unsigned int decode_zydis(void *ctx, const uint8_t *bytes, size_t len,
				 uint64_t address, struct insn *ret_insn)
{
	struct zydis *z = ctx;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction insn;
	char text[INSN_TEXT_MAX];

	if (ZYAN_FAILED(
		    ZydisDecoderDecodeFull(&z->decoder, bytes, len, &insn, operands)) ||
	    ZYAN_FAILED(ZydisFormatterFormatInstruction(
		    &z->formatter, &insn, operands, insn.operand_count_visible, text,
		    sizeof(text), ZYDIS_RUNTIME_ADDRESS_NONE, NULL)))
		return 0;
	find_addresses(&insn, operands, address, ret_insn);
	/* The target is the jump's only operand, so the operands are cut off. */
	if (ret_insn->has_target && insn.operand_count_visible == 1) {
		char *last = strrchr(text, ' ');

		if (last)
			last[1] = '\0';
	} else {
		ret_insn->has_target = false;
	}
	insn_zydis_put_text(ret_insn, text);
	return insn.length;
}

static void close_zydis(void *ctx)
{
	free(ctx);
}

bool insn_has_zydis(void)
{
	return true;
}

const struct insn_engine insn_zydis = {
	.name = "Zydis",
	.begin = open_zydis,
	.decode = decode_zydis,
	.end = close_zydis,
};

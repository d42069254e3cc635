/* SPDX-License-Identifier: GPL-2.0-or-later */
/* insn_llvm.c - disassembles with LLVM's C disassembler, which is loaded at the first use. The
 * types of its functions are in llvm-c/Disassembler.h and llvm-c/Target.h, and have not changed
 * since LLVM 3.0. */
#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "resolve/code/insn.h"

enum {
	IN_BRANCH = 1,     /* LLVMDisassembler_ReferenceType_In_Branch */
	PRINT_IMM_HEX = 2, /* LLVMDisassembler_Option_PrintImmHex */
	MNEMONIC_COLUMNS = 6
};

typedef const char *(*lookup_fn)(void *ctx, uint64_t value, uint64_t *type, uint64_t pc,
				 const char **ret_name);
typedef int (*op_info_fn)(void *ctx, uint64_t pc, uint64_t offset, uint64_t size,
			  uint64_t size2, int tag, void *buf);

struct llvm {
	void *(*create)(const char *triple, const char *cpu, const char *features,
			void *info, int tag, op_info_fn op_info, lookup_fn lookup);
	int (*set_options)(void *dc, uint64_t options);
	size_t (*disassemble)(void *dc, uint8_t *bytes, uint64_t len, uint64_t pc,
			      char *text, size_t cap);
	void (*dispose)(void *dc);
	void *dc;
	struct insn *now; /* being decoded */
	struct insn_machine machine;
};

static void *insn_llvm_load(void)
{
	static const char *const names[] = {
		"libLLVM-14.so.1", "libLLVM-15.so.1", "libLLVM-16.so.1",
		"libLLVM-17.so.1", "libLLVM.so.18.1", "libLLVM.so.19.1",
		"libLLVM.so.20.1",
	};
	void *lib = NULL;

	for (size_t i = 0; !lib && i < COUNT_OF(names); i++)
		lib = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	return lib; /* never unloaded */
}

static bool insn_llvm_find(void *lib, const char *name, void *to)
{
	void *f = dlsym(lib, name);

	memcpy(to, &f, sizeof(f));
	return f;
}

/* Returns LLVM's target name for a triple. */
static const char *target_of(const char *triple)
{
	static const struct {
		const char *begins;
		const char *target;
	} rows[] = {
		{ "x86_64", "X86" },  { "i686", "X86" },      { "aarch64", "AArch64" },
		{ "arm", "ARM" },     { "s390x", "SystemZ" }, { "powerpc", "PowerPC" },
		{ "riscv", "RISCV" }, { "thumb", "ARM" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++)
		if (!strncmp(triple, rows[i].begins, strlen(rows[i].begins)))
			return rows[i].target;
	return "";
}

static bool begin_target(void *lib, const char *triple)
{
	static const char *const parts[] = { "TargetInfo", "TargetMC", "Disassembler" };

	for (size_t i = 0; i < COUNT_OF(parts); i++) {
		char name[64];
		void (*begin)(void);

		snprintf(name, sizeof(name), "LLVMInitialize%s%s", target_of(triple),
			 parts[i]);
		if (!insn_llvm_find(lib, name, &begin))
			return false;
		begin();
	}
	return true;
}

/* Records the target of a jump; LLVM calls this for each address in an instruction. */
static const char *note_address(void *ctx, uint64_t value, uint64_t *type, uint64_t pc,
				const char **ret_name)
{
	struct llvm *l = ctx;

	(void)pc;
	*ret_name = NULL;
	if (l->now && *type == IN_BRANCH) {
		l->now->has_target = true;
		l->now->target = value;
	}
	*type = 0;
	return NULL;
}

/* Returns all features of the machine that LLVM 14 knows; it would warn about others. */
static const char *features_of(const char *triple)
{
	if (!strncmp(triple, "riscv", 5))
		return "+m,+a,+f,+d,+c";
	if (!strncmp(triple, "aarch64", 7))
		return "+v8.7a,+sve,+sve2,+sve2-aes,+sve2-sha3,+sve2-sm4,+sve2-bitperm,+crypto,+mte,+tme,+bf16,+i8mm,+rand,+ls64,+f32mm,+f64mm,+mops,+hbc,+sme";
	if (!strncmp(triple, "arm", 3) || !strncmp(triple, "thumb", 5))
		return "+v8.6a,+vfp4,+neon,+crypto,+crc,+hwdiv,+hwdiv-arm,+fullfp16,+dotprod,+bf16,+i8mm";
	return "";
}

static const char *cpu_of(const char *triple)
{
	if (!strncmp(triple, "s390x", 5))
		return "arch14";
	return !strncmp(triple, "powerpc", 7) ? "pwr10" : "";
}

static void *open_llvm(const char *triple, const struct insn_machine *machine)
{
	void *lib = insn_llvm_load();
	struct llvm *l = lib ? calloc(1, sizeof(*l)) : NULL;

	if (l && insn_llvm_find(lib, "LLVMCreateDisasmCPUFeatures", &l->create) &&
	    insn_llvm_find(lib, "LLVMSetDisasmOptions", &l->set_options) &&
	    insn_llvm_find(lib, "LLVMDisasmInstruction", &l->disassemble) &&
	    insn_llvm_find(lib, "LLVMDisasmDispose", &l->dispose) &&
	    begin_target(lib, triple))
		l->dc = l->create(triple, cpu_of(triple), features_of(triple), l, 0,
				  NULL, note_address);
	if (l && l->dc) {
		l->machine = *machine;
		l->set_options(l->dc, PRINT_IMM_HEX);
		return l;
	}
	free(l);
	return NULL;
}

/* Stores the text, with a known target removed: "\tbl\t#-16" becomes "bl    ". */
static void insn_llvm_put_text(struct insn *out, const char *text)
{
	size_t word;
	size_t at = 0;
	char *cut;

	text += strspn(text, " \t");
	word = strcspn(text, " \t");
	at = (size_t)snprintf(out->text, sizeof(out->text), "%.*s", (int)word, text);
	text += word + strspn(text + word, " \t");
	if (!*text)
		return;
	do
		out->text[at++] = ' ';
	while (at <= MNEMONIC_COLUMNS);
	snprintf(out->text + at, sizeof(out->text) - at, "%s", text);
	for (char *tab = out->text; (tab = strchr(tab, '\t'));)
		*tab = ' ';
	if (!out->has_target)
		return;
	cut = strrchr(out->text, ',');
	if (cut)
		cut[1 + (cut[1] == ' ')] = '\0';
	else
		out->text[at] = '\0';
}

/* ---- instructions that LLVM 14 does not know ---- */

/* Decodes SCV, which LLVM does not know (Power ISA 3.0, chapter 3.3.1): opcode 17, 01 in the last
 * bits, LEV in bits 20 to 26. Returns its length, or 0 for other instructions. */
static unsigned int repair_ppc(struct insn *out, const uint8_t *bytes, bool big)
{
	uint32_t word;

	memcpy(&word, bytes, sizeof(word));
	if (big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__))
		word = __builtin_bswap32(word);
	if ((word & 0xfffff01f) != 0x44000001)
		return 0;
	snprintf(out->text, sizeof(out->text), "%-6s %u", "scv", word >> 5 & 0x7f);
	return (unsigned int)sizeof(word);
}

/* Clears the bits of I4 and I5 that RISBG and similar instructions ignore (z/Architecture
 * Principles of Operation, chapter 7), as LLVM rejects them if they are set. Returns whether it
 * changed the instruction. */
static bool repair_s390(uint8_t *bytes)
{
	if (bytes[0] != 0xec || (bytes[5] != 0x55 && bytes[5] != 0x59) ||
	    !(bytes[3] & 0x40 || bytes[4] & 0xc0))
		return false;
	bytes[3] &= 0xbf;
	bytes[4] &= 0x3f;
	return true;
}

static unsigned int decode_llvm(void *ctx, const uint8_t *bytes, size_t len,
				uint64_t address, struct insn *ret_insn)
{
	uint8_t copy[INSN_BYTES_MAX]; /* the function's parameter is not const */
	char text[INSN_TEXT_MAX];
	struct llvm *l = ctx;
	size_t took;

	memcpy(copy, bytes, len);
	l->now = ret_insn;
	took = l->disassemble(l->dc, copy, len, address, text, sizeof(text));
	if (!took && l->machine.machine == EM_S390 && len >= 6 && repair_s390(copy))
		took = l->disassemble(l->dc, copy, len, address, text, sizeof(text));
	l->now = NULL;
	if (!took && l->machine.machine == EM_PPC64 && len >= 4)
		return repair_ppc(ret_insn, bytes, l->machine.big);
	if (!took || took > len)
		return 0;
	insn_llvm_put_text(ret_insn, text);
	return (unsigned int)took;
}

static void close_llvm(void *ctx)
{
	struct llvm *l = ctx;

	l->dispose(l->dc);
	free(l);
}

const struct insn_engine insn_llvm = {
	.name = "LLVM",
	.begin = open_llvm,
	.decode = decode_llvm,
	.end = close_llvm,
};

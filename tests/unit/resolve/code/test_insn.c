/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "resolve/code/insn.h"
#include "resolve/code/insn_marks.h"
#include "resolve/elf/elf_maker.h"
#include "resolve/elf/file.h"

/* Encodings are from the machines' manuals; texts are those of objdump if it supports the
 * machine. */
struct one {
	struct insn_machine machine;
	enum insn_mode mode;
	uint8_t bytes[16];
	size_t len;
	unsigned int took;
	const char *text;
	uint64_t target; /* 0: none */
	uint64_t data;
};

#define X86                                                                            \
	{                                                                              \
		EM_X86_64, true, false                                                 \
	}
#define I386                                                                           \
	{                                                                              \
		EM_386, false, false                                                   \
	}
#define ARM64                                                                          \
	{                                                                              \
		EM_AARCH64, true, false                                                \
	}
#define ARM                                                                            \
	{                                                                              \
		EM_ARM, false, false                                                   \
	}
#define S390                                                                           \
	{                                                                              \
		EM_S390, true, true                                                    \
	}
#define PPC                                                                            \
	{                                                                              \
		EM_PPC64, true, false                                                  \
	}
#define RISCV                                                                          \
	{                                                                              \
		EM_RISCV, true, false                                                  \
	}

static const struct one all[] = {
	{ X86, INSN_CODE, { 0x55 }, 1, 1, "push   %rbp", 0, 0 },
	{ X86, INSN_CODE, { 0x48, 0x89, 0xe5 }, 3, 3, "mov    %rsp,%rbp", 0, 0 },
	{ X86, INSN_CODE, { 0xe8, 0xfb, 0x0f, 0, 0 }, 5, 5, "call   ", 0x2000, 0 },
	{ X86, INSN_CODE, { 0x74, 0xfe }, 2, 2, NULL, 0x1000, 0 },
	{ X86,
	  INSN_CODE,
	  { 0x8b, 0x05, 0xfa, 0x0f, 0, 0 },
	  6,
	  6,
	  "mov    0xffa(%rip),%eax",
	  0,
	  0x2000 },
	{ X86, INSN_CODE, { 0xc3, 0x90 }, 2, 1, "ret", 0, 0 },
	/* Conditions by the GNU assembler's names (Intel SDM 2, Jcc, SETcc, CMOVcc). */
	{ X86, INSN_CODE, { 0x74, 0x0e }, 2, 2, "je     ", 0x1010, 0 },
	{ X86, INSN_CODE, { 0x7f, 0x0e }, 2, 2, "jg     ", 0x1010, 0 },
	{ X86, INSN_CODE, { 0x7c, 0x0e }, 2, 2, "jl     ", 0x1010, 0 },
	{ X86, INSN_CODE, { 0xeb, 0x0e }, 2, 2, "jmp    ", 0x1010, 0 },
	{ X86, INSN_CODE, { 0x0f, 0x97, 0xc0 }, 3, 3, "seta   %al", 0, 0 },
	{ X86, INSN_CODE, { 0x0f, 0x43, 0xc3 }, 3, 3, "cmovae %ebx,%eax", 0, 0 },
	/* ENDBR64, and VPMULUDQ of EVEX (Intel SDM 2). */
	{ X86, INSN_CODE, { 0xf3, 0x0f, 0x1e, 0xfa }, 4, 4, "endbr64", 0, 0 },
	{ X86, INSN_CODE, { 0x06 }, 1, 1, ".byte  0x06", 0, 0 },
	{ X86, INSN_CODE, { 0xe8, 0, 0 }, 3, 1, ".byte  0xe8", 0, 0 },
	{ I386, INSN_CODE, { 0x5d }, 1, 1, "pop    %ebp", 0, 0 },
	{ ARM64, INSN_CODE, { 0xc0, 0x03, 0x5f, 0xd6 }, 4, 4, "ret", 0, 0 },
	{ ARM64, INSN_CODE, { 0xff, 0xff, 0xff, 0x97 }, 4, 4, "bl     ", 0xffc, 0 },
	{ ARM64, INSN_CODE, { 0, 0, 0 }, 3, 3, ".byte  0x00,0x00,0x00", 0, 0 },
	{ S390, INSN_CODE, { 0x07, 0xfe }, 2, 2, NULL, 0, 0 },
	{ PPC, INSN_CODE, { 0x20, 0x00, 0x80, 0x4e }, 4, 4, "blr", 0, 0 },
	{ RISCV, INSN_CODE, { 0x82, 0x80 }, 2, 2, "ret", 0, 0 },
	/* PLI and PADDI (Power ISA 3.1, chapter 1.6: a prefix, then the instruction). */
	{ PPC, INSN_CODE, { 0, 0, 0, 0x06, 1, 0, 0x60, 0x38 }, 8, 8, NULL, 0, 0 },
	/* SCV (ibid., 3.3.1), and RISBG with bits that are ignored: LLVM 14 knows neither. */
	{ PPC, INSN_CODE, { 1, 0, 0, 0x44 }, 4, 4, "scv    0", 0, 0 },
	{ S390, INSN_CODE, { 0xec, 0x12, 0x0d, 0x1f, 0x40, 0x55 }, 6, 6, NULL, 0, 0 },
	/* "bx lr" and, in Thumb, "bx lr", "nop.w" and a literal. */
	{ ARM, INSN_CODE, { 0x1e, 0xff, 0x2f, 0xe1 }, 4, 4, "bx     lr", 0, 0 },
	{ ARM, INSN_THUMB, { 0x70, 0x47 }, 2, 2, "bx     lr", 0, 0 },
	{ ARM, INSN_THUMB, { 0xaf, 0xf3, 0, 0x80, 0xff }, 5, 4, NULL, 0, 0 },
	{ ARM, INSN_DATA, { 1, 2, 3, 4, 5 }, 5, 4, ".word  0x04030201", 0, 0 },
	{ ARM, INSN_DATA, { 1, 2, 3 }, 3, 2, ".short 0x0201", 0, 0 },
	{ S390, INSN_DATA, { 1 }, 1, 1, ".byte  0x01", 0, 0 },
	{ S390, INSN_DATA, { 1, 2, 3, 4 }, 4, 4, ".word  0x01020304", 0, 0 },
};

/* Names and operands of binutils, which are not those of Zydis and LLVM. */
static const struct one as_objdump[] = {
	{ X86, INSN_CODE, { 0x0f, 0x1f, 0x40, 0 }, 4, 4, "nopl   0x0(%rax)", 0, 0 },
	{ X86,
	  INSN_CODE,
	  { 0x48, 0xb8, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11 },
	  10,
	  10,
	  "movabs $0x1122334455667788,%rax",
	  0,
	  0 },
	{ X86,
	  INSN_CODE,
	  { 0xf2, 0x0f, 0x10, 0x05, 0x38, 0x30, 0, 0 },
	  8,
	  8,
	  "movsd  0x3038(%rip),%xmm0",
	  0,
	  0x4040 },
	{ X86, INSN_CODE, { 0x83, 0xf8, 0xff }, 3, 3, "cmp    $0xffffffff,%eax", 0, 0 },
	{ X86, INSN_CODE, { 0xff, 0xe0 }, 2, 2, "jmp    *%rax", 0, 0 },
	{ X86,
	  INSN_CODE,
	  { 0xf3, 0x48, 0xab },
	  3,
	  3,
	  "rep stos %rax,%es:(%rdi)",
	  0,
	  0 },
};

static void assert_decoded(const struct one *one, struct insn_decoder *d)
{
	struct insn insn;

	insn_decode(d, one->mode, one->bytes, one->len, 0x1000, &insn);
	assert_int_equal(insn.len, one->took);
	if (one->text)
		assert_string_equal(insn.text, one->text);
	assert_int_equal(insn.has_target, one->target != 0);
	assert_int_equal(insn.target, one->target);
	assert_int_equal(insn.has_data, one->data != 0);
	assert_int_equal(insn.data, one->data);
}

static void prints_x86_like_objdump(void **state)
{
	struct insn_decoder *d;

	(void)state;
	if (insn_open(&as_objdump[0].machine, &d))
		skip();
	if (strcmp(insn_engine_name(d), "libopcodes") != 0) {
		insn_close(d);
		skip(); /* the version of the build is not installed */
	}
	for (size_t i = 0; i < COUNT_OF(as_objdump); i++)
		assert_decoded(&as_objdump[i], d);
	insn_close(d);
}

static void decodes_instructions(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(all); i++) {
		const struct one *one = &all[i];
		struct insn_decoder *d;
		int r = insn_open(&one->machine, &d);

		/* Built without Zydis, and no LLVM on this machine. */
		if (r == -ENOTSUP)
			continue;
		assert_int_equal(r, 0);
		assert_decoded(one, d);
		insn_close(d);
	}
}

static void rejects_an_unknown_machine(void **state)
{
	const struct insn_machine vax = { EM_VAX, false, false };
	struct insn_decoder *d = NULL;

	(void)state;
	assert_int_equal(insn_open(&vax, &d), -ENOTSUP);
	assert_null(d);
	insn_close(NULL);
}

enum {
	V = ELF_MAKER_VADDR,
	TEXT = ELF_MAKER_TEXT
};

static struct insn_marks *marks_of(uint16_t machine,
				   const struct elf_maker_symbol *symbols, size_t nr)
{
	const struct elf_maker m = { .is64 = machine == EM_AARCH64,
				     .machine = machine,
				     .symbols = symbols,
				     .nr_symbols = nr };
	struct insn_marks *marks = NULL;
	struct buf b = { 0 };
	struct elf_file f;

	elf_maker_write(&m, &b);
	assert_int_equal(elf_file_init_bytes(&f, b.data, b.len, NULL), 0);
	assert_int_equal(insn_marks_load(&f, NULL, &marks), 0);
	elf_file_done(&f);
	buf_done(&b);
	return marks;
}

static void check_mark(const struct insn_marks *m, uint64_t at, enum insn_mode mode,
		       uint64_t end)
{
	uint64_t got;

	assert_int_equal(insn_marks_at(m, at, &got), mode);
	assert_int_equal(got, end);
}

/* The assembler's mapping symbols take precedence over the symbols of functions. */
static void uses_mapping_symbols(void **state)
{
	static const struct elf_maker_symbol symbols[] = {
		{ "$d", V + 0x30, 0, STT_NOTYPE, STB_LOCAL, TEXT },
		{ "$a", V, 0, STT_NOTYPE, STB_LOCAL, TEXT },
		{ "$t.1", V + 0x20, 0, STT_NOTYPE, STB_LOCAL, TEXT },
		{ "$dollar", V + 8, 0, STT_NOTYPE, STB_LOCAL, TEXT },
		{ "$x", V + 12, 0, STT_NOTYPE, STB_LOCAL, TEXT },
		{ "wrong", V + 1, 8, STT_FUNC, STB_GLOBAL, TEXT },
		{ "right", V + 0x41, 8, STT_FUNC, STB_GLOBAL, TEXT },
	};
	struct insn_marks *m = marks_of(EM_ARM, symbols, COUNT_OF(symbols));

	(void)state;
	check_mark(m, V, INSN_CODE, V + 0x20);
	check_mark(m, V + 0x1f, INSN_CODE, V + 0x20);
	check_mark(m, V + 0x20, INSN_THUMB, V + 0x30);
	check_mark(m, V + 0x32, INSN_DATA, V + 0x40);
	check_mark(m, V + 0x99, INSN_THUMB, UINT64_MAX);
	insn_marks_free(m);
	m = marks_of(EM_AARCH64, symbols, COUNT_OF(symbols));
	check_mark(m, V + 0x31, INSN_DATA, UINT64_MAX);
	check_mark(m, V + 0x21, INSN_CODE, V + 0x30);
	insn_marks_free(m);
	assert_null(marks_of(EM_386, symbols, COUNT_OF(symbols)));
	check_mark(NULL, 1, INSN_CODE, UINT64_MAX);
}

/* In a stripped file, only the lowest bits of exported symbols are known. */
static void handles_files_without_mapping_symbols(void **state)
{
	static const struct elf_maker_symbol symbols[] = {
		{ "thumb", V + 0x11, 8, STT_FUNC, STB_GLOBAL, TEXT },
		{ "elsewhere", 1, 0, STT_FUNC, STB_GLOBAL, SHN_UNDEF },
		{ "arm", V + 0x20, 8, STT_FUNC, STB_GLOBAL, TEXT },
	};
	struct insn_marks *m = marks_of(EM_ARM, symbols, COUNT_OF(symbols));

	(void)state;
	/* Code before the first symbol is assumed to be of the kind that most symbols have. */
	check_mark(m, V, INSN_THUMB, V + 0x10);
	check_mark(m, V + 0x10, INSN_THUMB, V + 0x20);
	check_mark(m, V + 0x20, INSN_CODE, UINT64_MAX);
	insn_marks_free(m);
	m = marks_of(EM_ARM, &symbols[2], 1);
	check_mark(m, V, INSN_CODE, V + 0x20);
	insn_marks_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decodes_instructions),
		cmocka_unit_test(prints_x86_like_objdump),
		cmocka_unit_test(rejects_an_unknown_machine),
		cmocka_unit_test(uses_mapping_symbols),
		cmocka_unit_test(handles_files_without_mapping_symbols),
	};

	return UNIT_RUN(tests);
}

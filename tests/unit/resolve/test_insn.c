#include "unit.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "resolve/insn.h"

/* Encodings are from the manuals of the machines; texts are objdump's, where there is a target
 * without it. */
struct one {
	struct insn_machine machine;
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
	{ X86, { 0x55 }, 1, 1, "push   %rbp", 0, 0 },
	{ X86, { 0x48, 0x89, 0xe5 }, 3, 3, "mov    %rsp,%rbp", 0, 0 },
	{ X86, { 0xe8, 0xfb, 0x0f, 0, 0 }, 5, 5, "call   ", 0x2000, 0 },
	{ X86, { 0x74, 0xfe }, 2, 2, NULL, 0x1000, 0 },
	{ X86,
	  { 0x8b, 0x05, 0xfa, 0x0f, 0, 0 },
	  6,
	  6,
	  "mov    0xffa(%rip),%eax",
	  0,
	  0x2000 },
	{ X86, { 0xc3, 0x90 }, 2, 1, "ret", 0, 0 },
	/* ENDBR64, and VPMULUDQ of EVEX (Intel SDM 2). */
	{ X86, { 0xf3, 0x0f, 0x1e, 0xfa }, 4, 4, "endbr64", 0, 0 },
	{ X86, { 0x06 }, 1, 1, ".byte  0x06", 0, 0 },
	{ X86, { 0xe8, 0, 0 }, 3, 1, ".byte  0xe8", 0, 0 },
	{ I386, { 0x5d }, 1, 1, "pop    %ebp", 0, 0 },
	{ ARM64, { 0xc0, 0x03, 0x5f, 0xd6 }, 4, 4, "ret", 0, 0 },
	{ ARM64, { 0xff, 0xff, 0xff, 0x97 }, 4, 4, "bl     ", 0xffc, 0 },
	{ ARM64, { 0, 0, 0 }, 3, 3, ".byte  0x00,0x00,0x00", 0, 0 },
	{ S390, { 0x07, 0xfe }, 2, 2, NULL, 0, 0 },
	{ PPC, { 0x20, 0x00, 0x80, 0x4e }, 4, 4, "blr", 0, 0 },
	{ RISCV, { 0x82, 0x80 }, 2, 2, "ret", 0, 0 },
};

static void instructions(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const struct one *one = &all[i];
		struct insn_decoder *d;
		struct insn insn;
		int r = insn_open(&one->machine, &d);

		/* Built without Zydis, and without LLVM here. */
		if (r == -ENOTSUP)
			continue;
		assert_int_equal(r, 0);
		insn_decode(d, one->bytes, one->len, 0x1000, &insn);
		assert_int_equal(insn.len, one->took);
		if (one->text)
			assert_string_equal(insn.text, one->text);
		assert_int_equal(insn.has_target, one->target != 0);
		assert_int_equal(insn.target, one->target);
		assert_int_equal(insn.has_data, one->data != 0);
		assert_int_equal(insn.data, one->data);
		insn_close(d);
	}
}

static void unknown_machine(void **state)
{
	const struct insn_machine vax = { EM_VAX, false, false };
	struct insn_decoder *d = NULL;

	(void)state;
	assert_int_equal(insn_open(&vax, &d), -ENOTSUP);
	assert_null(d);
	insn_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions),
		cmocka_unit_test(unknown_machine),
	};

	return UNIT_RUN(tests);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/unwind/asm.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "resolve/elf/file.h"
#include "resolve/unwind/cfi_rows.h"

enum {
	SECTION_MAX = 256, /* limit for .init; other code can be linked into it */
	CIE_ID = -1,
	ENDBR_BYTES = 4,
	RIP = 16, /* DWARF numbers on x86-64 */
	RSP = 7,
	MOV_EAX = 0xb8, /* mov $..., %eax */
	MOV_BYTES = 5,
	CALL_BYTES = 2
};

/* The first and last instructions of a machine's function, and their effect on its frame. */
struct crt {
	uint16_t machine;
	bool is64;
	uint8_t begin_len, end_len;
	uint8_t cie_len, program_len;
	uint8_t body; /* index in `program` of the advance to the end */
	uint8_t begin[4], end[5];
	uint8_t cie[8], program[16];
};

static const struct crt crts[] = {
	{ EM_X86_64, true, .begin = { 0x48, 0x83, 0xec, 0x08 }, /* sub $8, %rsp */
	  .begin_len = 4,
	  .end = { 0x48, 0x83, 0xc4, 0x08, 0xc3 }, /* add $8, %rsp; ret */
	  .end_len = 5,
	  /* CFA rsp + 8, rip at CFA - 8 */
	  .cie = { 1, 0x78, RIP, 0x0c, RSP, 8, 0x90, 1 }, .cie_len = 8,
	  /* After 4 bytes: CFA + 16; before the last byte of the end: + 8. */
	  .program = { 0x44, 0x0e, 16, 0x02, 0, 0x0e, 8 }, .program_len = 7,
	  .body = 4 },
	{ EM_386, false,
	  .begin = { 0x53, 0x83, 0xec, 0x08 }, /* push %ebx; sub $8, %esp */
	  .begin_len = 4,
	  .end = { 0x83, 0xc4, 0x08, 0x5b, 0xc3 }, /* add $8, %esp; pop %ebx; ret */
	  .end_len = 5,
	  /* CFA esp + 4, eip at CFA - 4 */
	  .cie = { 1, 0x7c, 8, 0x0c, 4, 4, 0x88, 1 }, .cie_len = 8,
	  /* After 1 byte: + 8, ebx at CFA - 8; after 4: + 16; 2 before the end: + 8; 1: + 4. */
	  .program = { 0x41, 0x0e, 8, 0x83, 2, 0x43, 0x0e, 16, 0x02, 0, 0x0e, 8, 0x41,
		       0xc3, 0x0e, 4 },
	  .program_len = 16, .body = 9 },
};

static const struct crt *crt_of(const struct elf_file *f)
{
	for (size_t i = 0; i < COUNT_OF(crts); i++)
		if (crts[i].machine == f->machine && crts[i].is64 == f->is64)
			return &crts[i];
	return NULL;
}

static void put_length(struct buf *out, size_t at)
{
	uint32_t len = (uint32_t)(out->len - at - sizeof(len));

	if (!out->failed)
		for (unsigned int i = 0; i < sizeof(len); i++)
			out->data[at + i] = (uint8_t)(len >> (8 * i));
}

static void put_cie(const struct crt *crt, struct buf *out)
{
	size_t at = out->len;

	buf_put_u32(out, 0);
	buf_put_u32(out, (uint32_t)CIE_ID);
	buf_put_u8(out, 1); /* version */
	buf_put_u8(out, 0); /* no augmentation */
	buf_put(out, crt->cie, crt->cie_len);
	put_length(out, at);
}

static void unwind_asm_put_address(const struct crt *crt, struct buf *out, uint64_t v)
{
	if (crt->is64)
		buf_put_u64(out, v);
	else
		buf_put_u32(out, (uint32_t)v);
}

/* Adds one function that begins at `start`, and whose last instructions begin at `end_at`. */
static void put_fde(const struct crt *crt, struct buf *out, uint64_t start,
		    size_t end_at)
{
	size_t at = out->len, adds = crt->end_len - 1U - (crt->is64 ? 0 : 1);
	uint8_t program[sizeof(crt->program)];

	memcpy(program, crt->program, sizeof(program));
	program[crt->body] = (uint8_t)(end_at + adds - crt->begin_len);
	buf_put_u32(out, 0);
	buf_put_u32(out, 0); /* offset of the CIE */
	unwind_asm_put_address(crt, out, start);
	unwind_asm_put_address(crt, out, end_at + crt->end_len);
	buf_put(out, program, crt->program_len);
	put_length(out, at);
}

static int unwind_asm_put_section(const struct crt *crt, struct elf_file *f,
				  const char *name, struct buf *out)
{
	const struct elf_section *s = elf_file_find_section(f, name);
	size_t skip, len;
	uint8_t *bytes;

	if (!s || s->bytes > SECTION_MAX ||
	    s->bytes < (uint64_t)crt->begin_len + crt->end_len)
		return 0;
	if (elf_file_section_bytes(f, s, SECTION_MAX, &bytes))
		return 0;
	/* endbr64, endbr32 */
	skip = !memcmp(bytes, "\xf3\x0f\x1e", 3) ? ENDBR_BYTES : 0;
	len = (size_t)s->bytes - skip;
	if (len >= (size_t)crt->begin_len + crt->end_len &&
	    !memcmp(bytes + skip, crt->begin, crt->begin_len) &&
	    !memcmp(bytes + skip + len - crt->end_len, crt->end, crt->end_len)) {
		if (!out->len)
			put_cie(crt, out);
		put_fde(crt, out, s->vaddr + skip, len - crt->end_len);
	}
	free(bytes);
	return out->failed ? -ENOMEM : 0;
}

int unwind_asm_crt(struct elf_file *f, struct buf *out)
{
	const struct crt *crt = crt_of(f);
	int r = crt ? unwind_asm_put_section(crt, f, ".init", out) : 0;

	return r || !crt ? r : unwind_asm_put_section(crt, f, ".fini", out);
}

size_t unwind_asm_clone(const uint8_t *code, size_t len)
{
	/* syscall; test %rax, %rax */
	static const uint8_t call[] = { 0x0f, 5, 0x48, 0x85, 0xc0 };
	/* In some versions, the rules end before the number is loaded. */
	size_t at = len > MOV_BYTES && code[0] == MOV_EAX ? MOV_BYTES : 0;

	if (len - at < sizeof(call) || memcmp(code + at, call, sizeof(call)) != 0)
		return 0;
	return at + CALL_BYTES;
}

void unwind_asm_clone_states(struct cfi_state *ret_before, struct cfi_state *ret_after,
			     const uint8_t **ret_code)
{
	/* The value at CFA - 8, but 0 if rax is 0: breg0 0; bra +5; drop; lit0; skip +3; lit8;
	 * minus; deref. */
	static const uint8_t code[] = { 0x70, 0, 0x28, 5,    0,    0x13, 0x30,
					0x2f, 3, 0,    0x38, 0x1c, 0x06 };
	struct cfi_state s = { .base = UNWIND_BASE_REG, .reg = RSP, .offset = 8 };

	for (unsigned int i = 0; i < UNWIND_REGS; i++)
		s.registers[i].how = CFI_SAME;
	s.registers[RIP] = (struct cfi_register){ .how = UNWIND_AT_CFA, .value = -8 };
	*ret_before = s;
	s.registers[RIP] =
		(struct cfi_register){ .how = UNWIND_VALUE, .code_len = sizeof(code) };
	*ret_after = s;
	*ret_code = code;
}

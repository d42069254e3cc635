/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/unwind/sframe.h"

#include <elf.h>
#include <errno.h>

#include "base/cursor.h"

enum {
	MAGIC = 0xdee2,
	HEADER_BYTES = 28,
	VERSION_MAX = 3,
	FLAG_FROM_FIELD = 4,
	ABI_AARCH64_BIG = 1,
	ABI_AARCH64_LITTLE = 2,
	ABI_AMD64 = 3,
	X86_PLT_BYTES = 16, /* not in the file in version 1 */
	ATTRIBUTES_BYTES = 5,
	REPEATS_MAX = 1 << 16
};

/* Flags of a function. */
enum {
	INFO_ADDRESS = 0x0f, /* log2 of the size of a row's address */
	INFO_MASK = 0x10,    /* the rows apply to each block of code */
	INFO_SIGNAL = 0x80,
	INFO_2_TYPE = 0x1f
};

/* Fields of a row. */
enum {
	ROW_BASE_SP = 0x01,
	ROW_NR_SHIFT = 1,
	ROW_NR = 0x0f,
	ROW_SIZE_SHIFT = 5,
	ROW_SIZE = 0x03,
	OFFSETS_MAX = 15
};

static bool is_ours(const struct unwind_arch *arch, unsigned int abi)
{
	return arch->elf_machine == EM_X86_64
		       ? abi == ABI_AMD64
		       : arch->elf_machine == EM_AARCH64 &&
				 (abi == ABI_AARCH64_LITTLE || abi == ABI_AARCH64_BIG);
}

static size_t function_bytes(const struct sframe *s)
{
	static const uint8_t bytes[] = { 0, 17, 20, 16 };

	return bytes[s->version];
}

bool sframe_open(struct sframe *s, const struct unwind_arch *arch, const void *bytes,
		 size_t len, uint64_t vaddr, bool swap)
{
	struct cursor c = cursor_of(bytes, len, swap);
	uint64_t functions, rows;
	unsigned int abi, head, flags;

	*s = (struct sframe){
		.bytes = bytes, .len = len, .vaddr = vaddr, .arch = arch, .swap = swap
	};
	if (cursor_u16(&c) != MAGIC)
		return false;
	s->version = cursor_u8(&c);
	flags = cursor_u8(&c);
	abi = cursor_u8(&c);
	s->fixed_fp = (int8_t)cursor_u8(&c);
	s->fixed_return = (int8_t)cursor_u8(&c);
	head = HEADER_BYTES + cursor_u8(&c);
	s->nr = cursor_u32(&c);
	cursor_u32(&c); /* number of all rows */
	cursor_u32(&c); /* size of all rows */
	functions = (uint64_t)cursor_u32(&c) + head;
	rows = (uint64_t)cursor_u32(&c) + head;
	if (c.failed || !s->version || s->version > VERSION_MAX ||
	    !is_ours(arch, abi) || functions > len || rows > len)
		return false;
	s->from_field = flags & FLAG_FROM_FIELD;
	s->functions = (size_t)functions;
	s->rows = (size_t)rows;
	if (s->nr > (len - s->functions) / function_bytes(s))
		s->nr = (uint32_t)((len - s->functions) / function_bytes(s));
	return true;
}

/* Reads the attributes of a function; version 3 stores most of them before the rows. */
static void sframe_take_attributes(const struct sframe *s, struct sframe_function *f)
{
	struct cursor c = cursor_of(s->bytes, s->len, s->swap);

	c.pos = f->rows;
	f->nr_rows = cursor_u16(&c);
	f->info = cursor_u8(&c);
	f->is_flexible = cursor_u8(&c) & INFO_2_TYPE;
	f->repeat = cursor_u8(&c);
	f->rows += ATTRIBUTES_BYTES;
}

bool sframe_function(const struct sframe *s, uint32_t i, struct sframe_function *ret)
{
	struct cursor c = cursor_of(s->bytes, s->len, s->swap);
	uint64_t base, start;
	uint32_t rows;

	*ret = (struct sframe_function){ 0 };
	c.pos = s->functions + i * function_bytes(s);
	base = s->vaddr + (s->from_field ? c.pos : 0);
	start = s->version < 3 ? (uint64_t)(int32_t)cursor_u32(&c) : cursor_u64(&c);
	ret->start = base + start;
	ret->bytes = cursor_u32(&c);
	rows = cursor_u32(&c);
	if (c.failed || rows > s->len - s->rows || !ret->bytes)
		return false;
	ret->rows = s->rows + rows;
	if (s->version == 3) {
		if (s->len - ret->rows < ATTRIBUTES_BYTES)
			return false;
		sframe_take_attributes(s, ret);
	} else {
		ret->nr_rows = cursor_u32(&c);
		ret->info = cursor_u8(&c);
		ret->repeat = s->version == 2 ? cursor_u8(&c) : X86_PLT_BYTES;
	}
	if (!(ret->info & INFO_MASK))
		ret->repeat = 0;
	return !c.failed && (ret->info & INFO_ADDRESS) <= 2;
}

bool sframe_is_signal(const struct sframe_function *f)
{
	return f->info & INFO_SIGNAL;
}

static int32_t take_offset(struct cursor *c, unsigned int size)
{
	switch (size) {
	case 0:
		return (int8_t)cursor_u8(c);
	case 1:
		return (int16_t)cursor_u16(c);
	case 2:
		return (int32_t)cursor_u32(c);
	default:
		c->failed = true;
		return 0;
	}
}

static void sframe_set(struct cfi_state *state, unsigned int slot, int32_t value)
{
	state->registers[slot] =
		(struct cfi_register){ .how = UNWIND_AT_CFA, .value = value };
}

/* Makes the state from the offsets of the frame, of the return address (unless it is fixed) and
 * of the frame pointer. Without any offset, the stack ends here. */
static void sframe_state_of(const struct sframe *s, unsigned int info,
			    const int32_t *offsets, unsigned int nr,
			    struct cfi_state *state)
{
	const struct unwind_arch *a = s->arch;
	unsigned int back = a->link == UNWIND_NO_REG ? a->pc : a->link;
	unsigned int next = 1;

	*state = (struct cfi_state){ .base = UNWIND_BASE_REG,
				     .reg = info & ROW_BASE_SP ? a->sp : a->fp };
	for (unsigned int i = 0; i < a->nr; i++)
		state->registers[i].how = CFI_SAME;
	if (!nr) {
		state->registers[back].how = UNWIND_UNDEFINED;
		return;
	}
	state->offset = offsets[0];
	if (s->fixed_return)
		sframe_set(state, back, s->fixed_return);
	else if (nr > next)
		sframe_set(state, back, offsets[next++]);
	if (s->fixed_fp)
		sframe_set(state, a->fp, s->fixed_fp);
	else if (nr > next)
		sframe_set(state, a->fp, offsets[next]);
}

static bool sframe_take_row(const struct sframe *s, const struct sframe_function *f,
			    struct cursor *c, uint32_t *ret_at,
			    struct cfi_state *ret_state)
{
	int32_t offsets[OFFSETS_MAX];
	unsigned int size = f->info & INFO_ADDRESS, info, nr;

	*ret_at = size == 0 ? cursor_u8(c) : size == 1 ? cursor_u16(c) : cursor_u32(c);
	info = cursor_u8(c);
	nr = info >> ROW_NR_SHIFT & ROW_NR;
	for (unsigned int i = 0; i < nr; i++)
		offsets[i] = take_offset(c, info >> ROW_SIZE_SHIFT & ROW_SIZE);
	sframe_state_of(s, info, offsets, nr, ret_state);
	/* Such rows contain pairs of registers and offsets, which are not supported. */
	if (f->is_flexible)
		ret_state->base = UNWIND_NONE;
	return !c->failed;
}

static int run_once(const struct sframe *s, const struct sframe_function *f,
		    uint64_t start, uint32_t bytes, cfi_row_fn fn, void *ctx)
{
	struct cursor c = cursor_of(s->bytes, s->len, s->swap);
	struct cfi_state state;
	uint32_t at, last = 0;
	int r = 0;

	c.pos = f->rows;
	for (uint32_t i = 0; i < f->nr_rows && !r; i++) {
		if (!sframe_take_row(s, f, &c, &at, &state) || at < last)
			return -EBADMSG;
		if (at >= bytes)
			break;
		last = at;
		r = fn(ctx, start + at, &state);
	}
	return r;
}

int sframe_run(const struct sframe *s, const struct sframe_function *f, cfi_row_fn fn,
	       void *ctx)
{
	uint32_t at = 0;
	int r = 0;

	if (!f->repeat)
		return run_once(s, f, f->start, f->bytes, fn, ctx);
	if (f->bytes / f->repeat > REPEATS_MAX)
		return -EBADMSG;
	while (!r && at < f->bytes) {
		uint32_t left = f->bytes - at;

		r = run_once(s, f, f->start + at, left < f->repeat ? left : f->repeat,
			     fn, ctx);
		at += f->repeat;
	}
	return r;
}

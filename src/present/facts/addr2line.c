/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/facts/addr2line.h"

#include <stdlib.h>
#include <string.h>

#include "base/digits.h"
#include "base/files/path.h"
#include "base/safe_text.h"
#include "resolve/symbols/demangle.h"

static void addr2line_out_put_text(struct buf *b, const char *text)
{
	buf_put(b, text, strlen(text));
}

#define PIECE_AT_MAX ((UINT64_C(1) << 36) - 1)
#define PIECE_LEN_MAX ((UINT64_C(1) << 28) - 1)

/* Returns the demangled name.  Each name is demangled only once: the cache key is the address of
 * the mangled string. */
static const char *demangled(struct addr2line_out *o, const char *name)
{
	struct map_slot *slot;
	bool is_new;

	if (!o->demangle || !demangle_wants(name))
		return name;
	slot = map_at(&o->by_name, (uintptr_t)name, 0, &is_new);
	if (!slot)
		return name;
	if (is_new) {
		char *text = demangle(name);

		if (!vec_push(&o->demangled, text)) {
			free(text);
			return name;
		}
		slot->value_plus_1 = (uint32_t)o->demangled.nr;
	}
	if (!slot->value_plus_1 || !o->demangled.at[slot->value_plus_1 - 1])
		return name;
	return o->demangled.at[slot->value_plus_1 - 1];
}

static void addr2line_out_put_function(struct addr2line_out *o, const char *name)
{
	const char *shown = name ? demangled(o, name) : "??";

	safe_text_put(&o->text, shown, strlen(shown), true);
	if (o->pretty)
		addr2line_out_put_text(&o->text, " at ");
	else
		buf_put_u8(&o->text, '\n');
}

static uint8_t *addr2line_out_copy(uint8_t *at, const void *bytes, size_t len)
{
	memcpy(at, bytes, len);
	return at + len;
}

static uint8_t *copy_number(uint8_t *at, uint64_t v)
{
	char digits[DIGITS_MAX];
	size_t nr = digits_of(digits, v);

	return addr2line_out_copy(at, digits + DIGITS_MAX - nr, nr);
}

static void addr2line_out_put_position(struct addr2line_out *o,
				       const struct line_frame *f)
{
	static const char discriminator[] = " (discriminator ";
	const char *file = f->file ? f->file : "??";
	uint8_t *at;

	if (o->base_names)
		file = path_base(file);
	safe_text_put(&o->text, file, strlen(file), true);
	if (!buf_reserve(&o->text, sizeof(discriminator) + 2 * DIGITS_MAX + 4))
		return;
	at = o->text.data + o->text.len;
	*at++ = ':';
	if (f->line)
		at = copy_number(at, f->line);
	else
		*at++ = '?';
	if (f->line && f->discriminator) {
		at = addr2line_out_copy(at, discriminator, sizeof(discriminator) - 1);
		at = copy_number(at, f->discriminator);
		*at++ = ')';
	}
	*at++ = '\n';
	o->text.len = (size_t)(at - o->text.data);
}

static void addr2line_out_put_unknown(struct addr2line_out *o)
{
	if (o->functions)
		addr2line_out_put_text(&o->text, o->pretty ? "?? " : "??\n");
	addr2line_out_put_text(&o->text, "??:0\n");
}

/* Uses the linkage name of the outermost function, from the symbol at its start if debug
 * information has none. */
static void name_outermost(struct addr2line_out *o, struct line_frame *f, uint64_t addr)
{
	struct addr2line_last *last = &o->last;
	struct line_symbol_name symbol;
	const char *plain = f->name;

	if (plain && f->linkage)
		return;
	if (plain && plain == last->plain && f->start == last->start) {
		f->name = last->symbol;
		return;
	}
	if (plain)
		addr = f->start;
	if (lines_symbol(o->lines, addr, plain, &symbol) &&
	    (!plain || symbol.addr == addr))
		f->name = symbol.name;
	last->start = f->start;
	last->plain = plain;
	last->symbol = f->name;
}

static void addr2line_out_put_address(struct addr2line_out *o, uint64_t shown)
{
	if (!o->addresses)
		return;
	addr2line_out_put_text(&o->text, "0x");
	buf_put_hex(&o->text, shown, 2 * lines_addr_bytes(o->lines));
	addr2line_out_put_text(&o->text, o->pretty ? ": " : "\n");
}

static void put_again(struct addr2line_out *o, const struct addr2line_piece *piece)
{
	if (buf_reserve(&o->text, piece->len))
		buf_put(&o->text, o->text.data + piece->at, piece->len);
}

static struct addr2line_piece piece_from(const struct addr2line_out *o, size_t at)
{
	return (struct addr2line_piece){ .at = at & PIECE_AT_MAX,
					 .len = (o->text.len - at) & PIECE_LEN_MAX };
}

static void addr2line_out_put_frames(struct addr2line_out *o, size_t nr)
{
	struct line_frame *frames = o->frames;
	struct addr2line_last *last = &o->last;
	size_t at = o->text.len;

	if (o->functions)
		addr2line_out_put_function(o, frames[0].name);
	last->name = piece_from(o, at);
	addr2line_out_put_position(o, &frames[0]);
	at = o->text.len;
	for (size_t i = 1; i < (o->inlines ? nr : 1); i++) {
		if (o->pretty)
			addr2line_out_put_text(&o->text, " (inlined by) ");
		if (o->functions)
			addr2line_out_put_function(o, frames[i].name);
		/* addr2line prints the innermost discriminator for all frames. */
		frames[i].discriminator = frames[0].discriminator;
		addr2line_out_put_position(o, &frames[i]);
	}
	last->callers = piece_from(o, at);
	last->discriminator = frames[0].discriminator;
}

/* Appends the answer for code without debug information, from the symbol table. */
static void addr2line_out_put_symbol(struct addr2line_out *o, uint64_t addr)
{
	struct line_symbol_name symbol;

	if (!lines_symbol(o->lines, addr, NULL, &symbol)) {
		addr2line_out_put_unknown(o);
		return;
	}
	o->frames[0] = (struct line_frame){ .name = symbol.name, .file = symbol.file };
	addr2line_out_put_frames(o, 1);
}

static void put_found(struct addr2line_out *o, uint64_t addr, size_t nr)
{
	struct line_frame *outermost = &o->frames[nr - 1];
	struct addr2line_last *last = &o->last;
	struct lines_reach reach;
	bool named = outermost->name || outermost->inlined || !o->functions;

	lines_reach(o->lines, &reach);
	if (reach.chain && reach.chain == last->chain &&
	    o->frames[0].discriminator == last->discriminator) {
		put_again(o, &last->name);
		addr2line_out_put_position(o, &o->frames[0]);
		put_again(o, &last->callers);
	} else {
		if (o->functions && !outermost->inlined)
			name_outermost(o, outermost, addr);
		addr2line_out_put_frames(o, nr);
	}
	/* The function's name can come from the symbol at exactly this address, so the chain is
	 * not valid for other addresses. */
	last->chain = named ? reach.chain : 0;
	last->low = reach.low;
	last->high = named && !o->addresses ? reach.high : 0;
}

struct addr2line_piece addr2line_out_put(struct addr2line_out *o, uint64_t addr,
					 uint64_t shown)
{
	size_t at = o->text.len;
	size_t nr;

	if (addr >= o->last.low && addr < o->last.high)
		return o->last.all;
	nr = lines_find(o->lines, addr, o->frames, ADDR2LINE_FRAMES_MAX);
	addr2line_out_put_address(o, shown);
	o->last.high = 0;
	if (nr) {
		put_found(o, addr, nr);
	} else {
		o->last.chain = 0;
		addr2line_out_put_symbol(o, addr);
	}
	o->last.all = piece_from(o, at);
	return o->last.all;
}

void addr2line_out_clear(struct addr2line_out *o)
{
	buf_clear(&o->text);
	o->last = (struct addr2line_last){ 0 };
}

void addr2line_out_done(struct addr2line_out *o)
{
	for (size_t i = 0; i < o->demangled.nr; i++)
		free(o->demangled.at[i]);
	vec_done(&o->demangled);
	map_done(&o->by_name);
	buf_done(&o->text);
}

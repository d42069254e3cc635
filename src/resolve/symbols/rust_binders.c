/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/symbols/rust_binders.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
	DEPTH_MAX = 200, /* slightly below libiberty's limit */
	/* The kinds of elements that begin at a position; a back reference must have the same
	 * kind. */
	BEGAN_PATH = 1,
	BEGAN_TYPE = 2,
	BEGAN_CONST = 4
};

struct rust_binders_walk {
	const char *text; /* after "_R"; back references are relative to it */
	size_t len;
	size_t at;
	uint8_t *began; /* BEGAN_... flags by position */
	unsigned int depth;
	bool bad;
	uint64_t nr_binders;
};

static void rust_binders_take_path(struct rust_binders_walk *w);
static void rust_binders_take_type(struct rust_binders_walk *w);
static void take_const(struct rust_binders_walk *w);

static char rust_binders_peek(const struct rust_binders_walk *w)
{
	if (w->at < w->len)
		return w->text[w->at];
	return '\0';
}

static char rust_binders_take(struct rust_binders_walk *w)
{
	if (w->at < w->len)
		return w->text[w->at++];
	w->bad = true;
	return '\0';
}

static bool take_if(struct rust_binders_walk *w, char c)
{
	if (w->bad || rust_binders_peek(w) != c)
		return false;
	w->at++;
	return true;
}

/* Begins a nested part of the name. Returns false, and sets `bad`, if the nesting is too deep. */
static bool rust_binders_enter(struct rust_binders_walk *w, uint8_t kind)
{
	if (w->bad || w->depth >= DEPTH_MAX) {
		w->bad = true;
		return false;
	}
	if (w->at < w->len)
		w->began[w->at] |= kind;
	w->depth++;
	return true;
}

static int base62_digit(char c)
{
	if (isdigit((unsigned char)c))
		return c - '0';
	if (islower((unsigned char)c))
		return c - 'a' + 10;
	return isupper((unsigned char)c) ? c - 'A' + 36 : -1;
}

/* Parses a number: "_" is 0, "0_" is 1, ...; UINT64_MAX after an overflow. */
static uint64_t take_base62(struct rust_binders_walk *w)
{
	uint64_t v = 0;
	bool many = false;

	if (take_if(w, '_'))
		return 0;
	for (;;) {
		char c = rust_binders_take(w);
		int digit = base62_digit(c);

		if (c == '_')
			return many || v >= UINT64_MAX - 1 ? UINT64_MAX : v + 1;
		if (digit < 0) {
			w->bad = true;
			return UINT64_MAX;
		}
		many = many || __builtin_mul_overflow(v, 62, &v) ||
		       __builtin_add_overflow(v, (uint64_t)digit, &v);
	}
}

static void take_binder(struct rust_binders_walk *w)
{
	uint64_t more;

	if (!take_if(w, 'G'))
		return;
	more = take_base62(w);
	if (more == UINT64_MAX ||
	    __builtin_add_overflow(w->nr_binders, more + 1, &w->nr_binders))
		w->nr_binders = UINT64_MAX;
}

static void take_lifetime(struct rust_binders_walk *w)
{
	if (take_if(w, 'L'))
		take_base62(w);
}

static void take_disambiguator(struct rust_binders_walk *w)
{
	if (take_if(w, 's'))
		take_base62(w);
}

/* Reads an identifier: [u] LENGTH [_] BYTES. */
static void take_plain_name(struct rust_binders_walk *w)
{
	size_t bytes = 0;

	take_if(w, 'u');
	if (!isdigit((unsigned char)rust_binders_peek(w)))
		w->bad = true;
	/* A number begins with 0 only if it is 0. */
	if (!take_if(w, '0')) {
		while (isdigit((unsigned char)rust_binders_peek(w)) && bytes <= w->len)
			bytes = bytes * 10 + (size_t)(rust_binders_take(w) - '0');
	}
	take_if(w, '_');
	if (w->bad || bytes > w->len - w->at)
		w->bad = true;
	else
		w->at += bytes;
}

static void rust_binders_take_name(struct rust_binders_walk *w)
{
	take_disambiguator(w);
	take_plain_name(w);
}

/* Reads a reference after its letter B. */
static void take_reference(struct rust_binders_walk *w, uint8_t kind)
{
	size_t from = w->at - 1;
	uint64_t to = take_base62(w);

	if (to >= from || !(w->began[to] & kind))
		w->bad = true;
}

static void take_generic_args(struct rust_binders_walk *w)
{
	while (!w->bad && !take_if(w, 'E')) {
		if (rust_binders_peek(w) == 'L')
			take_lifetime(w);
		else if (take_if(w, 'K'))
			take_const(w);
		else
			rust_binders_take_type(w);
	}
}

static void take_impl_path(struct rust_binders_walk *w)
{
	take_disambiguator(w);
	rust_binders_take_path(w);
}

static void rust_binders_take_path(struct rust_binders_walk *w)
{
	if (!rust_binders_enter(w, BEGAN_PATH))
		return;
	switch (rust_binders_take(w)) {
	case 'C':
		rust_binders_take_name(w);
		break;
	case 'M':
		take_impl_path(w);
		rust_binders_take_type(w);
		break;
	case 'X':
		take_impl_path(w);
		rust_binders_take_type(w);
		rust_binders_take_path(w);
		break;
	case 'Y':
		rust_binders_take_type(w);
		rust_binders_take_path(w);
		break;
	case 'N':
		if (!isalpha((unsigned char)rust_binders_take(w)))
			w->bad = true;
		rust_binders_take_path(w);
		rust_binders_take_name(w);
		break;
	case 'I':
		rust_binders_take_path(w);
		take_generic_args(w);
		break;
	case 'B':
		take_reference(w, BEGAN_PATH);
		break;
	default:
		w->bad = true;
	}
	w->depth--;
}

static void take_types(struct rust_binders_walk *w)
{
	while (!w->bad && !take_if(w, 'E'))
		rust_binders_take_type(w);
}

static void rust_binders_take_function(struct rust_binders_walk *w)
{
	take_binder(w);
	take_if(w, 'U');
	if (take_if(w, 'K') && !take_if(w, 'C'))
		take_plain_name(w);
	take_types(w);
	rust_binders_take_type(w);
}

static void take_dyn(struct rust_binders_walk *w)
{
	take_binder(w);
	while (!w->bad && !take_if(w, 'E')) {
		rust_binders_take_path(w);
		while (take_if(w, 'p')) {
			take_plain_name(w);
			rust_binders_take_type(w);
		}
	}
	if (rust_binders_peek(w) != 'L')
		w->bad = true;
	take_lifetime(w);
}

static void take_type_after(struct rust_binders_walk *w, char c)
{
	switch (c) {
	case 'A':
		rust_binders_take_type(w);
		take_const(w);
		break;
	case 'R':
	case 'Q':
		take_lifetime(w);
		rust_binders_take_type(w);
		break;
	case 'S':
	case 'P':
	case 'O':
		rust_binders_take_type(w);
		break;
	case 'F':
		rust_binders_take_function(w);
		break;
	case 'D':
		take_dyn(w);
		break;
	case 'T':
		take_types(w);
		break;
	case 'B':
		take_reference(w, BEGAN_PATH | BEGAN_TYPE);
		break;
	default:
		w->bad = true;
	}
}

static void rust_binders_take_type(struct rust_binders_walk *w)
{
	char c = rust_binders_peek(w);

	if (c && strchr("CMXYNI", c)) {
		if (rust_binders_enter(w, BEGAN_TYPE)) {
			rust_binders_take_path(w);
			w->depth--;
		}
		return;
	}
	if (!rust_binders_enter(w, BEGAN_TYPE))
		return;
	c = rust_binders_take(w);
	if (!islower((unsigned char)c))
		take_type_after(w, c);
	w->depth--;
}

static void rust_binders_take_hex(struct rust_binders_walk *w)
{
	take_if(w, 'n');
	while (isxdigit((unsigned char)rust_binders_peek(w)) &&
	       !isupper((unsigned char)rust_binders_peek(w)))
		w->at++;
	if (!take_if(w, '_'))
		w->bad = true;
}

static void take_const(struct rust_binders_walk *w)
{
	char c;

	if (!rust_binders_enter(w, BEGAN_CONST))
		return;
	c = rust_binders_take(w);
	/* Constants are integers, bool and char; p is a placeholder. */
	if (c == 'B')
		take_reference(w, BEGAN_CONST);
	else if (c && strchr("abchijlmnostxy", c))
		rust_binders_take_hex(w);
	else if (c != 'p')
		w->bad = true;
	w->depth--;
}

/* Parses a whole symbol. The name can be followed by a suffix of a compiler (".llvm.123"). */
static void rust_binders_take_symbol(struct rust_binders_walk *w)
{
	rust_binders_take_path(w);
	if (!w->bad && isupper((unsigned char)rust_binders_peek(w)))
		rust_binders_take_path(w); /* the crate that instantiates it */
	if (rust_binders_peek(w) && rust_binders_peek(w) != '.' &&
	    rust_binders_peek(w) != '$')
		w->bad = true;
}

int rust_binders(const char *name, uint64_t *ret_nr)
{
	struct rust_binders_walk w = { .text = name + 2 };

	if (strncmp(name, "_R", 2) != 0)
		return -EBADMSG;
	w.len = strlen(w.text);
	w.began = calloc(w.len + 1, 1);
	if (!w.began)
		return -EBADMSG;
	rust_binders_take_symbol(&w);
	free(w.began);
	if (w.bad)
		return -EBADMSG;
	*ret_nr = w.nr_binders;
	return 0;
}

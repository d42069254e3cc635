/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/lines/elide.h"

#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "present/lines/screen.h"

enum {
	/* Nesting depth of brackets; deeper names are not parsed. */
	MAX_DEPTH = 64,
	MAX_BRACKET_BYTES = 16384 /* longer names are not parsed for brackets */
};

struct elide_text {
	const char *at;
	size_t len;
};

struct dots {
	struct elide_text text;
	size_t columns;
};

static struct dots dots_of(bool utf8)
{
	return utf8 ? (struct dots){ { "\xe2\x80\xa6", 3 }, 1 }
		    : (struct dots){ { "...", 3 }, 3 };
}

static void elide_append(struct buf *out, struct elide_text t)
{
	buf_put(out, t.at, t.len);
}

/* Returns the length of the character at `at`, and its width in *ret_columns. */
static size_t elide_step(struct elide_text t, size_t at, size_t *ret_columns)
{
	uint32_t code = 0;
	size_t len = utf8_next(t.at + at, t.len - at, &code);

	*ret_columns = len ? utf8_columns(code) : 1;
	return len ? len : 1;
}

/* Returns the longest prefix that fits, including combining marks after its last character. */
static struct elide_text beginning(struct elide_text t, size_t columns)
{
	size_t at = 0;

	while (at < t.len) {
		size_t wide;
		size_t len = elide_step(t, at, &wide);

		if (wide > columns)
			break;
		columns -= wide;
		at += len;
	}
	return (struct elide_text){ t.at, at };
}

/* Returns the longest suffix that fits and does not begin with a combining mark. */
static struct elide_text ending(struct elide_text t, size_t columns)
{
	size_t left = screen_columns(t.at, t.len);
	size_t at = 0;

	while (at < t.len) {
		size_t wide;
		size_t len = elide_step(t, at, &wide);

		if (left <= columns && wide)
			break;
		left -= wide;
		at += len;
	}
	return (struct elide_text){ t.at + at, t.len - at };
}

static void put_without_middle(struct buf *out, struct elide_text t, size_t columns,
			       const struct dots *dots)
{
	struct elide_text first;
	struct elide_text last;
	size_t room;

	if (columns < dots->columns + 2) {
		elide_append(out, beginning(t, columns));
		return;
	}
	room = columns - dots->columns;
	first = beginning(t, room - room / 2);
	last = ending(t, room / 2);
	/* Avoid a double ellipsis if shortening the brackets left one here. */
	if (first.len > dots->text.len && !memcmp(first.at + first.len - dots->text.len,
						  dots->text.at, dots->text.len))
		first.len -= dots->text.len;
	elide_append(out, first);
	elide_append(out, dots->text);
	elide_append(out, last);
}

/* Keeps whole directories from the left and the last component.  Returns false if the last
 * component alone is too long. */
static bool elide_put_path(struct buf *out, struct elide_text t, size_t columns,
			   const struct dots *dots)
{
	const char *slash = memrchr(t.at, '/', t.len);
	struct elide_text last = { slash, (size_t)(t.at + t.len - slash) };
	size_t wanted = dots->columns + screen_columns(last.at, last.len);
	struct elide_text first;

	if (last.len == 1 || wanted > columns)
		return false;
	first = beginning(t, columns - wanted);
	while (first.len && first.at[first.len - 1] != '/')
		first.len--;
	elide_append(out, first);
	elide_append(out, dots->text);
	elide_append(out, last);
	return true;
}

static bool is_name_character(char c)
{
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z');
}

/* Returns the length of text that looks like a bracket but is not one (operator<<, operator(),
 * the arrow of a return type), or of "(anonymous namespace)", which is always kept.  Returns 0
 * if the text at `at` must be examined. */
static size_t skip_length(struct elide_text t, size_t at)
{
	static const char operator[] = "operator";
	static const char anonymous[] = "(anonymous namespace)";
	size_t len = sizeof(operator) - 1;
	const char *s = t.at + at;
	size_t left = t.len - at;

	if (left >= 2 && s[1] == '>' && (s[0] == '-' || s[0] == '='))
		return 2;
	if (left >= sizeof(anonymous) - 1 &&
	    !memcmp(s, anonymous, sizeof(anonymous) - 1))
		return sizeof(anonymous) - 1;
	if (left <= len || memcmp(s, operator, len) != 0 ||
	    (at && is_name_character(s[-1])))
		return 0;
	if (left >= len + 2 && !memcmp(s + len, "()", 2))
		return len + 2;
	while (len < left && s[len] && strchr("<>=-!+*/%^&|~", s[len]))
		len++;
	return len;
}

/* The brackets that are open at a position in a name. */
struct brackets {
	char closing[MAX_DEPTH];
	size_t depth;
	bool bad; /* unbalanced, or nested too deeply */
};

/* Returns 1 if a bracket opens here, -1 if one closes, 0 otherwise. */
static int brackets_step(struct brackets *b, struct elide_text t, size_t at)
{
	char c = t.at[at];

	/* As in "anon (range ...)": a bracket after a blank does not begin a parameter list. */
	b->bad |= c == '(' && !b->depth && at && t.at[at - 1] == ' ';
	if (c == '<' || c == '(') {
		b->bad |= b->depth == MAX_DEPTH;
		if (b->bad)
			return 0;
		b->closing[b->depth++] = c == '<' ? '>' : ')';
		return 1;
	}
	if (c != '>' && c != ')')
		return 0;
	b->bad |= !b->depth || b->closing[b->depth - 1] != c;
	if (b->bad)
		return 0;
	b->depth--;
	return -1;
}

/* Returns the depth of the innermost brackets, or 0 if there are no brackets or they are
 * unbalanced. */
static size_t bracket_depth(struct elide_text t)
{
	struct brackets b = { 0 };
	size_t deepest = 0;

	for (size_t i = 0; i < t.len && !b.bad;) {
		size_t skip = skip_length(t, i);

		if (!skip && brackets_step(&b, t, i) > 0 && b.depth > deepest)
			deepest = b.depth;
		i += skip ? skip : 1;
	}
	return b.bad || b.depth ? 0 : deepest;
}

/* Replaces the contents of brackets at the given depth, or deeper, with an ellipsis. */
static void put_without_brackets(struct buf *out, struct elide_text t, size_t depth,
				 const struct dots *dots)
{
	struct brackets b = { 0 };
	size_t inside = 0; /* where the current bracket's contents begin */

	for (size_t i = 0; i < t.len;) {
		size_t skip = skip_length(t, i);
		int step = skip ? 0 : brackets_step(&b, t, i);

		if (step < 0 && b.depth == depth - 1) {
			struct elide_text inner = { t.at + inside, i - inside };

			elide_append(out,
				     screen_columns(inner.at, inner.len) > dots->columns
					     ? dots->text
					     : inner);
		}
		skip = skip ? skip : 1;
		if (b.depth < depth || (step > 0 && b.depth == depth))
			buf_put(out, t.at + i, skip);
		i += skip;
		if (step > 0 && b.depth == depth)
			inside = i;
	}
}

/* Shortens the fewest brackets that make the name fit, and writes the result to `out`.  If none
 * suffices, `out` has the shortest form.  Returns false if there are no brackets. */
static bool shorten_brackets(struct buf *out, struct elide_text t, size_t columns,
			     const struct dots *dots)
{
	size_t depth = t.len > MAX_BRACKET_BYTES ? 0 : bracket_depth(t);

	if (!depth)
		return false;
	for (; depth; depth--) {
		buf_clear(out);
		put_without_brackets(out, t, depth, dots);
		if (out->failed ||
		    screen_columns((const char *)out->data, out->len) <= columns)
			break;
	}
	return true;
}

static void put_shorter(struct buf *out, struct elide_text t, size_t columns,
			const struct dots *dots)
{
	struct buf shorter = { 0 };

	if (shorten_brackets(&shorter, t, columns, dots))
		t = (struct elide_text){ (const char *)shorter.data, shorter.len };
	if (shorter.failed)
		out->failed = true;
	else if (screen_columns(t.at, t.len) <= columns)
		elide_append(out, t);
	else
		put_without_middle(out, t, columns, dots);
	buf_done(&shorter);
}

size_t elide_put(struct buf *out, const char *text, size_t len, size_t columns,
		 bool utf8)
{
	const struct dots dots = dots_of(utf8);
	const struct elide_text t = { text, len };
	size_t natural = screen_columns(text, len);
	size_t from = out->len;

	if (natural <= columns) {
		elide_append(out, t);
		return natural;
	}
	if (*text != '/' || !elide_put_path(out, t, columns, &dots))
		put_shorter(out, t, columns, &dots);
	if (out->failed || out->len == from)
		return 0;
	return screen_columns((const char *)out->data + from, out->len - from);
}

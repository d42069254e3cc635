/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/unwind/stack_rest.h"

#include <string.h>

#include "resolve/unwind/unwind.h"

enum {
	/* Maximum distance of stack addresses from the copy. */
	STACK_MAX_BYTES = 64 << 20,
	/* Return addresses farther from the end are not compared. */
	CHECK_MAX_BYTES = 16384,
	CHECK_END_BYTES = 2048
};

void stack_rest_begin(struct stack_rest *s, const struct unwind_window *window,
		      bool is64)
{
	s->window = window;
	s->bytes_of_word = is64 ? 8 : 4;
	s->nr_notes = 0;
	s->checked = s->agrees = false;
	s->len = 0;
}

/* Loads a word of 4 or 8 bytes; returns false for other sizes. Uses this machine's byte order: the
 * memory belongs to this machine. */
static bool stack_rest_take(const uint8_t *from, unsigned int bytes,
			    uint64_t *ret_value)
{
	uint32_t v4;

	if (bytes == sizeof(*ret_value)) {
		memcpy(ret_value, from, sizeof(*ret_value));
		return true;
	}
	if (bytes != sizeof(v4))
		return false;
	memcpy(&v4, from, sizeof(v4));
	*ret_value = v4;
	return true;
}

static void stack_rest_fetch(struct stack_rest *s, uint64_t address)
{
	s->start = address;
	s->len = s->copy(s->ctx, s->pid, address, s->bytes, sizeof(s->bytes));
}

/* Returns whether the end of the copy equals the memory. Used if the current frame reaches beyond
 * the copy, so that no return address of the copy was read. */
static bool check_end(struct stack_rest *s, uint64_t end)
{
	const struct unwind_window *w = s->window;
	size_t len = w->len < CHECK_END_BYTES ? w->len : CHECK_END_BYTES;

	stack_rest_fetch(s, end - len);
	return len && s->len > len && !memcmp(s->bytes, w->bytes + (w->len - len), len);
}

static unsigned int note_count(const struct stack_rest *s)
{
	return s->nr_notes < STACK_REST_NOTES ? s->nr_notes : STACK_REST_NOTES;
}

/* Sets *ret_word to the i-th noted word of the copy. Returns false if that word need not be
 * compared: it is too far from the end of the copy, or not a code address. */
static bool noted_return(const struct stack_rest *s, unsigned int i, uint64_t end,
			 uint64_t *ret_word)
{
	uint64_t at = s->notes[i];

	return end - at <= CHECK_MAX_BYTES &&
	       stack_rest_take(s->window->bytes + (at - s->window->start),
			       s->bytes_of_word, ret_word) &&
	       s->is_code(s->code_ctx, *ret_word);
}

/* Returns whether the memory of the process still contains the return addresses that were read
 * from the copy; if none was read, compares the end of the copy. The memory that it reads is
 * kept in s->bytes. */
static bool stack_rest_check(struct stack_rest *s)
{
	uint64_t end = s->window->start + s->window->len;
	uint64_t first = end, before, now;

	for (unsigned int i = 0; i < note_count(s); i++)
		if (noted_return(s, i, end, &before) && s->notes[i] < first)
			first = s->notes[i];
	if (first == end)
		return check_end(s, end);
	stack_rest_fetch(s, first);
	for (unsigned int i = 0; i < note_count(s); i++) {
		uint64_t at = s->notes[i] - first;

		if (!noted_return(s, i, end, &before))
			continue;
		if (at + s->bytes_of_word > s->len ||
		    !stack_rest_take(s->bytes + at, s->bytes_of_word, &now) ||
		    now != before)
			return false;
	}
	return true;
}

bool stack_rest_read(void *ctx, uint64_t address, unsigned int bytes,
		     uint64_t *ret_value)
{
	struct stack_rest *s = ctx;
	const struct unwind_window *w = s->window;
	uint64_t at = address - w->start;

	if (address < w->start || at > STACK_MAX_BYTES)
		return false;
	if (at <= w->len && bytes <= w->len - at) {
		if (bytes == s->bytes_of_word)
			s->notes[s->nr_notes++ % STACK_REST_NOTES] = address;
		return stack_rest_take(w->bytes + at, bytes, ret_value);
	}
	if (!s->checked)
		s->agrees = stack_rest_check(s);
	s->checked = true;
	if (!s->agrees)
		return false;
	if (address < s->start || address - s->start + bytes > s->len)
		stack_rest_fetch(s, address);
	return address - s->start + bytes <= s->len &&
	       stack_rest_take(s->bytes + (address - s->start), bytes, ret_value);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/foreign/perf_script_head.h"

#include <ctype.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"

enum {
	NS_DIGITS = 9,
	US_DIGITS = 6,
	WORDS_MAX = 32, /* number of words examined at the start of a line */
	ADDRESS_WIDTH = 16,
	PERIOD_WIDTH = 10,
	COMM_WIDTH = 16
};

/* The words at the start of a line. */
struct script_words {
	struct foreign_word at[WORDS_MAX];
	size_t nr;
	const char *begin; /* start of the line */
	const char *end;
};

static bool script_word_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static struct script_words script_words_of(struct foreign_word line)
{
	struct script_words w = { .begin = line.at, .end = line.at + line.len };
	const char *at = line.at;

	while (w.nr < WORDS_MAX) {
		const char *begin;

		while (at < w.end && script_word_is_blank(*at))
			at++;
		if (at == w.end)
			break;
		begin = at;
		while (at < w.end && !script_word_is_blank(*at))
			at++;
		w.at[w.nr++] = (struct foreign_word){ begin, (size_t)(at - begin) };
	}
	return w;
}

/* Returns the width of a right-aligned word: its length, and that of the blanks before it. */
static size_t script_word_width(struct foreign_word w, const char *line)
{
	const char *begin = w.at;

	while (begin > line && begin[-1] == ' ')
		begin--;
	return (size_t)(w.at - begin) + w.len;
}

/* ---- fields ---- */

/* Parses "17" or "17/18" (process and thread), or -1, which means unknown. Returns false if the
 * word has another form. */
static bool script_word_take_ids(struct foreign_word w, struct foreign_sample *s)
{
	const char *slash = memchr(w.at, '/', w.len);
	size_t len = slash ? (size_t)(slash - w.at) : w.len;
	uint64_t pid, tid;

	if (w.len && w.at[0] == '-') /* -1: unknown */
		return w.len >= 2 && isdigit((unsigned char)w.at[1]);
	if (!foreign_number((struct foreign_word){ w.at, len }, &pid))
		return false;
	tid = pid;
	if (slash &&
	    !foreign_number((struct foreign_word){ slash + 1, w.len - len - 1 }, &tid))
		return false;
	if (pid > INT32_MAX || tid > INT32_MAX)
		return false;
	s->pid = (int64_t)pid;
	s->tid = (int64_t)tid;
	return true;
}

/* Parses a CPU such as "[003]". Returns false if the word has another form. */
static bool script_word_take_cpu(struct foreign_word w, struct foreign_sample *s)
{
	uint64_t cpu;

	if (w.len < 3 || w.at[0] != '[' || w.at[w.len - 1] != ']' ||
	    !foreign_number((struct foreign_word){ w.at + 1, w.len - 2 }, &cpu) ||
	    cpu > INT32_MAX)
		return false;
	s->cpu = (int64_t)cpu;
	return true;
}

/* Parses a time such as "12.345678:", with 1 to 9 digits after the dot. Returns false if the word
 * has another form. */
static bool script_word_take_time(struct foreign_word w, struct foreign_sample *s)
{
	const char *dot = memchr(w.at, '.', w.len);
	uint64_t seconds, part;
	size_t digits;

	if (!dot || w.at[w.len - 1] != ':')
		return false;
	digits = w.len - 2 - (size_t)(dot - w.at);
	if (!digits || digits > NS_DIGITS ||
	    !foreign_number((struct foreign_word){ w.at, (size_t)(dot - w.at) },
			    &seconds) ||
	    !foreign_number((struct foreign_word){ dot + 1, digits }, &part))
		return false;
	for (; digits < NS_DIGITS; digits++)
		part *= 10;
	return !__builtin_mul_overflow(seconds, NS_PER_S, &seconds) &&
	       !__builtin_add_overflow(seconds, part, &s->time_ns);
}

/* Returns whether a word is the field of -F misc: a letter for the CPU mode, then letters for
 * flags of records. */
static bool script_word_is_misc(struct foreign_word w)
{
	static const char modes[] = "KUHGgE", flags[] = "MESFDpP";

	if (!w.len || !memchr(modes, w.at[0], sizeof(modes) - 1))
		return false;
	for (size_t i = 1; i < w.len; i++)
		if (!memchr(flags, w.at[i], sizeof(flags) - 1))
			return false;
	return true;
}

static bool script_word_is_time_of_day(struct foreign_word w)
{
	return w.len >= 8 && w.at[2] == ':' && w.at[5] == ':' &&
	       isdigit((unsigned char)w.at[0]) && isdigit((unsigned char)w.at[7]);
}

static bool script_word_is_date(struct foreign_word w)
{
	return w.len == 10 && w.at[4] == '-' && w.at[7] == '-' &&
	       isdigit((unsigned char)w.at[0]);
}

static bool script_word_is_event(struct foreign_word w)
{
	/* -F insn */
	if (w.len == 5 && (!memcmp(w.at, "insn:", 5) || !memcmp(w.at, "ilen:", 5)))
		return false;
	return w.len >= 2 && w.at[w.len - 1] == ':' && !isdigit((unsigned char)w.at[0]);
}

bool script_head_is_hex(struct foreign_word text)
{
	size_t i = 0;

	while (i < text.len && isxdigit((unsigned char)text.at[i]))
		i++;
	return i && i <= ADDRESS_WIDTH &&
	       (i == text.len || script_word_is_blank(text.at[i]));
}

bool script_head_is_wide_frame(struct foreign_word line)
{
	struct foreign_word w = { line.at + 1, line.len - 1 };

	if (!line.len || line.at[0] != '\t')
		return false;
	while (w.len && *w.at == ' ')
		w = (struct foreign_word){ w.at + 1, w.len - 1 };
	if (!script_head_is_hex(w))
		return false;
	for (size_t i = 0; i < w.len && *w.at != ' '; i++)
		w = (struct foreign_word){ w.at + 1, w.len - 1 };
	return (size_t)(w.at - line.at) > ADDRESS_WIDTH;
}

/* Finds the last address in `other` that is right-aligned to perf's column width. Returns the
 * rest of the line from this address on, or an empty word. */
static struct foreign_word script_head_wide_address(struct foreign_word other)
{
	const char *end = other.at + other.len;
	struct foreign_word found = { end, 0 };

	for (const char *at = end; at > other.at; at--) {
		struct foreign_word w = { at - 1, (size_t)(end - at + 1) };

		if (script_word_is_blank(*w.at) ||
		    (at - 1 > other.at && at[-2] != ' ') || !script_head_is_hex(w))
			continue;
		for (w.len = 0; w.at + w.len < end && w.at[w.len] != ' ';)
			w.len++;
		if (script_word_width(w, other.at) <= ADDRESS_WIDTH)
			continue;
		found = (struct foreign_word){ w.at, (size_t)(end - w.at) };
		/* Continue the search at a number: a physical address and page sizes can follow
		 * the frame. */
		if (found.len > w.len + 1 && !isdigit((unsigned char)w.at[w.len + 1]))
			break;
	}
	return found;
}

struct foreign_word script_head_last_frame(struct foreign_word other)
{
	struct foreign_word found = script_head_wide_address(other);

	if (found.len)
		return found;
	/* The columns of some texts are not aligned: accept an address at the start. */
	while (other.len && script_word_is_blank(*other.at))
		other = (struct foreign_word){ other.at + 1, other.len - 1 };
	return script_head_is_hex(other) ? other : found;
}

/* ---- the fields before the time or the event ---- */

/* Parses words[0] to words[nr - 1], backwards: the words that remain at the start are the
 * command. */
static void script_head_take_front(const struct script_head *head,
				   const struct script_words *w, size_t nr,
				   struct foreign_sample *s)
{
	size_t first = 0;

	if (nr >= 2 && w->at[0].len == 3 && !memcmp(w->at[0].at, "VM:", 3))
		first = 2;
	if (nr > first && w->at[first].len > 5 && !memcmp(w->at[first].at, "VCPU:", 5))
		first++;
	if (nr >= first + 2 && script_word_is_time_of_day(w->at[nr - 1]) &&
	    script_word_is_date(w->at[nr - 2]))
		nr -= 2;
	/* "K" can also be a command, so the previous word must be a number or a CPU. */
	if (nr > first && script_word_is_misc(w->at[nr - 1]) &&
	    (nr - 1 == first || isdigit((unsigned char)w->at[nr - 1].at[-1]) ||
	     isdigit((unsigned char)w->at[nr - 2].at[w->at[nr - 2].len - 1]) ||
	     w->at[nr - 2].at[w->at[nr - 2].len - 1] == ']'))
		nr--;
	if (nr > first && script_word_take_cpu(w->at[nr - 1], s))
		nr--;
	if (!head->no_ids && nr > first && script_word_take_ids(w->at[nr - 1], s))
		nr--;
	if (nr > first)
		s->comm = (struct foreign_word){
			w->at[first].at,
			(size_t)(w->at[nr - 1].at + w->at[nr - 1].len - w->at[first].at)
		};
}

static struct foreign_word script_words_from(const struct script_words *w, size_t nr)
{
	const char *at = nr ? w->at[nr - 1].at + w->at[nr - 1].len : w->end;

	return (struct foreign_word){ at, (size_t)(w->end - at) };
}

/* Parses "PERIOD EVENT:", both optional, from words[i] on. Returns the index of the next word. */
static size_t script_head_take_period(const struct script_words *w, size_t i,
				      struct foreign_sample *s)
{
	uint64_t period;
	bool has_period = i < w->nr && foreign_number(w->at[i], &period);

	/* Without an event after it, the number could be an address. */
	if (has_period && ((i + 1 < w->nr && (script_word_is_event(w->at[i + 1]) ||
					      script_head_is_hex(w->at[i + 1]))) ||
			   i + 1 == w->nr)) {
		s->period = period;
		i++;
	}
	if (i < w->nr && script_word_is_event(w->at[i])) {
		s->event = (struct foreign_word){ w->at[i].at, w->at[i].len - 1 };
		i++;
	}
	return i;
}

/* Parses a line "COMM ... TIME: ...", whose time is word `at`. Returns false if the line does not
 * look like the first line of a sample. */
static bool script_head_at_time(const struct script_head *head,
				const struct script_words *w, size_t at,
				struct foreign_sample *s,
				struct foreign_word *ret_other)
{
	size_t digits =
		w->at[at].len - 2 -
		(size_t)((const char *)memchr(w->at[at].at, '.', w->at[at].len) -
			 w->at[at].at);
	bool is_exact = digits == US_DIGITS || digits == NS_DIGITS;
	size_t next;

	script_head_take_front(head, w, at, s);
	next = script_head_take_period(w, at + 1, s);
	*ret_other = script_words_from(w, next);
	/* perf prints 6 or 9 digits. A number with fewer digits, as in "2.1: Title", needs more
	 * evidence. */
	return is_exact || (s->tid >= 0 && s->event.len) ||
	       (at && w->at[at - 1].at[0] == '-') || (s->cpu >= 0 && s->event.len);
}

/* Parses a line "COMM ... EVENT: ...", whose event is word `at`. Returns false if the line does
 * not begin a sample. */
static bool script_head_at_event(const struct script_head *head,
				 const struct script_words *w, size_t at,
				 struct foreign_sample *s,
				 struct foreign_word *ret_other)
{
	struct foreign_word event = { w->at[at].at, w->at[at].len - 1 };
	size_t nr = at;
	uint64_t period;

	if (nr && foreign_number(w->at[nr - 1], &period) &&
	    (script_word_width(w->at[nr - 1], w->begin) >= PERIOD_WIDTH ||
	     (nr >= 2 &&
	      script_word_take_ids(w->at[nr - 2], &(struct foreign_sample){ 0 })))) {
		s->period = period;
		nr--;
	}
	script_head_take_front(head, w, nr, s);
	s->event = event;
	*ret_other = script_words_from(w, at + 1);
	if (memchr(event.at, ':', event.len) && event.at[event.len - 1] != ':')
		return true;
	/* Lines of other texts can also contain a word with a colon. After an event, perf prints a
	 * blank or an address. */
	return s->cpu >= 0 || (ret_other->len && at + 1 == w->nr) ||
	       script_head_wide_address(*ret_other).len ||
	       (ret_other->len && w->end[-1] == ')' &&
		script_head_last_frame(*ret_other).len);
}

static bool script_head_parse_marked(const struct script_head *head,
				     const struct script_words *w,
				     struct foreign_sample *ret_sample,
				     struct foreign_word *ret_other)
{
	const struct foreign_sample none = { .pid = -1, .tid = -1, .cpu = -1 };

	for (size_t i = 0; i < w->nr; i++) {
		struct foreign_sample s = none;

		if (script_word_take_time(w->at[i], &s)) {
			*ret_sample = s;
			return script_head_at_time(head, w, i, ret_sample, ret_other);
		}
	}
	for (size_t i = 0; i < w->nr; i++) {
		*ret_sample = none;
		if (script_word_is_event(w->at[i]) &&
		    script_head_at_event(head, w, i, ret_sample, ret_other))
			return true;
	}
	return false;
}

/* ---- lines without time and event ---- */

/* Returns the index of the word that is an address of perf's width, or `nr`. */
static size_t script_words_address(const struct script_words *w)
{
	for (size_t i = 0; i < w->nr; i++)
		if (script_head_is_hex(w->at[i]) &&
		    script_word_width(w->at[i], w->begin) > ADDRESS_WIDTH)
			return i;
	return w->nr;
}

static bool script_head_parse_columns(const struct script_head *head,
				      const struct script_words *w,
				      struct foreign_sample *s,
				      struct foreign_word *ret_other)
{
	size_t address = script_words_address(w);
	size_t nr = address;
	uint64_t period;

	*s = (struct foreign_sample){ .pid = -1, .tid = -1, .cpu = -1 };
	if (nr && foreign_number(w->at[nr - 1], &period) &&
	    script_word_width(w->at[nr - 1], w->begin) >= PERIOD_WIDTH) {
		s->period = period;
		nr--;
	}
	script_head_take_front(head, w, nr, s);
	*ret_other =
		address == w->nr
			? (struct foreign_word){ w->end, 0 }
			: (struct foreign_word){ w->at[address].at,
						 (size_t)(w->end - w->at[address].at) };
	if (head->layout == SCRIPT_LAYOUT_STACKS)
		return w->nr;
	if (address < w->nr)
		return true;
	/* Without an address: perf ends every field with a blank, and aligns commands to the
	 * right. */
	return w->nr && w->end[-1] == ' ' &&
	       (s->comm.len
			? (size_t)(s->comm.at + s->comm.len - w->begin) == COMM_WIDTH
			: s->tid >= 0 || s->cpu >= 0 || s->period);
}

bool script_head_parse(const struct script_head *head, struct foreign_word line,
		       struct foreign_sample *ret_sample,
		       struct foreign_word *ret_other)
{
	const struct script_words w = script_words_of(line);

	switch (head->layout) {
	case SCRIPT_LAYOUT_MARKED:
		return script_head_parse_marked(head, &w, ret_sample, ret_other);
	case SCRIPT_LAYOUT_STACKS:
	case SCRIPT_LAYOUT_LINES:
		return script_head_parse_columns(head, &w, ret_sample, ret_other);
	case SCRIPT_LAYOUT_NONE:
		break;
	}
	return false;
}

bool script_head_is_record(struct foreign_word line)
{
	static const char record[] = "PERF_RECORD_";
	const struct script_words w = script_words_of(line);

	for (size_t i = 0; i < w.nr; i++)
		if (w.at[i].len >= sizeof(record) &&
		    !memcmp(w.at[i].at, record, sizeof(record) - 1))
			return true;
	return false;
}

uint64_t script_head_lost(struct foreign_word line)
{
	static const struct foreign_word words[] = { { "PERF_RECORD_LOST", 16 },
						     { "lost", 4 } };
	const struct script_words w = script_words_of(line);
	uint64_t lost;

	for (size_t i = 0; i + COUNT_OF(words) < w.nr; i++)
		if (w.at[i].len == words[0].len && w.at[i + 1].len == words[1].len &&
		    !memcmp(w.at[i].at, words[0].at, words[0].len) &&
		    !memcmp(w.at[i + 1].at, words[1].at, words[1].len) &&
		    foreign_number(w.at[i + 2], &lost))
			return lost;
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf_script.c - parses the output of perf script (docs/perf-script.md). Each sample is a line
 *
 *     COMM  PID[/TID] [CPU] TIME: [PERIOD] EVENT: [ADDRESS NAME (IMAGE)]
 *
 * followed, with stacks, by a line "\tADDRESS NAME+0xOFFSET (IMAGE)" for each frame, the
 * innermost first, and an empty line. Everything but the pid and the event can be missing. perf
 * ends each line and each stack, so a text without such an end has been cut. */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/containers/vec.h"
#include "base/err.h"
#include "format/foreign/foreign.h"

enum {
	NS_DIGITS = 9
};

typedef VEC(struct foreign_frame) frame_vec;

static struct foreign_word foreign_perf_script_next_word(struct foreign_word *rest)
{
	struct foreign_word w;

	while (rest->len && (*rest->at == ' ' || *rest->at == '\t')) {
		rest->at++;
		rest->len--;
	}
	w.at = rest->at;
	while (rest->len && *rest->at != ' ' && *rest->at != '\t') {
		rest->at++;
		rest->len--;
	}
	w.len = (size_t)(rest->at - w.at);
	return w;
}

/* ---- the first line ---- */

/* Parses "17" or "17/18". */
static bool take_ids(struct foreign_word w, struct foreign_sample *s)
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

/* Parses "[003]". */
static bool take_cpu(struct foreign_word w, struct foreign_sample *s)
{
	uint64_t cpu;

	if (w.len < 3 || w.at[0] != '[' || w.at[w.len - 1] != ']' ||
	    !foreign_number((struct foreign_word){ w.at + 1, w.len - 2 }, &cpu) ||
	    cpu > INT32_MAX)
		return false;
	s->cpu = (int64_t)cpu;
	return true;
}

/* Parses "12.345678:", with microseconds or nanoseconds. */
static bool take_time(struct foreign_word w, struct foreign_sample *s)
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

/* Parses the fields after the pid, up to the event, and leaves `rest` after the event. */
static bool foreign_perf_script_take_rest(struct foreign_word *rest,
					  struct foreign_sample *s)
{
	struct foreign_word w = foreign_perf_script_next_word(rest);
	uint64_t period;

	if (take_cpu(w, s))
		w = foreign_perf_script_next_word(rest);
	if (w.len && take_time(w, s))
		w = foreign_perf_script_next_word(rest);
	if (foreign_number(w, &period)) {
		s->period = period;
		w = foreign_perf_script_next_word(rest);
	}
	if (w.len < 2 || w.at[w.len - 1] != ':' || isdigit((unsigned char)w.at[0]))
		return false;
	s->event = (struct foreign_word){ w.at, w.len - 1 };
	return true;
}

/* A command can contain blanks and numbers. So the pid is the first word that can be a pid and
 * is followed by the fields that must follow a pid. Returns false if the line has none. */
static bool foreign_perf_script_take_head(struct foreign_word line,
					  struct foreign_word *ret_rest,
					  struct foreign_sample *s)
{
	struct foreign_word rest = line;
	struct foreign_word comm = foreign_perf_script_next_word(&rest);
	const char *begin = comm.at;

	while (rest.len) {
		const char *end = comm.at + comm.len;
		struct foreign_word w = foreign_perf_script_next_word(&rest);
		struct foreign_sample made = { .pid = -1, .tid = -1, .cpu = -1 };
		struct foreign_word after = rest;

		if (take_ids(w, &made) &&
		    foreign_perf_script_take_rest(&after, &made)) {
			*s = made;
			s->comm = (struct foreign_word){ begin, (size_t)(end - begin) };
			*ret_rest = after;
			return true;
		}
		comm = w;
	}
	return false;
}

/* ---- frames ---- */

static bool foreign_perf_script_is_hex(struct foreign_word w)
{
	for (size_t i = 0; i < w.len; i++)
		if (!isxdigit((unsigned char)w.at[i]))
			return false;
	return w.len;
}

/* Removes the offset of "NAME+0x12". A name that contains a plus sign itself is kept. */
static void cut_offset(struct foreign_word *name)
{
	for (size_t i = name->len; i-- > 3;) {
		if (name->at[i - 3] != '+' || name->at[i - 2] != '0' ||
		    name->at[i - 1] != 'x')
			continue;
		if (foreign_perf_script_is_hex(
			    (struct foreign_word){ name->at + i, name->len - i }))
			name->len = i - 3;
		return;
	}
}

/* Parses "ADDRESS NAME (IMAGE)". Returns false for anything else. */
static bool foreign_perf_script_take_frame(struct foreign_word text,
					   struct foreign_frame *ret_frame)
{
	struct foreign_frame f = { 0 };
	size_t depth = 0, at;

	if (!foreign_perf_script_is_hex(foreign_perf_script_next_word(&text)))
		return false;
	while (text.len && *text.at == ' ') {
		text.at++;
		text.len--;
	}
	while (text.len && text.at[text.len - 1] == ' ')
		text.len--;
	at = text.len;
	if (at && text.at[at - 1] == ')') {
		/* The name of the image can contain parentheses. */
		do {
			at--;
			depth += text.at[at] == ')';
			depth -= text.at[at] == '(';
		} while (depth && at);
		if (!depth)
			f.image = (struct foreign_word){ text.at + at + 1,
							 text.len - at - 2 };
		else
			at = text.len;
	}
	while (at && text.at[at - 1] == ' ')
		at--;
	f.name = (struct foreign_word){ text.at, at };
	cut_offset(&f.name);
	*ret_frame = f;
	return true;
}

/* ---- the text ---- */

struct foreign_perf_script_reading {
	foreign_fn fn;
	void *ctx;
	struct foreign_info *info;
	struct foreign_sample s;
	frame_vec frames;
	bool open;        /* `s` is waiting for frames */
	bool needs_blank; /* `s` has a stack or must get one, so an empty line must end it */
	bool any_stack; /* an earlier sample had a stack */
	uint64_t samples;
};

static int foreign_perf_script_finish(struct foreign_perf_script_reading *g)
{
	if (!g->open)
		return 0;
	g->open = false;
	g->samples++;
	g->s.count = 1;
	g->s.frames = g->frames.at;
	g->s.nr_frames = g->frames.nr;
	g->s.truncated = g->frames.nr == FOREIGN_FRAMES_MAX;
	return g->fn(g->ctx, &g->s);
}

static int foreign_perf_script_push_frame(struct foreign_perf_script_reading *g,
					  const struct foreign_frame *frame)
{
	return g->frames.nr == FOREIGN_FRAMES_MAX || vec_push(&g->frames, *frame)
		       ? 0
		       : -ENOMEM;
}

static int foreign_perf_script_add_frame(struct foreign_perf_script_reading *g,
					 struct foreign_word text)
{
	struct foreign_frame frame;

	if (!foreign_perf_script_take_frame(text, &frame)) {
		g->info->skipped += text.len > 0;
		return 0;
	}
	g->needs_blank = g->any_stack = true;
	return foreign_perf_script_push_frame(g, &frame);
}

static bool foreign_perf_script_is_blank(struct foreign_word line)
{
	for (size_t i = 0; i < line.len; i++)
		if (line.at[i] != ' ' && line.at[i] != '\t')
			return false;
	return true;
}

static int foreign_perf_script_begin_sample(struct foreign_perf_script_reading *g,
					    const struct foreign_sample *s,
					    struct foreign_word rest)
{
	struct foreign_frame frame;
	int r = foreign_perf_script_finish(g);

	if (r)
		return r;
	g->s = *s;
	g->open = true;
	g->frames.nr = 0;
	/* Fields of a tracepoint can follow instead of a frame. */
	g->needs_blank = g->any_stack && foreign_perf_script_is_blank(rest);
	return foreign_perf_script_take_frame(rest, &frame)
		       ? foreign_perf_script_push_frame(g, &frame)
		       : 0;
}

static int foreign_perf_script_read_line(struct foreign_perf_script_reading *g,
					 struct foreign_word line)
{
	struct foreign_sample s;
	struct foreign_word rest;

	if (foreign_perf_script_is_blank(line))
		return foreign_perf_script_finish(g);
	if (line.at[0] == '\t' && g->open)
		return foreign_perf_script_add_frame(g, line);
	if (line.at[0] == '#')
		return 0;
	if (foreign_perf_script_take_head(line, &rest, &s))
		return foreign_perf_script_begin_sample(g, &s, rest);
	if (g->open)
		return foreign_perf_script_add_frame(g, line);
	g->info->skipped++;
	return 0;
}

bool foreign_is_perf_script(const struct foreign_head *head)
{
	const char *at = head->bytes;
	size_t nr_good = 0, nr_bad = 0;
	struct foreign_word line;

	while (foreign_line(&at, head->bytes + head->lines_len, &line)) {
		struct foreign_sample s;
		struct foreign_frame frame;
		struct foreign_word rest;

		if (foreign_perf_script_is_blank(line) || line.at[0] == '#')
			continue;
		if (foreign_perf_script_take_head(line, &rest, &s))
			nr_good++;
		else if (!nr_good || !foreign_perf_script_take_frame(line, &frame))
			nr_bad++;
	}
	return foreign_agrees(nr_good, nr_bad);
}

int foreign_read_perf_script(const void *bytes, size_t len, foreign_fn fn, void *ctx,
			     struct foreign_info *ret_info, struct err *err)
{
	struct foreign_perf_script_reading g = { .fn = fn,
						 .ctx = ctx,
						 .info = ret_info };
	const char *at = bytes;
	const char *end = at + len;
	struct foreign_word line;
	int r = 0;

	*ret_info = (struct foreign_info){ 0 };
	while (!r && foreign_line(&at, end, &line))
		r = foreign_perf_script_read_line(&g, line);
	ret_info->cut = (g.open && g.needs_blank) || (len && end[-1] != '\n');
	if (!r)
		r = foreign_perf_script_finish(&g);
	vec_done(&g.frames);
	return r == -ENOMEM ? err_set(err, r, "out of memory") : r;
}

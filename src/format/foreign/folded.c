/* SPDX-License-Identifier: GPL-2.0-or-later */
/* folded.c - folded stacks.  github.com/brendangregg/FlameGraph: stackcollapse-perf.pl,
 * flamegraph.pl. */
#include <errno.h>
#include <string.h>

#include "base/containers/vec.h"
#include "base/err.h"
#include "format/foreign/foreign.h"
#include "format/foreign/head.h"

typedef VEC(struct foreign_frame) frame_vec;

/* Parses a count. Fractions, such as seconds, are rounded to the nearest integer. Returns false if
 * the word is not a decimal number. */
static bool folded_count(struct foreign_word w, uint64_t *ret_count)
{
	const char *dot = memchr(w.at, '.', w.len);
	size_t len = dot ? (size_t)(dot - w.at) : w.len;

	if (!foreign_number((struct foreign_word){ w.at, len }, ret_count))
		return false;
	for (size_t i = len + 1; i < w.len; i++)
		if (w.at[i] < '0' || w.at[i] > '9')
			return false;
	*ret_count +=
		len + 1 < w.len && w.at[len + 1] >= '5' && *ret_count < UINT64_MAX;
	return true;
}

/* Splits a line into stack and count. Returns false if it does not end with a count. */
static bool split_line(struct foreign_word line, struct foreign_word *ret_stack,
		       uint64_t *ret_count)
{
	size_t at = line.len;

	while (at && line.at[at - 1] != ' ')
		at--;
	if (at < 2 ||
	    !folded_count((struct foreign_word){ line.at + at, line.len - at },
			  ret_count))
		return false;
	*ret_stack = (struct foreign_word){ line.at, at - 1 };
	while (ret_stack->len && ret_stack->at[ret_stack->len - 1] == ' ')
		ret_stack->len--;
	return ret_stack->len;
}

/* Kinds of lines. Their numbers decide whether a text contains folded stacks. */
enum folded_line {
	FOLDED_NONE,   /* empty or a comment */
	FOLDED_ONE,    /* a single name and a count: many texts have these */
	FOLDED_STACK,  /* two names or more, and a count */
	FOLDED_TWO,    /* one name or more, and two counts */
	FOLDED_SPACED, /* blanks or commas and a count, but not a name */
	FOLDED_OTHER,
	NR_FOLDED_LINES
};

/* Returns whether a stack can be a single name: it has no blanks, except within brackets, and does
 * not end like a key. */
static bool folded_is_name(struct foreign_word stack)
{
	int depth = 0;

	for (size_t i = 0; i < stack.len; i++) {
		const char c = stack.at[i];

		if (strchr("([<{", c))
			depth++;
		else if (strchr(")]>}", c))
			depth--;
		else if (depth <= 0 && (c == ' ' || c == '\t' || c == ',' || c == '|'))
			return false;
	}
	return !strchr(":=", stack.at[stack.len - 1]);
}

static enum folded_line folded_line_of(struct foreign_word line)
{
	struct foreign_word stack, rest;
	uint64_t count;

	if (!line.len || line.at[0] == '#')
		return FOLDED_NONE;
	if (memchr(line.at, 0, line.len) || !split_line(line, &stack, &count))
		return FOLDED_OTHER;
	if (!memchr(stack.at, ';', stack.len))
		return folded_is_name(stack) ? FOLDED_ONE : FOLDED_SPACED;
	return split_line(stack, &rest, &count) ? FOLDED_TWO : FOLDED_STACK;
}

/* Counts the lines of each kind. If the first line is longer than the head, as after deep
 * recursion, it counts as a stack if it has a ';'. */
static void folded_count_lines(const struct foreign_head *head,
			       size_t counts[NR_FOLDED_LINES])
{
	const char *at = head->bytes;
	const char *end = head->bytes + head->lines_len;
	size_t cut_len = head->len - head->lines_len;
	struct foreign_word line;

	while (foreign_line(&at, end, &line))
		counts[folded_line_of(line)]++;
	if (!counts[FOLDED_STACK] && !counts[FOLDED_TWO] && !counts[FOLDED_OTHER] &&
	    cut_len && memchr(end, ';', cut_len) && !memchr(end, 0, cut_len))
		counts[FOLDED_STACK]++;
}

/* Returns whether the file is a list of single names with counts, without callers. Many other
 * texts look similar, so every line must agree. */
static bool folded_is_list(const struct foreign_head *head)
{
	size_t counts[NR_FOLDED_LINES] = { 0 };

	folded_count_lines(head, counts);
	/* /proc/vmstat has the same form, so exclude it. */
	return counts[FOLDED_ONE] > 1 && !counts[FOLDED_STACK] && !counts[FOLDED_TWO] &&
	       !counts[FOLDED_SPACED] && !counts[FOLDED_OTHER] &&
	       !foreign_head_has_first(head, "nr_free_pages ");
}

bool foreign_is_folded(const struct foreign_head *head)
{
	size_t counts[NR_FOLDED_LINES] = { 0 };

	folded_count_lines(head, counts);
	return folded_is_list(head) ||
	       foreign_agrees(counts[FOLDED_STACK] + counts[FOLDED_TWO],
			      counts[FOLDED_OTHER]);
}

bool foreign_is_difffolded(const struct foreign_head *head)
{
	size_t counts[NR_FOLDED_LINES] = { 0 };

	folded_count_lines(head, counts);
	return foreign_agrees(counts[FOLDED_TWO],
			      counts[FOLDED_STACK] + counts[FOLDED_OTHER]);
}

/* Removes a mark such as "_[k]" from a name (stackcollapse-perf.pl --kernel, --jit, --inline). */
static void take_mark(struct foreign_frame *f)
{
	static const char kernel[] = "[kernel.kallsyms]";
	struct foreign_word *n = &f->name;
	char mark;

	if (n->len < 5 || n->at[n->len - 4] != '_' || n->at[n->len - 3] != '[' ||
	    n->at[n->len - 1] != ']')
		return;
	mark = n->at[n->len - 2];
	if (mark != 'k' && mark != 'j' && mark != 'i')
		return;
	if (mark == 'k')
		f->image = (struct foreign_word){ kernel, sizeof(kernel) - 1 };
	n->len -= 4;
}

/* Parses the frames from the end of the stack to its start. The first word of the stack is not a
 * frame but the command. Returns false if memory is short. */
static bool foreign_folded_take_frames(struct foreign_word stack, frame_vec *frames,
				       struct foreign_word *ret_comm)
{
	size_t end = stack.len;

	frames->nr = 0;
	for (size_t at = end; at > 0; at--) {
		struct foreign_frame frame = { .name = { stack.at + at, end - at } };

		if (stack.at[at - 1] != ';')
			continue;
		take_mark(&frame);
		if (frame.name.len && frames->nr < FOREIGN_FRAMES_MAX &&
		    !vec_push(frames, frame))
			return false;
		end = at - 1;
	}
	*ret_comm = (struct foreign_word){ stack.at, end };
	return true;
}

static bool foreign_folded_is_text(struct foreign_word w, const char *text)
{
	return w.len == strlen(text) && !memcmp(w.at, text, w.len);
}

/* Sets the command and the frames of a sample. Returns 0 or -ENOMEM. */
static int folded_read_stack(struct foreign_word stack, frame_vec *frames,
			     struct foreign_sample *s)
{
	if (!foreign_folded_take_frames(stack, frames, &s->comm))
		return -ENOMEM;
	s->nr_frames = frames->nr;
	s->truncated = s->nr_frames == FOREIGN_FRAMES_MAX;
	/* Our export adds this frame to truncated stacks. */
	if (s->nr_frames &&
	    foreign_folded_is_text(frames->at[s->nr_frames - 1].name, "[truncated]")) {
		s->truncated = true;
		s->nr_frames--;
	}
	s->frames = frames->at;
	return 0;
}

static int foreign_folded_read_line(struct foreign_word line, frame_vec *frames,
				    foreign_fn fn, void *ctx, struct foreign_info *info)
{
	struct foreign_sample s = { .pid = -1, .tid = -1, .cpu = -1 };
	struct foreign_word stack;

	if (!line.len || line.at[0] == '#')
		return 0;
	/* A fraction that was rounded to 0 counts as malformed; a count of 0 is valid. */
	if (!split_line(line, &stack, &s.count) ||
	    (!s.count && line.at[line.len - 1] != '0')) {
		info->skipped++;
		return 0;
	}
	if (folded_read_stack(stack, frames, &s))
		return -ENOMEM;
	return s.count ? fn(ctx, &s) : 0;
}

/* Reads a line of a file that has one name per line: the names are functions, not commands. */
static int folded_read_one(struct foreign_word line, frame_vec *frames, foreign_fn fn,
			   void *ctx, struct foreign_info *info)
{
	struct foreign_frame frame = { 0 };
	struct foreign_sample s = {
		.pid = -1, .tid = -1, .cpu = -1, .frames = &frame, .nr_frames = 1
	};

	(void)frames;
	if (!line.len || line.at[0] == '#')
		return 0;
	if (!split_line(line, &frame.name, &s.count)) {
		info->skipped++;
		return 0;
	}
	take_mark(&frame);
	return s.count ? fn(ctx, &s) : 0;
}

/* Reads a line of difffolded.pl, which has the counts of two profiles. These become two events. */
static int folded_read_two(struct foreign_word line, frame_vec *frames, foreign_fn fn,
			   void *ctx, struct foreign_info *info)
{
	static const struct foreign_word before = { "before", 6 },
					 after = { "after", 5 };
	struct foreign_sample s = { .event = before, .pid = -1, .tid = -1, .cpu = -1 };
	struct foreign_word both, stack;
	uint64_t count;
	int r = 0;

	if (!line.len || line.at[0] == '#')
		return 0;
	if (!split_line(line, &both, &count) || !split_line(both, &stack, &s.count)) {
		info->skipped++;
		return 0;
	}
	if (folded_read_stack(stack, frames, &s))
		return -ENOMEM;
	if (s.count)
		r = fn(ctx, &s);
	s.event = after;
	s.count = count;
	return r || !count ? r : fn(ctx, &s);
}

typedef int (*folded_line_fn)(struct foreign_word line, frame_vec *frames,
			      foreign_fn fn, void *ctx, struct foreign_info *info);

static int folded_read_lines(struct foreign_word text, folded_line_fn read_line,
			     foreign_fn fn, void *ctx, struct foreign_info *ret_info)
{
	const char *at = text.at;
	const char *end = text.at + text.len;
	frame_vec frames = { 0 };
	struct foreign_word line;
	int r = 0;

	foreign_info_begin(ret_info);
	while (!r && foreign_line(&at, end, &line)) {
		foreign_info_passed(ret_info, line.at);
		r = read_line(line, &frames, fn, ctx, ret_info);
	}
	vec_done(&frames);
	return r;
}

int foreign_read_folded(const void *bytes, size_t len, foreign_fn fn, void *ctx,
			struct foreign_info *ret_info, struct err *err)
{
	const struct foreign_head head = foreign_head_of(bytes, len);
	int r = folded_read_lines((struct foreign_word){ bytes, len },
				  folded_is_list(&head) ? folded_read_one
							: foreign_folded_read_line,
				  fn, ctx, ret_info);

	return r == -ENOMEM ? err_set(err, r, "out of memory") : r;
}

int foreign_read_difffolded(const void *bytes, size_t len, foreign_fn fn, void *ctx,
			    struct foreign_info *ret_info, struct err *err)
{
	int r = folded_read_lines((struct foreign_word){ bytes, len }, folded_read_two,
				  fn, ctx, ret_info);

	return r == -ENOMEM ? err_set(err, r, "out of memory") : r;
}

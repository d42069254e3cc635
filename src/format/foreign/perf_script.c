/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf_script.c - parses the output of perf script (docs/perf-script.md) with any fields. The
 * first line of a sample (perf_script_head.h) is followed, with stacks, by a line
 * "\tADDRESS NAME+0xOFFSET (IMAGE)" for each frame, the innermost first. An empty line or a line
 * with registers or an instruction ends the stack. perf ends each line and each stack, so a text
 * without such an end has been cut. */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/containers/vec.h"
#include "base/err.h"
#include "base/saturate.h"
#include "format/foreign/foreign.h"
#include "format/foreign/perf_script_head.h"

typedef VEC(struct foreign_frame) frame_vec;

/* ---- frames ---- */

static bool foreign_perf_script_begins(struct foreign_word w, const char *text)
{
	size_t len = strlen(text);

	return w.len >= len && !memcmp(w.at, text, len);
}

static struct foreign_word foreign_perf_script_trim(struct foreign_word w)
{
	while (w.len && (*w.at == ' ' || *w.at == '\t'))
		w = (struct foreign_word){ w.at + 1, w.len - 1 };
	while (w.len && (w.at[w.len - 1] == ' ' || w.at[w.len - 1] == '\t'))
		w.len--;
	return w;
}

/* Removes the offset of "NAME+0x12". A name that contains a plus sign itself is kept. */
static void cut_offset(struct foreign_word *name)
{
	size_t digits = name->len;

	while (digits && isxdigit((unsigned char)name->at[digits - 1]))
		digits--;
	if (digits < name->len && digits > 3 &&
	    !memcmp(name->at + digits - 3, "+0x", 3))
		name->len = digits - 3;
}

/* Returns the index of the parenthesis that matches the closing one at `end`, or `end` if there is
 * none. */
static size_t foreign_perf_script_group(struct foreign_word text, size_t end)
{
	size_t depth = 1, at = end;

	while (depth && at) {
		at--;
		depth += text.at[at] == ')';
		depth -= text.at[at] == '(';
	}
	return depth ? end : at;
}

/* Finds the parentheses around the image in "NAME (IMAGE) MORE", where MORE are fields such as
 * registers. Returns false if the text names no image. */
static bool foreign_perf_script_find_image(struct foreign_word text, size_t *ret_open,
					   size_t *ret_close)
{
	size_t close = text.len, open;

	while (close && text.at[close - 1] != ')')
		close--;
	if (!close)
		return false;
	close--;
	open = foreign_perf_script_group(text, close);
	if (open == close || (open && text.at[open - 1] != ' '))
		return false;
	/* The parentheses can belong to the name, as in "(anonymous namespace)::f". */
	if (close + 1 < text.len &&
	    (text.at[close + 1] != ' ' ||
	     (text.at[open + 1] != '/' && text.at[open + 1] != '[' &&
	      text.at[open + 1] != 'i')))
		return false;
	*ret_open = open;
	*ret_close = close;
	return true;
}

/* A frame as it is printed. */
struct script_frame_text {
	struct foreign_frame frame;
	struct foreign_word address;
	bool is_inlined; /* an inlined call, printed without an image: the caller's image applies */
};

/* Parses "ADDRESS NAME (IMAGE)". Returns false for anything else. */
static bool foreign_perf_script_take_frame(struct foreign_word text,
					   struct script_frame_text *ret_frame)
{
	struct script_frame_text f = { 0 };
	size_t open, close;

	text = foreign_perf_script_trim(text);
	if (!script_head_is_hex(text))
		return false;
	f.address.at = text.at;
	while (f.address.len < text.len && text.at[f.address.len] != ' ')
		f.address.len++;
	text = foreign_perf_script_trim((struct foreign_word){
		text.at + f.address.len, text.len - f.address.len });
	if (foreign_perf_script_find_image(text, &open, &close)) {
		f.frame.image =
			(struct foreign_word){ text.at + open + 1, close - open - 1 };
		text.len = open;
		f.is_inlined = f.frame.image.len == 7 &&
			       !memcmp(f.frame.image.at, "inlined", 7);
		/* -F +dsoff */
		cut_offset(&f.frame.image);
	}
	f.frame.name = foreign_perf_script_trim(text);
	cut_offset(&f.frame.name);
	if (f.is_inlined)
		f.frame.image.len = 0;
	*ret_frame = f;
	return true;
}

/* ---- the kinds of lines ---- */

static bool foreign_perf_script_is_blank(struct foreign_word line)
{
	return !foreign_perf_script_trim(line).len;
}

/* Returns whether a line can end a stack because it has registers, branches, an instruction or a
 * physical address, which perf prints after the frames. */
static bool foreign_perf_script_is_after(struct foreign_word line)
{
	return line.len > 1 && line.at[0] == ' ' &&
	       (line.at[1] != ' ' ||
		script_head_is_hex(foreign_perf_script_trim(line)));
}

/* Returns whether a line is the source position of the previous frame (-F srcline), "  FILE:LINE"
 * or "  IMAGE[ADDRESS]". */
static bool foreign_perf_script_is_source(struct foreign_word line)
{
	const char *insn = memmem(line.at, line.len, " insn:", 6);

	if (insn)
		line.len = (size_t)(insn - line.at);
	return line.len > 3 && foreign_perf_script_begins(line, "  ") &&
	       line.at[2] != ' ' &&
	       (line.at[line.len - 1] == ']' ||
		isdigit((unsigned char)line.at[line.len - 1]) ||
		line.at[line.len - 1] == ')');
}

static bool is_comment(struct foreign_word line)
{
	return line.at[0] == '#';
}

/* ---- the layout ---- */

struct script_lines {
	size_t nr_good, nr_bad;
	size_t nr_heads, nr_ids;
};

/* Counts how many lines agree with a layout and how many do not. */
static struct script_lines foreign_perf_script_count(const struct script_head *layout,
						     const char *at, const char *end)
{
	struct script_lines n = { 0 };
	struct foreign_word line, other;
	bool open = false, may_begin = true, has_frames = false;

	while (foreign_line(&at, end, &line)) {
		struct foreign_sample s;
		struct script_frame_text frame;
		bool is_frame = line.len && line.at[0] == '\t' &&
				foreign_perf_script_take_frame(line, &frame);

		if (foreign_perf_script_is_blank(line)) {
			open = false;
			may_begin = true;
		} else if (is_frame &&
			   ((open && layout->layout != SCRIPT_LAYOUT_STACKS) ||
			    script_head_is_wide_frame(line))) {
			n.nr_good += layout->layout == SCRIPT_LAYOUT_STACKS;
			may_begin = false;
			open = has_frames = true;
		} else if (is_comment(line)) { /* NOLINT(bugprone-branch-clone) */
			continue;
		} else if (script_head_is_record(line)) {
			n.nr_good++;
			open = false;
			may_begin = true;
		} else if ((layout->layout != SCRIPT_LAYOUT_STACKS || may_begin) &&
			   script_head_parse(layout, line, &s, &other)) {
			n.nr_good += layout->layout != SCRIPT_LAYOUT_STACKS;
			n.nr_heads++;
			n.nr_ids += s.tid >= 0;
			open = true;
			may_begin = has_frames = false;
		} else if (open && foreign_perf_script_is_source(line)) {
			continue;
		} else if (has_frames && foreign_perf_script_is_after(line)) {
			open = has_frames = false;
			may_begin = true;
		} else if (!open || !foreign_perf_script_take_frame(line, &frame)) {
			n.nr_bad++;
		}
	}
	return n;
}

/* Returns the layout with which the first lines of a text agree. */
static struct script_head foreign_perf_script_layout(const char *bytes, const char *end)
{
	struct script_head head = { .layout = SCRIPT_LAYOUT_MARKED };

	for (; head.layout <= SCRIPT_LAYOUT_LINES; head.layout++) {
		struct script_lines n = foreign_perf_script_count(&head, bytes, end);

		if (!foreign_agrees(n.nr_good, n.nr_bad))
			continue;
		head.no_ids = n.nr_heads && n.nr_ids * 2 <= n.nr_heads;
		return head;
	}
	return (struct script_head){ .layout = SCRIPT_LAYOUT_NONE };
}

bool foreign_is_perf_script(const struct foreign_head *head)
{
	return foreign_perf_script_layout(head->bytes, head->bytes + head->lines_len)
		       .layout != SCRIPT_LAYOUT_NONE;
}

/* ---- the text ---- */

struct foreign_perf_script_reading {
	foreign_fn fn;
	void *ctx;
	struct foreign_info *info;
	struct script_head head;
	struct foreign_sample s;
	/* The rest of the first line, which can contain the only frame. */
	struct foreign_word other;
	frame_vec frames;
	struct foreign_word address; /* address of the last frame */
	/* How many of the last frames are inlined and get the image of the next frame. */
	size_t nr_inlined;
	bool open;        /* `s` is not passed to `fn` yet, because frames can follow */
	bool needs_blank; /* `s` has a stack or must get one, so an empty line must end it */
	bool has_stack; /* `s` has frames in separate lines */
	bool any_stack; /* an earlier sample had a stack */
};

static int foreign_perf_script_push_frame(struct foreign_perf_script_reading *g,
					  const struct script_frame_text *frame)
{
	bool is_same = g->address.len == frame->address.len && g->address.len &&
		       !memcmp(g->address.at, frame->address.at, g->address.len);

	if (g->frames.nr == FOREIGN_FRAMES_MAX)
		return 0;
	if (!vec_push(&g->frames, frame->frame))
		return -ENOMEM;
	if (!is_same)
		g->nr_inlined = 0;
	for (size_t i = 0; !frame->is_inlined && i < g->nr_inlined; i++)
		g->frames.at[g->frames.nr - 2 - i].image = frame->frame.image;
	g->nr_inlined = frame->is_inlined ? g->nr_inlined + 1 : 0;
	g->address = frame->address;
	return 0;
}

static int foreign_perf_script_finish(struct foreign_perf_script_reading *g)
{
	struct script_frame_text frame;

	if (!g->open)
		return 0;
	g->open = g->has_stack = false;
	if (!g->frames.nr &&
	    foreign_perf_script_take_frame(script_head_last_frame(g->other), &frame) &&
	    foreign_perf_script_push_frame(g, &frame))
		return -ENOMEM;
	g->s.count = 1;
	g->s.frames = g->frames.at;
	g->s.nr_frames = g->frames.nr;
	g->s.truncated = g->frames.nr == FOREIGN_FRAMES_MAX;
	return g->fn(g->ctx, &g->s);
}

static int foreign_perf_script_begin_sample(struct foreign_perf_script_reading *g,
					    const struct foreign_sample *s,
					    struct foreign_word other)
{
	int r = foreign_perf_script_finish(g);

	g->s = *s;
	g->other = other;
	g->open = true;
	g->frames.nr = g->nr_inlined = 0;
	g->address.len = 0;
	/* If the rest of the line has fields of a tracepoint, there may be no stack. */
	g->needs_blank = g->any_stack && foreign_perf_script_is_blank(other);
	return r;
}

static int foreign_perf_script_add_frame(struct foreign_perf_script_reading *g,
					 struct foreign_word text)
{
	struct script_frame_text frame;

	if (!foreign_perf_script_take_frame(text, &frame)) {
		g->info->skipped++;
		return 0;
	}
	g->needs_blank = g->any_stack = true;
	return foreign_perf_script_push_frame(g, &frame);
}

/* Reads a line with a frame. With -F ip,sym, a sample has no first line, so a frame can begin a
 * sample. */
static int foreign_perf_script_read_frame(struct foreign_perf_script_reading *g,
					  struct foreign_word line)
{
	const struct foreign_sample none = { .pid = -1, .tid = -1, .cpu = -1 };
	int r = 0;

	if (!g->open && g->head.layout == SCRIPT_LAYOUT_STACKS)
		r = foreign_perf_script_begin_sample(g, &none,
						     (struct foreign_word){ "", 0 });
	g->has_stack = true;
	return r ? r : foreign_perf_script_add_frame(g, line);
}

static int foreign_perf_script_read_line(struct foreign_perf_script_reading *g,
					 struct foreign_word line)
{
	struct foreign_sample s;
	struct foreign_word other;

	if (foreign_perf_script_is_blank(line))
		return foreign_perf_script_finish(g);
	if (line.at[0] == '\t' && (g->open || g->head.layout == SCRIPT_LAYOUT_STACKS))
		return foreign_perf_script_read_frame(g, line);
	if (is_comment(line))
		return 0;
	if (script_head_is_record(line)) {
		g->info->lost = saturating_add(g->info->lost, script_head_lost(line));
		return foreign_perf_script_finish(g);
	}
	/* In the layout of stacks, any line could be the first one of a sample, so do not parse it
	 * as one within a stack. */
	if ((g->head.layout != SCRIPT_LAYOUT_STACKS || !g->has_stack) &&
	    script_head_parse(&g->head, line, &s, &other))
		return foreign_perf_script_begin_sample(g, &s, other);
	if (g->open && foreign_perf_script_is_source(line))
		return 0;
	if (g->has_stack && foreign_perf_script_is_after(line))
		return foreign_perf_script_finish(g);
	if (g->open)
		return foreign_perf_script_add_frame(g, line);
	g->info->skipped++;
	return 0;
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

	foreign_info_begin(ret_info);
	g.head = foreign_perf_script_layout(
		bytes, len < FOREIGN_HEAD_BYTES ? end : at + FOREIGN_HEAD_BYTES);
	while (!r && foreign_line(&at, end, &line)) {
		foreign_info_passed(ret_info, line.at);
		r = foreign_perf_script_read_line(&g, line);
	}
	ret_info->cut = (g.open && g.needs_blank) || (len && end[-1] != '\n');
	if (!r)
		r = foreign_perf_script_finish(&g);
	vec_done(&g.frames);
	return r == -ENOMEM ? err_set(err, r, "out of memory") : r;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/source.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "present/annotation/annotation.h"
#include "present/annotation/assembly.h"
#include "present/lines/options.h"
#include "record/keep/copy_rule.h"
#include "recordings/code/image_code.h"
#include "recordings/code/source_file.h"
#include "recordings/source_find.h"
#include "resolve/code/code.h"
#include "view/reading.h"

enum {
	FRAMES_MAX = 32,
	CODE_MAX = 20000, /* instructions */
	LINES_MAX = 20000,
	CONTEXT = 2 /* lines before and after the function */
};

/* A source while it is made. */
struct view_source_making {
	struct view_source *to;
	struct view_reading reading;
	struct annotation annotation;
	struct assembly assembly;
	struct image_code code;
	struct lines_options lines;
	uint32_t image;     /* of the profile: contains the code; VIEW_NONE: none */
	uint32_t low, high; /* lines of the function; 0: none */
	bool handed_on;
};

static void view_source_miss(struct view_source *s, const char *why)
{
	if (!*s->missing)
		(void)snprintf(s->missing, sizeof(s->missing), "%s", why);
}

/* ---- instructions ---- */

/* Returns the text of an instruction as a string of `s`, with the symbol of its target. */
static uint32_t view_source_text(struct view_source *s, struct code *code,
				 const struct insn *insn, uint64_t address)
{
	struct buf text = { 0 };
	const char *reference = code_reference(code, address, address + insn->len);
	uint32_t number = STRTAB_FAILED;

	buf_put(&text, insn->text, strlen(insn->text));
	if (reference) {
		buf_put(&text, reference, strlen(reference));
	} else if (insn->has_target) {
		uint64_t start;
		const struct symbol *symbol = code_symbol(code, insn->target, &start);

		buf_put_hex(&text, insn->target, 1);
		if (symbol) {
			buf_put(&text, " <", 2);
			buf_put(&text, symbol->name, strlen(symbol->name));
			if (insn->target != start) {
				buf_put(&text, "+0x", 3);
				buf_put_hex(&text, insn->target - start, 1);
			}
			buf_put_u8(&text, '>');
		}
	}
	if (!text.failed)
		number = strtab_add_len(&s->strings, (const char *)text.data, text.len);
	buf_done(&text);
	return number;
}

/* Sums up the columns of a row: there can be several counts of one event. */
static uint64_t view_source_count(const struct view_source_making *m,
				  const uint64_t *counts)
{
	uint64_t sum = 0;

	for (size_t i = 0; counts && i < m->annotation.nr_columns; i++)
		sum += counts[i];
	return sum;
}

static int view_source_add_row(struct view_source_making *m, struct code *code,
			       const struct assembly_row *row)
{
	struct view_source_insn to = { .address = row->address,
				       .samples = view_source_count(m, row->counts) };
	struct insn insn;

	m->to->samples += to.samples;
	if (m->to->code.nr >= CODE_MAX && !to.samples)
		return 0;
	if (code && !row->no_code && !code_insn(code, row->address, &insn)) {
		to.len = insn.len < INSN_BYTES_MAX ? insn.len : INSN_BYTES_MAX;
		to.len = (unsigned int)code_bytes(code, row->address, to.bytes, to.len);
		to.text = view_source_text(m->to, code, &insn, row->address);
		to.has_target = insn.has_target;
		to.target = insn.target;
		if (to.text == STRTAB_FAILED)
			return -ENOMEM;
	}
	return vec_push(&m->to->code, to) ? 0 : -ENOMEM;
}

/* Drops the targets outside of this address range of the function. */
static void view_source_check_targets(struct view_source *s, size_t from)
{
	uint64_t low = UINT64_MAX, high = 0;

	for (size_t i = from; i < s->code.nr; i++) {
		const struct view_source_insn *at = &s->code.at[i];

		low = at->address < low ? at->address : low;
		high = at->address > high ? at->address : high;
	}
	for (size_t i = from; i < s->code.nr; i++) {
		struct view_source_insn *at = &s->code.at[i];

		at->has_target &= at->target >= low && at->target <= high;
	}
}

/* ---- lines ---- */

static void view_source_extend(struct view_source_making *m, uint32_t line)
{
	if (!line)
		return;
	if (!m->low || line < m->low)
		m->low = line;
	if (line > m->high)
		m->high = line;
}

/* Finds the source file of the function, and its first and last line. */
static int view_source_find_lines(struct view_source_making *m, struct code *code,
				  size_t from)
{
	struct view_source *s = m->to;

	for (size_t i = from; i < s->code.nr; i++) {
		struct line_frame frames[FRAMES_MAX];
		size_t nr =
			code_frames(code, s->code.at[i].address, frames, FRAMES_MAX);
		const struct line_frame *outer = nr ? &frames[nr - 1] : NULL;

		if (!outer || !outer->file)
			continue;
		if (!s->file)
			s->file = strdup(outer->file);
		if (!s->file)
			return -ENOMEM;
		if (strcmp(s->file, outer->file) != 0)
			continue;
		view_source_extend(m, outer->line);
		if (outer->decl_file && !strcmp(outer->decl_file, s->file))
			view_source_extend(m, outer->decl_line);
	}
	return 0;
}

/* Sets the lines of the instructions. Of the frames of an instruction, the innermost one among the
 * function's lines counts, so inlined code usually gets the line of the call. If no frame is in these
 * lines, the file and line of the innermost frame are used. */
static int view_source_set_lines(struct view_source_making *m, struct code *code,
				 size_t from)
{
	struct view_source *s = m->to;

	for (size_t i = from; s->file && i < s->code.nr; i++) {
		struct view_source_insn *to = &s->code.at[i];
		struct line_frame frames[FRAMES_MAX];
		size_t nr = code_frames(code, to->address, frames, FRAMES_MAX);

		for (size_t f = 0; f < nr && !to->line; f++)
			if (frames[f].file && !strcmp(frames[f].file, s->file) &&
			    frames[f].line >= m->low && frames[f].line <= m->high)
				to->line = frames[f].line;
		if (to->line || !nr || !frames[0].file)
			continue;
		to->line = frames[0].line;
		to->file = strtab_add(&s->strings, frames[0].file);
		if (to->file == STRTAB_FAILED)
			return -ENOMEM;
	}
	return 0;
}

static void view_source_prepare(struct view_source *s, struct code *code, size_t from)
{
	size_t nr = s->code.nr - from;
	uint64_t *addresses = malloc((nr + 1) * sizeof(*addresses));

	for (size_t i = 0; addresses && i < nr; i++)
		addresses[i] = s->code.at[from + i].address;
	if (addresses)
		code_prepare_lines(code, addresses, nr);
	free(addresses);
}

/* ---- functions ---- */

/* Adds the instructions of one address range of the function. */
static int view_source_add_part(struct view_source_making *m,
				const struct assembly_function *f)
{
	struct code *code = image_code_of(&m->code, f->image);
	size_t from = m->to->code.nr;
	int r = assembly_rows(&m->assembly, f, code);

	for (size_t i = 0; !r && i < m->assembly.rows.nr; i++)
		r = view_source_add_row(m, code, &m->assembly.rows.at[i]);
	if (r)
		return r;
	m->image = f->image;
	view_source_check_targets(m->to, from);
	if (!code) {
		view_source_miss(m->to, "the binary was not found");
		return 0;
	}
	view_source_prepare(m->to, code, from);
	r = view_source_find_lines(m, code, from);
	return r ? r : view_source_set_lines(m, code, from);
}

static int view_source_add_code(struct view_source_making *m)
{
	int r = assembly_make(&m->assembly, &m->annotation);

	for (size_t i = 0; !r && i < m->assembly.functions.nr; i++)
		r = view_source_add_part(m, &m->assembly.functions.at[i]);
	return r;
}

/* Adds the lines of the function without texts, and counts their samples. */
static int view_source_make_lines(struct view_source_making *m)
{
	struct view_source *s = m->to;
	uint64_t most = 0;
	uint32_t last;

	if (!m->low)
		return 0;
	s->first = m->low > CONTEXT ? m->low - CONTEXT : 1;
	last = m->high < UINT32_MAX - CONTEXT ? m->high + CONTEXT : m->high;
	if (last - s->first >= LINES_MAX)
		last = s->first + LINES_MAX - 1;
	for (uint32_t line = s->first; line <= last; line++)
		if (!vec_push(&s->lines, (struct view_source_line){ 0 }))
			return -ENOMEM;
	for (size_t i = 0; i < s->code.nr; i++) {
		const struct view_source_insn *at = &s->code.at[i];
		struct view_source_line *to;

		if (at->file || at->line < s->first || at->line > last)
			continue;
		to = &s->lines.at[at->line - s->first];
		to->samples += at->samples;
		if (to->samples > most) {
			most = to->samples;
			s->hottest = at->line;
		}
	}
	return 0;
}

static int view_source_read_text(struct view_source *s, FILE *text)
{
	size_t nr = s->lines.nr, cap = 0;
	char *line = NULL;
	ssize_t len;
	int r = 0;

	for (uint32_t at = 1; !r && at < s->first + nr; at++) {
		len = getline(&line, &cap, text);
		if (len < 0)
			break;
		while (len && (line[len - 1] == '\n' || line[len - 1] == '\r'))
			line[--len] = '\0';
		if (at < s->first)
			continue;
		s->lines.at[at - s->first].text = strdup(line);
		if (!s->lines.at[at - s->first].text)
			r = -ENOMEM;
	}
	free(line);
	/* Lines after the end of the file. */
	while (s->lines.nr && !s->lines.at[s->lines.nr - 1].text &&
	       !s->lines.at[s->lines.nr - 1].samples)
		s->lines.nr--;
	return r;
}

static int view_source_open_text(struct view_source_making *m)
{
	const struct view_options *o = &m->reading.m->options;
	struct source_find none = { 0 }, find = o->find ? *o->find : none;
	const struct source_locations locations = { &find, o->locations, &m->code,
						    m->handed_on };
	const struct profile *p = &m->reading.profile;
	struct source_file file;
	char why[128];
	int r;

	if (!m->to->lines.nr) {
		view_source_miss(
			m->to,
			"the binary has no debug information about source lines: compile with -g");
		return 0;
	}
	r = source_file_open(&locations, m->to->file, &p->images.at[m->image], &file);
	if (!r && file.text) {
		m->to->is_private |= file.is_private;
		r = view_source_read_text(m->to, file.text);
	} else if (!r) {
		(void)snprintf(why, sizeof(why), "the source cannot be shown: %s",
			       file.why);
		view_source_miss(m->to, why);
	}
	source_file_close(&file);
	return r;
}

/* ---- all ---- */

/* Returns the side whose samples are shown: in a comparison, the new one unless the parameter
 * `side` is "base". */
static size_t view_source_side(const struct view_model *m,
			       const struct view_params *params)
{
	const char *side = view_params_get(params, "side");

	if (m->options.nr_sides < 2 || (side && !strcmp(side, "base")))
		return 0;
	return 1;
}

static int view_source_annotate(struct view_source_making *m, struct err *err)
{
	const struct present_options present = { 0 };
	const struct annotation_options options = { .present = &present };
	const char *binary;
	int r = annotation_make(&m->annotation, &m->reading.profile, &options, err);

	if (r)
		return r == -ENOMEM ? err_set(err, r, "out of memory") : r;
	image_code_init(&m->code, &m->reading.profile, &m->lines, NULL);
	r = view_source_add_code(m);
	if (!r)
		r = view_source_make_lines(m);
	if (!r && m->image != VIEW_NONE) {
		const struct profile *p = &m->reading.profile;

		binary = strtab_get(&p->strings, p->images.at[m->image].binary);
		m->to->is_private |= *binary && copy_rule_is_private(binary);
		r = view_source_open_text(m);
	}
	return r ? err_set(err, r, "out of memory") : 0;
}

static int view_source_read(struct view_source_making *m, struct err *err)
{
	int r = view_reading_run(&m->reading, err);

	if (r)
		return r;
	if (!m->reading.profile.samples) {
		view_source_miss(m->to,
				 "the selection has no samples in this function");
		return 0;
	}
	return view_source_annotate(m, err);
}

int view_source_make(struct view_source *s, struct view_model *m,
		     const struct view_params *params, uint32_t function,
		     bool handed_on, struct err *err)
{
	struct view_source_making making = {
		.to = s,
		.image = VIEW_NONE,
		.handed_on = handed_on,
		.lines = { .cache_dir = m->cache_dir,
			   .threads = m->options.threads,
			   .symbols = true },
		.reading = { .m = m,
			     .side = view_source_side(m, params),
			     .params = params,
			     .keys = "image,symbol,address",
			     .first_event = true,
			     .image = view_function_image(&m->data, function),
			     .symbol = view_function_name(&m->data, function) },
	};
	int r = 0;

	*s = (struct view_source){ .function = function };
	if (strtab_init(&s->strings))
		return err_set(err, -ENOMEM, "out of memory");
	making.reading.options = (struct profile_options){ .functions_apart = true,
							   .code = true,
							   .code_lines = true,
							   .lines = &making.lines };
	switch (m->data.functions.at[function].kind) {
	case VIEW_INLINED:
		view_source_miss(
			s,
			"the function was inlined: its code and source lines are shown in the functions that contain it");
		break;
	case VIEW_UNKNOWN:
		view_source_miss(s, "the code is unknown");
		break;
	case VIEW_USER:
	case VIEW_KERNEL:
	default:
		r = view_source_read(&making, err);
	}
	image_code_done(&making.code);
	assembly_done(&making.assembly);
	annotation_done(&making.annotation);
	view_reading_done(&making.reading);
	return r;
}

void view_source_done(struct view_source *s)
{
	strtab_done(&s->strings);
	free(s->file);
	for (size_t i = 0; i < s->lines.nr; i++)
		free(s->lines.at[i].text);
	vec_done(&s->lines);
	vec_done(&s->code);
}

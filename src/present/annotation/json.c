/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/annotation/json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/count/classes.h"
#include "aggregate/profile/profile.h"
#include "base/buf.h"
#include "present/annotation/annotation.h"
#include "present/annotation/assembly.h"
#include "present/lines/json.h"
#include "present/lines/percent.h"
#include "resolve/code/code.h"
#include "resolve/code/insn.h"

static const char schema[] = "oprofile-annotate/1";

enum {
	FRAMES_MAX = 32,
	HEX_MAX = 24
};

struct write_annotation_json_writing {
	struct json j;
	const struct annotation *a;
	const struct annotation_json *what;
	struct assembly code;
	uint64_t *in_lines; /* of the shown files */
	uint64_t *in_code;  /* of the shown functions */
};

/* ---- members ---- */

static void write_annotation_json_put_text(struct write_annotation_json_writing *w,
					   const char *name, const char *text)
{
	json_name(&w->j, name);
	json_text(&w->j, text);
}

static void write_annotation_json_put_number(struct write_annotation_json_writing *w,
					     const char *name, uint64_t value)
{
	json_name(&w->j, name);
	json_u64(&w->j, value);
}

static void write_annotation_json_put_address(struct write_annotation_json_writing *w,
					      const char *name, uint64_t address)
{
	char hex[HEX_MAX];

	snprintf(hex, sizeof(hex), "0x%" PRIx64, address);
	write_annotation_json_put_text(w, name, hex);
}

/* Writes "ratios":[0.5,null]; for members other than "samples" the name is prefixed:
 * "total_ratios". */
static void write_annotation_json_put_ratios(struct write_annotation_json_writing *w,
					     const char *name, const uint64_t *counts)
{
	const struct annotation *a = w->a;
	char of[64] = "ratios";
	char digits[32];

	if (!a->ratios.nr)
		return;
	if (strcmp(name, "samples") != 0)
		snprintf(of, sizeof(of), "%s_ratios", name);
	json_name(&w->j, of);
	json_begin_array(&w->j);
	for (size_t i = 0; i < a->ratios.nr; i++) {
		uint64_t above = counts[a->nr_columns + a->ratios.at[i].above];
		uint64_t below = counts[a->nr_columns + a->ratios.at[i].below];

		snprintf(digits, sizeof(digits), "%.10g",
			 below ? (double)above / (double)below : 0);
		json_number(&w->j, below ? digits : "null");
	}
	json_end_array(&w->j);
}

static void write_annotation_json_put_samples(struct write_annotation_json_writing *w,
					      const char *name, const uint64_t *counts)
{
	json_name(&w->j, name);
	json_begin_array(&w->j);
	for (size_t c = 0; c < w->a->nr_columns; c++)
		json_u64(&w->j, counts[c]);
	json_end_array(&w->j);
	write_annotation_json_put_ratios(w, name, counts);
}

static void write_annotation_json_add(const struct write_annotation_json_writing *w,
				      uint64_t *to, const uint64_t *counts)
{
	for (size_t c = 0; c < w->a->nr_counts; c++)
		to[c] += counts[c];
}

static const char *
write_annotation_json_string_of(const struct write_annotation_json_writing *w,
				uint32_t number)
{
	return strtab_get(&w->a->p->strings, number);
}

/* ---- columns ---- */

static int put_columns(struct write_annotation_json_writing *w)
{
	const struct annotation *a = w->a;
	struct buf title = { 0 };
	bool failed = false;

	json_name(&w->j, "columns");
	json_begin_array(&w->j);
	for (size_t c = 0; c < a->nr_columns; c++) {
		const struct class *class = &a->groups.classes.columns.at[c];
		const struct profile_event *e = &a->p->events.at[class->event];

		buf_clear(&title);
		classes_put_title(&a->groups.classes, c, &title);
		buf_put_u8(&title, 0);
		failed |= title.failed;
		json_begin_object(&w->j);
		write_annotation_json_put_text(
			w, "column", title.failed ? "" : (const char *)title.data);
		write_annotation_json_put_text(
			w, "event", write_annotation_json_string_of(w, e->name));
		write_annotation_json_put_number(w, "count", e->count);
		write_annotation_json_put_number(w, "frequency", profile_event_hz(e));
		write_annotation_json_put_number(w, "samples", a->groups.totals[c]);
		json_end_object(&w->j);
	}
	json_end_array(&w->j);
	buf_done(&title);
	return failed ? -ENOMEM : 0;
}

/* Writes the events of the elements of each "ratios", in the same order. */
static void put_ratio_names(struct write_annotation_json_writing *w)
{
	const struct annotation *a = w->a;

	if (!a->ratios.nr)
		return;
	json_name(&w->j, "ratios");
	json_begin_array(&w->j);
	for (size_t i = 0; i < a->ratios.nr; i++) {
		const struct class *columns = a->groups.classes.columns.at;
		const struct profile_event *events = a->p->events.at;
		const struct ratio *r = &a->ratios.at[i];

		json_begin_object(&w->j);
		write_annotation_json_put_text(
			w, "of",
			write_annotation_json_string_of(
				w, events[columns[r->above].event].name));
		write_annotation_json_put_text(
			w, "by",
			write_annotation_json_string_of(
				w, events[columns[r->below].event].name));
		json_end_object(&w->j);
	}
	json_end_array(&w->j);
}

/* ---- sources ---- */

static void write_annotation_json_put_lines(struct write_annotation_json_writing *w,
					    const struct annotated_file *file)
{
	json_name(&w->j, "lines");
	json_begin_array(&w->j);
	for (size_t i = 0; i < file->nr_lines; i++) {
		json_begin_object(&w->j);
		write_annotation_json_put_number(w, "line", file->lines[i].line);
		write_annotation_json_put_samples(w, "samples", file->lines[i].counts);
		json_end_object(&w->j);
	}
	json_end_array(&w->j);
}

static int write_annotation_json_put_starts(struct write_annotation_json_writing *w,
					    const struct annotated_file *file)
{
	json_name(&w->j, "functions");
	json_begin_array(&w->j);
	for (size_t i = 0; i < file->nr_starts; i++) {
		const struct annotated_start *start = &file->starts[i];
		const char *name = profile_function_name(w->a->p, start->function);

		if (!name)
			return -ENOMEM;
		json_begin_object(&w->j);
		write_annotation_json_put_text(w, "function", name);
		write_annotation_json_put_number(w, "line", start->line);
		write_annotation_json_put_samples(w, "total", start->counts);
		json_end_object(&w->j);
	}
	json_end_array(&w->j);
	return 0;
}

static int put_files(struct write_annotation_json_writing *w)
{
	int r = 0;

	json_name(&w->j, "files");
	json_begin_array(&w->j);
	for (size_t f = 0; !r && f < w->a->files.nr; f++) {
		const struct annotated_file *file = &w->a->files.at[f];

		if (!w->what->wants_file(w->what->ctx, f))
			continue;
		json_begin_object(&w->j);
		write_annotation_json_put_text(w, "file", file->path);
		write_annotation_json_put_text(
			w, "image", write_annotation_json_string_of(w, file->image));
		write_annotation_json_put_samples(w, "samples", file->counts);
		write_annotation_json_put_lines(w, file);
		r = write_annotation_json_put_starts(w, file);
		json_end_object(&w->j);
		write_annotation_json_add(w, w->in_lines, file->counts);
	}
	json_end_array(&w->j);
	json_name(&w->j, "without_line");
	json_begin_array(&w->j);
	for (size_t i = 0; i < w->a->rest.nr; i++) {
		json_begin_object(&w->j);
		write_annotation_json_put_text(
			w, "image",
			write_annotation_json_string_of(w, w->a->rest.at[i].image));
		write_annotation_json_put_samples(w, "samples",
						  w->a->rest.at[i].counts);
		json_end_object(&w->j);
	}
	json_end_array(&w->j);
	return r;
}

/* ---- code ---- */

static void write_annotation_json_put_frame(struct write_annotation_json_writing *w,
					    const struct line_frame *frame)
{
	if (frame->file)
		write_annotation_json_put_text(w, "file", frame->file);
	if (frame->file)
		write_annotation_json_put_number(w, "line", frame->line);
}

static void put_function_name(struct write_annotation_json_writing *w,
			      const struct line_frame *frame)
{
	char *shown = frame->linkage && frame->name
			      ? profile_name_to_show(w->a->p, frame->name)
			      : NULL;

	if (frame->name)
		write_annotation_json_put_text(w, "function",
					       shown ? shown : frame->name);
	free(shown);
}

/* Writes the source line; for inlined code also the calls, innermost first. */
static void write_annotation_json_put_position(struct write_annotation_json_writing *w,
					       struct code *code, uint64_t address)
{
	struct line_frame frames[FRAMES_MAX];
	size_t nr = code_frames(code, address, frames, FRAMES_MAX);

	if (!nr)
		return;
	write_annotation_json_put_frame(w, &frames[0]);
	if (nr < 2 || !frames[0].inlined)
		return;
	put_function_name(w, &frames[0]);
	json_name(&w->j, "inlined_at");
	json_begin_array(&w->j);
	for (size_t i = 1; i < nr && frames[i - 1].inlined; i++) {
		json_begin_object(&w->j);
		write_annotation_json_put_frame(w, &frames[i]);
		put_function_name(w, &frames[i]);
		json_end_object(&w->j);
	}
	json_end_array(&w->j);
}

static void write_annotation_json_put_row(struct write_annotation_json_writing *w,
					  struct code *code,
					  const struct assembly_row *row)
{
	const char *reference =
		code ? code_reference(code, row->address, row->end) : NULL;
	struct insn insn;

	json_begin_object(&w->j);
	write_annotation_json_put_address(w, "address", row->address);
	if (row->counts)
		write_annotation_json_put_samples(w, "samples", row->counts);
	if (code && !row->no_code && !code_insn(code, row->address, &insn)) {
		write_annotation_json_put_text(w, "text", insn.text);
		if (reference)
			write_annotation_json_put_text(w, "reference", reference);
		else if (insn.has_target)
			write_annotation_json_put_address(w, "target", insn.target);
		if (insn.has_data && !reference)
			write_annotation_json_put_address(w, "data", insn.data);
	}
	if (code && w->what->sources)
		write_annotation_json_put_position(w, code, row->address);
	json_end_object(&w->j);
}

static int write_annotation_json_prepare(struct write_annotation_json_writing *w,
					 struct code *code)
{
	size_t nr = w->code.rows.nr;
	uint64_t *addresses = malloc((nr + 1) * sizeof(*addresses));

	if (!addresses)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		addresses[i] = w->code.rows.at[i].address;
	if (code && w->what->sources)
		code_prepare_lines(code, addresses, nr);
	free(addresses);
	return 0;
}

static int write_annotation_json_put_function(struct write_annotation_json_writing *w,
					      const struct assembly_function *f)
{
	const struct profile *p = w->a->p;
	struct code *code = w->what->code_of(w->what->ctx, f->image);
	const char *name = profile_function_name(w->a->p, f->function);
	int r = name ? assembly_rows(&w->code, f, code) : -ENOMEM;

	if (!r)
		r = write_annotation_json_prepare(w, code);
	if (r)
		return r;
	json_begin_object(&w->j);
	write_annotation_json_put_text(w, "function", name);
	write_annotation_json_put_text(
		w, "image",
		write_annotation_json_string_of(w, p->images.at[f->image].name));
	write_annotation_json_put_samples(w, "samples", f->counts);
	json_name(&w->j, "instructions");
	json_begin_array(&w->j);
	for (size_t i = 0; i < w->code.rows.nr; i++)
		write_annotation_json_put_row(w, code, &w->code.rows.at[i]);
	json_end_array(&w->j);
	json_end_object(&w->j);
	write_annotation_json_add(w, w->in_code, f->counts);
	return 0;
}

static int write_annotation_json_put_functions(struct write_annotation_json_writing *w)
{
	const struct annotation_json *what = w->what;
	size_t nr = w->code.functions.nr;
	int r = 0;

	if (what->top && what->top < nr)
		nr = what->top;
	json_name(&w->j, "functions");
	json_begin_array(&w->j);
	for (size_t i = 0; !r && i < nr; i++) {
		const struct assembly_function *f = &w->code.functions.at[i];

		if (annotation_reaches(w->a, f->counts, what->threshold))
			r = write_annotation_json_put_function(w, f);
	}
	json_end_array(&w->j);
	return r;
}

/* ---- sums ---- */

/* Writes the samples that are shown and those that are not, with the reason.  Both for lines and
 * for instructions they add up to all samples. */
static void write_annotation_json_put_sums(struct write_annotation_json_writing *w)
{
	const struct annotation *a = w->a;
	size_t nr = a->nr_counts;
	uint64_t *left = calloc(nr * 2 + 1, sizeof(*left));

	if (!left)
		return;
	for (size_t c = 0; c < nr; c++) {
		left[c] = a->groups.totals[c] - w->in_lines[c] - a->without_line[c] -
			  a->other[c];
		left[nr + c] = a->groups.totals[c] - w->in_code[c] - a->other[c];
	}
	json_name(&w->j, "sums");
	json_begin_object(&w->j);
	if (w->what->sources) {
		write_annotation_json_put_samples(w, "lines", w->in_lines);
		write_annotation_json_put_samples(w, "files_left_out", left);
		write_annotation_json_put_samples(w, "without_line", a->without_line);
	}
	if (w->what->code) {
		write_annotation_json_put_samples(w, "instructions", w->in_code);
		write_annotation_json_put_samples(w, "code_left_out", left + nr);
	}
	write_annotation_json_put_samples(w, "functions_left_out", a->other);
	write_annotation_json_put_samples(w, "all", a->groups.totals);
	json_end_object(&w->j);
	free(left);
}

static int write_annotation_json_write_all(struct write_annotation_json_writing *w)
{
	int r;

	json_begin_object(&w->j);
	write_annotation_json_put_text(w, "schema", schema);
	json_name(&w->j, "skid");
	json_bool(&w->j, w->a->has_skid);
	r = put_columns(w);
	put_ratio_names(w);
	if (!r && w->what->sources)
		r = put_files(w);
	if (!r && w->what->code)
		r = write_annotation_json_put_functions(w);
	if (r)
		return r;
	write_annotation_json_put_sums(w);
	json_end_object(&w->j);
	fputc('\n', w->j.out);
	return 0;
}

int annotation_write_json(FILE *out, const struct annotation *a,
			  const struct annotation_json *what)
{
	struct write_annotation_json_writing w = { .j = { .out = out },
						   .a = a,
						   .what = what };
	int r = assembly_make(&w.code, a);

	w.in_lines = calloc(a->nr_counts + 1, sizeof(*w.in_lines));
	w.in_code = calloc(a->nr_counts + 1, sizeof(*w.in_code));
	if (!w.in_lines || !w.in_code)
		r = -ENOMEM;
	if (!r)
		r = write_annotation_json_write_all(&w);
	assembly_done(&w.code);
	free(w.in_lines);
	free(w.in_code);
	return r;
}

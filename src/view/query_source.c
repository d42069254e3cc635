/* SPDX-License-Identifier: GPL-2.0-or-later */
/* query_source.c - the query "source". */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "view/query_priv.h"
#include "view/source.h"

/* Returns the language of a source, by its name; NULL: unknown. */
static const char *view_source_language(const char *file)
{
	static const struct {
		const char *end, *language;
	} rows[] = {
		{ ".c", "c" },         { ".h", "c" },           { ".cc", "c++" },
		{ ".cpp", "c++" },     { ".cxx", "c++" },       { ".hpp", "c++" },
		{ ".hh", "c++" },      { ".C", "c++" },         { ".rs", "rust" },
		{ ".go", "go" },       { ".S", "asm" },         { ".s", "asm" },
		{ ".py", "python" },   { ".js", "javascript" }, { ".java", "java" },
		{ ".swift", "swift" }, { ".f90", "fortran" },   { ".pas", "pascal" },
		{ ".d", "d" },         { ".zig", "zig" },       { ".ml", "ocaml" },
	};
	const char *dot = strrchr(file, '.');

	for (size_t i = 0; dot && i < COUNT_OF(rows); i++)
		if (!strcmp(rows[i].end, dot))
			return rows[i].language;
	return NULL;
}

static void view_source_put_address(struct view_answer *a, const char *name,
				    uint64_t address)
{
	char hex[24];

	(void)snprintf(hex, sizeof(hex), "0x%" PRIx64, address);
	json_member_text(&a->json, name, hex);
}

static void view_source_put_lines(struct view_answer *a, const struct view_source *s)
{
	struct json *j = &a->json;

	json_name(j, "lines");
	json_begin_array(j);
	for (size_t i = 0; i < s->lines.nr; i++) {
		const struct view_source_line *line = &s->lines.at[i];

		json_begin_object(j);
		json_member_u64(j, "line", s->first + i);
		json_member_text(j, "text", line->text ? line->text : "");
		json_member_u64(j, "samples", line->samples);
		json_end_object(j);
	}
	json_end_array(j);
}

static void view_source_put_insn(struct view_answer *a, const struct view_source *s,
				 const struct view_source_insn *insn)
{
	struct json *j = &a->json;
	char bytes[2 * INSN_BYTES_MAX + 1] = "";

	for (unsigned int i = 0; i < insn->len; i++)
		(void)snprintf(bytes + 2 * i, sizeof(bytes) - 2 * i, "%02x",
			       insn->bytes[i]);
	json_begin_object(j);
	view_source_put_address(a, "address", insn->address);
	json_member_text(j, "bytes", bytes);
	json_member_text(j, "text", strtab_get(&s->strings, insn->text));
	json_member_u64(j, "samples", insn->samples);
	if (insn->line)
		json_member_u64(j, "line", insn->line);
	if (insn->file)
		json_member_text(j, "file", strtab_get(&s->strings, insn->file));
	if (insn->has_target)
		view_source_put_address(a, "target", insn->target);
	json_end_object(j);
}

static void view_source_put(struct view_answer *a, const struct view_source *s)
{
	const struct view_data *d = &a->m->data;
	struct json *j = &a->json;
	const char *language = s->file ? view_source_language(s->file) : NULL;

	json_begin_object(j);
	json_member_text(j, "symbol", view_function_name(d, s->function));
	json_member_text(j, "short", view_function_short(a->m, s->function));
	json_member_text(j, "image", view_function_image(d, s->function));
	json_member_u64(j, "samples", s->samples);
	if (s->file)
		json_member_text(j, "file", s->file);
	if (language)
		json_member_text(j, "language", language);
	if (s->lines.nr) {
		json_member_u64(j, "first", s->first);
		json_member_u64(j, "hottest", s->hottest);
	}
	view_source_put_lines(a, s);
	json_name(j, "code");
	json_begin_array(j);
	for (size_t i = 0; i < s->code.nr; i++)
		view_source_put_insn(a, s, &s->code.at[i]);
	json_end_array(j);
	if (*s->missing)
		json_member_text(j, "missing", s->missing);
	json_end_object(j);
}

int view_answer_put_source(struct view_answer *a, uint32_t function, bool handed_on)
{
	struct view_source s;
	int r = view_source_make(&s, a->m, a->params, function, handed_on, a->err);

	if (!r) {
		a->m->data.is_private |= s.is_private;
		view_source_put(a, &s);
	}
	view_source_done(&s);
	return r;
}

int view_query_source(struct view_answer *a)
{
	uint32_t function;
	int r = view_answer_function(a, &function);

	return r ? r : view_answer_put_source(a, function, false);
}

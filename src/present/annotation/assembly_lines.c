/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/annotation/assembly_lines.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "base/containers/hash.h"
#include "base/files/path.h"
#include "present/annotation/annotate_margin.h"
#include "present/annotation/annotation.h"
#include "present/annotation/assembly.h"
#include "present/annotation/write_assembly.h"
#include "present/lines/screen.h"
#include "resolve/code/code.h"

enum {
	LINES_BEFORE = 5 /* context lines of a file, as in objdump -S */
};

void assembly_lines_init(struct assembly_lines *l, const struct annotation *a,
			 const struct assembly_source *source)
{
	*l = (struct assembly_lines){
		.a = a,
		.texts = { .open_source = source->open_source, .ctx = source->ctx },
		.sites = source->inline_sites,
	};
}

void assembly_lines_done(struct assembly_lines *l)
{
	source_texts_done(&l->texts);
}

int assembly_lines_begin(struct assembly_lines *l, struct code *code,
			 const struct assembly *s)
{
	uint64_t *addresses = malloc((s->rows.nr + 1) * sizeof(*addresses));

	if (!addresses)
		return -ENOMEM;
	for (size_t i = 0; i < s->rows.nr; i++)
		addresses[i] = s->rows.at[i].address;
	if (code)
		code_prepare_lines(code, addresses, s->rows.nr);
	free(addresses);
	source_texts_begin(&l->texts);
	l->file = NULL;
	l->line = 0;
	l->chain = 0;
	return 0;
}

static void put_margin(const struct assembly_lines *l, FILE *out)
{
	static const struct screen plain;

	margin_put(out, l->a, &plain, NULL);
}

static void assembly_lines_put_name(const struct assembly_lines *l, FILE *out,
				    const struct line_frame *frame)
{
	char *shown = frame->linkage && frame->name
			      ? profile_name_to_show(l->a->p, frame->name)
			      : NULL;

	screen_write_name(out, shown ? shown : frame->name ? frame->name : "(no name)");
	free(shown);
}

/* Writes a comment such as "mix inlined at /src/p.c:22, in work". */
static void put_chain(const struct assembly_lines *l, FILE *out, size_t nr)
{
	put_margin(l, out);
	fputs("/* ", out);
	for (size_t i = 0; i < nr; i++) {
		const struct line_frame *frame = &l->frames[i];

		assembly_lines_put_name(l, out, frame);
		if (!frame->inlined || i + 1 == nr)
			break;
		fputs(" inlined at ", out);
		screen_write_name(out, frame[1].file ? frame[1].file : "??");
		fprintf(out, ":%" PRIu32 ", in ", frame[1].line);
	}
	fputs(" */\n", out);
}

static uint64_t chain_of(const struct assembly_lines *l, size_t nr)
{
	uint64_t hash = nr;

	for (size_t i = 0; i + 1 < nr && l->frames[i].inlined; i++) {
		const char *name = l->frames[i].name ? l->frames[i].name : "";

		hash = hash_bytes(name, strlen(name), hash + l->frames[i + 1].line);
	}
	return hash;
}

static void assembly_lines_put_line(struct assembly_lines *l, FILE *out,
				    struct source_text *text, uint32_t line)
{
	size_t len;
	const char *at = source_texts_line(&l->texts, text, line, &len);

	put_margin(l, out);
	if (at) {
		screen_write_code(out, at, len);
	} else {
		fputs("/* ", out);
		screen_write_name(out, l->file);
		fprintf(out, ":%" PRIu32 " */", line);
	}
	fputc('\n', out);
}

/* Writes the line with up to LINES_BEFORE preceding lines that were not shown yet.  If the line
 * was shown before, writes only the line itself. */
static int assembly_lines_put_lines(struct assembly_lines *l, FILE *out)
{
	char *full = path_full(l->file, "");
	struct source_text *text = full ? source_texts_find(&l->texts, full) : NULL;
	uint32_t from = l->line > LINES_BEFORE ? l->line - LINES_BEFORE : 1;

	free(full);
	if (!text)
		return -ENOMEM;
	if (!text->file || l->line >= text->lines.nr)
		from = l->line;
	else if (text->max_printed >= from)
		from = text->max_printed < l->line ? text->max_printed + 1 : l->line;
	for (uint32_t line = from; line <= l->line; line++)
		assembly_lines_put_line(l, out, text, line);
	if (text->max_printed < l->line)
		text->max_printed = l->line;
	return 0;
}

/* Marks compiler-generated code without a line, which does not belong to the line above. */
static void put_no_line(const struct assembly_lines *l, FILE *out)
{
	put_margin(l, out);
	fputs("/* no line */\n", out);
}

int assembly_lines_put(struct assembly_lines *l, FILE *out, struct code *code,
		       uint64_t address)
{
	size_t nr =
		code ? code_frames(code, address, l->frames, ASSEMBLY_FRAMES_MAX) : 0;
	const char *file = nr ? l->frames[0].file : NULL;
	uint64_t chain = chain_of(l, nr);
	bool is_new = file && l->frames[0].line &&
		      (!l->file || l->line != l->frames[0].line ||
		       strcmp(l->file, file) != 0);

	if (l->sites && nr && chain != l->chain && (l->frames[0].inlined || l->chain))
		put_chain(l, out, nr);
	l->chain = chain;
	if (l->file && !(file && l->frames[0].line)) {
		put_no_line(l, out);
		l->file = NULL;
	}
	if (!is_new)
		return 0;
	l->file = file;
	l->line = l->frames[0].line;
	return assembly_lines_put_lines(l, out);
}

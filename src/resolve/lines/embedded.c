/* SPDX-License-Identifier: GPL-2.0-or-later */
/* embedded.c - finds sources that are embedded in the debug information. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/files/path.h"
#include "resolve/dwarf/line.h"
#include "resolve/lines/priv.h"

struct searching {
	const char *path;
	struct dwarf_reader rd;
	struct dwarf_program program;
	struct buf name;
	struct buf *out;
};

static bool is_path(struct searching *s, uint32_t file)
{
	char *full;
	bool same;

	buf_clear(&s->name);
	if (dwarf_program_path(&s->program, file, &s->name) || s->name.failed)
		return false;
	full = path_full((const char *)s->name.data, "");
	same = full && !strcmp(full, s->path);
	free(full);
	return same;
}

/* Returns 0 if the text was found and appended, -ENOENT or -ENOMEM. */
static int search_unit(struct searching *s, struct dwarf_unit *u)
{
	if (!u->root_read)
		dwarf_unit_read_root(u, &s->rd);
	if (u->bad_root || dwarf_program_open(&s->program, u, &s->rd))
		return -ENOENT;
	for (size_t i = 0; i < s->program.embedded.nr; i++) {
		const char *text;

		if (!is_path(s, s->program.embedded.at[i].file))
			continue;
		text = dwarf_program_embedded(&s->program, i);
		/* Files without an embedded source have an empty text. */
		if (!text || !*text)
			continue;
		buf_put(s->out, text, strlen(text));
		return s->out->failed ? -ENOMEM : 0;
	}
	return -ENOENT;
}

int lines_embedded(struct lines *l, const char *path, struct buf *out)
{
	struct searching s = { .path = path, .out = out };
	int r = lines_need_source(l, NULL);

	if (r)
		return r == -ENOMEM ? r : -ENOENT;
	r = -ENOENT;
	for (size_t i = 0; r == -ENOENT && i < l->source.info.units.nr; i++)
		r = search_unit(&s, &l->source.info.units.at[i]);
	dwarf_program_done(&s.program);
	dwarf_reader_done(&s.rd);
	buf_done(&s.name);
	return r;
}

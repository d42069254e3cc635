/* SPDX-License-Identifier: GPL-2.0-or-later */
/* op2calltree.c - `opreport -gdf | op2calltree`: converts a report to callgrind files.
 * KCachegrind's script of that name does the same.  Unlike it, this keeps functions of the same
 * name in different images separate, and writes separate files for applications of the same name.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/containers/map.h"
#include "base/containers/strtab.h"
#include "base/containers/vec.h"
#include "base/err.h"
#include "base/files/public_file.h"
#include "base/safe_text.h"
#include "format/foreign/opreport_text.h"
#include "tools/cli/command.h"
#include "tools/report/out.h"

struct op2calltree_settings {
	const char *prefix;
};

struct op2calltree_app {
	uint32_t name; /* string */
	struct buf body;
	uint64_t sums[OPREPORT_EVENTS_MAX];
	struct map files; /* string -> its number in the callgrind file */
	uint32_t nr_files;
	/* Source file that was written last, as a number in `strings`; STRTAB_FAILED: none. */
	uint32_t file;
	uint32_t image;
};

struct converting {
	struct opreport_reader reader;
	struct strtab strings;
	struct strtab used; /* paths of files */
	VEC(uint32_t) events;
	VEC(struct op2calltree_app) apps;
	struct map app_by;
	struct op2calltree_app *at; /* application of the current function */
	uint32_t file;              /* source file of the current function */
	uint64_t nr_lines;
	bool is_private; /* the input file is not readable for every user */
};

extern const struct command command_op2calltree;

static const char usual_prefix[] = "oprof.out";

static uint32_t op2calltree_string(struct converting *c, struct opreport_word w,
				   const char *unknown)
{
	struct buf name = { 0 };
	uint32_t string = STRTAB_FAILED;

	if (!w.len)
		return strtab_add(&c->strings, unknown);
	opreport_put_plain(&name, w);
	if (!name.failed)
		string = strtab_add_len(&c->strings, (const char *)name.data, name.len);
	buf_done(&name);
	return string;
}

static void op2calltree_put(struct op2calltree_app *a, const char *text)
{
	buf_put(&a->body, text, strlen(text));
}

/* Writes a name. Changes one that looks like a number of callgrind, such as "(2)". */
static void op2calltree_put_name(struct op2calltree_app *a, const char *name,
				 size_t len)
{
	size_t digits = len && name[0] == '(' ? strspn(name + 1, "0123456789") : 0;

	if (digits && digits + 1 < len && name[digits + 1] == ')') {
		op2calltree_put(a, "\\x28");
		name++;
		len--;
	}
	buf_put(&a->body, name, len);
}

static struct op2calltree_app *op2calltree_find_app(struct converting *c,
						    struct opreport_word name)
{
	struct op2calltree_app new = { .name = op2calltree_string(c, name, "unnamed"),
				       .file = STRTAB_FAILED,
				       .image = STRTAB_FAILED };
	struct map_slot *slot;
	bool is_new;

	if (new.name == STRTAB_FAILED)
		return NULL;
	slot = map_at(&c->app_by, new.name, 0, &is_new);
	if (!slot || (is_new && !vec_push(&c->apps, new)))
		return NULL;
	if (is_new)
		slot->value_plus_1 = (uint32_t)c->apps.nr;
	return &c->apps.at[slot->value_plus_1 - 1];
}

/* Writes "fl=(1) path" the first time, then "fl=(1)". */
static int op2calltree_put_file(struct converting *c, const char *field, uint32_t file)
{
	struct op2calltree_app *a = c->at;
	bool is_new;
	struct map_slot *slot = map_at(&a->files, file, 0, &is_new);

	if (!slot)
		return -ENOMEM;
	if (is_new)
		slot->value_plus_1 = ++a->nr_files;
	op2calltree_put(a, field);
	op2calltree_put(a, "=(");
	buf_put_decimal(&a->body, slot->value_plus_1);
	op2calltree_put(a, ")");
	if (is_new) {
		op2calltree_put(a, " ");
		op2calltree_put(a, strtab_get(&c->strings, file));
	}
	op2calltree_put(a, "\n");
	a->file = file;
	return 0;
}

static int op2calltree_add_symbol(struct converting *c, const struct opreport_line *l)
{
	static const char no_symbols[] = "(no symbols)";
	uint32_t image = op2calltree_string(c, l->image, "???");

	c->at = op2calltree_find_app(c, l->app);
	c->file = op2calltree_string(c, l->file, "???");
	if (!c->at || c->file == STRTAB_FAILED || image == STRTAB_FAILED)
		return -ENOMEM;
	if (c->at->image != image) {
		op2calltree_put(c->at, "ob=");
		op2calltree_put_name(c->at, strtab_get(&c->strings, image),
				     strlen(strtab_get(&c->strings, image)));
		op2calltree_put(c->at, "\n");
		c->at->image = image;
	}
	if (op2calltree_put_file(c, "fl", c->file))
		return -ENOMEM;
	op2calltree_put(c->at, "fn=");
	if (l->name.len == strlen(no_symbols) &&
	    !memcmp(l->name.at, no_symbols, l->name.len))
		op2calltree_put(c->at, "???");
	else
		op2calltree_put_name(c->at, l->name.at, l->name.len);
	op2calltree_put(c->at, "\n");
	return 0;
}

static int op2calltree_add_sample(struct converting *c, const struct opreport_line *l)
{
	uint32_t file = op2calltree_string(c, l->file, "???");
	struct op2calltree_app *a = c->at;

	if (file == STRTAB_FAILED || !a)
		return -ENOMEM;
	if (file != a->file &&
	    op2calltree_put_file(c, file == c->file ? "fe" : "fi", file))
		return -ENOMEM;
	op2calltree_put(a, "0x");
	buf_put_hex(&a->body, l->vma, 0);
	op2calltree_put(a, " ");
	buf_put_decimal(&a->body, l->line);
	for (size_t i = 0; i < c->reader.nr_events; i++) {
		op2calltree_put(a, " ");
		buf_put_decimal(&a->body, l->counts[i]);
		a->sums[i] += l->counts[i];
	}
	op2calltree_put(a, "\n");
	return 0;
}

static int op2calltree_add_event(struct converting *c, const struct opreport_line *l)
{
	uint32_t name = op2calltree_string(c, l->name, "");

	return name != STRTAB_FAILED && vec_push(&c->events, name) ? 0 : -ENOMEM;
}

static int op2calltree_add_line(struct converting *c, const char *text, size_t len,
				struct err *err)
{
	struct opreport_line l;
	int r = opreport_parse(&c->reader, text, len, &l, err);

	c->nr_lines++;
	if (!r && l.kind == OPREPORT_SAMPLE && !c->at)
		r = err_set(err, -EBADMSG, "samples without a preceding function");
	if (r) {
		err_prefix(err, "line %" PRIu64, c->nr_lines);
		return r;
	}
	if (l.kind == OPREPORT_EVENT)
		r = op2calltree_add_event(c, &l);
	else if (l.kind == OPREPORT_SYMBOL)
		r = op2calltree_add_symbol(c, &l);
	else if (l.kind == OPREPORT_SAMPLE)
		r = op2calltree_add_sample(c, &l);
	return r ? err_set(err, r, "out of memory") : 0;
}

static int op2calltree_read_all(struct converting *c, FILE *in, struct err *err)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t len;
	int r = 0;

	while (!r && (len = getline(&line, &room, in)) >= 0) {
		if (len && line[len - 1] == '\n')
			len--;
		safe_text_mask(line, (size_t)len, '?');
		r = op2calltree_add_line(c, line, (size_t)len, err);
	}
	free(line);
	if (!r && ferror(in))
		r = err_set(err, -EIO, "cannot read the standard input");
	if (!r && !c->apps.nr)
		r = err_set(err, -ENODATA,
			    "no function in the input: "
			    "give the output of opreport -gdf, as in: "
			    "opreport -gdf | op2calltree");
	return r;
}

static void put_app(const struct converting *c, const struct op2calltree_app *a,
		    FILE *out)
{
	fprintf(out, "# callgrind format\nversion: 1\ncreator: op2calltree\ncmd: %s\n",
		strtab_get(&c->strings, a->name));
	fputs("positions: instr line\nevents:", out);
	for (size_t i = 0; i < c->events.nr; i++)
		fprintf(out, " %s", strtab_get(&c->strings, c->events.at[i]));
	fputs("\nsummary:", out);
	for (size_t i = 0; i < c->events.nr; i++)
		fprintf(out, " %" PRIu64, a->sums[i]);
	fputs("\n\n", out);
	fwrite(a->body.data, 1, a->body.len, out);
}

static int op2calltree_write_app(struct converting *c, const char *prefix, size_t app,
				 struct err *err)
{
	struct report_out out = { 0 };
	char *name = report_out_app_path(&c->used, prefix,
					 strtab_get(&c->strings, c->apps.at[app].name));
	int r, closed;

	if (!name || c->apps.at[app].body.failed) {
		free(name);
		return err_set(err, -ENOMEM, "out of memory");
	}
	r = report_out_open(&out, name, err);
	if (!r)
		put_app(c, &c->apps.at[app], out.file);
	closed = report_out_close(&out,
				  r ? EXPORT_DROPPED : report_out_end(c->is_private),
				  r ? NULL : err);
	free(name);
	return r ? r : closed;
}

static void op2calltree_done(struct converting *c)
{
	for (size_t i = 0; i < c->apps.nr; i++) {
		buf_done(&c->apps.at[i].body);
		map_done(&c->apps.at[i].files);
	}
	vec_done(&c->apps);
	vec_done(&c->events);
	map_done(&c->app_by);
	strtab_done(&c->strings);
	strtab_done(&c->used);
}

static int op2calltree_convert(const char *prefix, struct err *err)
{
	struct converting c = { 0 };
	int r = strtab_init(&c.strings);

	if (!r)
		r = strtab_init(&c.used);
	c.is_private = !public_file_recording("-");
	r = r ? err_set(err, r, "out of memory") : op2calltree_read_all(&c, stdin, err);
	for (size_t i = 0; !r && i < c.apps.nr; i++)
		r = op2calltree_write_app(&c, prefix, i, err);
	op2calltree_done(&c);
	return r;
}

static const struct option_row rows[] = {
	{ .name = "output-prefix",
	  .letter = 'o',
	  .kind = OPTION_TEXT,
	  .value = "PREFIX",
	  .offset = OPTION(struct op2calltree_settings, prefix),
	  .help = "Write files PREFIX.NAME instead of oprof.out.NAME." },
	{ 0 },
};

static int op2calltree_run(const struct command *self, int argc, char **argv)
{
	struct op2calltree_settings set = { .prefix = usual_prefix };
	struct err err = { 0 };
	int first;
	int status = command_options(self, OPTIONS_PERMUTE, argc, argv, &set, &first);

	if (status >= 0)
		return status;
	if (argv[first]) {
		command_error(
			"\"%s\": op2calltree reads the standard input: opreport -gdf | op2calltree",
			argv[first]);
		return 1;
	}
	if (!op2calltree_convert(set.prefix, &err))
		return 0;
	command_error("%s", err.text);
	return 1;
}

const struct command command_op2calltree = {
	.name = "calltree",
	.classic = "op2calltree",
	.summary = "convert the output of opreport to callgrind files",
	.usage = "[options]",
	.notes =
		"Reads the output of opreport -gdf, and writes a file oprof.out.NAME for each application.\n"
		"For recordings with call stacks, use oprofile export callgrind.\nExample:\n  opreport -gdf | op2calltree && kcachegrind oprof.out.*",
	.options = rows,
	.run = op2calltree_run,
};

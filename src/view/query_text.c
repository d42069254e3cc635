/* SPDX-License-Identifier: GPL-2.0-or-later */
/* query_text.c - the query "text": the selection as plain text, for copying. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "present/text/csv.h"
#include "view/query_priv.h"
#include "view/table.h"

/* ---- folded stacks ---- */

/* Appends a name without the characters that separate frames and lines. */
static void text_put_frame(struct buf *out, const char *name)
{
	if (!*name)
		name = "[unknown]";
	for (; *name; name++)
		buf_put_u8(out, *name == ';' || (unsigned char)*name < ' '
					? '_'
					: (uint8_t)*name);
}

/* Writes the stack of each node with samples, the outermost function first.  Nodes are in preorder,
 * so `path` contains the callers of a node; ends[node] is its length with that node. */
static int text_write_stacks(struct view_answer *a, const uint64_t *self, size_t *ends)
{
	const struct view_data *d = &a->m->data;
	struct buf path = { 0 };
	int r;

	for (uint32_t i = 0; i < d->nodes.nr && !path.failed; i++) {
		uint32_t caller = d->nodes.at[i].caller;

		path.len = caller == VIEW_NONE ? 0 : ends[caller];
		if (path.len)
			buf_put_u8(&path, ';');
		text_put_frame(&path, view_function_name(d, d->nodes.at[i].function));
		ends[i] = path.len;
		if (!self[i] || path.failed)
			continue;
		(void)fwrite(path.data, 1, path.len, a->json.out);
		fprintf(a->json.out, " %" PRIu64 "\n", self[i]);
	}
	r = path.failed ? -ENOMEM : 0;
	buf_done(&path);
	return r;
}

static int text_write_folded(struct view_answer *a, const struct view_selection *s)
{
	size_t nr = a->m->data.nodes.nr;
	uint64_t *self = calloc(nr + 1, sizeof(*self));
	size_t *ends = calloc(nr + 1, sizeof(*ends));
	int r = self && ends ? 0 : -ENOMEM;

	if (!r) {
		view_selection_sum(s, self, false);
		r = text_write_stacks(a, self, ends);
	}
	free(self);
	free(ends);
	return r ? view_answer_no_memory(a) : 0;
}

/* ---- rows ---- */

static void view_text_put_row(struct buf *out, const struct view_table *t,
			      const struct view_row *row, bool csv)
{
	char digits[48];
	int n = csv ? snprintf(digits, sizeof(digits), "%" PRIu64 ",%" PRIu64,
			       row->self, row->total)
		    : snprintf(digits, sizeof(digits), "%12" PRIu64 " %12" PRIu64,
			       row->self, row->total);

	buf_put(out, digits, (size_t)n);
	for (size_t k = 0; k < t->keys.keys.nr; k++) {
		char value[VIEW_VALUE_ROOM];
		const char *text = view_table_text(t, row, k, value);

		buf_put(out, csv ? "," : "  ", csv ? 1 : 2);
		csv_put_field(out, text, strlen(text));
	}
	buf_put(out, csv ? "\r\n" : "\n", csv ? 2 : 1);
}

static int text_write_rows(struct view_answer *a, const struct view_selection *s,
			   bool csv)
{
	const char *keys = view_params_get(a->params, "by");
	struct view_table t = { 0 };
	struct buf out = { 0 };
	int r = view_table_make(&t, s, keys ? keys : "symbol,image", a->err);

	if (!r) {
		view_table_sort(&t, VIEW_BY_SELF);
		fputs(csv ? "self,total" : "        self        total", a->json.out);
		for (size_t k = 0; k < t.keys.keys.nr; k++)
			fprintf(a->json.out, "%s%s", csv ? "," : "  ",
				t.keys.keys.at[k].typed);
		fputs(csv ? "\r\n" : "\n", a->json.out);
		for (size_t i = 0; i < t.rows.nr; i++)
			view_text_put_row(&out, &t, &t.rows.at[i], csv);
		if (out.failed)
			r = view_answer_no_memory(a);
		else if (out.len)
			(void)fwrite(out.data, 1, out.len, a->json.out);
	}
	buf_done(&out);
	view_table_done(&t);
	return r;
}

int view_query_text(struct view_answer *a)
{
	const char *of = view_params_get(a->params, "of");
	bool folded = of && !strcmp(of, "folded");
	bool csv = of && !strcmp(of, "csv");
	struct view_selection s;
	int r;

	if (!folded && !csv && (!of || strcmp(of, "text") != 0))
		return err_set(a->err, -EINVAL,
			       "of: invalid value '%s': give folded, csv or text",
			       of ? of : "");
	r = view_selection_make(&s, a->m, a->params, a->err);
	if (!r)
		r = folded ? text_write_folded(a, &s) : text_write_rows(a, &s, csv);
	view_selection_done(&s);
	return r;
}

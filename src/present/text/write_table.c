/* SPDX-License-Identifier: GPL-2.0-or-later */
/* write_table.c - writes the table of --by: one line per group, one column per key. */
#include <errno.h>

#include "aggregate/profile/profile.h"
#include "base/err.h"
#include "present/lines/options.h"
#include "present/text/quality_text.h"
#include "present/text/text_table.h"
#include "present/text/text_writers.h"

static int choose_keys(struct text_table *t)
{
	const struct key_list *keys = t->p->options.keys;

	for (size_t k = 0; k < keys->keys.nr; k++) {
		const struct key *key = &keys->keys.at[k];
		const struct column *c = key->implied ? column_find("mark")
						      : column_of_key(key->row->id);

		if (c && text_table_choose(t, c->name, k))
			return -ENOMEM;
	}
	return 0;
}

static int write_table_write_all(struct text_table *t, FILE *out)
{
	int r = text_table_choose_counts(t);

	if (!r)
		r = choose_keys(t);
	if (!r)
		r = text_table_begin(t, out);
	for (size_t i = 0; !r && i < t->lines.all.nr; i++)
		r = text_table_line(t, out, &t->lines.all.at[i]);
	if (!r)
		r = text_table_end(t, out);
	if (!r && t->options->quality)
		r = quality_write_text(out, t->p);
	return r;
}

int write_table(FILE *out, struct profile *p, const struct present_options *options,
		struct err *err)
{
	struct text_table t = { .p = p, .options = options };
	int r = lines_of_groups(p, options, LINES_BY_KEYS, 0, &t.lines, err);

	if (!r && write_table_write_all(&t, out))
		r = err_set(err, -ENOMEM, "out of memory");
	text_table_done(&t);
	return r;
}

/* write_table.c - one line a group: OProfile's --symbols, and the table of --by. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile.h"
#include "base/buf.h"
#include "present/columns.h"
#include "present/header.h"
#include "present/lines.h"
#include "present/quality_text.h"
#include "present/writers.h"

/* A column of this report: what, and of which event or key. */
struct chosen {
	const struct column *column;
	size_t at;
};

struct table {
	struct profile *p;
	const struct present_options *options;
	struct lines lines;
	VEC(struct chosen) chosen;
	struct percent_memory *percents; /* by position of the event */
	struct buf text;                 /* the line in the making */
};

static int choose(struct table *t, const struct column *column, size_t at)
{
	return vec_push(&t->chosen, (struct chosen){ column, at }) ? 0 : -ENOMEM;
}

static int choose_counts(struct table *t)
{
	for (size_t e = 0; e < t->lines.events.nr; e++) {
		if (choose(t, column_find("samples"), e) ||
		    choose(t, column_find("percent"), e))
			return -ENOMEM;
	}
	return 0;
}

/* Pads to the column's width, with at least one blank; not behind the last column. */
static void pad(struct buf *text, size_t from, unsigned int width)
{
	static const char blanks[] = "                                        ";
	size_t len = text->len - from;
	size_t nr = len < width ? width - len : 1;

	buf_put(text, blanks, nr < sizeof(blanks) ? nr : sizeof(blanks) - 1);
}

static int end_line(FILE *out, struct buf *text)
{
	buf_put_u8(text, '\n');
	if (text->failed)
		return -ENOMEM;
	fwrite_unlocked(text->data, 1, text->len, out);
	buf_clear(text);
	return 0;
}

static int write_titles(FILE *out, struct table *t)
{
	for (size_t i = 0; i < t->chosen.nr; i++) {
		const struct column *c = t->chosen.at[i].column;
		size_t from = t->text.len;

		buf_put(&t->text, c->title, strlen(c->title));
		if (i + 1 < t->chosen.nr)
			pad(&t->text, from, c->width);
	}
	return end_line(out, &t->text);
}

static int write_line(FILE *out, struct table *t, const struct line *line)
{
	struct column_cell cell = { .profile = t->p,
				    .options = t->options,
				    .lines = &t->lines,
				    .line = line,
				    .percents = t->percents };

	for (size_t i = 0; i < t->chosen.nr; i++) {
		const struct column *c = t->chosen.at[i].column;
		size_t from = t->text.len;

		cell.at = t->chosen.at[i].at;
		c->print(&t->text, &cell);
		if (i + 1 < t->chosen.nr)
			pad(&t->text, from, c->width);
	}
	return end_line(out, &t->text);
}

static int write_all(FILE *out, struct table *t)
{
	int r = 0;

	t->percents = calloc(t->lines.events.nr + 1, sizeof(*t->percents));
	if (!t->percents)
		return -ENOMEM;
	if (!t->options->no_header) {
		header_write(out, t->p, &t->lines);
		r = write_titles(out, t);
	}
	for (size_t i = 0; !r && i < t->lines.all.nr; i++)
		r = write_line(out, t, &t->lines.all.at[i]);
	if (!r && t->options->quality)
		r = quality_write_text(out, t->p);
	return r;
}

static void table_done(struct table *t)
{
	lines_done(&t->lines);
	vec_done(&t->chosen);
	free(t->percents);
	buf_done(&t->text);
}

static int choose_keys(struct table *t)
{
	const struct key_list *keys = t->p->options.keys;

	for (size_t k = 0; k < keys->keys.nr; k++) {
		const struct column *c = column_of_key(keys->keys.at[k].row->id);

		if (c && choose(t, c, k))
			return -ENOMEM;
	}
	return 0;
}

int write_table(FILE *out, struct profile *p, const struct present_options *options)
{
	struct table t = { .p = p, .options = options };
	int r = lines_of_groups(p, options, LINES_BY_KEYS, &t.lines);

	if (!r)
		r = choose_counts(&t);
	if (!r)
		r = choose_keys(&t);
	if (!r)
		r = write_all(out, &t);
	table_done(&t);
	return r;
}

/* The image's name is shown if it tells something: several images, or one that is not the
 * application; the application's if there are several (oprofile-behaviour.md 1.1.4). */
static int choose_names(struct table *t)
{
	struct profile *p = t->p;
	int image = keys_find(p->options.keys, KEY_IMAGE);
	int app = keys_find(p->options.keys, KEY_APP);
	int symbol = keys_find(p->options.keys, KEY_SYMBOL);
	const struct line *first = t->lines.all.at;
	bool show_image = false;
	bool show_app = false;

	if (image < 0 || app < 0 || symbol < 0)
		return -EINVAL;
	for (size_t i = 0; i < t->lines.all.nr && !(show_image && show_app); i++) {
		const struct line *line = &t->lines.all.at[i];
		uint64_t image_value = profile_value(p, line->group, (size_t)image);
		uint64_t app_value = profile_value(p, line->group, (size_t)app);

		show_image |= image_value != app_value;
		show_image |=
			image_value != profile_value(p, first->group, (size_t)image);
		show_app |= app_value != profile_value(p, first->group, (size_t)app);
	}
	if (show_image && choose(t, column_find("image"), (size_t)image))
		return -ENOMEM;
	if (show_app && choose(t, column_find("app"), (size_t)app))
		return -ENOMEM;
	return choose(t, column_find("symbol"), (size_t)symbol);
}

int write_symbols(FILE *out, struct profile *p, const struct present_options *options)
{
	struct table t = { .p = p, .options = options };
	int r = lines_of_groups(p, options, LINES_BY_FUNCTION, &t.lines);

	if (!r)
		r = choose_counts(&t);
	if (!r)
		r = choose_names(&t);
	if (!r)
		r = write_all(out, &t);
	table_done(&t);
	return r;
}

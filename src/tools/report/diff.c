/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/report/diff.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/err.h"
#include "tools/report/options.h"

enum {
	DIFF_SIDES = 2
};

bool diff_words_any(char *const *words)
{
	for (; *words; words++)
		if (!strcmp(*words, "{") || !strcmp(*words, "}") ||
		    !strcmp(*words, "{}"))
			return true;
	return false;
}

/* Sets OProfile's error message, which contains all arguments. Returns -EINVAL. */
static int diff_refuse(char *const *words, struct err *err)
{
	struct buf text = { 0 };

	for (; *words; words++) {
		buf_put(&text, *words, strlen(*words));
		buf_put_u8(&text, ' ');
	}
	buf_put_u8(&text, 0);
	err_set(err, -EINVAL, "invalid profile specification %s",
		text.failed ? "" : (const char *)text.data);
	buf_done(&text);
	return -EINVAL;
}

static bool diff_push(struct diff_words *words, unsigned int side, char *word)
{
	/* Arguments outside of the braces belong to both sides. */
	return (side == 1 || vec_push(&words->before, word)) &&
	       (side == 0 || vec_push(&words->after, word));
}

int diff_words_split(struct diff_words *words, char *const *all, struct err *err)
{
	size_t lens[DIFF_SIDES] = { 0 };
	unsigned int nr_sides = 0;
	bool inside = false;

	for (char *const *word = all; *word; word++) {
		bool both = !strcmp(*word, "{}");
		bool opens = both || !strcmp(*word, "{");
		bool closes = both || !strcmp(*word, "}");

		if ((opens && (inside || nr_sides == DIFF_SIDES)) ||
		    (closes && !both && !inside) ||
		    (!opens && !closes && !inside && nr_sides))
			return diff_refuse(all, err);
		inside = (inside || opens) && !closes;
		nr_sides += closes;
		if (opens || closes)
			continue;
		lens[nr_sides < DIFF_SIDES ? nr_sides : 0] += inside;
		if (!diff_push(words, inside ? nr_sides : DIFF_SIDES, *word))
			return err_set(err, -ENOMEM, "out of memory");
	}
	if (inside || nr_sides != DIFF_SIDES || (!lens[0] && lens[1]))
		return diff_refuse(all, err);
	if (!vec_push(&words->before, NULL) || !vec_push(&words->after, NULL))
		return err_set(err, -ENOMEM, "out of memory");
	return lens[0] || lens[1];
}

void diff_words_done(struct diff_words *words)
{
	vec_done(&words->before);
	vec_done(&words->after);
}

int diff_check_options(const struct report_options *o, struct err *err)
{
	const struct {
		bool given;
		const char *name;
	} rows[] = {
		{ o->callgraph, "--callgraph" },
		{ o->details, "--details" },
		{ o->xml, "--xml" },
		{ o->tree, "--tree" },
		{ o->by, "--by" },
		{ o->accumulated, "--accumulated" },
		{ o->children, "--children" },
		{ o->top, "--top" },
		{ o->ratios.values.nr, "--ratio" },
		{ o->total_period, "--total-period" },
		{ o->confidence, "--confidence: use 'oprofile diff'" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++)
		if (rows[i].given)
			return err_set(err, -EINVAL,
				       "differential profiles are incompatible with %s",
				       rows[i].name);
	if (!o->symbols)
		return err_set(err, -EINVAL,
			       "different profiles are meaningless without --symbols");
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* words.c - converts opcontrol's option spellings of versions before 0.6, and those accepted by
 * its shell script. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/err.h"
#include "tools/control/control.h"

enum {
	COUNTERS_MAX = 8, /* OProfile's limit, from the Pentium 4 */
	COUNTER_OPTION = sizeof("--ctr0-") - 1
};

static const char *const counter_options[] = {
	"event", "count", "unit-mask", "kernel", "user",
};

/* Defaults for missing options of a counter. */
static const char *const counter_defaults[] = { NULL, NULL, "0", "1", "1" };

enum {
	COUNTER_OPTIONS = COUNT_OF(counter_options)
};

struct control_words_counters {
	const char *values[COUNTERS_MAX][COUNTER_OPTIONS];
	bool any;
};

/* Parses --ctrN-WHAT=VALUE or --ctrN-WHAT VALUE. Returns 1, with *i at the argument that contains
 * the value; 0 for another option; or a negative errno. */
static int take_counter(struct control_words_counters *counters, char **argv, int argc,
			int *i, struct err *err)
{
	const char *word = argv[*i];
	const char *name = word + COUNTER_OPTION;
	const char *value;
	size_t len;

	if (strncmp(word, "--ctr", 5) != 0 || !isdigit((unsigned char)word[5]) ||
	    word[6] != '-')
		return 0;
	if (word[5] - '0' >= COUNTERS_MAX)
		return err_set(err, -EINVAL,
			       "invalid counter in %.7s: counters are numbered 0 to %d",
			       word, COUNTERS_MAX - 1);
	len = strcspn(name, "=");
	value = name[len] ? name + len + 1 : ++*i < argc ? argv[*i] : "";
	for (size_t k = 0; k < COUNTER_OPTIONS; k++) {
		if (strlen(counter_options[k]) != len ||
		    strncmp(name, counter_options[k], len) != 0)
			continue;
		if (!*value)
			return err_set(err, -EINVAL, "No value given for option %.*s",
				       (int)(COUNTER_OPTION + len), word);
		counters->values[word[5] - '0'][k] = value;
		counters->any = true;
		return 1;
	}
	return err_set(err, -EINVAL, "unknown option %s", word);
}

static int own_word(struct control_words *w, char *word)
{
	if (word && vec_push(&w->own, word)) {
		if (vec_push(&w->words, word))
			return 0;
		return -ENOMEM;
	}
	free(word);
	return -ENOMEM;
}

static int add_counters(struct control_words *w,
			const struct control_words_counters *counters, struct err *err)
{
	for (unsigned int n = 0; n < COUNTERS_MAX; n++) {
		const char *value[COUNTER_OPTIONS];
		bool any = false;
		char *word;

		for (size_t k = 0; k < COUNTER_OPTIONS; k++) {
			value[k] = counters->values[n][k];
			any |= value[k] != NULL;
			if (!value[k])
				value[k] = counter_defaults[k];
		}
		if (!any)
			continue;
		if (!value[0] || !value[1])
			return err_set(
				err, -EINVAL,
				"counter %u needs both --ctr%u-event and --ctr%u-count",
				n, n, n);
		if (asprintf(&word, "--event=%s:%s:%s:%s:%s", value[0], value[1],
			     value[2], value[3], value[4]) < 0)
			word = NULL;
		if (own_word(w, word))
			return err_set(err, -ENOMEM, "out of memory");
	}
	return 0;
}

/* Returns whether the argument is like -e=X: OProfile's opcontrol script also accepted "=" after a
 * letter. */
static bool is_letter_with_value(const char *word)
{
	return word[0] == '-' && word[1] && strchr("epciV", word[1]) && word[2] == '=';
}

static int control_words_add_word(struct control_words *w, char *word)
{
	char *copy;

	if (!is_letter_with_value(word))
		return vec_push(&w->words, word) ? 0 : -ENOMEM;
	if (asprintf(&copy, "%.2s%s", word, word + 3) < 0)
		return -ENOMEM;
	return own_word(w, copy);
}

int control_words_make(int argc, char **argv, struct control_words *ret_words,
		       struct err *err)
{
	struct control_words_counters counters = { 0 };
	int r = 0;

	*ret_words = (struct control_words){ 0 };
	for (int i = 0; i < argc && !r; i++) {
		r = i ? take_counter(&counters, argv, argc, &i, err) : 0;
		if (r < 0)
			return r;
		r = r ? 0 : control_words_add_word(ret_words, argv[i]);
	}
	if (!r)
		r = add_counters(ret_words, &counters, err);
	if (!r && !vec_push(&ret_words->words, NULL))
		r = -ENOMEM;
	if (!r)
		ret_words->words.nr--;
	return r == -ENOMEM ? err_set(err, r, "out of memory") : r;
}

void control_words_done(struct control_words *w)
{
	for (size_t i = 0; i < w->own.nr; i++)
		free(w->own.at[i]);
	vec_done(&w->own);
	vec_done(&w->words);
}

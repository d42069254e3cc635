/* SPDX-License-Identifier: GPL-2.0-or-later */
/* list.c - the text format of an event list (docs/events.md).
 *
 *     # comment
 *     NAME CONFIG [1=CONFIG1] [precise] [on=COUNTERS] : description
 *     <TAB>MASK CONFIG [1=CONFIG1] [precise] [on=COUNTERS] [default] : description
 *
 * CONFIG is perf_event_attr.config of the event (with that unit mask), in hexadecimal; "-"
 * means that the event counts nothing without a mask. COUNTERS are bits (event_counters.h), in
 * hexadecimal; without them any general counter can count it. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/parse.h"
#include "capture/events/catalog_priv.h"
#include "capture/events/lists.h"

enum {
	WORD_BYTES = 96
};

struct list_line {
	char *name;
	char *about;
	uint64_t config;
	uint64_t config1;
	uint64_t counters;
	bool whole;
	bool precise;
	bool is_default;
};

static bool name_is_good(const char *name)
{
	size_t len = 0;

	while (isalnum((unsigned char)name[len]) || name[len] == '_' ||
	       name[len] == '-')
		len++;

	return len && !name[len] && len < WORD_BYTES;
}

/* Parses the words before the colon. Returns NULL or an error message. */
static const char *event_list_read_words(char *words, struct list_line *l)
{
	char *save = NULL;
	char *word = strtok_r(words, " ", &save);

	if (!word || !name_is_good(word))
		return "no name of an event";
	l->name = word;
	word = strtok_r(NULL, " ", &save);
	if (!word)
		return "no config word";
	l->whole = strcmp(word, "-") != 0;
	if (l->whole && (strncmp(word, "0x", 2) || !parse_u64(word, &l->config)))
		return "the config word is not hexadecimal";
	while ((word = strtok_r(NULL, " ", &save))) {
		if (!strcmp(word, "precise"))
			l->precise = true;
		else if (!strcmp(word, "default"))
			l->is_default = true;
		else if (!strncmp(word, "on=0x", 5) &&
			 parse_u64(word + 3, &l->counters))
			continue;
		else if (strncmp(word, "1=0x", 4) || !parse_u64(word + 2, &l->config1))
			return "unknown word before the colon";
	}
	return NULL;
}

static const char *event_list_read_line(char *line, struct list_line *ret_line)
{
	char *colon = strstr(line, " : ");

	*ret_line = (struct list_line){ 0 };
	if (!colon)
		return "no ' : ' before the description";
	*colon = '\0';
	ret_line->about = colon + 3;
	return event_list_read_words(line, ret_line);
}

/* Returns the unit mask of a config. On x86, the mask is the second byte; other architectures have
 * no masks. */
static uint64_t mask_value(uint64_t config)
{
	return config >> 8 & 0xff;
}

static const char *take_mask(struct event_catalog *c, const struct list_line *l,
			     bool have_event)
{
	struct catalog_event *e;
	struct catalog_mask mask = {
		.name = l->name,
		.about = l->about,
		.value = mask_value(l->config),
		.config = l->config,
		.config1 = l->config1,
		.counters = l->counters,
		.is_default = l->is_default,
		.precise = l->precise,
	};

	if (!have_event)
		return "a unit mask before any event";
	if (!l->whole)
		return "a unit mask without config";
	e = &c->events.at[c->events.nr - 1];
	if (event_mask_named(c, e, l->name, strlen(l->name)))
		return "the unit mask occurs twice";
	if (!e->nr_masks && !e->whole)
		e->code = l->config & ~(uint64_t)0xff00 & 0xf000000ffULL;
	return event_catalog_add_mask(c, &mask) ? "" : NULL;
}

static const char *take_event(struct event_catalog *c, const struct list_line *l)
{
	struct catalog_event event = {
		.name = l->name,
		.about = l->about,
		.code = l->config,
		.config = l->config,
		.config1 = l->config1,
		.counters = l->counters,
		.whole = l->whole,
		.precise = l->precise,
		.min_count = event_min_count(l->name),
	};

	return event_catalog_add(c, &event) ? "" : NULL;
}

int event_list_add(struct event_catalog *c, const char *where, const char *text,
		   struct err *err)
{
	char *copy = strdup(text);
	size_t nr_before = c->events.nr;
	unsigned int number = 0;
	const char *bad = NULL;
	char *save = copy;

	if (!copy || !vec_push(&c->texts, copy)) {
		free(copy);
		return err_set(err, -ENOMEM, "out of memory");
	}
	while (!bad && save) {
		char *line = strsep(&save, "\n");
		bool is_mask = *line == '\t';
		struct list_line l;

		number++;
		if (!*line || *line == '#')
			continue;
		bad = event_list_read_line(line + is_mask, &l);
		if (!bad)
			bad = is_mask ? take_mask(c, &l, c->events.nr > nr_before)
				      : take_event(c, &l);
	}
	if (!bad)
		return 0;
	if (!*bad)
		return err_set(err, -ENOMEM, "out of memory");
	return err_set(err, -EBADMSG, "%s, line %u: %s", where, number, bad);
}

const char *event_list_text(const char *name)
{
	for (const struct event_list_row *row = event_list_rows; row->name; row++)
		if (!strcmp(row->name, name))
			return row->text;
	return NULL;
}

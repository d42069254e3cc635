/* SPDX-License-Identifier: GPL-2.0-or-later */
/* facts.c - lists of names with values, as `oprofile info` collects them. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recordings/facts/info.h"

static void info_facts_add(struct fact_list *list, const char *name, char *text,
			   bool number)
{
	if (text && *text &&
	    vec_push(&list->facts, (struct fact){ name, text, number }))
		return;
	if (!text || *text)
		list->failed = true;
	free(text);
}

void fact_text(struct fact_list *list, const char *name, const char *format, ...)
{
	char *text = NULL;
	va_list args;
	int r;

	va_start(args, format);
	r = vasprintf(&text, format, args);
	va_end(args);
	info_facts_add(list, name, r < 0 ? NULL : text, false);
}

void fact_number(struct fact_list *list, const char *name, uint64_t value)
{
	char *text = NULL;

	if (asprintf(&text, "%" PRIu64, value) < 0)
		text = NULL;
	info_facts_add(list, name, text, true);
}

void fact_count(struct fact_list *list, const char *name, uint64_t value)
{
	if (value)
		fact_number(list, name, value);
}

void facts_done(struct fact_list *list)
{
	for (size_t i = 0; i < list->facts.nr; i++)
		free(list->facts.at[i].text);
	vec_done(&list->facts);
}

struct info_event *info_event_new(struct info *info, const char *name)
{
	struct info_event event = { .name = strdup(name) };

	if (event.name && vec_push(&info->events, event))
		return &info->events.at[info->events.nr - 1];
	free(event.name);
	return NULL;
}

void info_done(struct info *info)
{
	free(info->name);
	facts_done(&info->facts);
	facts_done(&info->damage);
	for (size_t i = 0; i < info->events.nr; i++) {
		free(info->events.at[i].name);
		facts_done(&info->events.at[i].facts);
	}
	vec_done(&info->events);
	vec_done(&info->rows);
}

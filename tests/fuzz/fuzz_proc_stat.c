/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_proc_stat.c - any bytes as the text of /proc/PID/stat. What the parser finds must give the
 * same when it is written as the kernel writes it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files/process_facts.h"

enum {
	NUMBERS_BYTES = 160 /* fields after the name */
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Writes the fields in the kernel's form, and reads them again. */
static void check_again(const struct process_stat *s)
{
	const size_t room = strlen(s->name) + NUMBERS_BYTES;
	struct process_stat again;
	char *text = malloc(room);

	if (!text)
		abort();
	snprintf(text, room, "1 (%s) %c %d %d 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 %llu 0\n",
		 s->name, s->state, s->parent, s->group,
		 (unsigned long long)s->start_ticks);
	if (!process_stat_parse(text, &again) || strcmp(again.name, s->name) != 0 ||
	    again.state != s->state || again.parent != s->parent ||
	    again.group != s->group || again.start_ticks != s->start_ticks)
		abort();
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct process_stat s;

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	if (process_stat_parse(text, &s)) {
		if (s.parent < 0 || s.group < 0 || !s.state || s.name < text ||
		    s.name > text + size)
			abort();
		check_again(&s);
	}
	free(text);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_event_list.c - any bytes as a list of events: each event has its masks within bounds,
 * and can be selected or is refused with a message. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "capture/events/catalog_priv.h"
#include "capture/events/cpu_types.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct event_catalog *c)
{
	for (size_t i = 0; i < c->events.nr; i++) {
		const struct catalog_event *e = &c->events.at[i];
		struct catalog_choice choice;
		struct err err = { 0 };

		if (e->first_mask + e->nr_masks > c->masks.nr || !e->name[0])
			abort();
		if (event_catalog_choose(c, e->name, NULL, &choice, &err) &&
		    !err.text[0])
			abort();
		if (!event_catalog_find(c, e->name, NULL))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct event_catalog *c = calloc(1, sizeof(*c));
	char *text = calloc(1, size + 1);
	struct err err = { 0 };

	if (!c || !text) {
		free(text);
		free(c);
		return 0;
	}
	c->cpu = cpu_type_find("i386/arch_perfmon");
	if (size)
		memcpy(text, data, size);
	if (event_list_add(c, "list", text, &err) == 0) {
		event_catalog_sort(c);
		check(c);
	} else if (!err.text[0]) {
		abort();
	}
	event_catalog_close(c);
	free(text);
	return 0;
}

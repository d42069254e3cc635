/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_event_spec.c - any bytes as event specifications, to sample and to count: each is
 * accepted as a whole and gives valid attributes, or is refused with a message. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "capture/events/catalog.h"
#include "capture/events/cpu_types.h"
#include "capture/events/events.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Returns a catalog of our lists. It is made only once, because making it takes longer than using
 * it. */
static struct event_catalog *catalog_of(const struct cpu_type *cpu, bool arm)
{
	static struct event_catalog *catalogs[2];

	if (!catalogs[arm])
		(void)event_catalog_open(cpu, &catalogs[arm], NULL);
	return catalogs[arm];
}

static void parse(const char *text, bool counting, const char *cpu)
{
	struct event_requests reqs = {
		.counting = counting,
		.no_host = cpu != NULL,
		.cpu = cpu_type_find(cpu ? cpu : "i386/arch_perfmon"),
		.sysfs = "/nonexistent",
	};
	struct err err = { 0 };

	reqs.catalog = catalog_of(reqs.cpu, cpu != NULL);
	if (events_parse(text, 0, &reqs, &err) && !err.text[0])
		abort();
	for (size_t i = 0; i < reqs.list.nr; i++) {
		const struct event_request *e = &reqs.list.at[i];

		if (e->attr.size != sizeof(e->attr) || !e->name[0] ||
		    e->attr.freq != (e->count == 0 && !e->member))
			abort();
	}
	reqs.catalog = NULL; /* kept */
	events_done(&reqs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = calloc(1, size + 1);

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	parse(text, false, NULL);
	parse(text, true, NULL);
	parse(text, false, "arm/armv8-ca53");
	free(text);
	return 0;
}

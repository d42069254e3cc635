/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cores.c - one event on each core type of a machine with several (performance and efficient
 * cores, big and little cores). Each core type has its own PMU and events. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "capture/events/cpu_types.h"
#include "capture/events/events.h"
#include "capture/events/priv.h"

enum {
	NAME_BYTES = 64
};

/* Returns the CPU type of an ARM core PMU, or NULL: for armv8_cortex_a53, the one with the list
 * "cortex-a53". */
static const struct cpu_type *type_of_list(const char *pmu)
{
	static const char before[] = "armv8_";
	char list[NAME_BYTES];
	const struct cpu_type *type;

	if (strncmp(pmu, before, sizeof(before) - 1) != 0)
		return NULL;
	(void)snprintf(list, sizeof(list), "%s", pmu + sizeof(before) - 1);
	for (char *at = list; *at; at++)
		if (*at == '_')
			*at = '-';
	for (size_t i = 0; (type = cpu_type_at(i)); i++)
		if (type->list && !strcmp(type->list, list))
			return type;
	return NULL;
}

const struct cpu_type *event_core_cpu_type(const char *pmu, const struct cpu_type *host)
{
	char name[NAME_BYTES];
	const struct cpu_type *type = type_of_list(pmu);

	if (type || !host || strcmp(pmu, "cpu_atom") != 0)
		return type ? type : host;
	(void)snprintf(name, sizeof(name), "%.60s-e", host->name);
	type = cpu_type_find(name);
	return type ? type : host;
}

static_assert((int)EVENT_CORES_MAX == (int)CORE_TYPES_MAX, "all kinds have room");

size_t events_cores(const struct event_requests *reqs,
		    struct event_cores ret_cores[EVENT_CORES_MAX])
{
	const struct cpu_type *host = reqs->cpu ? reqs->cpu : cpu_type_host();
	struct core_pmu pmus[CORE_TYPES_MAX];
	size_t nr = events_sysfs_core_types(reqs->sysfs ? reqs->sysfs : EVENTS_SYSFS,
					    pmus, CORE_TYPES_MAX);

	for (size_t i = 0; nr > 1 && i < nr; i++) {
		memcpy(ret_cores[i].pmu, pmus[i].name, sizeof(ret_cores[i].pmu));
		memcpy(ret_cores[i].cpus, pmus[i].cpus, sizeof(ret_cores[i].cpus));
		ret_cores[i].type = event_core_cpu_type(pmus[i].name, host);
	}
	return nr > 1 ? nr : 0;
}

/* Parses the spec with the events of CPU type `cpu` instead of this machine's. */
static int parse_for(const struct event_requests *reqs, const struct cpu_type *cpu,
		     const struct event_words *words, struct event_request *ret_event,
		     struct err *err)
{
	struct event_requests other = {
		.counting = reqs->counting,
		.ignore_count = reqs->ignore_count,
		.min_count_factor = reqs->min_count_factor,
		.cpu = cpu,
		.no_host = true,
		.sysfs = reqs->sysfs,
	};
	int r = event_spec_parse(&other, words->text, words->len, words->frequency_hz,
				 ret_event, err);

	events_done(&other);
	return r;
}

int event_of_other_cores(const struct event_requests *reqs,
			 const struct event_words *words,
			 struct event_request *ret_event)
{
	const struct cpu_type *host = reqs->cpu ? reqs->cpu : cpu_type_host();
	struct core_pmu pmus[CORE_TYPES_MAX];
	size_t nr = events_sysfs_core_types(reqs->sysfs ? reqs->sysfs : EVENTS_SYSFS,
					    pmus, CORE_TYPES_MAX);
	struct err why = { 0 };

	for (size_t i = 0; nr > 1 && i < nr; i++)
		if (!parse_for(reqs, event_core_cpu_type(pmus[i].name, host), words,
			       ret_event, &why))
			return 0;
	return -ENOENT;
}

int event_on_core(const struct event_requests *reqs, const struct core_pmu *pmu,
		  const struct event_words *words, const struct event_request *given,
		  struct event_request *ret_event, struct err *err)
{
	struct event_request e = *given;
	const struct cpu_type *host = reqs->cpu ? reqs->cpu : cpu_type_host();
	const struct cpu_type *cpu = event_core_cpu_type(pmu->name, host);
	int r;

	if (given->attr.type != PERF_TYPE_RAW) {
		e.attr.config |= (uint64_t)pmu->type << PERF_PMU_TYPE_SHIFT;
	} else {
		r = parse_for(reqs, cpu, words, &e, err);
		if (r)
			return r;
		e.attr.type = pmu->type;
	}
	e.group = given->group;
	e.one_core_type = true;
	(void)snprintf(e.name, sizeof(e.name), "%.40s/%.80s/", pmu->name, given->name);
	*ret_event = e;
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* attributes.c - libpfm4's attributes after an event and its masks: UOPS_RETIRED:c=1:i,
 * MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=32.  The bits are those of the kernel's format/ files of
 * x86 core PMUs and of libpfm4's tables (intel_x86_arch.txt, amd64). */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/err.h"
#include "base/parse.h"
#include "capture/events/cpu_types.h"
#include "capture/events/events.h"
#include "capture/events/priv.h"

enum where {
	CONFIG,
	LATENCY,  /* config1 of load events */
	BUBBLES,  /* config1 of front-end events */
	RESPONSE, /* config1 of offcore events */
	PRECISE,  /* this and the following are settings of perf, not config bits */
	PERIOD,
	FREQUENCY,
	PINNED,
	EXCLUSIVE,
	USER,
	KERNEL
};

static const struct attribute {
	const char *name;
	const char *cpus; /* fnmatch(3) pattern of CPU type names */
	enum where where;
	unsigned int shift;
	uint64_t least;
	uint64_t most; /* maximum value; 1: a switch, for which =1 can be omitted */
	bool alone;    /* a switch that libpfm4 writes as one letter */
} attributes[] = {
	{ "c", "*86*/*", CONFIG, 24, 0, 255, false },
	{ "cmask", "*86*/*", CONFIG, 24, 0, 255, false },
	{ "i", "*86*/*", CONFIG, 23, 0, 1, true },
	{ "inv", "*86*/*", CONFIG, 23, 0, 1, false },
	{ "e", "*86*/*", CONFIG, 18, 0, 1, true },
	{ "edge", "*86*/*", CONFIG, 18, 0, 1, false },
	{ "t", "i386/*", CONFIG, 21, 0, 1, true },
	{ "any", "i386/*", CONFIG, 21, 0, 1, false },
	{ "intx", "i386/*", CONFIG, 32, 0, 1, true },
	{ "intxcp", "i386/*", CONFIG, 33, 0, 1, true },
	{ "ldlat", "i386/*", LATENCY, 0, 3, 65535, false },
	{ "fe_thres", "i386/*", BUBBLES, 8, 1, 4095, false },
	{ "offcore_rsp", "i386/*", RESPONSE, 0, 0, UINT64_MAX, false },
	{ "precise", "*", PRECISE, 0, 0, 3, false },
	{ "period", "*", PERIOD, 0, 1, INT32_MAX, false },
	{ "freq", "*", FREQUENCY, 0, 1, INT32_MAX, false },
	{ "pinned", "*", PINNED, 0, 0, 1, false },
	{ "excl", "*", EXCLUSIVE, 0, 0, 1, false },
	{ "u", "*", USER, 0, 0, 1, false },
	{ "k", "*", KERNEL, 0, 0, 1, false },
};

static const struct attribute *events_attributes_find(const char *part)
{
	const char *end = strchrnul(part, '=');
	size_t len = (size_t)(end - part);

	for (size_t i = 0; i < COUNT_OF(attributes); i++) {
		const struct attribute *a = &attributes[i];

		if (strlen(a->name) == len && !strncmp(a->name, part, len))
			return part[len] || a->alone ? a : NULL;
	}
	return NULL;
}

bool event_attribute_is(const char *part)
{
	return strchr(part, '=') || events_attributes_find(part);
}

/* Events that use config1, by code and mask: MEM_TRANS_RETIRED, MEM_INST_RETIRED of Nehalem and
 * MEM_UOPS_RETIRED of efficient cores, with their masks for loads above a latency;
 * FRONTEND_RETIRED; OFFCORE_RESPONSE and OCR. */
static const struct {
	enum where where;
	uint64_t code_mask;
	uint64_t code;
} second_words[] = {
	{ LATENCY, 0xffff, 0x1cd }, { LATENCY, 0xffff, 0x100b },
	{ LATENCY, 0xffff, 0x5d0 }, { BUBBLES, 0xffff, 0x1c6 },
	{ RESPONSE, 0xff, 0xb7 },   { RESPONSE, 0xff, 0xbb },
	{ RESPONSE, 0xff, 0x2a },   { RESPONSE, 0xff, 0x2b },
};

static bool is_of_event(const struct attribute *a, uint64_t config)
{
	for (size_t i = 0; i < COUNT_OF(second_words); i++)
		if (a->where == second_words[i].where &&
		    (config & second_words[i].code_mask) == second_words[i].code)
			return true;
	return a->where == CONFIG;
}

static int set_bits(const struct attribute *a, uint64_t value, const char *part,
		    struct event_request *e, struct err *err)
{
	uint64_t mask = a->where == LATENCY ? UINT64_MAX : a->most << a->shift;
	uint64_t bits = value << a->shift;

	if (!is_of_event(a, e->attr.config))
		return err_set(err, -EINVAL,
			       "Invalid event part %s: unknown for the event %s", part,
			       e->name);
	if (a->where != CONFIG) {
		e->attr.config1 = (e->attr.config1 & ~mask) | bits;
		return 0;
	}
	if ((e->attr.config & mask) && (e->attr.config & mask) != bits)
		return err_set(
			err, -EINVAL,
			"Invalid event part %s: the unit mask of %s already sets it",
			part, e->name);
	e->attr.config |= bits;
	return 0;
}

static void set_scope(bool user, bool on, struct event_request *e)
{
	/* The first of the attributes u and k turns off the default, which is both: u=1 alone
	 * means user space only. */
	if (on && !e->scope_given)
		e->user = e->kernel = false;
	e->scope_given = true;
	*(user ? &e->user : &e->kernel) = on;
}

static void events_attributes_set_field(const struct attribute *a, uint64_t value,
					struct event_request *e)
{
	if (a->where == PRECISE) {
		e->attr.precise_ip = value & 3;
		e->precise_given = value;
	} else if (a->where == PERIOD) {
		e->count = value;
	} else if (a->where == FREQUENCY) {
		e->frequency_hz = value;
	} else if (a->where == PINNED) {
		e->attr.pinned = value & 1;
	} else if (a->where == EXCLUSIVE) {
		e->attr.exclusive = value & 1;
	} else {
		set_scope(a->where == USER, value, e);
	}
}

/* Appends the attribute to the event's name, by which reports distinguish events. Omits it if
 * there is no room. */
static void add_to_name(const char *part, struct event_request *e)
{
	size_t len = strlen(e->name);

	if (len + strlen(part) + 2 <= sizeof(e->name))
		(void)snprintf(e->name + len, sizeof(e->name) - len, ":%s", part);
}

int event_attribute_apply(const char *part, const struct cpu_type *cpu,
			  struct event_request *e, struct err *err)
{
	const struct attribute *a = events_attributes_find(part);
	const char *text = strchr(part, '=');
	uint64_t value = 1;
	bool good = true;
	int r;

	if (!a || !cpu || fnmatch(a->cpus, cpu->name, 0))
		return err_set(err, -EINVAL, "Invalid event part %s of %s%s%s", part,
			       e->name, a ? ": unknown for " : "",
			       a && cpu ? cpu->title : "");
	if (text && a->most == 1 && strlen(text) == 2 && strchr("yYtTnNfF", text[1]))
		value = strchr("yYtT", text[1]) != NULL;
	else if (text)
		good = parse_u64(text + 1, &value) && value >= a->least &&
		       value <= a->most;
	if (!good)
		return err_set(err, -EINVAL,
			       "Invalid event part %s of %s: expected %llu to %llu",
			       part, e->name, (unsigned long long)a->least,
			       (unsigned long long)a->most);
	if (a->where >= PRECISE) {
		events_attributes_set_field(a, value, e);
		return 0;
	}
	if (!value)
		return 0;
	r = set_bits(a, value, part, e, err);
	if (!r)
		add_to_name(part, e);
	return r;
}

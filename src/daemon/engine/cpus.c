/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpus.c - CPUs that go online or offline while the daemon samples.  A recording only has events
 * on the CPUs that were online when it started, and the events of a CPU that goes offline are
 * lost. */
#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "capture/source/perf_source.h"
#include "daemon/engine/engine.h"
#include "record/priv.h"

/* Time between two checks: reading /sys costs more than the other periodic checks. */
static const uint64_t watch_ns = 3 * NS_PER_S;

static bool has_cpu(const struct cpu_list *list, int cpu)
{
	for (size_t i = 0; i < list->nr; i++)
		if (list->at[i] == cpu)
			return true;
	return false;
}

/* Returns a CPU that is online and was offline at the previous check, or -1. */
static int cpu_that_came_online(const struct oprofiled *d,
				const struct cpu_list *online)
{
	for (size_t i = 0; i < online->nr; i++)
		if (!has_cpu(&d->cpus, online->at[i]))
			return online->at[i];
	return -1;
}

/* Returns whether the CPU was offline between two checks. If it has new samples, it was not. If it
 * has none, compares the enabled time of its event, which the kernel has to query on that CPU. */
static bool was_away(struct oprofiled *d, int cpu)
{
	struct oprofiled_cpu *seen;
	uint64_t samples = oprofiled_cpu_samples(d, (unsigned int)cpu);
	uint64_t enabled_ns;
	bool stands_still;

	while (d->seen_cpus.nr <= (size_t)cpu)
		if (!vec_push(&d->seen_cpus, (struct oprofiled_cpu){ 0 }))
			return false;
	seen = &d->seen_cpus.at[cpu];
	if (samples != seen->samples ||
	    !perf_source_cpu_time(d->recorder->source, cpu, &enabled_ns)) {
		seen->samples = samples;
		return false;
	}
	stands_still = enabled_ns && enabled_ns == seen->enabled_ns;
	seen->enabled_ns = enabled_ns;
	return stands_still;
}

static int that_was_away(struct oprofiled *d)
{
	int away = -1;

	for (size_t i = 0; i < d->cpus.nr; i++)
		if (was_away(d, d->cpus.at[i]))
			away = d->cpus.at[i];
	return away;
}

void oprofiled_watch_cpus(struct oprofiled *d, uint64_t now)
{
	struct cpu_list online = { 0 };
	struct err err = { 0 };
	int come, away;

	if (!d->recorder || !d->cpus.nr || now < d->next_cpus_ns)
		return;
	d->next_cpus_ns = now + watch_ns;
	if (cpu_list_online(&online))
		return;
	come = cpu_that_came_online(d, &online);
	/* Drop CPUs that went offline from the list, so that their return is noticed. */
	cpu_list_done(&d->cpus);
	d->cpus = online;
	away = come < 0 ? that_was_away(d) : -1;
	if (come >= 0)
		log_say(LOG_NOTE,
			"CPU %d has come online: recording restarts to include it",
			come);
	else if (away >= 0)
		log_say(LOG_NOTE,
			"CPU %d was briefly offline: recording restarts to include it",
			away);
	else
		return;
	if (oprofiled_rotate(d, &err))
		log_say(LOG_WARNING, "%s", err.text);
}

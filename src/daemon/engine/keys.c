/* SPDX-License-Identifier: GPL-2.0-or-later */
/* keys.c - the daemon's callbacks for its control files. */
#include <unistd.h>

#include "capture/events/cpu_types.h"
#include "daemon/engine/engine.h"
#include "daemon/server/control_server.h"
#include "record/recorder.h"

static bool is_enabled(void *ctx)
{
	const struct oprofiled *d = ctx;

	return d->recorder != NULL;
}

static int enable(void *ctx, bool on, struct err *err)
{
	return on ? oprofiled_start(ctx, err) : oprofiled_stop(ctx, err);
}

static int dump(void *ctx, struct err *err)
{
	return oprofiled_dump(ctx, err);
}

static int check_event(void *ctx, const char *spec, struct err *err)
{
	return oprofiled_check_event(ctx, spec, err);
}

uint64_t oprofiled_cpu_samples(const struct oprofiled *d, unsigned int cpu)
{
	uint64_t samples =
		cpu < d->sums.cpu_samples.nr ? d->sums.cpu_samples.at[cpu] : 0;
	const uint64_t *now;
	size_t nr;

	if (!d->recorder)
		return samples;
	now = recorder_cpu_samples(d->recorder, &nr);
	return cpu < nr ? samples + now[cpu] : samples;
}

/* Returns a statistic for the control files. Some are always 0: the kernel does not report on
 * which CPU samples were lost, and it does not drop samples for the other reasons of OProfile's
 * driver. Samples outside all mappings are recorded, but not sent to readers of the stream. */
static uint64_t stat(void *ctx, enum control_stat what, unsigned int cpu)
{
	const struct oprofiled *d = ctx;

	if (what == CONTROL_STAT_RECEIVED)
		return oprofiled_cpu_samples(d, cpu);
	if (what == CONTROL_STAT_EVENT_LOST)
		return d->sums.lost + control_server_lost(d->server) +
		       (d->recorder ? recorder_totals(d->recorder)->lost : 0);
	if (what == CONTROL_STAT_NO_MAPPING)
		return d->stream.nr_nowhere;
	return 0;
}

void oprofiled_keys_init(struct oprofiled *d)
{
	static const struct control_keys_ops ops = { .is_enabled = is_enabled,
						     .enable = enable,
						     .dump = dump,
						     .check_event = check_event,
						     .stat = stat };
	const struct cpu_type *cpu = events_have_pmu() ? cpu_type_host() : NULL;
	long nr_cpus = sysconf(_SC_NPROCESSORS_CONF);

	d->keys = (struct control_keys){ .ops = &ops,
					 .ctx = d,
					 .setup = &d->asked,
					 .nr_cpus = nr_cpus > 0 ? (unsigned int)nr_cpus
								: 1,
					 .cpu_type = cpu ? cpu->name : "timer" };
	control_keys_init(&d->keys);
}

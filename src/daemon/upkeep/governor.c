/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/upkeep/governor.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/parse.h"

enum {
	CALM_WINDOWS = 6, /* consecutive cheap windows before the rate is raised */
	/* The rate stays above this fraction of the requested one: the cost of starting and
	 * ending processes does not depend on the number of samples. */
	LEAST_PART = 10
};

static const uint64_t window_ns = 10 * NS_PER_S;
static const double room =
	0.9; /* lower the rate so that the cost is this fraction of the limit */
static const double raise = 1.5; /* per step */

int governor_parse(const char *text, double *ret_share)
{
	char number[32];
	size_t len = strlen(text);
	bool percent = len && text[len - 1] == '%';
	double share;

	if (!len || len >= sizeof(number))
		return -1;
	snprintf(number, sizeof(number), "%.*s", (int)(len - percent), text);
	if (!parse_double(number, &share))
		return -1;
	if (percent)
		share /= 100;
	if (share <= 0 || share > 1)
		return -1;
	*ret_share = share;
	return 0;
}

void governor_begin(struct governor *g, uint64_t now_ns, const struct governor_use *use)
{
	g->begin_ns = now_ns;
	g->begin = *use;
	g->was_new = true;
	g->nr_calm = 0;
}

double governor_overhead(const struct governor *g)
{
	return (g->sampling_share + g->kernel_share) / (g->nr_cpus ? g->nr_cpus : 1);
}

static bool governor_lower(struct governor *g)
{
	uint64_t rate = (uint64_t)((double)g->rate_hz * room * g->max_share /
				   governor_overhead(g));

	g->nr_calm = 0;
	if (!g->wanted_hz)
		return false;
	if (rate < g->wanted_hz / LEAST_PART + 1)
		rate = g->wanted_hz / LEAST_PART + 1;
	if (rate >= g->rate_hz)
		return false;
	g->rate_hz = rate;
	return true;
}

static bool lift(struct governor *g)
{
	uint64_t rate = (uint64_t)((double)g->rate_hz * raise) + 1;

	if (g->rate_hz >= g->wanted_hz || ++g->nr_calm < CALM_WINDOWS)
		return false;
	g->nr_calm = 0;
	g->rate_hz = rate < g->wanted_hz ? rate : g->wanted_hz;
	return true;
}

/* Returns the CPU time of the kernel for samples since the window began, as a share of one CPU.
 * Divides by the time up to the last reading of the rings, because later samples are not counted
 * yet. */
static double kernel_share(const struct governor *g, const struct governor_use *use)
{
	if (use->samples <= g->begin.samples || use->samples_ns <= g->begin.samples_ns)
		return 0;
	return (double)((use->samples - g->begin.samples) * g->sample_ns) /
	       (double)(use->samples_ns - g->begin.samples_ns);
}

bool governor_is_due(const struct governor *g, uint64_t now_ns)
{
	return now_ns >= g->begin_ns + window_ns;
}

bool governor_look(struct governor *g, uint64_t now_ns, const struct governor_use *use)
{
	double window = (double)(now_ns - g->begin_ns);
	bool was_new = g->was_new;

	if (!governor_is_due(g, now_ns))
		return false;
	g->share = (double)(use->cpu_ns - g->begin.cpu_ns) / window;
	g->sampling_share =
		use->sampling_ns > g->begin.sampling_ns
			? (double)(use->sampling_ns - g->begin.sampling_ns) / window
			: 0;
	g->kernel_share = kernel_share(g, use);
	g->is_known = true;
	g->begin_ns = now_ns;
	g->begin = *use;
	g->was_new = false;
	/* The first window includes the work for all running processes and for binaries that are
	 * sampled for the first time, so it does not predict the later cost. */
	if (was_new || g->max_share <= 0)
		return false;
	if (governor_overhead(g) > g->max_share)
		return governor_lower(g);
	if (governor_overhead(g) < g->max_share / 2)
		return lift(g);
	g->nr_calm = 0;
	return false;
}

void governor_text(const struct governor *g, char *ret_text, size_t len)
{
	if (g->max_share <= 0)
		snprintf(ret_text, len, "off");
	else if (!g->wanted_hz)
		snprintf(ret_text, len,
			 "cannot lower the rate: the events have explicit counts");
	else if (g->rate_hz < g->wanted_hz)
		snprintf(
			ret_text, len,
			"the rate is %llu Hz instead of %llu Hz, to use at most %.2g %% of the CPUs' time",
			(unsigned long long)g->rate_hz,
			(unsigned long long)g->wanted_hz, 100 * g->max_share);
	else
		snprintf(
			ret_text, len,
			"the rate is the requested one: it uses at most %.2g %% of the CPUs' time",
			100 * g->max_share);
}

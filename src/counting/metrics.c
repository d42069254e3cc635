/* SPDX-License-Identifier: GPL-2.0-or-later */
/* metrics.c - computes numbers from counts: instructions per cycle, miss ratios, and the use of
 * the pipeline's slots. */
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "capture/events/catalog.h"
#include "counting/count.h"

/* The role of an event in a metric; names[] has the CPUs' names for it. */
enum role {
	CYCLES,
	INSTRUCTIONS,
	BRANCHES,
	BRANCH_MISSES,
	LLC_REFS,
	LLC_MISSES,
	TASK_CLOCK,
	FAULTS,
	SWITCHES,
	MIGRATIONS,
	RETIRING,
	BAD_SPECULATION,
	FRONTEND_BOUND,
	BACKEND_BOUND,
	ROLE_COUNT,
	TIME = ROLE_COUNT, /* the run's duration in nanoseconds */
	TOPDOWN            /* the four above together */
};

enum {
	NAMES_MAX = 7
};

static const char *const names[ROLE_COUNT][NAMES_MAX] = {
	[CYCLES] = { "cycles", "cpu-cycles", "CPU_CYCLES", "CPU_CLK_UNHALTED",
		     "CYCLES_NOT_IN_HALT", "LS_NOT_HALTED_CYC", "PM_CYC" },
	[INSTRUCTIONS] = { "instructions", "INST_RETIRED", "RETIRED_INSTRUCTIONS",
			   "EX_RET_INSTR", "PM_INST_CMPL" },
	[BRANCHES] = { "branches", "branch-instructions", "BR_RETIRED",
		       "BR_INST_RETIRED", "RETIRED_BRANCH_INSTRUCTIONS", "EX_RET_BRN" },
	[BRANCH_MISSES] = { "branch-misses", "BR_MIS_PRED_RETIRED", "BR_MISP_RETIRED",
			    "BR_MISS_PRED_RETIRED",
			    "RETIRED_BRANCH_INSTRUCTIONS_MISPREDICTED",
			    "EX_RET_BRN_MISP" },
	[LLC_REFS] = { "cache-references", "LLC_REFS", "LLC_REFERENCES",
		       "LL_CACHE_RD" },
	[LLC_MISSES] = { "cache-misses", "LLC_MISSES", "LL_CACHE_MISS_RD" },
	[TASK_CLOCK] = { "task-clock", "cpu-clock" },
	[FAULTS] = { "page-faults", "faults" },
	[SWITCHES] = { "context-switches", "cs" },
	[MIGRATIONS] = { "cpu-migrations", "migrations" },
	[RETIRING] = { "topdown-retiring", "cpu/topdown-retiring/",
		       "cpu_core/topdown-retiring/" },
	[BAD_SPECULATION] = { "topdown-bad-spec", "cpu/topdown-bad-spec/",
			      "cpu_core/topdown-bad-spec/" },
	[FRONTEND_BOUND] = { "topdown-fe-bound", "cpu/topdown-fe-bound/",
			     "cpu_core/topdown-fe-bound/" },
	[BACKEND_BOUND] = { "topdown-be-bound", "cpu/topdown-be-bound/",
			    "cpu_core/topdown-be-bound/" },
};

static const struct {
	const char *name;
	const char *unit;
	int above, below;
	double factor;
} rows[] = {
	{ "instructions per cycle", "", INSTRUCTIONS, CYCLES, 1 },
	{ "clock rate", "GHz", CYCLES, TASK_CLOCK, 1 },
	{ "branch misses", "% of branches", BRANCH_MISSES, BRANCHES, 100 },
	{ "branch misses per 1000", "instructions", BRANCH_MISSES, INSTRUCTIONS, 1000 },
	{ "last-level cache misses", "% of accesses", LLC_MISSES, LLC_REFS, 100 },
	{ "last-level cache misses per 1000", "instructions", LLC_MISSES, INSTRUCTIONS,
	  1000 },
	{ "retiring", "% of slots", RETIRING, TOPDOWN, 100 },
	{ "bad speculation", "% of slots", BAD_SPECULATION, TOPDOWN, 100 },
	{ "frontend bound", "% of slots", FRONTEND_BOUND, TOPDOWN, 100 },
	{ "backend bound", "% of slots", BACKEND_BOUND, TOPDOWN, 100 },
	{ "CPUs used", "", TASK_CLOCK, TIME, 1 },
	{ "page faults", "per second of CPU", FAULTS, TASK_CLOCK, 1e9 },
	{ "context switches", "per second of CPU", SWITCHES, TASK_CLOCK, 1e9 },
	{ "migrations", "per second of CPU", MIGRATIONS, TASK_CLOCK, 1e9 },
};

/* Returns whether the event has this name. If only one kind of cores has the event, compares
 * only the part of its name after the kind: "cycles" matches cpu_core/cycles/. */
static bool is_called(const struct event_request *e, const char *name)
{
	const char *slash = e->one_core_type ? strchr(e->name, '/') : NULL;
	size_t len = strlen(name);

	if (!slash)
		return !strcasecmp(e->name, name);
	return !strncasecmp(slash + 1, name, len) && !strcmp(slash + 1 + len, "/");
}

static bool has_role(const struct event_request *e, int role)
{
	for (size_t i = 0; i < NAMES_MAX && names[role][i]; i++)
		if (is_called(e, names[role][i]))
			return true;
	return false;
}

/* Returns the count of a role, summed over all kinds of cores; negative if it was not counted. */
static double count_metrics_count_of(const struct count_run *run,
				     const struct count_values *values, int role)
{
	double sum = 0;
	bool found = false;

	if (role == TIME)
		return (double)values->duration_ns;
	if (role == TOPDOWN) {
		for (int r = RETIRING; r <= BACKEND_BOUND; r++) {
			double one = count_metrics_count_of(run, values, r);

			if (one < 0)
				return -1;
			sum += one;
		}
		return sum;
	}
	for (size_t e = 0; e < run->events.list.nr; e++) {
		const struct event_request *event = &run->events.list.at[e];
		struct counter_value v = count_total(run, values, e);

		if (!has_role(event, role) || !v.running_ns)
			continue;
		if (!event->one_core_type)
			return (double)counter_scaled(&v);
		sum += (double)counter_scaled(&v);
		found = true;
	}
	return found ? sum : -1;
}

size_t count_metrics(const struct count_run *run, const struct count_values *values,
		     struct metric ret_metrics[METRICS_MAX])
{
	size_t nr = 0;

	for (size_t i = 0; i < COUNT_OF(rows) && nr < METRICS_MAX; i++) {
		double above = count_metrics_count_of(run, values, rows[i].above);
		double below = count_metrics_count_of(run, values, rows[i].below);

		if (above < 0 || below <= 0)
			continue;
		ret_metrics[nr++] = (struct metric){ rows[i].name, rows[i].unit,
						     rows[i].factor * above / below };
	}
	return nr;
}

const char *count_metrics_events(bool have_pmu, bool have_topdown)
{
	if (have_topdown)
		return "task-clock,cycles,instructions,branches,branch-misses,page-faults,context-switches,cpu-migrations,{cpu/slots/,cpu/topdown-retiring/,cpu/topdown-bad-spec/,cpu/topdown-fe-bound/,cpu/topdown-be-bound/}";
	if (have_pmu)
		return "task-clock,cycles,instructions,branches,branch-misses,cache-references,cache-misses,page-faults,context-switches,cpu-migrations";
	return "task-clock,page-faults,context-switches,cpu-migrations";
}

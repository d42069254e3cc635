/* SPDX-License-Identifier: GPL-2.0-or-later */
/* governor.h - keeps what sampling costs under a share of the CPUs' time, by the rate of samples: the
 * daemon's own CPU time, and what the kernel takes for each sample wherever it is taken.
 * Layer: daemon.  The times are the caller's. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What was used so far. */
struct governor_use {
	uint64_t cpu_ns; /* of all processes of the daemon */
	/* Of that, what another rate would not change: users' unwind tables, which have a budget,
	 * and records of what processes do (they start, map files, change their names). */
	uint64_t fixed_ns;
	uint64_t samples;    /* that the kernel took for this recording, ... */
	uint64_t samples_ns; /* ... up to then */
};

struct governor {
	double max_share; /* of all that are sampled; 0: no bound */
	uint64_t
		wanted_hz; /* 0: events have counts of their own, and no rate to lower */
	uint64_t rate_hz;  /* at most as wanted, at least a tenth of it */
	uint64_t sample_ns;   /* the kernel's, for a sample; 0: not known */
	unsigned int nr_cpus; /* that are sampled; 0 is one */
	double share;         /* what the daemon took in the last window, of one CPU */
	double fixed_share;   /* of that, what another rate would not change */
	double kernel_share;  /* and the kernel for its samples, likewise */
	bool is_known;        /* there was one */
	bool was_new; /* the window began with a new recording, which costs more */
	uint64_t begin_ns;
	struct governor_use begin;
	unsigned int nr_calm; /* windows in a row that cost less than half */
};

/* "1%", "0.5%", "0.01" as a share.  0, or -1 with `*ret_share` untouched. */
int governor_parse(const char *text, double *ret_share);
/* A recording begins. */
void governor_begin(struct governor *g, uint64_t now_ns,
		    const struct governor_use *use);
/* Whether a window is over. */
bool governor_is_due(const struct governor *g, uint64_t now_ns);
/* To be called now and then.  True: from now on `rate_hz` is another. */
bool governor_look(struct governor *g, uint64_t now_ns, const struct governor_use *use);
/* The cost that the rate is lowered for: of both in the last window, without what another rate would not
 * change, as a share of the time of all CPUs. */
double governor_overhead(const struct governor *g);
/* What it does, in a line. */
void governor_text(const struct governor *g, char *ret_text, size_t len);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* governor.h - keeps the cost of sampling below a share of the CPUs' time by adjusting the
 * sampling rate.  The cost is the daemon's CPU time for samples plus the kernel's time for each
 * sample, wherever it is taken.
 * Layer: daemon.  The caller supplies the times. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Usage so far. */
struct governor_use {
	uint64_t cpu_ns; /* CPU time of all processes of the daemon */
	/* The part of cpu_ns that depends on the rate: of the thread that reads the samples,
	 * without records of process events (start, mmap, change of name).  Users' unwind tables
	 * and copies of their binaries, which have budgets, are made elsewhere. */
	uint64_t sampling_ns;
	/* Number of samples of this recording, counted up to `samples_ns`. */
	uint64_t samples;
	uint64_t samples_ns; /* time when `samples` was counted */
};

struct governor {
	double max_share; /* limit on the CPU time, as a share of all sampled CPUs; 0: no limit */
	/* The requested sampling rate; 0: the events have fixed counts, so it cannot be lowered. */
	uint64_t wanted_hz;
	uint64_t rate_hz;     /* at most wanted_hz, at least a tenth of it */
	uint64_t sample_ns;   /* the kernel's time per sample; 0: unknown */
	unsigned int nr_cpus; /* sampled CPUs; 0 means 1 */
	double share; /* CPU time of the daemon in the last window, as a share of one CPU */
	double sampling_share; /* the part of `share` that depends on the rate */
	double kernel_share; /* CPU time of the kernel for samples, as a share of one CPU */
	bool is_known;       /* a window has been measured */
	bool was_new; /* the window began with a new recording, which costs more */
	uint64_t begin_ns;
	struct governor_use begin;
	unsigned int
		nr_calm; /* consecutive windows that cost less than half of the limit */
};

/* Parses a share such as "1%", "0.5%", "0.01".  Returns 0, or -1 without changing `*ret_share`. */
int governor_parse(const char *text, double *ret_share);
/* Call when a recording starts. */
void governor_begin(struct governor *g, uint64_t now_ns,
		    const struct governor_use *use);
/* Returns whether a window has ended. */
bool governor_is_due(const struct governor *g, uint64_t now_ns);
/* Measures the cost of a window that has ended and adjusts `rate_hz`; call it when
 * governor_is_due(). Returns true if `rate_hz` has changed. */
bool governor_look(struct governor *g, uint64_t now_ns, const struct governor_use *use);
/* Returns the cost that the governor limits: the part of the daemon's cost that depends on the
 * rate, plus the kernel's, in the last window, as a share of the time of all CPUs. */
double governor_overhead(const struct governor *g);
/* Describes the governor's state in one line. */
void governor_text(const struct governor *g, char *ret_text, size_t len);

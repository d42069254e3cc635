/* SPDX-License-Identifier: GPL-2.0-or-later */
/* daemon_numbers.h - what the daemon counts, told in two ways: as fields of its status, and as
 * metrics for Prometheus.  One table has both.
 * Layer: daemon. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

struct daemon_numbers {
	bool is_sampling;
	bool has_share;
	uint64_t rate_hz;
	uint64_t samples; /* since it began: written, or waiting to be */
	uint64_t taken;   /* what could not be written, too: it only grows */
	uint64_t lost;
	double share;            /* of one CPU, if it is known */
	double kernel_share;     /* of one CPU, for samples; below 0: it is not known */
	uint64_t cpu_ns;         /* of all its processes, since it began */
	uint64_t tables_ns;      /* of that, for unwind tables of users' binaries */
	uint64_t tables_refused; /* such tables that were not made: too costly */
	uint64_t memory;         /* bytes that are resident */
	uint64_t disk;           /* bytes of the current session */
	uint64_t oldest;         /* seconds since 1970; 0: there is no data */
	size_t nr_cpus;
	const uint64_t *cpu_samples; /* of each CPU; borrowed */
};

/* Appends fields of a reply (control_server.h), without state and samples of CPUs, which are in others. */
void daemon_numbers_put_status(const struct daemon_numbers *n, struct buf *reply);
/* Appends metrics in Prometheus' text exposition format 0.0.4.  What is not known has none. */
void daemon_numbers_put_metrics(const struct daemon_numbers *n, struct buf *out);

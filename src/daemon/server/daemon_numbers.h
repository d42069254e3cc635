/* SPDX-License-Identifier: GPL-2.0-or-later */
/* daemon_numbers.h - the daemon's counters, in two formats: fields of its status, and metrics for
 * Prometheus.  One table defines both.
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
	uint64_t
		samples; /* since the daemon started: written, or waiting to be written */
	uint64_t
		taken; /* includes samples that could not be written, so it only grows */
	uint64_t lost;
	double share; /* CPU time of the daemon as a share of one CPU, if known */
	double kernel_share; /* CPU time of the kernel for samples, as a share of one CPU; below 0:
			      * unknown */
	uint64_t cpu_ns; /* CPU time of all its processes since the daemon started */
	uint64_t
		tables_ns; /* the part of cpu_ns spent on unwind tables of users' binaries */
	uint64_t
		tables_refused; /* unwind tables that were not built because of their cost */
	uint64_t memory;        /* resident bytes */
	uint64_t disk;          /* bytes of the current session */
	uint64_t oldest;        /* seconds since 1970; 0: no data */
	size_t nr_cpus;
	const uint64_t *cpu_samples; /* number of samples of each CPU; borrowed */
};

/* Appends fields of a reply (control_server.h), without the state and the samples per CPU, which
 * other functions append. */
void daemon_numbers_put_status(const struct daemon_numbers *n, struct buf *reply);
/* Appends metrics in Prometheus' text exposition format 0.0.4; omits unknown values. */
void daemon_numbers_put_metrics(const struct daemon_numbers *n, struct buf *out);

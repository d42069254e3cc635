/* SPDX-License-Identifier: GPL-2.0-or-later */
/* attrs.h - the attrs that a recording uses, and the features it can omit on older kernels.
 * Layer: capture. */
#pragma once
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct perf_source_config;

/* Completes the attr of an event to sample, whose type, config and rate are set already. */
void perf_attr_samples(struct perf_event_attr *a, const struct perf_source_config *c);
/* Sets the attr of the side band, which receives all records except samples. */
void perf_attr_side_band(struct perf_event_attr *a, const struct perf_source_config *c);
/* Moves the namespace records from the side band's attr to a separate attr, which wakes the reader
 * for each record. Returns false and changes nothing if the side band has no such records, or if
 * single threads are recorded and there is more than one. */
bool perf_attr_namespaces(struct perf_event_attr *side_band,
			  const struct perf_source_config *c,
			  struct perf_event_attr *ret_attr);
/* Derives an attr for the BPF records of the whole machine from the side band of a per-task
 * recording. */
void perf_attr_ksymbols(const struct perf_event_attr *side_band,
			struct perf_event_attr *ret_attr);

/* Tests the attrs of the events and of the side band, and removes features that this kernel
 * does not support. All later opens use the remaining features. Returns 0, or a negative errno
 * with a message in *err. */
int perf_attrs_probe(struct perf_event_attr *attrs, size_t nr, int cpu,
		     const struct perf_source_config *c, struct err *err);

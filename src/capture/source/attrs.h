/* attrs.h - which attrs a recording asks the kernel for, and what older kernels can do
 * without.
 * Layer: capture. */
#pragma once
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct perf_source_config;

/* Completes an event's attr, which has its type, config and rate. */
void perf_attr_samples(struct perf_event_attr *a, const struct perf_source_config *c);
/* All records but samples. */
void perf_attr_side_band(struct perf_event_attr *a, const struct perf_source_config *c);
/* Takes the records of namespaces out of the side band's attr, to one of their own that wakes
 * us at each.  False: the side band has none, or there are too many threads. */
bool perf_attr_namespaces(struct perf_event_attr *side_band,
			  const struct perf_source_config *c,
			  struct perf_event_attr *ret_attr);
/* Of a side band of tasks: one of the whole machine that has the records of BPF programs alone. */
void perf_attr_ksymbols(const struct perf_event_attr *side_band,
			struct perf_event_attr *ret_attr);

/* Tries the attrs, the events' and the side band's, then without what this kernel does not
 * know; the rest of the recording opens with what is left of them.  0 or a negative errno with
 * a line. */
int perf_attrs_probe(struct perf_event_attr *attrs, size_t nr, int cpu,
		     const struct perf_source_config *c, struct err *err);

/* perf_attrs.h - what the kernel is asked for, and with what older kernels make do.
 * Layer: capture. */
#pragma once
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct event_request;
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

/* A tracepoint's samples: id, time and raw data alone, one wakeup each. */
void perf_attr_tracepoint(struct perf_event_attr *a, uint64_t id);

/* Bits of attrs that older headers lack (Linux 6.19): the user's part of chains comes later, in
 * CALLCHAIN_DEFERRED records, and who gets these. */
enum {
	PERF_ATTR_DEFER_CALLCHAIN = 38, /* counted from `disabled` on */
	PERF_ATTR_DEFER_OUTPUT = 39
};
void perf_attr_set_bit(struct perf_event_attr *a, unsigned int bit, bool on);
bool perf_attr_bit(const struct perf_event_attr *a, unsigned int bit);
/* Whether this kernel knows them. */
bool perf_attr_can_defer(void);

/* The descriptor, which is closed on exec, or a negative errno.  `tid` -1: all tasks. */
int perf_attr_open(struct perf_event_attr *a, pid_t tid, int cpu);
/* The same in the group of another descriptor; -1: in none. */
int perf_attr_open_group(struct perf_event_attr *a, pid_t tid, int cpu, int leader);
/* PMUs without a notion of guests refuse exclude_guest (PERF_PMU_CAP_NO_EXCLUDE: msr, uncore; AMD's
 * IBS before Linux 6.14): takes it back from the attr that was refused with `code`.  Whether another
 * try is worth it. */
bool perf_attr_let_guests(struct perf_event_attr *a, int code);
/* What a failure means, for a user; perf_event_open(2), ERRORS.  `code`. */
int perf_attr_explain(int code, const char *event, bool system_wide, struct err *err);
/* The same of an event in a thread, or in all (-1), on a CPU: a PMU that cannot tell modes apart, and
 * another user's process, have their own lines. */
int perf_attr_explain_event(int code, const struct event_request *e, pid_t tid, int cpu,
			    struct err *err);
/* Tries the attrs, the events' and the side band's, then without what this kernel does not
 * know; the rest of the recording opens with what is left of them.  0 or a negative errno with
 * a line. */
int perf_attrs_probe(struct perf_event_attr *attrs, size_t nr, int cpu,
		     const struct perf_source_config *c, struct err *err);

/* perf_attr.h - one perf_event_attr: opening it, its newest bits, and what a refusal means.
 * Layer: capture. */
#pragma once
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct event_request;

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
/* /proc/sys/kernel/perf_event_paranoid, or -1 if it cannot be read. */
int perf_attr_paranoid(void);

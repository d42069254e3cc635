/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf_attr.h - opens one perf_event_attr, sets its newest bits, and explains errors.
 * Layer: capture. */
#pragma once
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct event_request;

/* Configures a tracepoint whose samples contain only id, time and raw data, with a wakeup for
 * each. */
void perf_attr_tracepoint(struct perf_event_attr *a, uint64_t id);

/* Bits that older headers lack (Linux 6.19). DEFER_CALLCHAIN: the user part of a call chain is
 * written later, in a CALLCHAIN_DEFERRED record. DEFER_OUTPUT: this event receives those
 * records. */
enum {
	PERF_ATTR_DEFER_CALLCHAIN = 38, /* bit number, where `disabled` is 0 */
	PERF_ATTR_DEFER_OUTPUT = 39
};
void perf_attr_set_bit(struct perf_event_attr *a, unsigned int bit, bool on);
bool perf_attr_bit(const struct perf_event_attr *a, unsigned int bit);
/* Returns true if this kernel supports these bits. */
bool perf_attr_can_defer(void);

/* Returns a file descriptor (close-on-exec), or a negative errno. `tid` -1: all tasks. */
int perf_attr_open(struct perf_event_attr *a, pid_t tid, int cpu);
/* Like perf_attr_open(), in the group of another descriptor; -1: without a group. */
int perf_attr_open_group(struct perf_event_attr *a, pid_t tid, int cpu, int leader);
/* Some PMUs do not support guests and reject exclude_guest (PERF_PMU_CAP_NO_EXCLUDE: msr,
 * uncore; AMD's IBS before Linux 6.14). If the attr was rejected with such a `code`, clears
 * exclude_guest. Returns true if the caller should try again. */
bool perf_attr_let_guests(struct perf_event_attr *a, int code);
/* Explains a failure to the user; perf_event_open(2), ERRORS. Returns `code`. */
int perf_attr_explain(int code, const char *event, bool system_wide, struct err *err);
/* Like perf_attr_explain(), for an event that was opened for thread `tid` (-1: all) on a CPU. Also
 * explains PMUs that cannot separate cpu modes, and processes of other users. */
int perf_attr_explain_event(int code, const struct event_request *e, pid_t tid, int cpu,
			    struct err *err);
/* Returns /proc/sys/kernel/perf_event_max_sample_rate, in samples per second, or 0 if it cannot be
 * read. */
uint64_t perf_attr_max_rate(void);
/* Returns /proc/sys/kernel/perf_event_paranoid, or -1 if it cannot be read. */
int perf_attr_paranoid(void);

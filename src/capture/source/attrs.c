/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/source/attrs.h"

#include <errno.h>
#include <linux/capability.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "capture/events/perf_attr.h"
#include "capture/source/perf_source.h"

/* Features that can be omitted. */
enum {
	NO_LOST = 1,
	NO_BUILD_ID = 2,
	NO_CGROUP = 4,
	NO_KSYMBOL = 8,
	NO_NAMESPACES = 16
};

/* Combinations of omitted features, tried in this order. */
static const uint8_t attempts[] = {
	NO_CGROUP,                         /* any kernel without CONFIG_CGROUP_PERF */
	NO_LOST,                           /* kernels before 6.0 */
	NO_LOST | NO_BUILD_ID,             /* before 5.12 */
	NO_LOST | NO_BUILD_ID | NO_CGROUP, /* before 5.7 */
	NO_LOST | NO_BUILD_ID | NO_CGROUP | NO_KSYMBOL,                /* before 5.1 */
	NO_LOST | NO_BUILD_ID | NO_CGROUP | NO_KSYMBOL | NO_NAMESPACES /* before 4.12 */
};

static void perf_source_attrs_leave_out(struct perf_event_attr *a, unsigned int what)
{
	if (what & NO_LOST)
		a->read_format &= ~(uint64_t)PERF_FORMAT_LOST;
	if (what & NO_BUILD_ID)
		a->build_id = 0;
	if (what & NO_CGROUP) {
		a->cgroup = 0;
		a->sample_type &= ~(uint64_t)PERF_SAMPLE_CGROUP;
	}
	if (what & NO_KSYMBOL)
		a->ksymbol = a->bpf_event = 0;
	if (what & NO_NAMESPACES)
		a->namespaces = 0;
}

static void common_attr(struct perf_event_attr *a, const struct perf_source_config *c)
{
	a->size = sizeof(*a);
	a->sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			 PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			 PERF_SAMPLE_CGROUP;
	a->sample_id_all = 1;
	a->use_clockid = 1;
	a->clockid = CLOCK_MONOTONIC;
	a->inherit = c->tids != NULL;
	a->exclude_guest = 1;
	a->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			 PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID |
			 PERF_FORMAT_LOST;
	a->watermark = 1;
}

void perf_attr_samples(struct perf_event_attr *a, const struct perf_source_config *c)
{
	common_attr(a, c);
	a->disabled = 1;
	a->enable_on_exec = c->on_exec;
	/* If a software event with a period requests PERF_SAMPLE_PERIOD, the kernel writes a
	 * sample for every single event, whatever the period (perf_swevent_event()). */
	if (!a->freq)
		a->sample_type &= ~(uint64_t)PERF_SAMPLE_PERIOD;
	if (c->chains)
		a->sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (!c->user_stack_bytes)
		return;
	a->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	a->sample_regs_user = c->user_regs;
	a->sample_stack_user = c->user_stack_bytes;
	a->exclude_callchain_user = 1;
}

void perf_attr_side_band(struct perf_event_attr *a, const struct perf_source_config *c)
{
	common_attr(a, c);
	a->type = PERF_TYPE_SOFTWARE;
	a->config = PERF_COUNT_SW_DUMMY;
	a->exclude_kernel = 1;
	a->exclude_hv = 1;
	a->mmap = 1;
	a->mmap2 = 1;
	a->comm = 1;
	a->comm_exec = 1;
	a->task = 1;
	a->build_id = !c->no_build_ids;
	a->cgroup = 1;
	a->namespaces = 1;
	/* BPF programs are loaded for the whole machine, so for tasks perf_attr_ksymbols()
	 * requests these records. */
	a->ksymbol = !c->tids;
	a->bpf_event = !c->tids;
}

/* Clears the bits that request records about tasks. */
static void without_tasks(struct perf_event_attr *a)
{
	a->mmap = a->mmap2 = a->build_id = 0;
	a->comm = a->comm_exec = a->task = 0;
}

void perf_attr_ksymbols(const struct perf_event_attr *side_band,
			struct perf_event_attr *ret_attr)
{
	*ret_attr = *side_band;
	without_tasks(ret_attr);
	ret_attr->cgroup = ret_attr->namespaces = ret_attr->inherit = 0;
	ret_attr->ksymbol = ret_attr->bpf_event = 1;
}

bool perf_attr_namespaces(struct perf_event_attr *side_band,
			  const struct perf_source_config *c,
			  struct perf_event_attr *ret_attr)
{
	if (!side_band->namespaces || (c->tids && c->nr_tids > 1))
		return false;
	*ret_attr = *side_band;
	side_band->namespaces = 0;
	without_tasks(ret_attr);
	ret_attr->cgroup = ret_attr->ksymbol = ret_attr->bpf_event = 0;
	/* This requests no further records. But without it, the kernel (is_sb_event()) sends no
	 * side-band records to an event of the whole machine. */
	ret_attr->comm_exec = side_band->comm_exec;
	ret_attr->wakeup_watermark = 1;
	return true;
}

/* Returns the index of the first attr that the kernel rejects, with the error in *ret_code, or
 * `nr` if it accepts all. Skips threads that have ended. */
static size_t try_attrs(struct perf_event_attr *attrs, size_t nr, int cpu,
			const struct perf_source_config *c, int *ret_code)
{
	size_t at = 0;

	for (size_t i = 0; i < nr;) {
		int fd = perf_attr_open(&attrs[i], c->tids ? c->tids[at] : -1, cpu);

		if (fd >= 0) {
			close(fd);
			i++;
			continue;
		}
		if (fd == -ESRCH && at + 1 < c->nr_tids) {
			at++;
			continue;
		}
		/* On a machine with several core types, the first CPU can lack the event. */
		if (fd == -ENOENT && i < c->nr_events && c->events[i].one_core_type) {
			i++;
			continue;
		}
		*ret_code = fd;
		return i;
	}
	return nr;
}

/* Relaxes an attr that the kernel rejected (`a`, and the copy `wanted`): first stops excluding
 * guests, which some PMUs require, then lowers the precision by one unless the user requested it.
 * Returns true if the caller should try again. */
static bool relax_precise(struct perf_event_attr *a, struct perf_event_attr *wanted,
			  bool was_asked_for, int code)
{
	if (perf_attr_let_guests(a, code)) {
		wanted->exclude_guest = 0;
		return true;
	}
	if (code != -EINVAL && code != -EOPNOTSUPP)
		return false;
	if (was_asked_for || !a->precise_ip)
		return false;
	a->precise_ip--;
	wanted->precise_ip--;
	return true;
}

static int precise_refused(int code, const struct event_request *e, struct err *err)
{
	unsigned int level = e->attr.precise_ip;

	return err_set(
		err, code,
		"event %s: this CPU or kernel does not support precise samples of it (:%.*s): %s",
		e->name, (int)level, "ppp",
		level > 1 ? "try fewer p, or none" : "try without them");
}

/* Returns true for an event such as msr/tsc/, whose PMU has no interrupts. */
static bool is_only_counted(const struct event_request *e,
			    const struct perf_source_config *c, int cpu)
{
	struct perf_event_attr attr = e->attr;
	int fd;

	if (attr.type < PERF_TYPE_MAX)
		return false;
	attr.freq = 0;
	attr.sample_period = 0;
	attr.precise_ip = 0;
	attr.exclude_guest = 0;
	attr.disabled = 1;
	fd = perf_attr_open(&attr, c->tids ? c->tids[0] : -1, cpu);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int explain_event(int code, size_t bad, int cpu,
			 const struct perf_source_config *c, struct err *err)
{
	const struct event_request *e = bad < c->nr_events ? &c->events[bad] : NULL;

	if (e && e->attr.precise_ip && (code == -EINVAL || code == -EOPNOTSUPP))
		return precise_refused(code, e, err);
	if (e && code == -EINVAL && is_only_counted(e, c, cpu))
		return err_set(
			err, code,
			"event %s cannot be sampled: its PMU only counts (use ocount)",
			e->name);
	if (e)
		return perf_attr_explain_event(code, e, c->tids ? c->tids[0] : -1, cpu,
					       err);
	return perf_attr_explain(code, "side band", !c->tids, err);
}

/* Turns off inheritance for groups that are read, because before 6.12 the kernel can read groups
 * only for the threads for which they were opened. Returns true if it changed an attr, so that the
 * caller should try again. */
static bool stay_with_threads(struct perf_event_attr *wanted, size_t nr)
{
	bool found = false;

	for (size_t i = 0; i < nr; i++) {
		if (!(wanted[i].sample_type & PERF_SAMPLE_READ) || !wanted[i].inherit)
			continue;
		wanted[i].inherit = 0;
		found = true;
	}
	if (found)
		log_say(LOG_WARNING,
			"this kernel (before Linux 6.12) reads a group with :S only in the threads that exist at the start: new threads and processes are not sampled (use --system-wide)");
	return found;
}

int perf_attrs_probe(struct perf_event_attr *attrs, size_t nr, int cpu,
		     const struct perf_source_config *c, struct err *err)
{
	struct perf_event_attr *wanted = malloc(nr * sizeof(*wanted));
	size_t attempt = 0, bad;
	int r = 0;

	if (!wanted)
		return err_set(err, -ENOMEM, "out of memory");
	memcpy(wanted, attrs, nr * sizeof(*wanted));
	while ((bad = try_attrs(attrs, nr, cpu, c, &r)) < nr) {
		/* Without CAP_PERFMON, the kernel does not report namespaces. */
		if ((r == -EACCES || r == -EPERM) && attrs[bad].namespaces) {
			attrs[bad].namespaces = wanted[bad].namespaces = 0;
			continue;
		}
		if (bad < c->nr_events &&
		    relax_precise(&attrs[bad], &wanted[bad],
				  c->events[bad].precise_given, r))
			continue;
		if (r == -EINVAL && attempt == sizeof(attempts) &&
		    stay_with_threads(wanted, nr)) {
			memcpy(attrs, wanted, nr * sizeof(*wanted));
			attempt = 0;
			continue;
		}
		if (r != -EINVAL || attempt == sizeof(attempts)) {
			free(wanted);
			return explain_event(r, bad, cpu, c, err);
		}
		/* All attrs must have the same sample_type, so apply the step to all of them. */
		for (size_t i = 0; i < nr; i++) {
			attrs[i] = wanted[i];
			perf_source_attrs_leave_out(&attrs[i], attempts[attempt]);
		}
		attempt++;
	}
	free(wanted);
	return 0;
}

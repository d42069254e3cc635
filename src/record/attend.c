/* SPDX-License-Identifier: GPL-2.0-or-later */
/* attend.c - decides when a round is due, and watches containers that start and end between two
 * rounds (docs/decisions/0012). */
#include <errno.h>

#include "base/clock.h"
#include "capture/source/perf_source.h"
#include "record/priv.h"

enum {
	/* Minimum interval between two calls of recorder_attend(), which drains the side band. */
	MUTE_NS = 20 * NS_PER_MS,
	PATIENT_MUTE_NS = 100 * NS_PER_MS,
	/* The interval shortly after a container has started. */
	TICK_NS = 5 * NS_PER_MS
};

/* How long the short interval applies after a container has started. */
static const uint64_t attention_ns = 2 * NS_PER_S;

void recorder_attend_to(struct recorder *r, const struct record *rec)
{
	switch (rec->type) {
	case PERF_RECORD_NAMESPACES:
		if (containers_take(&r->containers, &rec->namespaces))
			r->attention_end_ns =
				clock_now_ns(CLOCK_MONOTONIC) + attention_ns;
		break;
	case PERF_RECORD_COMM:
		if (rec->comm.exec && containers_has(&r->containers, rec->comm.pid))
			jit_store_began(&r->jit_store, rec->comm.pid);
		break;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		image_store_mapped(&r->image_store, &rec->mmap);
		recorder_keep_jit(r, rec);
		break;
	default:
		break;
	}
}

int recorder_attend_fd(const struct recorder *r)
{
	return clock_now_ns(CLOCK_MONOTONIC) < r->next_look_ns
		       ? -1
		       : perf_source_namespaces_fd(r->source);
}

int recorder_attend_ms(const struct recorder *r)
{
	uint64_t now = clock_now_ns(CLOCK_MONOTONIC);

	if (now < r->next_look_ns)
		return (int)((r->next_look_ns - now) / NS_PER_MS) + 1;
	return now < r->attention_end_ns ? 0 : -1;
}

int recorder_attend(struct recorder *r, struct err *err)
{
	uint64_t mute_ns = r->config.patient ? PATIENT_MUTE_NS : MUTE_NS;
	uint64_t now = clock_now_ns(CLOCK_MONOTONIC);
	uint64_t began_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID);
	int result;

	r->err = err;
	result = perf_source_drain(r->source, PERF_SOURCE_SIDE_BAND,
				   recorder_take_side_band, r);
	if (!result && module_watch_is_reported(&r->modules))
		result = recorder_look_at_modules(r);
	recorder_read_symbols(r);
	r->side_band_ns += clock_now_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns;
	/* Keep the short interval until the symbols of new modules are read. */
	if (r->symbols_due.nr && r->attention_end_ns < r->symbols_due_ns + TICK_NS)
		r->attention_end_ns = r->symbols_due_ns + TICK_NS;
	r->next_look_ns = now + (now < r->attention_end_ns ? TICK_NS : mute_ns);
	return recorder_judge(r, result);
}

bool recorder_is_due(struct recorder *r, bool woken)
{
	return recorder_timeout_ms(r) == 0 ||
	       (woken && perf_source_has_much(r->source));
}

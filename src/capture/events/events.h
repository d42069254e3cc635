/* events.h - from the words after --event to what perf_event_open() takes.
 * Layer: capture.  One parser for all commands (docs/events.md has the grammar): OProfile's
 * NAME:COUNT[:UNITMASK[:KERNEL[:USER]]], perf's PMU/term=value,.../ and :modifiers, groups in
 * braces, TIMER and RTC_INTERRUPTS, rNNN, tracepoints, and `default`. */
#pragma once
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/vec.h"

struct cpu_type;
struct err;
struct event_catalog;

enum {
	EVENT_NAME_MAX = 128,
	EVENT_ABOUT_MAX = 160,
	EVENT_MORE_TYPES_MAX = 95,
	EVENTS_MAX = 24, /* of one recording, OProfile's limit */
	EVENT_DEFAULT_HZ = 997
};

/* One event to record. */
struct event_request {
	char name
		[EVENT_NAME_MAX]; /* as reports show it: TIMER, page-faults, cpu/.../ */
	char about[EVENT_ABOUT_MAX]; /* one line: what is counted */
	char mask_about
		[EVENT_ABOUT_MAX]; /* the same of its unit mask; "": none, or several */
	/* size, type, config, config1, config2, exclude_kernel, exclude_user, exclude_hv,
	 * exclude_guest, freq and sample_period or sample_freq are set; all else is zero and
	 * the recorder's. */
	struct perf_event_attr attr;
	uint64_t count; /* period asked for (cpu-clock: nanoseconds); 0 under a rate */
	uint64_t frequency_hz; /* 0 under a period */
	uint64_t unit_mask;
	bool kernel;        /* kernel space is sampled */
	bool user;          /* user space is sampled */
	bool timer;         /* cpu-clock under OProfile's name TIMER */
	bool scope_given;   /* the spec itself said what of kernel and user */
	bool mask_given;    /* and so the unit mask */
	bool hypervisor;    /* counted there, too */
	bool one_core_type; /* of a PMU that only some of the CPUs have */
	bool precise_given; /* asked for, not chosen by us */
	bool leads;         /* its group's members are read when it is sampled (:S) */
	bool member;    /* one of these: it has no samples of its own, and no count */
	uint32_t group; /* those of one number are counted together; 0: none */
	uint32_t min_count;
	uint64_t
		counters; /* that can count it (event_counters.h); 0: any, or not known */
	/* Of a PMU that counts a part of the machine: the CPUs that count it ("0,18"), and how much
	 * of what unit one is (0: it has none). */
	char cpus[64];
	double scale;
	char unit[16];
	/* PMUs of the same kind, attr.type besides, that are counted with it. */
	uint32_t nr_more_types;
	uint32_t more_types[EVENT_MORE_TYPES_MAX];
};

/* What was asked for, and how words are understood: zero is this machine, for sampling. */
struct event_requests {
	VEC(struct event_request) list; /* at most EVENTS_MAX */
	bool counting;                  /* no counts: NAME[:UNITMASK[:KERNEL[:USER]]] */
	bool ignore_count;              /* least counts are not looked at */
	uint32_t
		min_count_factor; /* of the CPU's events: so many times the least count; 0: once */
	bool no_host; /* names of `cpu` and of the kernel alone: this machine's PMUs are not
		       * asked */
	const struct cpu_type *cpu; /* whose events are meant; NULL: this machine's */
	const char *sysfs;          /* NULL: the kernel's */
	struct event_catalog *catalog; /* opened when needed, closed by events_done() */
	bool no_catalog;               /* there is none, as was found */
	uint32_t nr_groups;
};

/* Adds the events of one comma-separated list; a comma between slashes belongs to the event.
 * An event without a count is sampled at `frequency_hz` (0: EVENT_DEFAULT_HZ).
 * 0, -EINVAL with a line that names the spec and what is wrong, -ENOENT for an unknown name
 * (with the nearest one), -E2BIG beyond EVENTS_MAX, -EEXIST for the same event twice,
 * -ENOMEM.  `reqs` keeps what was added before the faulty spec. */
int events_parse(const char *specs, uint64_t frequency_hz, struct event_requests *reqs,
		 struct err *err);
/* The event to take when none was asked for: the PMU's cycles, and where there is no PMU
 * TIMER (ret_event->timer says which). */
void events_default(uint64_t frequency_hz, struct event_request *ret_event);
/* Samples user space only from now on: what perf_event_paranoid 2 leaves. */
void event_request_user_only(struct event_request *event);
/* Samples at most so often; under a count nothing changes. */
void event_request_cap_rate(struct event_request *event, uint64_t frequency_hz);
/* Whether the kernel counts hardware cycles here, for this user at least in user space.
 * Asked once, then remembered. */
bool events_have_pmu(void);
void events_done(struct event_requests *reqs);

/* The catalogue that `reqs` looks into, NULL where there is none (`err` says why). */
const struct event_catalog *events_catalog(struct event_requests *reqs,
					   struct err *err);
/* Where cores differ, one kind of them. */
struct event_cores {
	char pmu[64];
	char cpus[64];               /* "0-7,16" */
	const struct cpu_type *type; /* whose events they have; NULL: not known */
};
enum {
	EVENT_CORES_MAX = 8
};
/* The kinds of this machine's cores: how many; 0 where all are alike. */
size_t events_cores(const struct event_requests *reqs,
		    struct event_cores ret_cores[EVENT_CORES_MAX]);
/* Cuts "a,b:1/x,y/" at its commas: the bytes of the first spec.  A comma between slashes or
 * braces belongs to it. */
size_t events_first_spec(const char *specs);

/* What an event of perf's spelling ("cycles:ppp", "cpu_core/cycles/u") counts, NULL where it is
 * none of the kernel's own. */
const char *events_about(const char *name);

/* The events known by name, one after the other from 0 on, for lists and completion: false
 * behind the last one.  Events of PMUs in /sys are not among them. */
bool events_row(size_t i, const char **ret_name, const char **ret_about);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* events.h - parses the arguments of --event to the attrs of perf_event_open().
 * Layer: capture. All commands use this parser (docs/events.md has the grammar). It accepts
 * OProfile's NAME:COUNT[:UNITMASK[:KERNEL[:USER]]], perf's PMU/term=value,.../ and :modifiers,
 * groups in braces, TIMER and RTC_INTERRUPTS, rNNN, tracepoints, and `default`. */
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
	EVENTS_MAX = 24, /* per recording; OProfile's limit */
	EVENT_DEFAULT_HZ = 997
};

/* One event to record. */
struct event_request {
	char name
		[EVENT_NAME_MAX]; /* as shown in reports: TIMER, page-faults, cpu/.../ */
	char about[EVENT_ABOUT_MAX]; /* one-line description */
	char mask_about
		[EVENT_ABOUT_MAX]; /* description of the unit mask; "": none, or several masks */
	/* These fields are set: size, type, config, config1, config2, exclude_kernel,
	 * exclude_user, exclude_hv, exclude_guest, freq and sample_period or sample_freq. All
	 * others are zero; the recorder sets them. */
	struct perf_event_attr attr;
	/* The requested period (for cpu-clock in nanoseconds); 0 if a frequency was requested. */
	uint64_t count;
	uint64_t frequency_hz; /* 0 if a period was requested */
	uint64_t unit_mask;
	bool kernel;        /* kernel space is sampled */
	bool user;          /* user space is sampled */
	bool timer;         /* cpu-clock under OProfile's name TIMER */
	bool scope_given;   /* the spec set kernel or user */
	bool mask_given;    /* the spec set the unit mask */
	bool hypervisor;    /* also count in the hypervisor */
	bool one_core_type; /* its PMU exists only on some of the CPUs */
	bool precise_given; /* the user requested the precision; it is not our default */
	bool leads;         /* the group's members are read with its samples (:S) */
	bool member;    /* read with the samples of its group's leader; has no count */
	uint32_t group; /* events with the same number are counted together; 0: none */
	uint32_t min_count;
	/* Counters that can count it (event_counters.h); 0: any, or unknown. */
	uint64_t counters;
	/* For a PMU that counts a part of the machine: the CPUs through which it is read
	 * ("0,18"), and the factor and unit of its values (0: no unit). */
	char cpus[64];
	double scale;
	char unit[16];
	/* attr.type of further PMUs of the same kind that are counted together with it. */
	uint32_t nr_more_types;
	uint32_t more_types[EVENT_MORE_TYPES_MAX];
};

/* The parsed events and the parser's settings. Zero-initialized, it parses events of this machine
 * for sampling. */
struct event_requests {
	VEC(struct event_request) list; /* at most EVENTS_MAX */
	/* parse specs without counts: NAME[:UNITMASK[:KERNEL[:USER]]] */
	bool counting;
	bool ignore_count; /* do not check minimum counts */
	/* Multiplies the minimum counts of the CPU's events; 0 means 1. */
	uint32_t min_count_factor;
	/* accept only the names of `cpu` and of the kernel; do not read this machine's PMUs */
	bool no_host;
	/* the CPU type whose events are accepted; NULL: this machine's */
	const struct cpu_type *cpu;
	const char *sysfs;             /* NULL: the kernel's */
	struct event_catalog *catalog; /* opened on demand, closed by events_done() */
	bool no_catalog;               /* the CPU type has no catalogue */
	uint32_t nr_groups;
};

/* Adds the events of a comma-separated list. A comma between slashes belongs to the event. An
 * event without a count is sampled at `frequency_hz` (0: EVENT_DEFAULT_HZ). Returns 0; -EINVAL
 * with a message that names the spec and the error; -ENOENT for an unknown name (the message
 * suggests the closest match); -E2BIG for more than EVENTS_MAX events; -EEXIST if an event is
 * given twice; or -ENOMEM. On an error, `reqs` keeps the events before the invalid spec. */
int events_parse(const char *specs, uint64_t frequency_hz, struct event_requests *reqs,
		 struct err *err);
/* Returns the default event: cycles or, if there is no PMU, TIMER (ret_event->timer is then
 * true). */
void events_default(uint64_t frequency_hz, struct event_request *ret_event);
/* Restricts the event to user space, because perf_event_paranoid 2 does not permit more. */
void event_request_user_only(struct event_request *event);
/* Limits the frequency. Has no effect on an event with a count. */
void event_request_cap_rate(struct event_request *event, uint64_t frequency_hz);
/* Returns true if this user can count hardware cycles, at least in user space. The result is
 * cached. */
bool events_have_pmu(void);
void events_done(struct event_requests *reqs);

/* Returns the catalogue that `reqs` uses, or NULL with the reason in *err. */
const struct event_catalog *events_catalog(struct event_requests *reqs,
					   struct err *err);
/* A core type of a machine with several (performance and efficient cores). */
struct event_cores {
	char pmu[64];
	char cpus[64]; /* "0-7,16" */
	/* CPU type whose events these cores have; NULL: unknown. */
	const struct cpu_type *type;
};
enum {
	EVENT_CORES_MAX = 8
};
/* Returns the number of core types of this machine; 0 if all cores are alike. */
size_t events_cores(const struct event_requests *reqs,
		    struct event_cores ret_cores[EVENT_CORES_MAX]);
/* Returns the length of the first spec in "a,b:1/x,y/". A comma between slashes or braces does
 * not end a spec. */
size_t events_first_spec(const char *specs);

/* Returns the description of an event in perf's spelling ("cycles:ppp", "cpu_core/cycles/u"),
 * or NULL if it is not one of the kernel's own events. */
const char *events_about(const char *name);

/* Enumerates the events that are known by name, from i = 0, for lists and completion. Returns false
 * after the last one. Events of PMUs in /sys are not included. */
bool events_row(size_t i, const char **ret_name, const char **ret_about);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* priv.h - looks up event names; used by events*.c and their tests.
 * Layer: capture. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/closest_match.h"
#include "capture/events/cpu_types.h"

struct err;
struct event_request;
struct event_requests;
struct perf_event_attr;

/* An event that the kernel defines by number. */
struct event_row {
	const char *name;
	const char *alias; /* alternative spelling, or NULL */
	uint32_t type;     /* PERF_TYPE_* */
	uint64_t config;
	uint32_t min_count; /* smallest sensible period; 0: any */
	const char *about;
};

/* Finds a row by name or alias (ignoring case for hardware caches). Returns NULL if not found. */
const struct event_row *event_row_find(const char *name);
/* Returns the i-th row, or NULL after the last one. */
const struct event_row *event_row_at(size_t i);

#define EVENTS_SYSFS "/sys/bus/event_source/devices"

/* Parses "PMU/term[=value],.../": sets attr.type, the config words and `about`. The PMUs are
 * described below the directory `root` (EVENTS_SYSFS). Returns 0, -ENOENT (no such PMU, event
 * or term) or -EINVAL. */
int events_sysfs_pmu(const char *root, const char *name, struct event_request *event,
		     struct err *err);
/* Applies "/period=N,freq=N,name=WORD/" to the event `name`. Returns 0 or -EINVAL. */
int events_sysfs_terms(const char *name, const char *terms, struct event_request *event,
		       struct err *err);
/* Like events_sysfs_pmu(), for a bare event name that a core PMU describes. Returns 0 or
 * -ENOENT (without a message). */
int events_sysfs_bare(const char *root, const char *name, struct event_request *event);
/* Returns the maximum precise_ip of the core PMU, 0 to 3. */
unsigned int events_sysfs_precise(const char *root);
/* On a machine with several core types, lists the PMU of each: name, CPUs and type. Returns
 * their number; 0 if all cores are alike. */
enum {
	CORE_TYPES_MAX = 8 /* EVENT_CORES_MAX */
};
struct core_pmu {
	char name[64];
	char cpus[64];
	uint32_t type;
};
size_t events_sysfs_core_types(const char *root, struct core_pmu *ret_pmus, size_t max);
/* Returns the CPU type whose events a core PMU counts: for cpu_atom of i386/alderlake it is
 * i386/alderlake-e. Returns `host` if the PMU's name does not reveal it. */
const struct cpu_type *event_core_cpu_type(const char *pmu,
					   const struct cpu_type *host);
/* One specification as the user wrote it. */
struct event_words {
	const char *text;
	size_t len;
	uint64_t frequency_hz;
};
/* Parses a spec whose event this machine's CPU type lacks, with the CPU type of each core type.
 * Returns 0 for the first core type that has the event, or -ENOENT. */
int event_of_other_cores(const struct event_requests *reqs,
			 const struct event_words *words,
			 struct event_request *ret_event);
/* Converts `given`, a spec parsed for this machine's CPU type, to an event of one core type.
 * Returns 0, or an error like event_spec_parse() if these cores lack the event. */
int event_on_core(const struct event_requests *reqs, const struct core_pmu *pmu,
		  const struct event_words *words, const struct event_request *given,
		  struct event_request *ret_event, struct err *err);
/* Stores the low bits of `value` in the bits that the text of a format/ file names
 * ("config:0-7,32-35"). Returns 0, -EBADMSG (malformed text) or -ERANGE (value too large). */
int events_sysfs_spread(struct perf_event_attr *attr, const char *format,
			uint64_t value);

/* Parses one spec, `len` bytes of `text`. In the result, `group` is the number of the group if the
 * spec is in braces, and otherwise 0. Returns the same as events_parse(). */
int event_spec_parse(struct event_requests *reqs, const char *text, size_t len,
		     uint64_t frequency_hz, struct event_request *ret_event,
		     struct err *err);
/* Applies perf's modifier letters ("u", "ppp", "S") to an event. Returns 0, or -EINVAL with a
 * message in *err. */
int event_modifiers_apply(const char *letters, const char *sysfs,
			  struct event_request *event, struct err *err);
/* Returns true if a part of a spec is an attribute of libpfm4: NAME=VALUE, or a switch. */
bool event_attribute_is(const char *part);
/* Applies an attribute of libpfm4 ("c=2", "i", "ldlat=32") to an event of the catalogue of `cpu`:
 * sets bits of the config words or fields of the request. Returns 0, or -EINVAL with a message. */
int event_attribute_apply(const char *part, const struct cpu_type *cpu,
			  struct event_request *event, struct err *err);
/* Returns true if all characters are modifier letters. */
bool event_modifiers_are(const char *letters);
/* Derives attr's switches and its period or frequency from the parsed fields. */
void event_request_finish(struct event_request *event, uint64_t frequency_hz);

enum {
	EVENTS_SYSFS_WORD_MAX = 64
};
/* Adds the names of the core PMU's events as candidates. */
void events_sysfs_suggest(const char *root, struct closest_matches *near);
/* Finds all PMUs of a kind (for "cbox": uncore_cbox_0 ...). Stores the name of the first, and adds
 * the others to more_types of `event`. Returns 0 or -ENOENT. */
int events_uncore_find(const char *root, const char *kind,
		       char ret_first[EVENTS_SYSFS_WORD_MAX],
		       struct event_request *event);
/* Sets cpus of the event and, if the PMU's directory events/ describes it, scale and unit. */
void events_uncore_describe(const char *root, const char *pmu, const char *event,
			    struct event_request *e);

/* The table of cpu_types.h. */
extern const struct cpu_type cpu_type_rows[];
extern const size_t cpu_type_nr_rows;

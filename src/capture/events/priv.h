/* priv.h - where event names are looked up; used by events*.c and their tests.
 * Layer: capture. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/nearest.h"

struct cpu_type;
struct err;
struct event_request;
struct event_requests;
struct perf_event_attr;

/* An event that the kernel knows by number. */
struct event_row {
	const char *name;
	const char *alias; /* a second spelling, or NULL */
	uint32_t type;     /* PERF_TYPE_* */
	uint64_t config;
	uint32_t min_count; /* smallest period that makes sense; 0: any */
	const char *about;
};

/* The row of that name or alias (for hardware caches in any case of letters), or NULL. */
const struct event_row *event_row_find(const char *name);
/* The i-th row, NULL behind the last. */
const struct event_row *event_row_at(size_t i);

#define EVENTS_SYSFS "/sys/bus/event_source/devices"

/* Fills attr.type and configs and `about` from "PMU/term[=value],.../", with the PMU's
 * description below the directory `root` (EVENTS_SYSFS).
 * 0, -ENOENT (no such PMU, event or term), -EINVAL. */
int events_sysfs_pmu(const char *root, const char *name, struct event_request *event,
		     struct err *err);
/* Applies "/period=N,freq=N,name=WORD/" to an event of the name `name`.  0 or -EINVAL. */
int events_sysfs_terms(const char *name, const char *terms, struct event_request *event,
		       struct err *err);
/* The same as events_sysfs_pmu() for a bare name that a core PMU describes.  0, -ENOENT (without a text). */
int events_sysfs_bare(const char *root, const char *name, struct event_request *event);
/* The most that the core PMU can do of precision, 0 to 3. */
unsigned int events_sysfs_precise(const char *root);
/* PMUs that only some CPUs have, where cores differ: their names and types.  How many there
 * are; 0 where all are alike. */
enum {
	CORE_TYPES_MAX = 8 /* EVENT_CORES_MAX */
};
struct core_pmu {
	char name[64];
	char cpus[64];
	uint32_t type;
};
size_t events_sysfs_core_types(const char *root, struct core_pmu *ret_pmus, size_t max);
/* The type of CPU whose events a core PMU counts: cpu_atom's of i386/alderlake are those of
 * i386/alderlake-e; `host` where the PMU's name does not say. */
const struct cpu_type *event_core_cpu_type(const char *pmu,
					   const struct cpu_type *host);
/* One specification, as it was given. */
struct event_words {
	const char *text;
	size_t len;
	uint64_t frequency_hz;
};
/* What the words mean on some kind of cores of this machine, of which the type of the first
 * knows nothing.  0 or -ENOENT. */
int event_of_other_cores(const struct event_requests *reqs,
			 const struct event_words *words,
			 struct event_request *ret_event);
/* `given`, which is what the words mean on the type of CPU of this machine, on one kind of its
 * cores.  0, or as event_spec_parse(): these cores have no such event. */
int event_on_core(const struct event_requests *reqs, const struct core_pmu *pmu,
		  const struct event_words *words, const struct event_request *given,
		  struct event_request *ret_event, struct err *err);
/* Puts the low bits of `value` where the text of a file of format/ says
 * ("config:0-7,32-35").  0, -EBADMSG (not such a text) or -ERANGE (value too large). */
int events_sysfs_spread(struct perf_event_attr *attr, const char *format,
			uint64_t value);

/* One spec, `len` bytes of `text`, whose `group` is 0 or that of its braces.
 * As events_parse(). */
int event_spec_parse(struct event_requests *reqs, const char *text, size_t len,
		     uint64_t frequency_hz, struct event_request *ret_event,
		     struct err *err);
/* Applies perf's letters ("u", "ppp", "S") to an event.  0 or -EINVAL with a line. */
int event_modifiers_apply(const char *letters, const char *sysfs,
			  struct event_request *event, struct err *err);
/* Whether a part of a spec is libpfm4's NAME=VALUE, or one of its switches. */
bool event_attribute_is(const char *part);
/* Sets what such a part says of an event of the catalogue of `cpu` ("c=2", "i", "ldlat=32"): bits of the config
 * words, or fields of the request.  0 or -EINVAL with a line. */
int event_attribute_apply(const char *part, const struct cpu_type *cpu,
			  struct event_request *event, struct err *err);
/* Whether all are such letters. */
bool event_modifiers_are(const char *letters);
/* What follows from the fields that were read: attr's switches, period or rate. */
void event_request_finish(struct event_request *event, uint64_t frequency_hz);

enum {
	EVENTS_SYSFS_WORD_MAX = 64
};
/* Offers the names of the core PMU's events. */
void events_sysfs_nearest(const char *root, struct nearest_few *near);
/* The PMUs of a kind ("cbox": uncore_cbox_0 ...): the first one's name, the others as types of
 * `event`.  0 or -ENOENT. */
int events_uncore_find(const char *root, const char *kind,
		       char ret_first[EVENTS_SYSFS_WORD_MAX],
		       struct event_request *event);
/* Fills cpus, and of an event that has its file in events/ scale and unit. */
void events_uncore_describe(const char *root, const char *pmu, const char *event,
			    struct event_request *e);

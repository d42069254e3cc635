/* SPDX-License-Identifier: GPL-2.0-or-later */
/* info.h - collects what a recording contains, as facts: names with values.
 * Layer: recordings. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/vec.h"
#include "base/files/trust.h"
#include "format/perfdata/input.h"

struct err;

struct fact {
	const char *name; /* name of the fact, as --json prints it: "os_release" */
	char *text;
	bool number; /* the text is a number */
};

struct fact_list {
	VEC(struct fact) facts;
	bool failed; /* memory was short */
};

/* The number and size of all records of one type. */
struct info_row {
	uint32_t type;
	uint64_t records;
	uint64_t bytes;
};

struct info_event {
	char *name;
	uint64_t samples;
	struct fact_list facts;
};

/* One recording. */
struct info {
	const char *path;
	enum trust trust;
	char *name; /* shown in place of the path for files unpacked from an archive; or NULL */
	struct fact_list facts;
	VEC(struct info_event) events;
	VEC(struct info_row) rows; /* by type; empty for a session */
	/* numbers of unusable records, bytes and so on; empty: no damage */
	struct fact_list damage;
	bool incomplete; /* `damage` has more than unknown records */
};

/* Add a fact. An empty text and, in fact_count(), a 0 mean unknown and are left out. */
void fact_text(struct fact_list *list, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void fact_number(struct fact_list *list, const char *name, uint64_t value);
void fact_count(struct fact_list *list, const char *name, uint64_t value);
void facts_done(struct fact_list *list);

void info_done(struct info *info);
/* Adds an event that has no facts yet. Returns it, borrowed until the next event is added, or
 * NULL if memory is short. */
struct info_event *info_event_new(struct info *info, const char *name);

/* Adds the facts of a perf.data: the file, the machine, the clock. */
void info_perf_facts(struct fact_list *list, const struct perf_input_info *from);
/* Adds the facts of an event, as `perf evlist -v` prints them. */
void info_attr_facts(struct fact_list *list, const struct perf_input_event *event);
void info_damage_facts(struct fact_list *list, const struct perf_input_damage *damage);

/* Reads a whole perf.data or session directory.  Returns 0 or a negative errno. */
int info_read_perf_data(struct info *info, struct err *err);
int info_read_session(struct info *info, const char *dir, struct err *err);
/* Compares the side files of a session directory with their checksums, and counts them. */
int info_read_side_files(struct info *info, const char *dir, struct err *err);

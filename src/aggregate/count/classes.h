/* SPDX-License-Identifier: GPL-2.0-or-later */
/* classes.h - OProfile's profile classes: the columns of its layouts.
 * Layer: aggregate.  Not thread safe.
 * A class is a tuple (event with its count and unit mask, tgid, tid, cpu) without the axes that
 * are merged.  Samples of equal tuples are summed; in a text report only one axis can vary.
 * Recordings keep all axes; the view decides which of them stay separate: classes_kept().  Use:
 *   classes_init(&c, kept, events, nr_events);
 *   for each row: classes_add(&c, &(struct class){ event, tgid, tid, cpu }, &number);
 *   classes_arrange(&c, &err);   // fails if several axes vary
 *   classes_column(&c, number);  // the column of the row's counts
 *   c.columns.at[i], classes_put_title(&c, i, &text); */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/containers/map.h"
#include "base/containers/vec.h"

struct err;
struct profile;

enum class_axis {
	CLASS_EVENT, /* event, count, unit mask */
	CLASS_TGID,
	CLASS_TID,
	CLASS_CPU,
	CLASS_AXIS_COUNT
};

/* Axes that stay separate, as bits. */
enum {
	KEEP_TGID = 1 << CLASS_TGID,
	KEEP_TID = 1 << CLASS_TID,
	KEEP_CPU = 1 << CLASS_CPU,
	/* Unit masks stay separate.  Otherwise events are equal if name and count are. */
	KEEP_UNIT_MASK = 1 << CLASS_AXIS_COUNT
};

/* The arguments of --merge=LIST, as bits. */
enum {
	MERGE_LIB = 1,
	MERGE_CPU = 2,
	MERGE_TID = 4,
	MERGE_TGID = 8,
	MERGE_UNIT_MASK = 16,
	MERGE_LIB_BY_NAME = 32, /* `lib` itself was given, not only `all` */
	/* Merge events of the same name on all kinds of cores. */
	MERGE_CORE = 64
};

struct class_event {
	const char *name; /* not owned */
	uint64_t count;
	uint64_t unit_mask;
};

struct class
{
	/* index of the event, or of the first one of several merged events */
	uint32_t event;
	int64_t tgid; /* process id, -1: unknown; tgid, tid and cpu are 0 if they are merged */
	int64_t tid;
	int64_t cpu;
};

struct classes {
	unsigned int kept;
	/* the axis on which the columns differ; CLASS_EVENT also if they do not differ */
	enum class_axis axis;
	VEC(struct class) columns; /* sorted, after classes_arrange() */
	/* distinct tuples, indexed by the number of their class */
	VEC(struct class) added;
	VEC(struct class_event) events;
	/* By event: index of the event that it is merged into. */
	VEC(uint32_t) main_event;
	/* By number of the class: its column; valid after classes_arrange(). */
	VEC(uint32_t) column_of;
	struct map by; /* key: hash, collision index */
};

/* Adds the axes in the comma-separated list to *merge: lib (library), cpu, tid, tgid (pid),
 * unitmask, core, all.  Returns 0, or -EINVAL with a one-line message. */
int classes_parse_merge(const char *list, unsigned int *merge, struct err *err);
/* Returns the axes that stay separate, as KEEP_... bits. `session_flags` are SESSION_... of
 * session.h (axes that were separated when recording); the next two parameters are the axes that
 * the report separates; `merge` is MERGE_... */
unsigned int classes_kept(uint32_t session_flags, bool separate_thread,
			  bool separate_cpu, unsigned int merge);

/* Prepares an empty list of classes. Returns 0 or -ENOMEM.  Call classes_done() in either case. */
int classes_init(struct classes *c, unsigned int kept, const struct class_event *events,
		 size_t nr_events);
void classes_done(struct classes *c);
/* Adds a tuple; axes that are not kept can have any value.  Sets *ret_number, which is the same
 * for tuples of the same class.  Returns 0 or -ENOMEM. */
int classes_add(struct classes *c, const struct class *met, uint32_t *ret_number);
/* Sorts the columns (by cpu, tgid, tid, unit mask, event, count; all as numbers except names)
 * and finds the axis.  Returns 0, -ENOMEM, or -EINVAL if several axes vary, with OProfile's
 * message of four lines and a suggestion, without a final newline. */
int classes_arrange(struct classes *c, struct err *err);
/* Returns the column of a class, by its number.  Call it after classes_arrange(). */
uint32_t classes_column(const struct classes *c, uint32_t number);
/* Appends a column's title, "CPU_CLK_UNHALTED:100000", "tgid:100", "tid:100" or "cpu:0". */
void classes_put_title(const struct classes *c, size_t column, struct buf *out);
/* Appends the header line of a column without a newline, such as "Samples on CPU 0".  Appends
 * nothing if the columns are events, which have their own header lines. */
void classes_put_about(const struct classes *c, size_t column, struct buf *out);

/* Computes the classes of the rows of a finished profile.  The keys of `kept` axes must be among
 * its keys: "tgid", "tid", "cpu".  *ret_column_of has the column of each row; the caller frees
 * it, and calls classes_done() in every case.  Errors are those of classes_arrange(). */
int classes_of_profile(struct classes *c, unsigned int kept, const struct profile *p,
		       uint32_t **ret_column_of, struct err *err);

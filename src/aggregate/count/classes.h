/* classes.h - OProfile's profile classes: what its layouts set side by side as columns.
 * Layer: aggregate.  Not thread safe.
 *
 * A class is a tuple (event with its count and unit mask, tgid, tid, cpu) without the axes
 * that are merged.  Samples of equal tuples are summed; in a text report only one axis may
 * vary.  A recording of ours keeps all axes: which of them are kept apart is a question of
 * the view, classes_kept().  Use:
 *
 *	classes_init(&c, kept, events, nr_events);
 *	for each row: classes_add(&c, &(struct class){ event, tgid, tid, cpu }, &number);
 *	classes_arrange(&c, &err);   // or: which axes are in each other's way
 *	classes_column(&c, number);  // where the row's counts belong
 *	c.columns.at[i], classes_put_title(&c, i, &text);
 */
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

/* Axes that are kept apart, as bits. */
enum {
	KEEP_TGID = 1 << CLASS_TGID,
	KEEP_TID = 1 << CLASS_TID,
	KEEP_CPU = 1 << CLASS_CPU,
	KEEP_UNIT_MASK =
		1 << CLASS_AXIS_COUNT /* else events differ in name and count */
};

/* What --merge=LIST names, as bits. */
enum {
	MERGE_LIB = 1,
	MERGE_CPU = 2,
	MERGE_TID = 4,
	MERGE_TGID = 8,
	MERGE_UNIT_MASK = 16,
	MERGE_LIB_BY_NAME = 32, /* `lib` itself was given, not only `all` */
	MERGE_CORE = 64         /* kinds of cores: their events of one name are one */
};

struct class_event {
	const char *name; /* borrowed */
	uint64_t count;
	uint64_t unit_mask;
};

struct class
{
	uint32_t event; /* position among the events; of merged ones the first */
	int64_t tgid;   /* these are 0 where merged; -1: unknown */
	int64_t tid;
	int64_t cpu;
};

struct classes {
	unsigned int kept;
	enum class_axis axis; /* of the columns; CLASS_EVENT also if nothing varies */
	VEC(struct class) columns; /* in order, once arranged */
	VEC(struct class) added;   /* by number */
	VEC(struct class_event) events;
	VEC(uint32_t) main_event; /* of each event: the one it is merged into */
	VEC(uint32_t) column_of;  /* of each number, once arranged */
	struct map by;            /* hash, turn */
};

/* Adds what the comma list names to *merge: lib (library), cpu, tid, tgid (pid), unitmask,
 * all.  0 or -EINVAL with a one-line reason. */
int classes_parse_merge(const char *list, unsigned int *merge, struct err *err);
/* KEEP_... of a view: `session_flags` are SESSION_... of session.h (separated when it was
 * recorded), the next two say what the report was asked to separate, `merge` is MERGE_... */
unsigned int classes_kept(uint32_t session_flags, bool separate_thread,
			  bool separate_cpu, unsigned int merge);

/* 0 or -ENOMEM; classes_done() is called in either case. */
int classes_init(struct classes *c, unsigned int kept, const struct class_event *events,
		 size_t nr_events);
void classes_done(struct classes *c);
/* Notes a tuple that was met; axes that are not kept may hold anything.  *ret_number is the
 * same for tuples of the same class.  0 or -ENOMEM. */
int classes_add(struct classes *c, const struct class *met, uint32_t *ret_number);
/* Orders the columns (by cpu, tgid, tid, unit mask, event, count; all as numbers but names)
 * and finds the axis.  0, -ENOMEM, or -EINVAL where more than one axis varies: four lines
 * without a newline at the end, in OProfile's words, with a suggestion. */
int classes_arrange(struct classes *c, struct err *err);
/* The column of a class, by its number.  After classes_arrange(). */
uint32_t classes_column(const struct classes *c, uint32_t number);
/* Appends a column's title, "CPU_CLK_UNHALTED:100000", "tgid:100", "tid:100" or "cpu:0". */
void classes_put_title(const struct classes *c, size_t column, struct buf *out);
/* Appends the header's line on a column without a newline, "Samples on CPU 0"; nothing where
 * the columns are events, which have lines of their own. */
void classes_put_about(const struct classes *c, size_t column, struct buf *out);

/* The classes of the rows of a profile that is finished; the keys of `kept` axes are among
 * its keys: "tgid", "tid", "cpu".  *ret_column_of holds the column of each row; the caller
 * frees it, and calls classes_done() in any case.  Errors as of classes_arrange(). */
int classes_of_profile(struct classes *c, unsigned int kept, const struct profile *p,
		       uint32_t **ret_column_of, struct err *err);

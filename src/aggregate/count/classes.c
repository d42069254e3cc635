/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "aggregate/count/classes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/containers/hash.h"
#include "base/err.h"
#include "format/session/session.h"

enum {
	VALUES_SHOWN = 5, /* values of an axis in the error message */
	/* Maximum length of an event name in the message, whose size is fixed. */
	VALUE_WIDTH = 40
};

static const struct {
	const char *name;
	const char *suggestion;
	const char *about;
} axes[CLASS_AXIS_COUNT] = {
	[CLASS_EVENT] = { "event",
			  "specify event:, count: or unit-mask: (see also --merge=unitmask)",
			  "" },
	[CLASS_TGID] = { "tgid", "specify tgid: or --merge tgid",
			 "Processes with a thread group ID of " },
	[CLASS_TID] = { "tid", "specify tid: or --merge tid",
			"Processes with a thread ID of " },
	[CLASS_CPU] = { "cpu", "specify cpu: or --merge cpu", "Samples on CPU " },
};

int classes_parse_merge(const char *list, unsigned int *merge, struct err *err)
{
	static const struct {
		const char *name;
		unsigned int bits;
	} rows[] = {
		{ "lib", MERGE_LIB | MERGE_LIB_BY_NAME },
		{ "library", MERGE_LIB | MERGE_LIB_BY_NAME },
		{ "cpu", MERGE_CPU },
		{ "tid", MERGE_TID },
		{ "tgid", MERGE_TGID | MERGE_TID },
		{ "pid", MERGE_TGID | MERGE_TID },
		{ "unitmask", MERGE_UNIT_MASK },
		{ "core", MERGE_CORE },
		{ "all", MERGE_LIB | MERGE_CPU | MERGE_TID | MERGE_TGID |
				 MERGE_UNIT_MASK | MERGE_CORE },
	};
	const size_t nr_rows = COUNT_OF(rows);

	for (;;) {
		size_t len = strcspn(list, ",");
		size_t i = 0;

		while (i < nr_rows && (strlen(rows[i].name) != len ||
				       strncmp(rows[i].name, list, len) != 0))
			i++;
		if (i == nr_rows)
			return err_set(err, -EINVAL, "unknown merge option: %.*s",
				       (int)(len < ERR_TEXT_MAX ? len : ERR_TEXT_MAX),
				       list);
		*merge |= rows[i].bits;
		if (!list[len])
			return 0;
		list += len + 1;
	}
}

unsigned int classes_kept(uint32_t session_flags, bool separate_thread,
			  bool separate_cpu, unsigned int merge)
{
	unsigned int kept = KEEP_UNIT_MASK;

	if (separate_thread || session_flags & SESSION_SEPARATE_THREAD)
		kept |= KEEP_TGID | KEEP_TID;
	if (separate_cpu || session_flags & SESSION_SEPARATE_CPU)
		kept |= KEEP_CPU;
	if (merge & MERGE_TGID)
		kept &= ~(KEEP_TGID | KEEP_TID);
	if (merge & MERGE_TID)
		kept &= ~KEEP_TID;
	if (merge & MERGE_CPU)
		kept &= ~KEEP_CPU;
	if (merge & MERGE_UNIT_MASK)
		kept &= ~KEEP_UNIT_MASK;
	return kept;
}

static bool is_one_event(const struct classes *c, const struct class_event *a,
			 const struct class_event *b)
{
	return a->count == b->count && !strcmp(a->name, b->name) &&
	       (!(c->kept & KEEP_UNIT_MASK) || a->unit_mask == b->unit_mask);
}

int classes_init(struct classes *c, unsigned int kept, const struct class_event *events,
		 size_t nr_events)
{
	*c = (struct classes){ .kept = kept };
	/* A linear search is fast enough: there are only a few events. */
	for (uint32_t i = 0; i < nr_events; i++) {
		uint32_t main = 0;

		while (main < i && !is_one_event(c, &events[main], &events[i]))
			main++;
		if (!vec_push(&c->events, events[i]) || !vec_push(&c->main_event, main))
			return -ENOMEM;
	}
	return 0;
}

void classes_done(struct classes *c)
{
	vec_done(&c->columns);
	vec_done(&c->added);
	vec_done(&c->events);
	vec_done(&c->main_event);
	vec_done(&c->column_of);
	map_done(&c->by);
}

/* Returns the class, with 0 in the merged axes. */
static struct class merged(const struct classes *c, const struct class *met)
{
	return (struct class){
		.event = c->main_event.at[met->event],
		.tgid = c->kept & KEEP_TGID ? met->tgid : 0,
		.tid = c->kept & KEEP_TID ? met->tid : 0,
		.cpu = c->kept & KEEP_CPU ? met->cpu : 0,
	};
}

static bool classes_is_same(const struct class *a, const struct class *b)
{
	return a->event == b->event && a->tgid == b->tgid && a->tid == b->tid &&
	       a->cpu == b->cpu;
}

int classes_add(struct classes *c, const struct class *met, uint32_t *ret_number)
{
	struct class made = merged(c, met);
	uint64_t hash = hash_pair(hash_pair(made.event, (uint64_t)made.tgid),
				  hash_pair((uint64_t)made.tid, (uint64_t)made.cpu));

	for (uint64_t probe = 0;; probe++) {
		bool is_new;
		struct map_slot *slot = map_at(&c->by, hash, probe, &is_new);

		if (!slot)
			return -ENOMEM;
		if (is_new) {
			if (!vec_push(&c->added, made))
				return -ENOMEM;
			slot->value_plus_1 = (uint32_t)c->added.nr;
		} else if (!classes_is_same(&c->added.at[slot->value_plus_1 - 1],
					    &made)) {
			continue;
		}
		*ret_number = slot->value_plus_1 - 1;
		return 0;
	}
}

static int classes_compare_numbers(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

static int classes_compare_events(const struct classes *c, uint32_t a, uint32_t b)
{
	const struct class_event *x = &c->events.at[a];
	const struct class_event *y = &c->events.at[b];
	int r;

	if (x->unit_mask != y->unit_mask && c->kept & KEEP_UNIT_MASK)
		return x->unit_mask < y->unit_mask ? -1 : 1;
	r = strcmp(x->name, y->name);
	if (r)
		return r;
	return x->count < y->count ? -1 : x->count > y->count;
}

static int classes_compare(const struct class *a, const struct class *b,
			   const struct classes *c)
{
	int r = classes_compare_numbers(a->cpu, b->cpu);

	if (!r)
		r = classes_compare_numbers(a->tgid, b->tgid);
	if (!r)
		r = classes_compare_numbers(a->tid, b->tid);
	return r ? r : classes_compare_events(c, a->event, b->event);
}

/* Compares numbers of added classes, for qsort_r(). */
static int compare_added(const void *a, const void *b, void *classes)
{
	const struct classes *c = classes;

	return classes_compare(&c->added.at[*(const uint32_t *)a],
			       &c->added.at[*(const uint32_t *)b], c);
}

static int64_t axis_value(const struct class *one, enum class_axis axis)
{
	switch (axis) {
	case CLASS_TGID:
		return one->tgid;
	case CLASS_TID:
		return one->tid;
	case CLASS_CPU:
		return one->cpu;
	case CLASS_EVENT:
	case CLASS_AXIS_COUNT:
	default:
		return one->event;
	}
}

static bool axis_varies(const struct classes *c, enum class_axis axis)
{
	for (size_t i = 1; i < c->columns.nr; i++) {
		if (axis_value(&c->columns.at[i], axis) !=
		    axis_value(&c->columns.at[0], axis))
			return true;
	}
	return false;
}

/* Returns true if every thread ID equals its process ID, so the tid adds no information. */
static bool threads_are_processes(const struct classes *c)
{
	if (!(c->kept & KEEP_TGID))
		return false;
	for (size_t i = 0; i < c->columns.nr; i++) {
		if (c->columns.at[i].tgid != c->columns.at[i].tid)
			return false;
	}
	return true;
}

static void classes_put(struct buf *out, const char *text)
{
	buf_put(out, text, strlen(text));
}

static void classes_put_value(const struct classes *c, const struct class *one,
			      enum class_axis axis, size_t width, struct buf *out)
{
	const struct class_event *event = &c->events.at[one->event];
	char number[32];

	if (axis == CLASS_EVENT) {
		size_t len = strlen(event->name);

		buf_put(out, event->name, len < width ? len : width);
		snprintf(number, sizeof(number), ":%" PRIu64, event->count);
	} else {
		classes_put(out, axes[axis].name);
		snprintf(number, sizeof(number), ":%" PRId64, axis_value(one, axis));
	}
	classes_put(out, number);
}

/* The context of classes_compare_values(). */
struct value_order {
	const struct classes *c;
	enum class_axis axis;
};

static int classes_compare_values(const void *a, const void *b, void *order)
{
	const struct value_order *o = order;
	const struct class *x = &o->c->columns.at[*(const uint32_t *)a];
	const struct class *y = &o->c->columns.at[*(const uint32_t *)b];

	if (o->axis == CLASS_EVENT)
		return classes_compare_events(o->c, x->event, y->event);
	return classes_compare_numbers(axis_value(x, o->axis), axis_value(y, o->axis));
}

/* Appends the first few distinct values of an axis, and the number of the others. */
static int classes_put_values(const struct classes *c, enum class_axis axis,
			      struct buf *out)
{
	struct value_order by = { c, axis };
	uint32_t *order = malloc(c->columns.nr * sizeof(*order));
	char more[40];
	size_t nr = 0;

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->columns.nr; i++)
		order[i] = i;
	qsort_r(order, c->columns.nr, sizeof(*order), classes_compare_values, &by);
	for (size_t i = 0; i < c->columns.nr; i++) {
		if (i && !classes_compare_values(&order[i - 1], &order[i], &by))
			continue;
		if (nr++ >= VALUES_SHOWN)
			continue;
		classes_put_value(c, &c->columns.at[order[i]], axis, VALUE_WIDTH, out);
		classes_put(out, ",");
	}
	free(order);
	if (nr > VALUES_SHOWN) {
		snprintf(more, sizeof(more), " and %zu more,", nr - VALUES_SHOWN);
		classes_put(out, more);
	}
	buf_put_u8(out, 0);
	return out->failed ? -ENOMEM : 0;
}

static int conflict(const struct classes *c, enum class_axis axis, enum class_axis with,
		    struct err *err)
{
	struct buf values = { 0 };
	int r;

	if (classes_put_values(c, axis, &values))
		r = err_set(err, -ENOMEM, "out of memory");
	else
		r = err_set(err, -EINVAL,
			    "Already displaying results for parameter %s with values:\n"
			    "%s\n"
			    "which conflicts with parameter %s.\n"
			    "Suggestion: %s",
			    axes[axis].name, (const char *)values.data, axes[with].name,
			    axes[axis].suggestion);
	buf_done(&values);
	return r;
}

static int find_axis(struct classes *c, struct err *err)
{
	bool same_ids = threads_are_processes(c);
	enum class_axis found = CLASS_AXIS_COUNT;

	for (enum class_axis axis = 0; axis < CLASS_AXIS_COUNT; axis++) {
		if (!axis_varies(c, axis) || (axis == CLASS_TID && same_ids))
			continue;
		if (found != CLASS_AXIS_COUNT)
			return conflict(c, found, axis, err);
		found = axis;
	}
	c->axis = found == CLASS_AXIS_COUNT ? CLASS_EVENT : found;
	return 0;
}

int classes_arrange(struct classes *c, struct err *err)
{
	size_t nr = c->added.nr;
	uint32_t *order = malloc((nr ? nr : 1) * sizeof(*order));

	if (!order || !vec_reserve(&c->columns, nr) ||
	    !vec_reserve(&c->column_of, nr)) {
		free(order);
		return err_set(err, -ENOMEM, "out of memory");
	}
	for (uint32_t i = 0; i < nr; i++)
		order[i] = i;
	qsort_r(order, nr, sizeof(*order), compare_added, c);
	c->columns.nr = c->column_of.nr = nr;
	for (uint32_t i = 0; i < nr; i++) {
		c->columns.at[i] = c->added.at[order[i]];
		c->column_of.at[order[i]] = i;
	}
	free(order);
	return find_axis(c, err);
}

uint32_t classes_column(const struct classes *c, uint32_t number)
{
	return c->column_of.at[number];
}

void classes_put_title(const struct classes *c, size_t column, struct buf *out)
{
	classes_put_value(c, &c->columns.at[column], c->axis, SIZE_MAX, out);
}

void classes_put_about(const struct classes *c, size_t column, struct buf *out)
{
	char number[32];

	if (c->axis == CLASS_EVENT)
		return;
	classes_put(out, axes[c->axis].about);
	snprintf(number, sizeof(number), "%" PRId64,
		 axis_value(&c->columns.at[column], c->axis));
	classes_put(out, number);
}

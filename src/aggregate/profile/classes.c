/* SPDX-License-Identifier: GPL-2.0-or-later */
/* classes.c - computes the classes of a profile's rows. */
#include <errno.h>
#include <stdlib.h>

#include "aggregate/count/classes.h"
#include "aggregate/profile/profile.h"
#include "base/err.h"

static int profile_classes_init(struct classes *c, unsigned int kept,
				const struct profile *p)
{
	VEC(struct class_event) events = { 0 };
	int r = 0;

	for (uint32_t i = 0; !r && i < p->events.nr; i++) {
		const struct profile_event *from = &p->events.at[i];
		struct class_event e = { profile_event_name(p, i), from->count,
					 from->unit_mask };

		if (!vec_push(&events, e))
			r = -ENOMEM;
	}
	*c = (struct classes){ 0 };
	if (!r)
		r = classes_init(c, kept, events.at, events.nr);
	vec_done(&events);
	return r;
}

/* Returns the value of a row on the axis of a key, or 0 if the profile is not grouped by the
 * key. */
static int64_t profile_classes_value(const struct profile *p, uint32_t row, int key)
{
	return key < 0 ? 0
		       : (int64_t)profile_value(p, p->rows.at[row].group, (size_t)key);
}

static int profile_classes_add_rows(struct classes *c, const struct profile *p,
				    uint32_t *numbers)
{
	int tgid = keys_find(p->options.keys, KEY_PID);
	int tid = keys_find(p->options.keys, KEY_TID);
	int cpu = keys_find(p->options.keys, KEY_CPU);

	for (uint32_t i = 0; i < p->rows.nr; i++) {
		struct class met = { p->rows.at[i].event,
				     profile_classes_value(p, i, tgid),
				     profile_classes_value(p, i, tid),
				     profile_classes_value(p, i, cpu) };
		int r = classes_add(c, &met, &numbers[i]);

		if (r)
			return r;
	}
	return 0;
}

int classes_of_profile(struct classes *c, unsigned int kept, const struct profile *p,
		       uint32_t **ret_column_of, struct err *err)
{
	size_t nr = p->rows.nr ? p->rows.nr : 1;
	uint32_t *numbers;
	int r = profile_classes_init(c, kept, p);

	if (r)
		return err_set(err, r, "out of memory");
	numbers = malloc(nr * sizeof(*numbers));
	if (!numbers)
		return err_set(err, -ENOMEM, "out of memory");
	r = profile_classes_add_rows(c, p, numbers);
	if (r)
		r = err_set(err, r, "out of memory");
	else
		r = classes_arrange(c, err);
	if (r) {
		free(numbers);
		return r;
	}
	for (size_t i = 0; i < p->rows.nr; i++)
		numbers[i] = classes_column(c, numbers[i]);
	*ret_column_of = numbers;
	return 0;
}

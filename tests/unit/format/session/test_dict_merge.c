/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Merges two dicts into a third one. */
#include "format/session/dict_merge.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "alloc_fail.h"
#include "recording.h"

/* Describes everything that a sample refers to, as text. */
static void describe(const struct dict *d, const struct sample *s, char *out,
		     size_t size)
{
	const struct thread *t = &d->threads.at[s->thread];
	const struct event_desc *e = &d->events.at[s->event];
	const char *app =
		t->app == DICT_NONE ? "-" : dict_str(d, d->images.at[t->app].name);
	uint32_t at = s->stack;
	int len =
		snprintf(out, size, "%s %s %llu: %d/%d %s %s %s:", dict_str(d, e->name),
			 dict_str(d, e->about), (unsigned long long)e->config, t->pid,
			 t->tid, dict_str(d, t->comm), app, dict_str(d, t->cgroup));

	for (; at >= STACK_FIRST; at = d->stacks.at[at].parent) {
		const struct frame *f = &d->frames.at[d->stacks.at[at].frame];
		const struct image *i = &d->images.at[f->image];

		len += snprintf(out + len, size - (size_t)len,
				" %d %s %s %d %llu +0x%llx", (int)i->kind,
				dict_str(d, i->name), dict_str(d, i->ref_name), i->pid,
				(unsigned long long)i->inode,
				(unsigned long long)f->offset);
	}
	snprintf(out + len, size - (size_t)len, " %u", at);
}

static void two_recordings_keep_their_contents(void **state)
{
	struct dict all;

	(void)state;
	assert_int_equal(dict_init(&all), 0);
	for (uint64_t turn = 0; turn < 4; turn++) {
		struct dict_merge m;
		struct recording r;

		recording_init(&r, turn % 2 + 5, false);
		recording_add(&r, NULL, 3000);
		dict_merge_init(&m, &r.dict, &all);
		for (size_t i = 0; i < r.nr; i++) {
			char before[2048], after[2048];
			struct sample s = r.samples[i];
			int ret = dict_merge_sample(&m, &s);

			if (r.samples[i].stack < STACK_FIRST) {
				assert_int_equal(ret, -EINVAL);
				continue;
			}
			assert_int_equal(ret, 0);
			describe(&r.dict, &r.samples[i], before, sizeof(before));
			describe(&all, &s, after, sizeof(after));
			assert_string_equal(before, after);
			assert_int_equal(s.time_ns, r.samples[i].time_ns);
		}
		if (turn == 3)
			assert_int_equal(r.dict.events.nr, all.events.nr);
		dict_merge_done(&m);
		recording_done(&r);
	}
	dict_done(&all);
}

static void merging_equal_data_adds_nothing(void **state)
{
	struct dict all;
	size_t stacks = 0, threads = 0;

	(void)state;
	assert_int_equal(dict_init(&all), 0);
	for (int turn = 0; turn < 2; turn++) {
		struct dict_merge m;
		struct recording r;

		recording_init(&r, 5, false);
		recording_add(&r, NULL, 500);
		dict_merge_init(&m, &r.dict, &all);
		for (size_t i = 0; i < r.nr; i++)
			if (r.samples[i].stack >= STACK_FIRST)
				assert_int_equal(dict_merge_sample(&m, &r.samples[i]),
						 0);
		if (turn) {
			assert_int_equal(all.stacks.nr, stacks);
			assert_int_equal(all.threads.nr, threads);
		}
		stacks = all.stacks.nr;
		threads = all.threads.nr;
		dict_merge_done(&m);
		recording_done(&r);
	}
	dict_done(&all);
}

/* References that a damaged file leaves invalid: numbers without an entry, and lost callers. */
static void rejects_damaged_references(void **state)
{
	struct recording r;
	struct dict_merge m;
	struct sample s = { 0 };
	struct dict all;
	uint32_t lost, inner;

	(void)state;
	recording_init(&r, 5, false);
	assert_int_equal(dict_init(&all), 0);
	dict_merge_init(&m, &r.dict, &all);
	s.thread = recording_thread(&r, 1);
	lost = dict_stack(&r.dict, STACK_ROOT, DICT_NONE - 1);
	inner = dict_stack(&r.dict, lost, dict_frame(&r.dict, 0, 0x10));
	s.stack = lost;
	assert_int_equal(dict_merge_sample(&m, &s), -EINVAL);
	s.stack = inner;
	assert_int_equal(dict_merge_sample(&m, &s), 0);
	assert_int_equal(all.stacks.at[s.stack].parent, STACK_TRUNCATED);
	/* A stack that is its own caller. */
	s.stack = inner = dict_stack(&r.dict, 999, dict_frame(&r.dict, 0, 0x11));
	r.dict.stacks.at[inner].parent = inner;
	s.event = 0;
	s.thread = 0;
	assert_int_equal(dict_merge_sample(&m, &s), 0);
	assert_int_equal(all.stacks.at[s.stack].parent, STACK_TRUNCATED);
	for (int i = 0; i < 3; i++) {
		struct sample bad = { .stack = inner };
		uint32_t *const fields[] = { &bad.event, &bad.thread, &bad.stack };

		*fields[i] = DICT_NONE;
		assert_int_equal(dict_merge_sample(&m, &bad), -EINVAL);
	}
	dict_merge_done(&m);
	dict_done(&all);
	recording_done(&r);
}

static void reports_allocation_failure(void **state)
{
	struct recording r;

	(void)state;
	recording_init(&r, 7, false);
	recording_add(&r, NULL, 20);
	for (unsigned long n = 1;; n++) {
		struct dict_merge m = { 0 };
		struct dict all = { 0 };
		int ret;

		alloc_fail_at(n);
		ret = dict_init(&all);
		dict_merge_init(&m, &r.dict, &all);
		for (size_t i = 0; !ret && i < r.nr; i++) {
			struct sample s = r.samples[i];

			if (s.stack >= STACK_FIRST)
				ret = dict_merge_sample(&m, &s);
		}
		dict_merge_done(&m);
		dict_done(&all);
		if (!alloc_fail_off())
			break;
		assert_int_equal(ret, -ENOMEM);
	}
	recording_done(&r);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(two_recordings_keep_their_contents),
		cmocka_unit_test(merging_equal_data_adds_nothing),
		cmocka_unit_test(rejects_damaged_references),
		cmocka_unit_test(reports_allocation_failure),
	};

	return UNIT_RUN(cases);
}

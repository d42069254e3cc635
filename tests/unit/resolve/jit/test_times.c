/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <stdlib.h>

#include "resolve/jit/times.h"

static struct jitdump_event events[400];

static struct jit_times make(size_t nr, int64_t shift)
{
	struct jitdump d = { .events = { events, nr, nr } };
	struct jit_times t;

	assert_int_equal(jit_times_make(&t, &d, shift), 0);
	return t;
}

static uint32_t code_at(const struct jit_times *t, uint64_t address, uint64_t time)
{
	return jit_times_find(t, address, time).code;
}

static void new_code_replaces_old_code(void **state)
{
	struct jit_times t;
	struct jit_found f;

	(void)state;
	events[0] = (struct jitdump_event){ 10, 0x1000, 0x1100, 0 };
	events[1] = (struct jitdump_event){ 20, 0x1000, 0x1040, 1 };
	events[2] = (struct jitdump_event){ 15, 0x2000, 0x2100, 2 };
	t = make(3, 0);
	assert_int_equal(code_at(&t, 0x1000, 10), 0);
	assert_int_equal(code_at(&t, 0x10ff, 19), 0);
	assert_int_equal(code_at(&t, 0x1000, 20), 1);
	/* The rest of the old code is removed with it. */
	assert_int_equal(code_at(&t, 0x1050, 20), JITDUMP_NO_CODE);
	assert_int_equal(code_at(&t, 0x1100, 10), JITDUMP_NO_CODE);
	assert_int_equal(code_at(&t, 0xfff, 10), JITDUMP_NO_CODE);
	/* Compilers can report code when it already runs. */
	assert_int_equal(code_at(&t, 0x2010, 1), 2);
	assert_int_equal(code_at(&t, 0x1010, 1), 0);
	f = jit_times_find(&t, 0x1010, 12);
	assert_int_equal(f.offset, 0x10);
	assert_int_equal(f.from_ns, 10);
	assert_int_equal(f.to_ns, 20);
	jit_times_done(&t);
}

static void unloaded_code_is_not_found(void **state)
{
	struct jit_times t;

	(void)state;
	events[0] = (struct jitdump_event){ 10, 0x1000, 0x1100, 0 };
	events[1] = (struct jitdump_event){ 20, 0x1000, 0x1100, JITDUMP_NO_CODE };
	events[2] = (struct jitdump_event){ 30, 0x1080, 0x1180, 1 };
	t = make(3, 0);
	assert_int_equal(code_at(&t, 0x1090, 19), 0);
	assert_int_equal(code_at(&t, 0x1090, 20), JITDUMP_NO_CODE);
	assert_int_equal(code_at(&t, 0x1090, 30), 1);
	assert_int_equal(code_at(&t, 0x1010, 30), JITDUMP_NO_CODE);
	jit_times_done(&t);
}

static void shifts_times(void **state)
{
	struct jit_times t;

	(void)state;
	events[0] = (struct jitdump_event){ 10, 0x1000, 0x1100, 0 };
	events[1] = (struct jitdump_event){ 20, 0x1000, 0x1100, 1 };
	t = make(2, 1000);
	assert_int_equal(code_at(&t, 0x1000, 1019), 0);
	assert_int_equal(code_at(&t, 0x1000, 1020), 1);
	jit_times_done(&t);
	t = make(2, -15);
	assert_int_equal(code_at(&t, 0x1000, 4), 0);
	assert_int_equal(code_at(&t, 0x1000, 5), 1);
	jit_times_done(&t);
}

/* Applies the rule directly: of all code that covers the address, the last that was loaded by
 * then, unless something was loaded at its start since; otherwise the first one that is loaded
 * later. */
static uint32_t by_hand(size_t nr, uint64_t address, uint64_t time)
{
	const struct jitdump_event *last = NULL, *first = NULL;

	for (size_t i = 0; i < nr; i++) {
		const struct jitdump_event *e = &events[i];
		bool replaced = false;

		for (size_t k = 0; k < nr; k++)
			replaced |= events[k].start == e->start &&
				    events[k].time_ns <= time &&
				    (events[k].time_ns > e->time_ns ||
				     (events[k].time_ns == e->time_ns && k > i));
		if (address < e->start || address >= e->end)
			continue;
		if (e->time_ns <= time && !replaced &&
		    (!last || e->time_ns >= last->time_ns))
			last = e;
		if (e->time_ns > time && (!first || e->time_ns < first->time_ns))
			first = e;
	}
	if (last || first)
		return last ? last->code : first->code;
	return JITDUMP_NO_CODE;
}

static void agrees_with_a_model_on_random_input(void **state)
{
	(void)state;
	srand(1);
	for (int round = 0; round < 60; round++) {
		size_t nr = 1 + (size_t)rand() % 40;
		struct jit_times t;

		for (size_t i = 0; i < nr; i++) {
			uint64_t start = 0x1000 + (uint64_t)rand() % 16 * 4;

			/* No two at the same time, as their order is not defined. */
			events[i] = (struct jitdump_event){
				10 + i * 3, start, start + 1 + (uint64_t)rand() % 24,
				rand() % 6 ? (uint32_t)i : JITDUMP_NO_CODE
			};
		}
		t = make(nr, 0);
		for (uint64_t at = 0xff8; at < 0x1060; at++)
			for (uint64_t time = 0; time < 140; time += 2) {
				struct jit_found f = jit_times_find(&t, at, time);

				assert_int_equal(f.code, by_hand(nr, at, time));
				assert_true(f.from_ns <= time && time < f.to_ns);
				assert_int_equal(by_hand(nr, at, f.from_ns), f.code);
				if (f.to_ns < 1000)
					assert_int_equal(by_hand(nr, at, f.to_ns - 1),
							 f.code);
			}
		jit_times_done(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(new_code_replaces_old_code),
		cmocka_unit_test(unloaded_code_is_not_found),
		cmocka_unit_test(shifts_times),
		cmocka_unit_test(agrees_with_a_model_on_random_input),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

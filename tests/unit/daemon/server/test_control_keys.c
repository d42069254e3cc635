/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "daemon/server/control_keys.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "unit.h"

/* A daemon that knows one event. */
struct fake {
	bool enabled;
	int dumps;
};

static bool is_enabled(void *ctx)
{
	const struct fake *f = ctx;

	return f->enabled;
}

static int enable(void *ctx, bool on, struct err *err)
{
	struct fake *f = ctx;

	(void)err;
	f->enabled = on;
	return 0;
}

static int dump(void *ctx, struct err *err)
{
	struct fake *f = ctx;

	(void)err;
	f->dumps++;
	return 0;
}

static int check_event(void *ctx, const char *spec, struct err *err)
{
	(void)ctx;
	return strncmp(spec, "TIMER:", 6) ? err_set(err, -ENOENT, "no event %s", spec)
					  : 0;
}

static uint64_t stat(void *ctx, enum control_stat what, unsigned int cpu)
{
	(void)ctx;
	return 100 * (uint64_t)what + cpu;
}

static const struct control_keys_ops ops = { is_enabled, enable, dump, check_event,
					     stat };

struct setting {
	struct fake fake;
	struct daemonrc setup;
	struct control_keys keys;
};

static void begin(struct setting *s)
{
	*s = (struct setting){
		.keys = { .ops = &ops, .nr_cpus = 2, .cpu_type = "timer" }
	};
	s->keys.ctx = &s->fake;
	s->keys.setup = &s->setup;
	control_keys_init(&s->keys);
}

static void expect(const struct setting *s, const char *path, const char *want)
{
	char value[CONTROL_VALUE_MAX];
	struct err err = { 0 };

	if (control_keys_get(&s->keys, path, value, &err))
		fail_msg("%s: %s", path, err.text);
	assert_string_equal(value, want);
}

static void write_to(struct setting *s, const char *path, const char *value, int want)
{
	struct err err = { 0 };
	int r = control_keys_set(&s->keys, path, value, &err);

	if (r != want)
		fail_msg("%s to %s: %d %s", value, path, r, err.text);
	if (r)
		expect(s, "last_error", err.text);
}

static void defaults_are_those_of_the_kernel_module(void **state)
{
	struct setting s;

	(void)state;
	begin(&s);
	expect(&s, "enable", "0");
	expect(&s, "cpu_type", "timer");
	expect(&s, "buffer_size", "131072");
	expect(&s, "buffer_watershed", "32768");
	expect(&s, "cpu_buffer_size", "8192");
	expect(&s, "pointer_size", sizeof(void *) == 8 ? "8" : "4");
	expect(&s, "0/enabled", "0");
	expect(&s, "7/kernel", "1");
	expect(&s, "last_error", "");
	expect(&s, "stats/cpu1/sample_received", "1");
	expect(&s, "stats/cpu0/sample_invalid_eip", "300");
	expect(&s, "stats/event_lost_overflow", "600");
	daemonrc_done(&s.setup);
}

static void counters_become_events(void **state)
{
	struct setting s;

	(void)state;
	begin(&s);
	write_to(&s, "1/enabled", "1", -EINVAL);
	expect(&s, "last_error",
	       "1/enabled: this counter has no event: write the event to its file 'event' first");
	write_to(&s, "1/event", "TIMER", 0);
	write_to(&s, "1/count", "10000000", 0);
	write_to(&s, "1/user", "0", 0);
	assert_int_equal(daemonrc_nr_events(&s.setup), 0);
	write_to(&s, "1/enabled", "1", 0);
	assert_int_equal(daemonrc_nr_events(&s.setup), 1);
	assert_string_equal(daemonrc_event(&s.setup, 0), "TIMER:10000000:0:1:0");
	write_to(&s, "1/event", "nothing", -EINVAL);
	expect(&s, "1/event", "TIMER");
	write_to(&s, "1/enabled", "0", 0);
	assert_int_equal(daemonrc_nr_events(&s.setup), 0);
	daemonrc_done(&s.setup);
}

static void events_become_counters(void **state)
{
	struct setting s;

	(void)state;
	begin(&s);
	assert_int_equal(daemonrc_add_event(&s.setup, "A:5:0x1f:0:1"), 0);
	assert_int_equal(daemonrc_add_event(&s.setup, "TIMER"), 0);
	control_keys_take_setup(&s.keys);
	expect(&s, "0/event", "A");
	expect(&s, "0/count", "5");
	expect(&s, "0/unit_mask", "31");
	expect(&s, "0/kernel", "0");
	expect(&s, "0/user", "1");
	expect(&s, "1/enabled", "1");
	expect(&s, "1/event", "TIMER");
	expect(&s, "1/kernel", "1");
	expect(&s, "2/enabled", "0");
	daemonrc_done(&s.setup);
}

static void rejects_wrong_writes(void **state)
{
	static const struct {
		const char *path;
		const char *value;
		int want;
	} rows[] = {
		{ "enable", "2", -EINVAL },
		{ "enable", "", -EINVAL },
		{ "buffer_size", "many", -EINVAL },
		{ "buffer_size", "-1", -EINVAL },
		{ "buffer_size", "2147483648", -EINVAL },
		{ "0/kernel", "2", -EINVAL },
		{ "0/count", "1x", -EINVAL },
		{ "0/event", "a:b", -EINVAL },
		{ "0/event", "", -EINVAL },
		{ "cpu_type", "timer", -EACCES },
		{ "stats/cpu0/sample_received", "0", -EACCES },
		{ "stats/cpu2/sample_received", "0", -ENOENT },
		{ "8/count", "1", -ENOENT },
		{ "00/count", "1", -ENOENT },
		{ "0/", "1", -ENOENT },
		{ "0", "1", -ENOENT },
		{ "", "1", -ENOENT },
		{ "99999999999999999999/count", "1", -ENOENT },
	};
	struct setting s;

	(void)state;
	begin(&s);
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		write_to(&s, rows[i].path, rows[i].value, rows[i].want);
	assert_false(s.fake.enabled);
	daemonrc_done(&s.setup);
}

static void enable_switches_sampling(void **state)
{
	struct setting s;

	(void)state;
	begin(&s);
	write_to(&s, "enable", "1", 0);
	assert_true(s.fake.enabled);
	write_to(&s, "enable", "1", -EINVAL);
	write_to(&s, "dump", "anything", 0);
	assert_int_equal(s.fake.dumps, 1);
	write_to(&s, "buffer_size", "65536", 0);
	expect(&s, "buffer_size", "65536");
	assert_string_equal(daemonrc_get(&s.setup, "BUF_SIZE"), "65536");
	write_to(&s, "enable", "0", 0);
	write_to(&s, "enable", "0", 0);
	expect(&s, "enable", "0");
	daemonrc_done(&s.setup);
}

/* All listed keys can be read, and no others. */
static void lists_all_keys(void **state)
{
	struct buf reply = { 0 };
	struct setting s;
	size_t nr = 0;
	char *at;

	(void)state;
	begin(&s);
	control_keys_list(&s.keys, &reply);
	buf_put_u8(&reply, 0);
	assert_non_null(strstr((char *)reply.data, "dump 0666\n"));
	assert_non_null(strstr((char *)reply.data, "\n0/count 0644\n"));
	assert_non_null(
		strstr((char *)reply.data, "\nstats/cpu1/sample_received 0444\n"));
	for (at = (char *)reply.data; *at; nr++) {
		size_t len = strcspn(at, "\n");
		char value[CONTROL_VALUE_MAX];

		at[strcspn(at, " ")] = 0;
		assert_int_equal(control_keys_get(&s.keys, at, value, NULL), 0);
		at += len + 1;
	}
	assert_int_equal(nr, 15 + 2 * 4 + 8 * 6);
	buf_done(&reply);
	daemonrc_done(&s.setup);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_are_those_of_the_kernel_module),
		cmocka_unit_test(counters_become_events),
		cmocka_unit_test(events_become_counters),
		cmocka_unit_test(rejects_wrong_writes),
		cmocka_unit_test(enable_switches_sampling),
		cmocka_unit_test(lists_all_keys),
	};

	return UNIT_RUN(tests);
}

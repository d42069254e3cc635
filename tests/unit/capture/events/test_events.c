/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "capture/events/cpu_types.h"
#include "capture/events/events.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/files/io.h"
#include "capture/events/priv.h"
#include "unit.h"

static const struct good {
	const char *spec;
	uint32_t type;
	uint64_t config;
	uint64_t count; /* 0: a rate of 1999 */
	bool kernel, user, timer;
} goods[] = {
	{ "TIMER", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 0, true, true, true },
	{ "cpu-clock:100000", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 100000, true,
	  true, false },
	{ "faults:1:0:0:1", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1, false,
	  true, false },
	{ "cs:7:0x0:1:0", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, 7, true,
	  false, false },
	{ "page-faults:0x10:0:0", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 16,
	  false, true, false },
	{ "cycles:2147483647", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 2147483647,
	  true, true, false },
	{ "branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
	  0, true, true, false },
	{ "l1-dcache-load-misses:1000", PERF_TYPE_HW_CACHE, 0x10000, 1000, true, true,
	  false },
	{ "dTLB-stores", PERF_TYPE_HW_CACHE, 0x103, 0, true, true, false },
	{ "r01c2:50000", PERF_TYPE_RAW, 0x1c2, 50000, true, true, false },
	{ "faults:u", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 0, false, true,
	  false },
	{ "cycles:100000:k", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 100000, true,
	  false, false },
	{ "cs:5:0:uk", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, 5, true,
	  true, false },
	{ "cycles/period=50000/u", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 50000,
	  false, true, false },
};

static void accepts_good_specs(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(goods); i++) {
		const struct good *g = &goods[i];
		struct event_requests reqs = { 0 };
		struct event_request *e;
		struct err err = { 0 };

		if (events_parse(g->spec, 1999, &reqs, &err) != 0)
			fail_msg("%s: %s", g->spec, err.text);
		assert_int_equal(reqs.list.nr, 1);
		e = &reqs.list.at[0];
		assert_int_equal(e->attr.type, g->type);
		assert_int_equal(e->attr.config, g->config);
		assert_int_equal(e->count, g->count);
		assert_int_equal(e->frequency_hz, g->count ? 0 : 1999);
		assert_int_equal(e->attr.freq, g->count == 0);
		assert_int_equal(e->attr.sample_period, g->count ? g->count : 1999);
		assert_int_equal(e->attr.exclude_kernel, !g->kernel);
		assert_int_equal(e->attr.exclude_user, !g->user);
		assert_int_equal(e->timer, g->timer);
		assert_memory_equal(e->name, g->spec, strlen(e->name));
		assert_true(e->about[0]);
		events_done(&reqs);
	}
}

static const struct bad {
	const char *spec;
	int code;
	const char *text; /* the expected beginning of the message */
} bads[] = {
	{ "", -EINVAL, "No event name" },
	{ "TIMER,", -EINVAL, "No event name" },
	{ "page-fautls", -ENOENT,
	  "No event named page-fautls is available. (Did you mean page-faults?)" },
	{ "CPU_XYZZY:100000", -ENOENT, "No event named CPU_XYZZY is available." },
	{ "nosuch:trace_point", -ENOENT,
	  "No event named nosuch is available. (There is no tracepoint nosuch:trace_point" },
	{ "faults:0", -EINVAL, "Invalid count for event faults" },
	{ "faults:", -EINVAL, "Invalid count for event faults" },
	{ "faults:12x", -EINVAL, "Invalid count for event faults" },
	{ "faults:-3", -EINVAL, "Invalid count for event faults" },
	{ "faults:x", -EINVAL, "Invalid count for event faults: 'x'" },
	{ "cycles:ppppp", -EINVAL, "Invalid event part ppppp of cycles: at most ppp" },
	{ "faults:1:u:0", -EINVAL, "Invalid event part 0 of faults" },
	{ "RTC_INTERRUPTS:1000", -EINVAL,
	  "Invalid rate for event RTC_INTERRUPTS: 1000 samples per second: give a power of two" },
	{ "cycles/perod=5/", -EINVAL, "Invalid event part perod of cycles" },
	{ "{cs,faults", -EINVAL, "Invalid group of events {cs,faults" },
	{ "{cs,faults}:z", -EINVAL, "Invalid event part z of {cs,faults}:z" },
	{ "faults:2147483648", -EINVAL,
	  "Count 2147483648 for event faults is above the maximum 2147483647" },
	{ "cpu-clock:9999", -EINVAL,
	  "Count 9999 for event cpu-clock is below the minimum 10000" },
	{ "faults:1:3", -EINVAL, "Invalid unit mask 0x3 for event faults" },
	{ "faults:1:any", -EINVAL, "Cannot find unit mask any for faults" },
	{ "faults:1::1:1", -EINVAL, "Invalid unit mask for event faults" },
	{ "faults:1:0:2", -EINVAL, "Invalid event part 2 of faults" },
	{ "faults:1:0:1:", -EINVAL, "Invalid event part  of faults" },
	{ "faults:1:0:0:0", -EINVAL, "Event faults counts neither" },
	{ "faults:1:0:1:1:9", -EINVAL, "Invalid event part 9" },
	{ "r12345678901234567", -ENOENT, "No event named r12345678901234567" },
	{ "nosuch/event/", -ENOENT, "No event named nosuch/event/ is available." },
	{ "cpu/", -EINVAL, "Invalid event cpu/" },
	{ "arm_spe_0//:1", -EINVAL,
	  "Invalid event arm_spe_0//: this PMU writes to an AUX area" },
	{ "../x/:100", -ENOENT, "No event named ../x/ is available." },
	{ "TIMER,cpu-clock", -EEXIST, "All events must be distinct." },
	{ "faults:1,page-faults:2", -EEXIST, "All events must be distinct." },
};

static void rejects_bad_specs_by_name(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(bads); i++) {
		struct event_requests reqs = { 0 };
		struct err err = { 0 };
		int r = events_parse(bads[i].spec, 0, &reqs, &err);

		if (r != bads[i].code ||
		    strncmp(err.text, bads[i].text, strlen(bads[i].text)))
			fail_msg("%s: %d %s", bads[i].spec, r, err.text);
		events_done(&reqs);
	}
}

/* The same event for user and for kernel space counts as two; 24 are allowed, 25 are not. */
static void enforces_limits(void **state)
{
	struct event_requests reqs = { 0 };
	struct err err = { 0 };
	char specs[512] = "r1";

	(void)state;
	for (int i = 2; i <= EVENTS_MAX; i++)
		(void)snprintf(specs + strlen(specs), sizeof(specs) - strlen(specs),
			       ",r%x", i);
	assert_int_equal(events_parse(specs, 0, &reqs, &err), 0);
	assert_int_equal(reqs.list.nr, EVENTS_MAX);
	assert_int_equal(reqs.list.at[0].frequency_hz, EVENT_DEFAULT_HZ);
	assert_int_equal(events_parse("faults", 0, &reqs, &err), -E2BIG);
	assert_string_equal(err.text,
			    "Number of events specified is greater than allowed "
			    "maximum of 24.");
	events_done(&reqs);

	/* Reports identify events by their names. */
	assert_int_equal(events_parse("cs:1:0:1:0,cs:1:0:0:1", 0, &reqs, &err), 0);
	assert_int_equal(reqs.list.nr, 2);
	assert_string_equal(reqs.list.at[0].name, "cs:k");
	assert_string_equal(reqs.list.at[1].name, "cs:u");
	events_done(&reqs);
}

/* The timers: a rate up to 9999 (for RTC a power of two), above that a period. */
static void timers_have_rates(void **state)
{
	static const struct {
		const char *spec;
		uint64_t hz, period;
	} cases[] = {
		{ "TIMER:250", 250, 0 },     { "TIMER:9999", 9999, 0 },
		{ "TIMER:10000", 0, 10000 }, { "RTC_INTERRUPTS:1024", 1024, 0 },
		{ "TIMER/freq=77/", 77, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct event_requests reqs = { 0 };
		struct err err = { 0 };

		if (events_parse(cases[i].spec, 1999, &reqs, &err))
			fail_msg("%s: %s", cases[i].spec, err.text);
		assert_true(reqs.list.at[0].timer);
		assert_int_equal(reqs.list.at[0].frequency_hz, cases[i].hz);
		assert_int_equal(reqs.list.at[0].count, cases[i].period);
		assert_int_equal(reqs.list.at[0].attr.freq, !!cases[i].hz);
		events_done(&reqs);
	}
}

static void parses_groups_and_modifiers(void **state)
{
	struct event_requests reqs = { 0 };
	struct err err = { 0 };

	(void)state;
	if (events_parse("faults,{cs:7,migrations:3}:uS,{cycles:ppp,r1:I}", 99, &reqs,
			 &err))
		fail_msg("%s", err.text);
	assert_int_equal(reqs.list.nr, 5);
	assert_int_equal(reqs.list.at[0].group, 0);
	assert_int_equal(reqs.list.at[1].group, 1);
	assert_int_equal(reqs.list.at[2].group, 1);
	assert_int_equal(reqs.list.at[3].group, 2);
	assert_true(reqs.list.at[1].leads);
	assert_true(reqs.list.at[2].attr.exclude_kernel);
	assert_false(reqs.list.at[1].member);
	/* The second event is read together with the first one, and has no separate count. */
	assert_true(reqs.list.at[2].member);
	assert_int_equal(reqs.list.at[2].count, 0);
	assert_int_equal(reqs.list.at[2].attr.sample_period, 0);
	assert_false(reqs.list.at[4].member);
	assert_int_equal(reqs.list.at[3].attr.precise_ip, 3);
	assert_true(reqs.list.at[4].attr.exclude_idle);
	events_done(&reqs);
	/* For counting, there is no count between name and mask. */
	reqs = (struct event_requests){ .counting = true };
	if (events_parse("faults,cs:0:1:0,migrations:u", 0, &reqs, &err))
		fail_msg("%s", err.text);
	assert_true(reqs.list.at[1].attr.exclude_user);
	assert_true(reqs.list.at[2].attr.exclude_kernel);
	events_done(&reqs);
}

static void the_default_is_timer_without_a_pmu(void **state)
{
	struct event_request e;

	(void)state;
	events_default(0, &e);
	assert_int_equal(e.timer, !events_have_pmu());
	assert_string_equal(e.name, e.timer ? "TIMER" : "cycles");
	assert_int_equal(e.frequency_hz, EVENT_DEFAULT_HZ);
	event_request_user_only(&e);
	assert_int_equal(e.attr.exclude_kernel, 1);
	assert_false(e.kernel);
}

/* Writes a file of the description of a PMU, as the kernel provides it. */
static void put_file(const char *root, const char *name, const char *text)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%s/%s", root, name);
	assert_int_equal(io_write_file(path, text, strlen(text), 0600), 0);
}

static void put_dir(const char *root, const char *name)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%s/%s", root, name);
	assert_int_equal(io_make_dirs(path, 0700), 0);
}

static char *make_sysfs(char *root)
{
	char path[256];

	assert_non_null(mkdtemp(root));
	(void)snprintf(path, sizeof(path), "%s/cpu/format", root);
	assert_int_equal(io_make_dirs(path, 0700), 0);
	(void)snprintf(path, sizeof(path), "%s/cpu/events", root);
	assert_int_equal(io_make_dirs(path, 0700), 0);
	put_file(root, "cpu/type", "4\n");
	put_file(root, "cpu/format/event", "config:0-7,32-35\n");
	put_file(root, "cpu/format/umask", "config:8-15\n");
	put_file(root, "cpu/format/edge", "config:18\n");
	put_file(root, "cpu/format/ldlat", "config1:0-15\n");
	put_file(root, "cpu/format/odd", "nonsense\n");
	/* AMD's IBS, as Linux 6.14 describes it on Zen 4. */
	put_dir(root, "ibs_fetch/format");
	put_file(root, "ibs_fetch/type", "10\n");
	put_file(root, "ibs_fetch/format/rand_en", "config:57\n");
	put_file(root, "ibs_fetch/format/l3missonly", "config:59\n");
	put_file(root, "ibs_fetch/format/swfilt", "config2:0\n");
	put_file(root, "cpu/events/mem-loads", "event=0x1cd,umask=0x1,ldlat=3\n");
	return root;
}

static const struct pmu_case {
	const char *name;
	int code;
	uint64_t config, config1;
} pmu_cases[] = {
	{ "cpu/event=0x3c,umask=2/", 0, 0x23c, 0 },
	{ "cpu/event=0xf3c,edge/", 0, 0xf0004003cULL, 0 },
	{ "cpu/mem-loads/", 0, 0x1000001cdULL, 3 },
	{ "cpu/mem-loads,ldlat=30/", 0, 0x1000001cdULL, 30 },
	{ "cpu/config=0x11,config1=5/", 0, 0x11, 5 },
	{ "cpu//", 0, 0, 0 },
	{ "ibs_fetch/cnt_ctl=1/", -ENOENT, 0, 0 },
	{ "cpu/umask=0x100/", -EINVAL, 0, 0 },
	{ "cpu/umask=x/", -EINVAL, 0, 0 },
	{ "cpu/odd=1/", -EINVAL, 0, 0 },
	{ "cpu/nosuch/", -ENOENT, 0, 0 },
	{ "cpu/../type/", -EINVAL, 0, 0 },
	{ "gpu/event=1/", -ENOENT, 0, 0 },
};

static const struct {
	const char *name;
	uint64_t config, config2;
} ibs_cases[] = {
	{ "ibs_fetch//", 0, 0 },
	{ "ibs_fetch/rand_en=1,l3missonly,swfilt/", 1ULL << 57 | 1ULL << 59, 1 },
};

static void pmu_terms_fill_their_bits(void **state)
{
	char template[] = "/tmp/test_events_XXXXXX";
	char *root = make_sysfs(template);
	struct event_request e;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(pmu_cases); i++) {
		const struct pmu_case *c = &pmu_cases[i];
		struct err err = { 0 };
		int r;

		memset(&e, 0, sizeof(e));
		r = events_sysfs_pmu(root, c->name, &e, &err);
		if (r != c->code)
			fail_msg("%s: %d %s", c->name, r, err.text);
		if (r < 0) {
			assert_true(err.text[0]);
			continue;
		}
		assert_int_equal(e.attr.type, 4);
		assert_int_equal(e.attr.config, c->config);
		assert_int_equal(e.attr.config1, c->config1);
	}
	for (size_t i = 0; i < COUNT_OF(ibs_cases); i++) {
		memset(&e, 0, sizeof(e));
		assert_int_equal(events_sysfs_pmu(root, ibs_cases[i].name, &e, NULL),
				 0);
		assert_int_equal(e.attr.type, 10);
		assert_true(e.attr.config == ibs_cases[i].config);
		assert_true(e.attr.config2 == ibs_cases[i].config2);
	}
	memset(&e, 0, sizeof(e));
	assert_int_equal(events_sysfs_bare(root, "mem-loads", &e), 0);
	assert_int_equal(e.attr.config, 0x1000001cdULL);
	assert_int_equal(events_sysfs_bare(root, "../type", &e), -ENOENT);
	assert_int_equal(io_remove_tree(root), 0);
}

/* Two core types: both are opened; and the precision that the core PMU supports. */
static void each_kind_of_hybrid_core_counts(void **state)
{
	char root[] = "/tmp/test_events_XXXXXX";
	struct event_requests reqs = { .sysfs = root };
	struct err err = { 0 };

	(void)state;
	assert_non_null(mkdtemp(root));
	put_dir(root, "cpu_core");
	put_dir(root, "cpu_atom");
	put_dir(root, "cpu/caps");
	put_file(root, "cpu_core/type", "4\n");
	put_file(root, "cpu_core/cpus", "0-3\n");
	put_file(root, "cpu_atom/type", "10\n");
	put_file(root, "cpu_atom/cpus", "4-7\n");
	put_file(root, "cpu/caps/max_precise", "3\n");
	if (events_parse("cycles:100000:P,faults", 0, &reqs, &err))
		fail_msg("%s", err.text);
	assert_int_equal(reqs.list.nr, 3);
	assert_string_equal(reqs.list.at[0].name, "cpu_core/cycles/");
	assert_true(reqs.list.at[0].attr.config == 4ULL << 32);
	assert_int_equal(reqs.list.at[0].attr.precise_ip, 3);
	assert_string_equal(reqs.list.at[1].name, "cpu_atom/cycles/");
	assert_true(reqs.list.at[1].attr.config == 10ULL << 32);
	assert_true(reqs.list.at[1].one_core_type);
	assert_int_equal(reqs.list.at[2].attr.type, PERF_TYPE_SOFTWARE);
	events_done(&reqs);
	assert_int_equal(io_remove_tree(root), 0);
}

/* From the vendor's lists of Linux 6.12 (x86/alderlake): one name with two codes, and names
 * that only one core type has. */
static void hybrid_cores_have_their_own_codes(void **state)
{
	char root[] = "/tmp/test_events_XXXXXX";
	struct event_requests reqs = { .sysfs = root,
				       .cpu = cpu_type_find("i386/alderlake") };
	static const struct {
		const char *name;
		uint32_t type;
		uint64_t config;
	} expected[] = {
		{ "cpu_core/MACHINE_CLEARS/", 4, 0x4c3 },
		{ "cpu_atom/MACHINE_CLEARS/", 10, 0x1c3 },
		{ "cpu_core/BR_MISP_RETIRED/", 4, 0xc5 },
		{ "cpu_atom/BR_MISP_RETIRED/", 10, 0xc5 },
		{ "cpu_core/DTLB_LOAD_MISSES/", 4, 0x1012 },
		{ "cpu_core/r1c2/", 4, 0x1c2 },
		{ "cpu_atom/r1c2/", 10, 0x1c2 },
		{ "cpu_atom/MEM_LOAD_UOPS_RETIRED/", 10, 0x4d1 },
	};
	struct err err = { 0 };

	(void)state;
	assert_non_null(mkdtemp(root));
	put_dir(root, "cpu_core");
	put_dir(root, "cpu_atom");
	put_file(root, "cpu_core/type", "4\n");
	put_file(root, "cpu_core/cpus", "0-3\n");
	put_file(root, "cpu_atom/type", "10\n");
	put_file(root, "cpu_atom/cpus", "4-7\n");
	if (events_parse(
		    "{MACHINE_CLEARS:20000:SMC,BR_MISP_RETIRED:20000:ALL_BRANCHES},"
		    "DTLB_LOAD_MISSES:20000:WALK_PENDING,r1c2:20000,"
		    "MEM_LOAD_UOPS_RETIRED:20000:L3_HIT",
		    0, &reqs, &err))
		fail_msg("%s", err.text);
	assert_int_equal(reqs.list.nr, COUNT_OF(expected));
	for (size_t i = 0; i < reqs.list.nr; i++) {
		const struct event_request *e = &reqs.list.at[i];

		assert_string_equal(e->name, expected[i].name);
		assert_int_equal(e->attr.type, expected[i].type);
		assert_int_equal(e->attr.config, expected[i].config);
		assert_true(e->one_core_type);
	}
	/* Each group belongs to one core type. */
	assert_int_equal(reqs.list.at[0].group, reqs.list.at[2].group);
	assert_int_equal(reqs.list.at[1].group, reqs.list.at[3].group);
	assert_int_not_equal(reqs.list.at[0].group, reqs.list.at[1].group);
	assert_int_equal(reqs.list.at[4].group, 0);
	events_done(&reqs);
	assert_int_equal(io_remove_tree(root), 0);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(accepts_good_specs),
		cmocka_unit_test(rejects_bad_specs_by_name),
		cmocka_unit_test(enforces_limits),
		cmocka_unit_test(timers_have_rates),
		cmocka_unit_test(parses_groups_and_modifiers),
		cmocka_unit_test(each_kind_of_hybrid_core_counts),
		cmocka_unit_test(hybrid_cores_have_their_own_codes),
		cmocka_unit_test(the_default_is_timer_without_a_pmu),
		cmocka_unit_test(pmu_terms_fill_their_bits),
	};

	return UNIT_RUN(cases);
}

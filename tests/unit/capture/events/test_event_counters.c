/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "capture/events/event_counters.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "capture/events/catalog.h"
#include "capture/events/cpu_types.h"
#include "capture/events/events.h"
#include "capture/events/fit.h"
#include "unit.h"

/* From the vendors' lists of Linux 6.12 ("Counter", tools/perf/pmu-events/arch/x86); Intel's
 * fixed counters from the Software Developer's Manual 3B, 20.2.2; POWER from the PMC field of
 * the code (arch/powerpc/perf/isa207-common.h), with the kernel's alternatives. */
static const struct known {
	const char *cpu, *name, *masks;
	uint64_t counters;
	const char *text;
} known[] = {
	{ "i386/skylake", "INST_RETIRED.PREC_DIST", NULL, 0x2, "1" },
	{ "i386/skylake", "MEM_LOAD_RETIRED", "L3_MISS", 0xf, "0, 1, 2, 3" },
	{ "i386/skylake", "INST_RETIRED.TOTAL_CYCLES_PS", NULL, 0xd, "0, 2, 3" },
	{ "i386/haswell", "L1D_PEND_MISS.PENDING", NULL, 0x4, "2" },
	{ "i386/haswell", "MEM_TRANS_RETIRED.LOAD_LATENCY_GT_32", NULL, 0x8, "3" },
	{ "i386/sapphirerapids", "MEM_TRANS_RETIRED.LOAD_LATENCY_GT_32", NULL, 0xfe,
	  "1, 2, 3, 4, 5, 6, 7" },
	{ "i386/sapphirerapids", "BACLEARS.ANY", NULL, 0xf, "0, 1, 2, 3" },
	{ "i386/sapphirerapids", "CPU_CLK_UNHALTED.REF_TSC", NULL, 1ULL << 34,
	  "fixed 2" },
	{ "i386/graniterapids", "TOPDOWN.SLOTS", NULL, 1ULL << 35, "fixed 3" },
	{ "i386/graniterapids", "INST_RETIRED.ANY", NULL, 1ULL << 32 | 0xff,
	  "0, 1, 2, 3, 4, 5, 6, 7" },
	{ "i386/alderlake-e", "MEM_UOPS_RETIRED.LOAD_LATENCY_GT_32", NULL, 0x3,
	  "0, 1" },
	{ "i386/lunarlake", "CPU_CLK_UNHALTED.CORE", NULL, 1ULL << 33 | 0x3ff,
	  "0, 1, 2, 3, 4, 5, 6, 7, 8, 9" },
	{ "i386/nehalem", "L1D_CACHE_LD.MESI", NULL, 0x3, "0, 1" },
	{ "x86-64/zen5", "EX_RET_INSTR", NULL, 0x3f, "0, 1, 2, 3, 4, 5" },
	{ "arm/armv8-neoverse-n1", "CPU_CYCLES", NULL, 1ULL << 32 | 0x3f,
	  "0, 1, 2, 3, 4, 5" },
	{ "ppc64/power9", "PM_CYC", NULL, 0x3f, "0, 1, 2, 3, 4, 5" },
	{ "ppc64/power9", "PM_RUN_CYC", NULL, 0x22, "1, 5" },
	{ "ppc64/power10", "PM_RUN_INST_CMPL", NULL, 0x10, "4" },
	{ "s390/z15", "CPU_CYCLES", NULL, 0, "all" },
};

static void events_have_their_counters(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(known); i++) {
		const struct known *k = &known[i];
		struct catalog_choice choice = { 0 };
		struct event_catalog *c;
		struct err err = { 0 };
		char text[EVENT_COUNTERS_TEXT];

		assert_int_equal(event_catalog_open(cpu_type_find(k->cpu), &c, &err),
				 0);
		if (event_catalog_choose(c, k->name, k->masks, &choice, &err))
			fail_msg("%s %s: %s", k->cpu, k->name, err.text);
		event_counters_text(choice.counters, text);
		if (choice.counters != k->counters || strcmp(text, k->text) != 0)
			fail_msg("%s %s: 0x%llx (%s), expected 0x%llx", k->cpu, k->name,
				 (unsigned long long)choice.counters, text,
				 (unsigned long long)k->counters);
		event_catalog_close(c);
	}
}

/* The number of first events that can all have different counters. */
static const struct assignment {
	uint64_t counters[5];
	size_t nr, fitting;
} assignments[] = {
	{ { 0x1, 0x2, 0x4 }, 3, 3 },
	{ { 0xf, 0xf, 0xf, 0xf, 0xf }, 5, 4 },
	{ { 0x3, 0x1 }, 2, 2 },           /* the first event has to move */
	{ { 0x3, 0x6, 0x3, 0x2 }, 4, 3 }, /* two events need 0 and 1 */
	{ { 0x3, 0x6, 0x5, 0x8, 0x9 }, 5, 4 },
	{ { 0x4, 0x4 }, 2, 1 },
	{ { 1ULL << 32 | 0x1, 0x1 }, 2, 2 }, /* its fixed counter is free */
	{ { 1ULL << 63, UINT64_MAX }, 2, 2 },
	{ { 0 }, 1, 0 },
	{ { 0 }, 0, 0 },
};

static void events_share_counters(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(assignments); i++) {
		const struct assignment *a = &assignments[i];
		unsigned int counter[5];
		uint64_t used = 0;

		assert_int_equal(event_counters_assign(a->counters, a->nr, counter),
				 a->fitting);
		for (size_t k = 0; k < a->fitting; k++) {
			uint64_t bit = 1ULL << counter[k];

			assert_true(a->counters[k] & bit);
			assert_false(used & bit);
			used |= bit;
		}
	}
}

/* The events that a CPU can count at once, as a user specifies them. */
static const struct together {
	const char *cpu, *specs;
	size_t nr, fitting;
} togethers[] = {
	/* Both events need counter 2. */
	{ "i386/haswell",
	  "L1D_PEND_MISS.PENDING:2000000,CYCLE_ACTIVITY.CYCLES_L1D_PENDING:2000000", 2,
	  1 },
	{ "i386/haswell",
	  "L1D_PEND_MISS.PENDING:2000000,MEM_TRANS_RETIRED.LOAD_LATENCY_GT_32:10000", 2,
	  2 },
	/* Four general counters; cycles and instructions have fixed ones. */
	{ "i386/skylake",
	  "r1:9000,r2:9000,r3:9000,r4:9000,CPU_CLK_UNHALTED:2000000,"
	  "INST_RETIRED:2000000",
	  6, 6 },
	{ "i386/skylake",
	  "r1:9000,r2:9000,r3:9000,r4:9000,CPU_CLK_UNHALTED:2000000,"
	  "INST_RETIRED:2000000,r5:9000",
	  7, 6 },
	/* With a threshold, instructions need a general counter: their fixed counter does not
	 * support thresholds. */
	{ "i386/skylake", "r1:9000,r2:9000,r3:9000,r4:9000,INST_RETIRED:2000000:c=2", 5,
	  4 },
	{ "ppc64/power9", "PM_RUN_CYC:100000,r600f5:100000", 2, 2 },
	{ "ppc64/power9", "PM_RUN_CYC:100000,r600f5:100000,r200f5:100000", 3, 2 },
	{ "s390/z15", "r1:9000,r2:9000,r3:9000,r4:9000,r5:9000,r6:9000,r7:9000", 7, 7 },
};

static void knows_the_counters_of_other_cpus(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(togethers); i++) {
		const struct together *t = &togethers[i];
		struct event_requests reqs = { .cpu = cpu_type_find(t->cpu),
					       .no_host = true };
		struct err err = { 0 };
		int counter[EVENTS_MAX];
		size_t fitting;

		if (events_parse(t->specs, 0, &reqs, &err))
			fail_msg("%s: %s", t->specs, err.text);
		assert_int_equal(reqs.list.nr, t->nr);
		fitting = events_fit_known(reqs.list.at, reqs.list.nr,
					   events_catalog(&reqs, NULL), counter);
		if (fitting != t->fitting)
			fail_msg("%s %s: %zu", t->cpu, t->specs, fitting);
		for (size_t k = 0; k < t->nr; k++)
			assert_int_equal(counter[k] >= 0, k < fitting);
		events_done(&reqs);
	}
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(events_have_their_counters),
		cmocka_unit_test(events_share_counters),
		cmocka_unit_test(knows_the_counters_of_other_cpus),
	};

	return UNIT_RUN(cases);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "capture/events/cpu_types.h"

#include <string.h>

#include "base/err.h"
#include "capture/events/catalog.h"
#include "unit.h"

/* The content of /proc/cpuinfo, shortened, and the expected type. */
static const struct {
	const char *cpuinfo;
	const char *key;
	const char *type;
} machines[] = {
	{ "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 94\n"
	  "model name\t: Intel(R) Core(TM)\nstepping\t: 3\n",
	  "GenuineIntel-6-5E-3", "i386/skylake" },
	{ "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\nstepping\t: 4\n",
	  "GenuineIntel-6-55-4", "i386/skylake-sp" },
	{ "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\nstepping\t: 7\n",
	  "GenuineIntel-6-55-7", "i386/cascadelake-sp" },
	{ "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 254\n",
	  "GenuineIntel-6-FE-0", "i386/arch_perfmon" },
	{ "vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\nstepping\t: 1\n",
	  "AuthenticAMD-19-11-1", "x86-64/zen4" },
	{ "vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 1\nstepping\t: 1\n",
	  "AuthenticAMD-19-1-1", "x86-64/zen3" },
	{ "vendor_id\t: AuthenticAMD\ncpu family\t: 23\nmodel\t\t: 49\nstepping\t: 0\n",
	  "AuthenticAMD-17-31-0", "x86-64/zen2" },
	{ "processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\n"
	  "CPU part\t: 0xd0c\n",
	  "arm-0x41-0xd0c", "arm/armv8-neoverse-n1" },
	/* Part numbers as in Linux, tools/perf/pmu-events/arch/arm64/mapfile.csv. */
	{ "CPU implementer\t: 0x41\nCPU part\t: 0xd47\n", "arm-0x41-0xd47",
	  "arm/armv8-ca710" },
	{ "CPU implementer\t: 0x48\nCPU part\t: 0xd01\n", "arm-0x48-0xd01",
	  "arm/armv8-hip08" },
	{ "processor\t: 0\ncpu\t\t: POWER8E (raw), altivec supported\n",
	  "power-POWER8E", "ppc64/power8" },
	{ "vendor_id       : IBM/S390\nprocessor 0: version = 00,  identification = "
	  "123456,  machine = 2828\n",
	  "s390-2828", "s390/zEC12" },
	{ "CPU implementer\t: 0x99\nCPU part\t: 0x001\n", "arm-0x99-0x001",
	  "arm/armv8-pmuv3-common" },
	{ "vendor_id       : IBM/S390\nprocessor 0: version = 00,  identification = "
	  "123456,  machine = 8561\n",
	  "s390-8561", "s390/z15" },
	{ "processor\t: 0\ncpu\t\t: POWER9 (architected), altivec supported\n",
	  "power-POWER9", "ppc64/power9" },
	{ "processor\t: 0\nhart\t\t: 0\nisa\t\t: rv64imafdc\n", "riscv", "riscv/sbi" },
	{ "nothing here\n", "", NULL },
};

static void knows_all_machines(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(machines); i++) {
		char key[CPU_TYPE_KEY_MAX];
		const struct cpu_type *type;

		cpu_type_key(machines[i].cpuinfo, key);
		assert_string_equal(key, machines[i].key);
		type = *key ? cpu_type_of_key(key) : NULL;
		if (!machines[i].type)
			assert_null(type);
		else if (!type || strcmp(type->name, machines[i].type))
			fail_msg("%s: %s", key, type ? type->name : "none");
	}
}

/* OProfile's numbers (cpu_type in its file header), which must not change. */
static void numbers_agree_with_oprofile(void **state)
{
	static const struct {
		const char *number, *name;
	} known[] = { { "0", "i386/ppro" },           { "32", "i386/core_2" },
		      { "47", "i386/nehalem" },       { "69", "x86-64/generic" },
		      { "80", "i386/skylake" },       { "85", "ppc64/power9" },
		      { "87", "arm/armv8-thunderx2" } };
	unsigned int seen = 0;
	const struct cpu_type *type;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(known); i++)
		assert_string_equal(cpu_type_find(known[i].number)->name,
				    known[i].name);
	for (size_t i = 0; (type = cpu_type_at(i)); i++) {
		assert_ptr_equal(cpu_type_find(type->name), type);
		seen += type->number >= 0;
	}
	assert_int_equal(seen, 88);
	assert_null(cpu_type_find("88"));
	assert_null(cpu_type_find("-1"));
}

/* Every type with its own list can be opened, and knows its default event. */
static void lists_are_complete(void **state)
{
	const struct cpu_type *type;

	(void)state;
	for (size_t i = 0; (type = cpu_type_at(i)); i++) {
		struct event_catalog *c = NULL;
		struct catalog_choice choice;
		struct err err = { 0 };
		int r = event_catalog_open(type, &c, &err);

		if (!type->list && !type->common)
			assert_true(!r || err.text[0]);
		else if (r)
			fail_msg("%s: %s", type->name, err.text);
		if (!r && strncmp(type->name, "riscv", 5) != 0 &&
		    event_catalog_choose(c, type->default_event, NULL, &choice, &err))
			fail_msg("%s: %s: %s", type->name, type->default_event,
				 err.text);
		event_catalog_close(c);
	}
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(knows_all_machines),
		cmocka_unit_test(numbers_agree_with_oprofile),
		cmocka_unit_test(lists_are_complete),
	};

	return UNIT_RUN(cases);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "capture/events/catalog.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/files/io.h"
#include "base/parse.h"
#include "capture/events/catalog_priv.h"
#include "capture/events/classic.h"
#include "capture/events/cpu_types.h"
#include "capture/events/events.h"
#include "capture/events/pfm/pfm_tables.h"
#include "unit.h"

/* One row of tests/data/events/encodings.txt: the vendor's encoding of an event. */
struct row {
	char *cpu, *name, *file;
	uint64_t field
		[7]; /* EventCode, UMask, CounterMask, Invert, Edge, Any, MSRValue */
};

static bool row_read(char *line, struct row *r)
{
	char *save = NULL;

	r->cpu = strtok_r(line, " ", &save);
	r->name = strtok_r(NULL, " ", &save);
	for (size_t i = 0; i < 7; i++) {
		const char *word = strtok_r(NULL, " ", &save);

		if (!word || !parse_u64(word, &r->field[i]))
			return false;
	}
	r->file = strtok_r(NULL, " ", &save);
	return r->file != NULL;
}

/* Bit positions from the kernel's PMU drivers in format/: x86 event 0-7,32-35, umask 8-15, edge
 * 18, any 21, inv 23, cmask 24-31; other architectures use the code as config. */
static uint64_t row_config(const struct row *r)
{
	const uint64_t *f = r->field;

	if (strncmp(r->cpu, "i386/", 5) != 0 && strncmp(r->cpu, "x86-64/", 7) != 0)
		return f[0];
	return (f[0] & 0xff) | f[1] << 8 | f[4] << 18 | f[5] << 21 | f[3] << 23 |
	       f[2] << 24 | (f[0] & 0xf00) << 24;
}

static void vendors_events_have_their_codes(void **state)
{
	struct event_catalog *c = NULL;
	struct buf text = { 0 };
	unsigned int rows = 0, bad = 0;
	char path[512];
	char *save;

	(void)state;
	(void)snprintf(path, sizeof(path), "%s/events/encodings.txt",
		       getenv("TEST_DATA"));
	assert_int_equal(io_read_file(path, &text, 1 << 20), 0);
	buf_put_u8(&text, 0);
	save = (char *)text.data;
	for (char *line; (line = strsep(&save, "\n"));) {
		struct catalog_choice choice = { 0 };
		struct err err = { 0 };
		struct row r = { 0 };

		if (!*line || *line == '#')
			continue;
		assert_true(row_read(line, &r));
		if (!c || strcmp(c->cpu->name, r.cpu) != 0) {
			event_catalog_close(c);
			assert_int_equal(
				event_catalog_open(cpu_type_find(r.cpu), &c, &err), 0);
		}
		rows++;
		if (event_catalog_choose(c, r.name, NULL, &choice, &err) == 0 &&
		    choice.config == row_config(&r) && choice.config1 == r.field[6])
			continue;
		bad++;
		print_error("%s %s: 0x%llx,0x%llx, expected 0x%llx of %s %s\n", r.cpu,
			    r.name, (unsigned long long)choice.config,
			    (unsigned long long)choice.config1,
			    (unsigned long long)row_config(&r), r.file, err.text);
	}
	event_catalog_close(c);
	buf_done(&text);
	assert_true(rows > 890);
	assert_int_equal(bad, 0);
}

static const struct choosing {
	const char *cpu, *name, *masks;
	int code;
	uint64_t config, unit_mask;
	const char *text; /* part of the error message */
} choosings[] = {
	/* Masks by name, by number, combined; other sources: Intel SDM volume 3, chapter 20. */
	{ "i386/skylake", "MEM_LOAD_RETIRED", "l3_miss", 0, 0x20d1, 0x20, NULL },
	{ "i386/skylake", "MEM_LOAD_RETIRED", "0x20", 0, 0x20d1, 0x20, NULL },
	{ "i386/skylake", "mem_load_retired.l3_miss", NULL, 0, 0x20d1, 0x20, NULL },
	{ "i386/skylake", "MEM_LOAD_RETIRED", "L1_HIT+L2_HIT", 0, 0x3d1, 0x3, NULL },
	{ "i386/skylake", "LLC_MISSES", NULL, 0, 0x412e, 0x41, NULL },
	{ "i386/arch_perfmon", "CPU_CLK_UNHALTED", "0", 0, 0x3c, 0, NULL },
	{ "x86-64/zen5", "CPU_CLK_UNHALTED", NULL, 0, 0x76, 0, NULL },
	{ "x86-64/zen5", "INST_RETIRED", NULL, 0, 0xc0, 0, NULL },
	{ "arm/armv8-neoverse-n1", "LLC_MISSES", NULL, 0, 0x37, 0, NULL },
	{ "ppc64/power9", "CYCLES", NULL, 0, 0x1e, 0, NULL },
	{ "i386/graniterapids", "MEM_LOAD_RETIRED", NULL, -EINVAL, 0, 0,
	  "Event MEM_LOAD_RETIRED needs a unit mask: " },
	{ "i386/graniterapids", "MEM_LOAD_RETIRED", "L3_MIS", -EINVAL, 0, 0,
	  "Cannot find unit mask L3_MIS for MEM_LOAD_RETIRED (Did you mean L3_MISS, "
	  "L1_MISS, L2_MISS or L3_HIT?). Its unit masks: 0x40 FB_HIT, " },
	{ "i386/graniterapids", "MEM_LOAD_RETIRED", "0x100", -EINVAL, 0, 0,
	  "Invalid unit mask 0x100 for event MEM_LOAD_RETIRED. Its unit masks: 0x40 "
	  "FB_HIT, 0x01 L1_HIT, " },
	{ "i386/graniterapids", "MEM_LOAD_RETIRED", "nosuch", -EINVAL, 0, 0,
	  "Cannot find unit mask nosuch for MEM_LOAD_RETIRED. Its unit masks: 0x40 "
	  "FB_HIT, 0x01 L1_HIT, " },
	{ "arm/armv8-neoverse-n1", "CPU_CYCLES", "any", -EINVAL, 0, 0,
	  "Cannot find unit mask any for CPU_CYCLES: it has none" },
	/* The vendor's list (perfmon's event files) corrects errors of libpfm4, for masks by
	 * number and for defaults too. */
	{ "i386/icelake-sp", "MEM_LOAD_MISC_RETIRED", NULL, 0, 0x4d4, 0x4, NULL },
	{ "i386/icelake-sp", "MEM_LOAD_MISC_RETIRED", "0x4", 0, 0x4d4, 0x4, NULL },
	{ "i386/sapphirerapids", "INST_RETIRED", "0x0", 0, 0xc0, 0, NULL },
	{ "i386/sapphirerapids", "MEM_TRANS_RETIRED", "0x2", 0, 0x2cd, 0x2, NULL },
	{ "i386/skylake", "UOPS_RETIRED", "0xa8001", 0, 0x108002c2, 0xa8001, NULL },
	/* Several names of the same mask. */
	{ "i386/skylake", "ARITH", "65537", 0, 0x1000114, 65537, NULL },
	/* A name that includes the mask accepts this mask again or none, but no other. */
	{ "i386/skylake", "LLC_MISSES", "0x41", 0, 0x412e, 0x41, NULL },
	{ "i386/skylake", "LLC_MISSES", "0", 0, 0x412e, 0x41, NULL },
	{ "i386/skylake", "LLC_MISSES", "0x48", -EINVAL, 0, 0,
	  "Invalid unit mask 0x48 for event LLC_MISSES: this name already selects the unit mask 0x41 "
	  "of " },
	{ "i386/skylake", "MEM_LOAD_RETIRED.L1_MISS", "0x8", 0, 0x8d1, 0x8, NULL },
	{ "i386/skylake", "MEM_LOAD_RETIRED.L1_MISS", "0", 0, 0x8d1, 0x8, NULL },
	{ "i386/skylake", "MEM_LOAD_RETIRED.L1_MISS", "l1_miss", 0, 0x8d1, 0x8, NULL },
	{ "i386/skylake", "MEM_LOAD_RETIRED.L1_MISS", "L1_HIT", -EINVAL, 0, 0,
	  "Invalid unit mask L1_HIT for event MEM_LOAD_RETIRED.L1_MISS: " },
	{ "i386/skylake", "NOSUCH.MASK", "0x1", -ENOENT, 0, 0, "" },
	/* If an event does not have the mask, the next candidate is used. */
	{ "x86-64/zen3", "LLC_MISSES", NULL, 0, 0x4844, 0x48, NULL },
	{ "i386/icelake-sp", "DTLB_MISSES", NULL, 0, 0xe08, 0xe, NULL },
	{ "i386/alderlake", "ITLB_MISS", "0xe", 0, 0xe11, 0xe, NULL },
	{ "i386/nehalem", "DCU_LINES_IN", NULL, 0, 0x151, 0x1, NULL },
	{ "i386/nehalem", "BR_MISS_PRED_RETIRED", NULL, 0, 0xc5, 0, NULL },
	{ "x86-64/zen1", "LLC_MISSES", NULL, 0, 0x4843, 0x48, NULL },
	{ "x86-64/zen2", "DATA_CACHE_MISSES", NULL, 0, 0xc860, 0, NULL },
	{ "x86-64/zen4", "DATA_CACHE_MISSES", NULL, 0, 0xe860, 0xe8, NULL },
	{ "x86-64/zen4", "DATA_CACHE_ACCESSES", NULL, 0, 0x729, 0, NULL },
	/* If several masks have the same number, the one without a threshold is selected. */
	{ "i386/graniterapids", "L1D_PEND_MISS", "0x1", 0, 0x148, 0x1, NULL },
	{ "i386/graniterapids", "UOPS_RETIRED", "0x2", 0, 0x2c2, 0x2, NULL },
	/* Masks of the Pentium 4 are bits; without a mask, those of OProfile's table. */
	{ "i386/p4", "UOPS_RETIRED", NULL, 0, 0x4e00020f00039000, 0x1, NULL },
	{ "i386/alderlake-e", "UOPS_RETIRED", NULL, 0, 0xc2, 0, NULL },
	{ "s390/z15", "NOSUCH", NULL, -ENOENT, 0, 0, "" },
	{ "s390/z15", "nosuch.mask", NULL, -ENOENT, 0, 0, "" },
};

/* Returns whether the build has the tables of a row: rows with libpfm4's own masks, or its numbers
 * of them, are skipped in builds without it. */
static bool has_tables(const struct cpu_type *cpu)
{
	struct event_catalog *c = NULL;
	bool has = false;

	assert_int_equal(event_catalog_open(cpu, &c, NULL), 0);
	for (size_t i = 0; i < c->events.nr; i++)
		has |= c->events.at[i].from_pfm;
	event_catalog_close(c);
	return has;
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* Checks that the library's config values for an event with that mask are those of the tables. */
static void assert_known(const struct event_catalog *c, const struct catalog_event *e,
			 const struct catalog_mask *mask)
{
	bool known = mask ? mask->known : e->known;
	uint64_t config[3] = { 0 };
	char name[256];
	int r;

	(void)snprintf(name, sizeof(name), "%s%s%s", e->name, mask ? ":" : "",
		       mask ? mask->name : "");
	r = event_pfm_encode(c->pfm, c->cpu->pfm, name, config, NULL);
	if (known && (r || config[0] != (mask ? mask->config : e->config) ||
		      config[1] != (mask ? mask->config1 : e->config1) || config[2]))
		fail_msg("%s %s: %d 0x%llx", c->cpu->name, name, r,
			 (unsigned long long)config[0]);
	if (!mask && e->refused && !r)
		fail_msg("%s %s is not refused", c->cpu->name, name);
}

static void assert_same_masks(const struct event_catalog *told,
			      const struct event_catalog *noted)
{
	assert_int_equal(told->masks.nr, noted->masks.nr);
	for (size_t i = 0; i < told->masks.nr; i++) {
		const struct catalog_mask *a = &told->masks.at[i];
		const struct catalog_mask *b = &noted->masks.at[i];

		assert_string_equal(a->name, b->name);
		assert_string_equal(a->about, b->about);
		assert_true(a->value == b->value);
		assert_true(a->is_default == b->is_default && a->precise == b->precise);
	}
}

static void assert_same_events(const struct event_catalog *told,
			       const struct event_catalog *noted)
{
	assert_int_equal(told->events.nr, noted->events.nr);
	assert_int_equal(told->nr_counters, noted->nr_counters);
	for (size_t i = 0; i < told->events.nr; i++) {
		const struct catalog_event *a = &told->events.at[i];
		const struct catalog_event *b = &noted->events.at[i];

		assert_string_equal(a->name, b->name);
		assert_string_equal(a->about, b->about);
		assert_true(same_text(a->same_as, b->same_as));
		assert_true(a->code == b->code && a->precise == b->precise);
		assert_true(a->min_count == b->min_count && b->from_pfm);
		assert_true(a->first_mask == b->first_mask &&
			    a->nr_masks == b->nr_masks);
		assert_known(told, b, NULL);
		for (size_t k = 0; k < b->nr_masks; k++)
			assert_known(told, b, event_catalog_mask(noted, b, k));
	}
}

/* Looks up every event, mask and code that the build stored, in the library again. */
static void tables_agree_with_libpfm(void **state)
{
	const struct cpu_type *cpu;
	size_t nr = 0;

	(void)state;
	for (size_t i = 0; (cpu = cpu_type_at(i)); i++) {
		struct event_catalog told = { .cpu = cpu }, noted = { .cpu = cpu };
		const char *path = "";

		if (cpu->pfm && !event_pfm_table_add(&noted, cpu->pfm) &&
		    !event_pfm_walk(&told, cpu->pfm, &path) &&
		    event_pfm_file_id(path) == event_pfm_tables.library_id) {
			assert_same_masks(&told, &noted);
			assert_same_events(&told, &noted);
			nr++;
		}
		vec_done(&told.events);
		vec_done(&told.masks);
		vec_done(&noted.events);
		vec_done(&noted.masks);
		event_pfm_close(told.pfm);
	}
	if (!nr)
		skip();
	assert_true(nr >= event_pfm_tables.nr_tables);
}

static void assert_chosen(const struct choosing *table, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const struct choosing *t = &table[i];
		struct catalog_choice choice = { 0 };
		struct event_catalog *c;
		struct err err = { 0 };
		int r;

		if (t->unit_mask > 0xff && !has_tables(cpu_type_find(t->cpu)))
			continue;
		r = event_catalog_open(cpu_type_find(t->cpu), &c, &err);
		if (r == -ENODATA && cpu_type_find(t->cpu)->pfm)
			continue;
		assert_int_equal(r, 0);
		r = event_catalog_choose(c, t->name, t->masks, &choice, &err);
		if (r != t->code ||
		    (!r && (choice.config != t->config ||
			    choice.unit_mask != t->unit_mask)) ||
		    (t->text && strncmp(err.text, t->text, strlen(t->text))))
			fail_msg("%s %s %s: %d 0x%llx 0x%llx %s", t->cpu, t->name,
				 t->masks ? t->masks : "", r,
				 (unsigned long long)choice.config,
				 (unsigned long long)choice.unit_mask, err.text);
		event_catalog_close(c);
	}
}

static void selects_unit_masks(void **state)
{
	(void)state;
	assert_chosen(choosings, COUNT_OF(choosings));
}

/* On each CPU type with events, a classic name either maps to an event or is unknown; if that
 * event only exists with masks, a mask can be required. */
static void maps_classic_names_to_events(void **state)
{
	const struct cpu_type *cpu;
	unsigned int found = 0;

	(void)state;
	for (size_t i = 0; (cpu = cpu_type_at(i)); i++) {
		struct event_catalog *c;
		const char *name;
		size_t at = 0;

		if (event_catalog_open(cpu, &c, NULL))
			continue;
		while ((name = cpu_type_classic_next(&at))) {
			struct catalog_choice choice;
			struct err err = { 0 };
			int r = event_catalog_choose(c, name, NULL, &choice, &err);

			found += !r;
			if (r && r != -ENOENT &&
			    (!event_catalog_find(c, name, NULL) ||
			     !strstr(err.text, " needs a unit mask: ")))
				fail_msg("%s %s: %d %s", cpu->name, name, r, err.text);
		}
		event_catalog_close(c);
	}
	assert_true(found > 200);
}

/* OProfile's names: how many each CPU type has. Fewer names than these would be a regression. */
static const struct {
	const char *cpu;
	unsigned int nr;
} classic_counts[] = {
	{ "i386/ppro", 68 },
	{ "i386/pii", 78 },
	{ "i386/piii", 78 },
	{ "i386/athlon", 24 },
	{ "i386/p6_mobile", 100 },
	{ "i386/core", 107 },
	{ "i386/core_2", 124 },
	{ "i386/core_i7", 96 },
	{ "i386/atom", 75 },
	{ "i386/nehalem", 96 },
	{ "i386/westmere", 83 },
	{ "i386/sandybridge", 65 },
	{ "i386/ivybridge", 58 },
	{ "i386/haswell", 62 },
	{ "i386/broadwell", 63 },
	{ "i386/silvermont", 22 },
	{ "i386/skylake", 54 },
	{ "i386/goldmont", 26 },
	{ "i386/goldmontplus", 30 },
	{ "i386/knightslanding", 24 },
	{ "i386/arch_perfmon", 7 },
	{ "x86-64/hammer", 87 },
	{ "x86-64/family10", 123 },
	{ "x86-64/family11h", 87 },
	{ "x86-64/family12h", 104 },
	{ "x86-64/family14h", 82 },
	{ "x86-64/family15h", 82 },
	{ "x86-64/generic", 16 },
	{ "arm/armv6", 21 },
	{ "arm/armv7", 60 },
	{ "arm/armv7-ca9", 69 },
	{ "arm/armv7-ca15", 73 },
	{ "arm/armv8-thunderx2", 160 },
	{ "arm/armv8-xgene", 100 },
	{ "ppc64/power4", 245 },
	{ "ppc64/power7", 555 },
	{ "ppc64/970MP", 231 },
	{ "mips/74K", 117 },
	{ "alpha/ev67", 4 },
};

/* Chooses a row by its name alone, and with each of its masks by number. The first source of an
 * event can have the same name in other case, so rows are compared by address. */
static void assert_row_is_chosen(const struct event_catalog *c,
				 const struct catalog_event *e)
{
	const struct catalog_mask *mask;
	struct catalog_choice choice;
	struct err err = { 0 };
	char number[24];

	if (event_catalog_choose(c, e->name, NULL, &choice, &err))
		fail_msg("%s %s: %s", c->cpu->name, e->name, err.text);
	if (event_classic_find(c, e->name) != e)
		return; /* a second row of the same name, from an included table */
	if (!e->default_name && !e->nr_masks && choice.config != e->config)
		fail_msg("%s %s: 0x%llx", c->cpu->name, e->name,
			 (unsigned long long)choice.config);
	for (size_t i = 0; (mask = event_catalog_mask(c, e, i)); i++) {
		(void)snprintf(number, sizeof(number), "%llu",
			       (unsigned long long)mask->value);
		if (event_catalog_choose(c, e->name, number, &choice, &err))
			fail_msg("%s %s %s: %s", c->cpu->name, e->name, number,
				 err.text);
		if ((choice.config & ~mask->config & 0xffff) != 0)
			fail_msg("%s %s %s: 0x%llx", c->cpu->name, e->name, number,
				 (unsigned long long)choice.config);
	}
}

static void chooses_each_classic_row(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(classic_counts); i++) {
		struct event_catalog *c;
		struct err err = { 0 };
		unsigned int nr = 0;

		if (event_catalog_open(cpu_type_find(classic_counts[i].cpu), &c, &err))
			fail_msg("%s", err.text);
		for (size_t k = 0; k < c->events.nr; k++) {
			const struct catalog_event *e = &c->events.at[k];

			if (!e->classic)
				continue;
			nr++;
			if (!*e->about)
				fail_msg("%s %s has no description", c->cpu->name,
					 e->name);
			assert_row_is_chosen(c, e);
		}
		if (nr < classic_counts[i].nr)
			fail_msg("%s: %u names, expected %u", c->cpu->name, nr,
				 classic_counts[i].nr);
		event_catalog_close(c);
	}
}

/* Codes and masks as the vendors' manuals have them, with OProfile's default masks. */
static const struct choosing classic_choices[] = {
	/* Without a mask, the default is used; libpfm4's list does not have one. */
	{ "i386/nehalem", "ARITH", NULL, 0, 0x114, 0x1, NULL },
	{ "i386/nehalem", "LOAD_BLOCK", NULL, 0, 0x103, 0x1, NULL },
	{ "i386/nehalem", "LLC_MISSES", "0x41", 0, 0x412e, 0x41, NULL },
	{ "i386/nehalem", "UNHALTED_REFERENCE_CYCLES", NULL, 0, 0x13c, 0x1, NULL },
	{ "i386/core_i7", "BR_MISS_PRED_RETIRED", "0x2", 0, 0x2c5, 0x2, NULL },
	/* Several masks of a bit mask. */
	{ "i386/nehalem", "L2_RQSTS", "0x3", 0, 0x324, 0x3, NULL },
	/* OProfile has both names; their defaults differ. */
	{ "i386/sandybridge", "INST_RETIRED", NULL, 0, 0xc0, 0, NULL },
	{ "i386/sandybridge", "inst_retired", NULL, 0, 0x1c0, 0x1, NULL },
	{ "i386/haswell", "ld_blocks_partial_address_alias", NULL, 0, 0x107, 0x1,
	  NULL },
	{ "i386/skylake", "cycle_activity", "0x4", 0, 0x40004a3, 0x4, NULL },
	{ "i386/skylake", "exe_activity", "u1_ports_util", 0, 0x2a6, 0x2, NULL },
	{ "i386/piii", "CPU_CLK_UNHALTED", NULL, 0, 0x79, 0, NULL },
	{ "i386/piii", "L2_LD", NULL, 0, 0xf29, 0xf, NULL },
	{ "i386/ppro", "INST_RETIRED", NULL, 0, 0xc0, 0, NULL },
	{ "i386/core", "CPU_CLK_UNHALTED", "1", 0, 0x13c, 0x1, NULL },
	{ "i386/athlon", "DATA_CACHE_REFILLS_FROM_L2", NULL, 0, 0x1f42, 0x1f, NULL },
	{ "x86-64/hammer", "DISPATCHED_FPU_OPS", NULL, 0, 0x3f00, 0x3f, NULL },
	{ "x86-64/family10", "CPU_COMMAND_LATENCY_TARGET", NULL, 0, 0x10000f7e6, 0xf7,
	  NULL },
	{ "x86-64/family10", "L3_CACHE_MISSES", "0x17", 0, 0x4000017e1, 0x17, NULL },
	{ "arm/armv7-ca9", "CPU_CYCLES", NULL, 0, 0xff, 0, NULL },
	{ "arm/armv7-ca15", "L1D_CACHE_LD", NULL, 0, 0x40, 0, NULL },
	{ "ppc64/power7", "PM_CYC_GRP1", NULL, 0, 0x1e, 0, NULL },
	{ "ppc64/power4", "PM_GRP_CMPL_GRP1", NULL, 0, 0x7003, 0, NULL },
	{ "alpha/ev67", "MBOX_REPLAY", NULL, 0, 4, 0, NULL },
	/* Messages contain the name that was given. */
	{ "i386/haswell", "llc_misses", "0x99", -EINVAL, 0, 0,
	  "Invalid unit mask 0x99 for event llc_misses" },
	{ "i386/sandybridge", "ld_blocks", "nothing", -EINVAL, 0, 0,
	  "Cannot find unit mask nothing for ld_blocks" },
	{ "ppc64/power7", "PM_NOTHING_GRP1", NULL, -ENOENT, 0, 0, NULL },
	{ "ppc64/power7", "PM_CYC_GRPX", NULL, -ENOENT, 0, 0, NULL },
};

static const struct {
	const char *text;
	const char *error;
} bad_tables[] = {
	{ "CYCLES\n", "x, line 1: no name and code of an event" },
	{ "CYCLES 17\n", "x, line 1: no name and code of an event" },
	{ "A 0x1\nCYCLES 0x3c min=9999999999\n", "x, line 2: not a minimum count" },
	{ "CYCLES 0x3c 1\n", "x, line 1: not a unit mask" },
	{ "CYCLES 0x3c 0x1+2\n", "x, line 1: not a unit mask" },
	{ "CYCLES 0x3c 0x1 =name\n", "x, line 1: not a unit mask" },
	{ "include i386/none\n", "x, line 1: cannot include this table" },
};

static void encodes_classic_names(void **state)
{
	(void)state;
	assert_chosen(classic_choices, COUNT_OF(classic_choices));
}

static void rejects_bad_classic_tables(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(bad_tables); i++) {
		struct event_catalog *c = calloc(1, sizeof(*c));
		struct err err = { 0 };

		assert_non_null(c);
		c->cpu = cpu_type_find("i386/skylake");
		assert_int_equal(
			event_classic_add_text(c, "x", bad_tables[i].text, &err),
			-EBADMSG);
		assert_string_equal(err.text, bad_tables[i].error);
		event_catalog_close(c);
	}
}

/* The encodings of libpfm4 4.13 (pfm_get_os_event_encoding(), PFM_OS_PERF_EVENT); for CPUs
 * without a list in it, its encoding of the same code on another CPU. */
static const struct {
	const char *cpu, *spec;
	uint64_t config, config1;
	const char *scope; /* u, k, or both */
	const char *text;  /* part of the error message */
} strings[] = {
	{ "i386/skylake", "skl::MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=30:u", 0x1cd, 30,
	  "u", NULL },
	{ "i386/skylake", "FRONTEND_RETIRED:IDQ_3_BUBBLES:fe_thres=4", 0x1c6, 0x300406,
	  "uk", NULL },
	{ "i386/skylake", "CPU_CLK_UNHALTED:THREAD_P:t=1", 0x20003c, 0, "uk", NULL },
	{ "i386/skylake", "INST_RETIRED:ANY_P:intx=1:intxcp=1", 0x3000000c0, 0, "uk",
	  NULL },
	{ "i386/icelake-sp", "UOPS_ISSUED:ANY:c=1:i:u", 0x180010e, 0, "u", NULL },
	{ "i386/sapphirerapids", "INST_RETIRED:ANY_P:e:c=10", 0xa0400c0, 0, "uk",
	  NULL },
	{ "i386/graniterapids", "UOPS_ISSUED:ANY:c=1:i=1:u", 0x18001ae, 0, "u", NULL },
	{ "x86-64/zen4", "EX_RET_OPS:c=2:i", 0x28000c1, 0, "uk", NULL },
	{ "x86-64/zen5", "EX_RET_OPS:cmask=2:inv=y", 0x28000c1, 0, "uk", NULL },
	{ "arm/armv8-neoverse-n1", "CPU_CYCLES:u:k", 0x11, 0, "uk", NULL },
	/* Classic names: the vendor's LONGEST_LAT_CACHE.MISS and MEM_UOPS_RETIRED.DTLB_MISS. */
	{ "i386/goldmont", "L2_LINES_IN", 0x412e, 0, "uk", NULL },
	{ "i386/goldmont", "DTLB_MISSES", 0x13d0, 0, "uk", NULL },
	{ "i386/skylake", "MEM_TRANS_RETIRED:LOAD_LATENCY_GT_4:ldlat=2", 0, 0, NULL,
	  "Invalid event part ldlat=2 of MEM_TRANS_RETIRED: expected 3 to 65535" },
	{ "i386/skylake", "CYCLE_ACTIVITY:STALLS_L1D_MISS:c=1", 0, 0, NULL,
	  "Invalid event part c=1: the unit mask of CYCLE_ACTIVITY already sets it" },
	{ "i386/skylake", "ITLB_MISSES:WALK_COMPLETED:ldlat=30", 0, 0, NULL,
	  "Invalid event part ldlat=30: unknown for the event ITLB_MISSES" },
	{ "arm/armv8-neoverse-n1", "CPU_CYCLES:c=1", 0, 0, NULL,
	  "Invalid event part c=1 of CPU_CYCLES: unknown for ARM Neoverse N1" },
	{ "i386/skylake", "ITLB_MISSES:WALK_COMPLETED:foo=3", 0, 0, NULL,
	  "Invalid event part foo=3 of ITLB_MISSES" },
	{ "i386/skylake", "hsw::ITLB_MISSES", 0, 0, NULL,
	  "No event named hsw::ITLB_MISSES is available. (The prefix for " },
};

static void parses_libpfm_strings(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(strings); i++) {
		struct event_requests reqs = {
			.cpu = cpu_type_find(strings[i].cpu),
			.counting = true,
			.no_host = true,
		};
		struct err err = { 0 };
		const struct event_request *e;

		if (reqs.cpu->pfm && !has_tables(reqs.cpu))
			continue;
		e = events_parse(strings[i].spec, 0, &reqs, &err) ? NULL
								  : &reqs.list.at[0];
		if (!e && (!strings[i].text ||
			   strncmp(err.text, strings[i].text, strlen(strings[i].text))))
			fail_msg("%s: %s", strings[i].spec, err.text);
		if (e && (strings[i].text || e->attr.config != strings[i].config ||
			  e->attr.config1 != strings[i].config1 ||
			  e->user != !!strchr(strings[i].scope, 'u') ||
			  e->kernel != !!strchr(strings[i].scope, 'k')))
			fail_msg("%s: 0x%llx 0x%llx", strings[i].spec,
				 (unsigned long long)e->attr.config,
				 (unsigned long long)e->attr.config1);
		events_done(&reqs);
	}
}

static const struct {
	const char *text;
	const char *error;
} bad_lists[] = {
	{ "CYCLES 0x11\n", "x, line 1: no ' : ' before the description" },
	{ "# fine\nCYCLES : a\n", "x, line 2: no config word" },
	{ "CYCLES 17 : a\n", "x, line 1: the config word is not hexadecimal" },
	{ "CYC/LES 0x11 : a\n", "x, line 1: no name of an event" },
	{ "CYCLES 0x11 often : a\n", "x, line 1: unknown word before the colon" },
	{ "CYCLES 0x11 on=3 : a\n", "x, line 1: unknown word before the colon" },
	{ "CYCLES 0x11 on=0x : a\n", "x, line 1: unknown word before the colon" },
	{ "\tMASK 0x1 : a\n", "x, line 1: a unit mask before any event" },
	{ "A 0x1 : a\n\tM 0x1 : a\n\tM 0x2 : b\n",
	  "x, line 3: the unit mask occurs twice" },
	{ "A 0x1 : a\n\tM - : a\n", "x, line 2: a unit mask without config" },
};

static void rejects_bad_lists(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(bad_lists); i++) {
		struct event_catalog *c = calloc(1, sizeof(*c));
		struct err err = { 0 };

		assert_non_null(c);
		assert_int_equal(event_list_add(c, "x", bad_lists[i].text, &err),
				 -EBADMSG);
		assert_string_equal(err.text, bad_lists[i].error);
		event_catalog_close(c);
	}
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(vendors_events_have_their_codes),
		cmocka_unit_test(selects_unit_masks),
		cmocka_unit_test(maps_classic_names_to_events),
		cmocka_unit_test(chooses_each_classic_row),
		cmocka_unit_test(encodes_classic_names),
		cmocka_unit_test(rejects_bad_classic_tables),
		cmocka_unit_test(tables_agree_with_libpfm),
		cmocka_unit_test(parses_libpfm_strings),
		cmocka_unit_test(rejects_bad_lists),
	};

	return UNIT_RUN(cases);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/events/cpu_types.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/files/io.h"
#include "base/parse.h"
#include "capture/events/priv.h"

enum {
	CPUINFO_MAX = 1 << 16, /* enough for the first CPU */
	VALUE_MAX = 48
};

const struct cpu_type *cpu_type_at(size_t i)
{
	return i < cpu_type_nr_rows ? &cpu_type_rows[i] : NULL;
}

const struct cpu_type *cpu_type_find(const char *word)
{
	uint64_t number = UINT64_MAX;
	const struct cpu_type *type;

	(void)parse_u64(word, &number);
	for (size_t i = 0; (type = cpu_type_at(i)); i++)
		if (!strcasecmp(type->name, word) ||
		    (type->number >= 0 && (uint64_t)type->number == number))
			return type;
	return NULL;
}

/* Copies the value of the first line "name   : value" with this name. Returns false if no line has
 * the name. */
static bool cpu_types_value_of(const char *cpuinfo, const char *name,
			       char ret_value[VALUE_MAX])
{
	size_t len = strlen(name);

	for (const char *line = cpuinfo; line && *line; line = strchr(line, '\n')) {
		const char *at;

		line += *line == '\n';
		if (strncmp(line, name, len))
			continue;
		at = line + len + strspn(line + len, " \t");
		if (*at != ':')
			continue;
		at++;
		at += strspn(at, " \t");
		(void)snprintf(ret_value, VALUE_MAX, "%.*s", (int)strcspn(at, "\n"),
			       at);
		return true;
	}
	return false;
}

static bool x86_key(const char *cpuinfo, char ret_key[CPU_TYPE_KEY_MAX])
{
	char vendor[VALUE_MAX], family[VALUE_MAX], model[VALUE_MAX], step[VALUE_MAX];
	uint64_t f, m, s = 0;

	if (!cpu_types_value_of(cpuinfo, "vendor_id", vendor) ||
	    !cpu_types_value_of(cpuinfo, "cpu family", family) ||
	    !cpu_types_value_of(cpuinfo, "model", model) || !parse_u64(family, &f) ||
	    !parse_u64(model, &m))
		return false;
	if (cpu_types_value_of(cpuinfo, "stepping", step))
		(void)parse_u64(step, &s);
	(void)snprintf(ret_key, CPU_TYPE_KEY_MAX, "%.16s-%llX-%llX-%llX", vendor,
		       (unsigned long long)f, (unsigned long long)m,
		       (unsigned long long)s);
	return true;
}

static bool s390_key(const char *cpuinfo, char ret_key[CPU_TYPE_KEY_MAX])
{
	const char *at = strstr(cpuinfo, "machine = ");

	if (!at || !strstr(cpuinfo, "IBM/S390"))
		return false;
	at += strlen("machine = ");
	(void)snprintf(ret_key, CPU_TYPE_KEY_MAX, "s390-%.*s",
		       (int)strspn(at, "0123456789"), at);
	return true;
}

void cpu_type_key(const char *cpuinfo, char ret_key[CPU_TYPE_KEY_MAX])
{
	char a[VALUE_MAX], b[VALUE_MAX];

	ret_key[0] = '\0';
	if (x86_key(cpuinfo, ret_key) || s390_key(cpuinfo, ret_key))
		return;
	if (cpu_types_value_of(cpuinfo, "CPU implementer", a) &&
	    cpu_types_value_of(cpuinfo, "CPU part", b))
		(void)snprintf(ret_key, CPU_TYPE_KEY_MAX, "arm-%.8s-%.8s", a, b);
	else if (cpu_types_value_of(cpuinfo, "mvendorid", a) &&
		 cpu_types_value_of(cpuinfo, "marchid", b))
		(void)snprintf(ret_key, CPU_TYPE_KEY_MAX, "riscv-%.12s-%.20s", a, b);
	else if (cpu_types_value_of(cpuinfo, "hart", a) &&
		 cpu_types_value_of(cpuinfo, "isa", b))
		(void)snprintf(ret_key, CPU_TYPE_KEY_MAX, "riscv");
	else if (cpu_types_value_of(cpuinfo, "cpu", a) &&
		 (!strncmp(a, "POWER", 5) || !strncmp(a, "PPC970", 6)))
		(void)snprintf(ret_key, CPU_TYPE_KEY_MAX, "power-%.*s",
			       (int)strcspn(a, " ,("), a);
}

/* Returns true if one of the patterns, which are separated by blanks, matches. */
static bool cpu_types_matches(const char *patterns, const char *key)
{
	char pattern[CPU_TYPE_KEY_MAX];

	while (patterns && *patterns) {
		size_t len = strcspn(patterns, " ");

		(void)snprintf(pattern, sizeof(pattern), "%.*s", (int)len, patterns);
		if (!fnmatch(pattern, key, 0))
			return true;
		patterns += len + (patterns[len] == ' ');
	}
	return false;
}

const struct cpu_type *cpu_type_of_key(const char *key)
{
	const struct cpu_type *type;

	for (size_t i = 0; (type = cpu_type_at(i)); i++)
		if (cpu_types_matches(type->match, key))
			return type;
	return NULL;
}

const struct cpu_type *cpu_type_host(void)
{
	char key[CPU_TYPE_KEY_MAX] = "";
	struct buf text = { 0 };

	/* Ignore -EFBIG: the text of the first CPU is enough. */
	(void)io_read_file("/proc/cpuinfo", &text, CPUINFO_MAX);
	buf_put_u8(&text, 0);
	if (!text.failed)
		cpu_type_key((const char *)text.data, key);
	buf_done(&text);
	return *key ? cpu_type_of_key(key) : NULL;
}

#define P4_BUS_MASKS                                                                   \
	"TYPE_BIT0+ALL_READ+ALL_WRITE+MEM_UC+MEM_WC+MEM_WT+MEM_WP+MEM_WB+OWN+OTHER+PREFETCH"

/* Event names of OProfile's tables for older CPUs, with today's name of the same event. If a
 * name has several rows, the first one that the catalogue contains is used. */
static const struct classic {
	const char *cpus; /* pattern for names of CPU types */
	const char *name;
	const char *is;
} classics[] = {
	{ "i386/*", "CPU_CLK_UNHALTED", "CPU_CLK_UNHALTED.THREAD_P" },
	{ "i386/*", "CPU_CLK_UNHALTED", "CPU_CLK_UNHALTED.THREAD" },
	{ "i386/*", "CPU_CLK_UNHALTED", "CPU_CLK_UNHALTED.CORE_P" },
	{ "i386/*", "CPU_CLK_UNHALTED", "CPU_CLK_UNHALTED.CORE" },
	{ "i386/*", "INST_RETIRED", "INST_RETIRED.ANY_P" },
	{ "i386/*", "INST_RETIRED", "INST_RETIRED.ANY" },
	{ "i386/*", "INST_RETIRED", "INSTRUCTION_RETIRED" },
	{ "i386/*", "LLC_MISSES", "LONGEST_LAT_CACHE.MISS" },
	{ "i386/*", "LLC_MISSES", "LAST_LEVEL_CACHE_MISSES" },
	{ "i386/*", "LLC_REFS", "LONGEST_LAT_CACHE.REFERENCE" },
	{ "i386/*", "LLC_REFS", "LONGEST_LAT_CACHE.REFERENCES" },
	{ "i386/*", "LLC_REFS", "LAST_LEVEL_CACHE_REFERENCES" },
	{ "i386/*", "BR_INST_RETIRED", "BR_INST_RETIRED.ALL_BRANCHES" },
	{ "i386/*", "BR_INST_RETIRED", "BRANCH_INSTRUCTIONS_RETIRED" },
	{ "i386/*", "BR_MISS_PRED_RETIRED", "BR_MISP_RETIRED.ALL_BRANCHES" },
	{ "i386/*", "BR_MISS_PRED_RETIRED", "MISPREDICTED_BRANCH_RETIRED" },
	{ "i386/*", "DCU_LINES_IN", "L1D.REPLACEMENT" },
	{ "i386/*", "DCU_LINES_IN", "L1D.REPL" },
	{ "i386/*", "L2_LINES_IN", "L2_LINES_IN.ALL" },
	{ "i386/*", "DTLB_MISSES", "DTLB_LOAD_MISSES.MISS_CAUSES_A_WALK" },
	{ "i386/*", "DTLB_MISSES", "DTLB_MISSES.ANY" },
	{ "i386/*", "DTLB_MISSES", "DTLB_LOAD_MISSES.WALK_COMPLETED" },
	{ "i386/*", "DTLB_MISSES",
	  "DTLB_LOAD_MISSES.WALK_COMPLETED_4K+WALK_COMPLETED_2M_4M" },
	{ "i386/*", "ITLB_MISS", "ITLB_MISSES.MISS_CAUSES_A_WALK" },
	{ "i386/*", "ITLB_MISS", "ITLB_MISSES.MISS_CAUSED_WALK" },
	{ "i386/*", "ITLB_MISS", "ITLB_MISSES.ANY" },
	{ "i386/*", "ITLB_MISS", "ITLB_MISSES.WALK_COMPLETED" },
	{ "i386/*", "ITLB_MISS", "ITLB_MISSES.WALK_COMPLETED_4K+WALK_COMPLETED_2M_4M" },
	{ "i386/*", "UOPS_RETIRED", "UOPS_RETIRED.RETIRE_SLOTS" },
	{ "i386/*", "UOPS_RETIRED", "UOPS_RETIRED.SLOTS" },
	{ "i386/*", "UOPS_RETIRED", "UOPS_RETIRED.ALL" },
	{ "i386/*", "UOPS_RETIRED", "UOPS_RETIRED.ANY" },
	{ "i386/*", "BR_MISS_PRED_RETIRED", "BR_MISSES_RETIRED" },
	{ "i386/*", "DCU_LINES_IN", "L1D_REPL" },
	{ "i386/*", "DTLB_MISSES", "DATA_TLB_MISSES.DTLB_MISS" },
	{ "i386/*", "ITLB_MISS", "ITLB.MISSES" },
	{ "i386/*", "ITLB_MISS", "ITLB.MISS" },
	/* On these small cores, the second-level cache is the last-level cache. */
	{ "i386/goldmont*", "L2_LINES_IN", "LONGEST_LAT_CACHE.MISS" },
	{ "i386/silvermont", "L2_LINES_IN", "LONGEST_LAT_CACHE.MISS" },
	{ "i386/goldmont*", "DTLB_MISSES", "MEM_UOPS_RETIRED.DTLB_MISS" },
	{ "i386/silvermont", "DTLB_MISSES", "MEM_UOPS_RETIRED.DTLB_MISS_LOADS" },
	/* For the Pentium 4, the masks are the default masks of OProfile's table. */
	{ "i386/p4*", "CPU_CLK_UNHALTED", "GLOBAL_POWER_EVENTS.RUNNING" },
	{ "i386/p4*", "INST_RETIRED", "INSTR_RETIRED.NBOGUSNTAG" },
	{ "i386/p4*", "INSTR_RETIRED", "INSTR_RETIRED.NBOGUSNTAG" },
	{ "i386/p4*", "UOPS_RETIRED", "UOPS_RETIRED.NBOGUS" },
	{ "i386/p4*", "BRANCH_RETIRED", "BRANCH_RETIRED.MMTP+MMTM" },
	{ "i386/p4*", "BR_INST_RETIRED", "BRANCH_RETIRED.MMNP+MMNM+MMTP+MMTM" },
	{ "i386/p4*", "BR_MISS_PRED_RETIRED", "MISPRED_BRANCH_RETIRED.BOGUS" },
	{ "i386/p4*", "FRONT_END_EVENT", "FRONT_END_EVENT.NBOGUS" },
	{ "i386/p4*", "EXECUTION_EVENT", "EXECUTION_EVENT.NBOGUS0" },
	{ "i386/p4*", "REPLAY_EVENT", "REPLAY_EVENT.NBOGUS" },
	{ "i386/p4*", "MACHINE_CLEAR", "MACHINE_CLEAR.CLEAR" },
	{ "i386/p4*", "ITLB_REFERENCE", "ITLB_REFERENCE.HIT+MISS+HIT_UC" },
	{ "i386/p4*", "MEMORY_CANCEL", "MEMORY_CANCEL.64K_CONF" },
	{ "i386/p4*", "MEMORY_COMPLETE", "MEMORY_COMPLETE.LSC+SSC" },
	{ "i386/p4*", "MOB_LOAD_REPLAY",
	  "MOB_LOAD_REPLAY.NO_STA+NO_STD+PARTIAL_DATA+UNALGN_ADDR" },
	{ "i386/p4*", "BSQ_CACHE_REFERENCE",
	  "BSQ_CACHE_REFERENCE.RD_2NDL_HITS+RD_2NDL_HITE+RD_2NDL_HITM+RD_3RDL_HITS+RD_3RDL_HITE+RD_3RDL_HITM+RD_2NDL_MISS+RD_3RDL_MISS+WR_2NDL_MISS" },
	{ "i386/p4*", "IOQ_ALLOCATION", "IOQ_ALLOCATION." P4_BUS_MASKS },
	{ "i386/p4*", "IOQ_ACTIVE_ENTRIES", "IOQ_ACTIVE_ENTRIES." P4_BUS_MASKS },
	{ "i386/p4*", "BSQ_ALLOCATION", "BSQ_ALLOCATION.REQ_TYPE0+REQ_IO_TYPE" },
	{ "i386/p4*", "BSQ_ACTIVE_ENTRIES",
	  "BSQ_ACTIVE_ENTRIES.REQ_TYPE0+REQ_IO_TYPE" },
	{ "i386/p4*", "X87_ASSIST", "X87_ASSIST.FPSU+FPSO+POAO+POAU+PREA" },
	{ "i386/p4*", "UOP_QUEUE_WRITES",
	  "UOP_QUEUE_WRITES.FROM_TC_BUILD+FROM_TC_DELIVER+FROM_ROM" },
	{ "i386/p4*", "UOP_TYPE", "UOPS_TYPE" },
	{ "i386/p4*", "UOP_TYPE", "UOPS_TYPE.TAGLOADS" },
	{ "i386/p4*", "RETIRED_MISPRED_BRANCH_TYPE",
	  "RETIRED_MISPRED_BRANCH_TYPE.CONDITIONAL+CALL+RETURN+INDIRECT" },
	{ "i386/p4*", "RETIRED_BRANCH_TYPE",
	  "RETIRED_BRANCH_TYPE.CONDITIONAL+CALL+RETURN+INDIRECT" },
	{ "i386/p4*", "TC_DELIVER_MODE", "TC_DELIVER_MODE.DI" },
	{ "i386/p4*", "PAGE_WALK_TYPE", "PAGE_WALK_TYPE.DTMISS" },
	{ "i386/p4*", "FSB_DATA_ACTIVITY",
	  "FSB_DATA_ACTIVITY.DRDY_DRV+DRDY_OWN+DRDY_OTHER+DBSY_DRV+DBSY_OWN+DBSY_OTHER" },
	{ "i386/p4*", "LLC_MISSES", "BSQ_CACHE_REFERENCE.RD_2NDL_MISS" },
	{ "i386/p4*", "L2_LINES_IN", "BSQ_CACHE_REFERENCE.RD_2NDL_MISS" },
	{ "i386/p4*", "LLC_REFS",
	  "BSQ_CACHE_REFERENCE.RD_2NDL_HITS+RD_2NDL_HITE+RD_2NDL_HITM+RD_2NDL_MISS" },
	{ "i386/p4*", "DTLB_MISSES", "PAGE_WALK_TYPE.DTMISS" },
	{ "i386/p4*", "ITLB_MISS", "ITLB_REFERENCE.MISS" },
	{ "x86-64/*", "CPU_CLK_UNHALTED", "CYCLES_NOT_IN_HALT" },
	{ "x86-64/*", "CPU_CLK_UNHALTED", "LS_NOT_HALTED_CYC" },
	{ "x86-64/*", "CYCLES_NOT_IN_HALT", "LS_NOT_HALTED_CYC" },
	{ "x86-64/*", "INST_RETIRED", "RETIRED_INSTRUCTIONS" },
	{ "x86-64/*", "INST_RETIRED", "EX_RET_INSTR" },
	{ "x86-64/*", "RETIRED_INSTRUCTIONS", "EX_RET_INSTR" },
	{ "x86-64/*", "RETIRED_UOPS", "EX_RET_OPS" },
	{ "x86-64/*", "RETIRED_BRANCH_INSTRUCTIONS", "EX_RET_BRN" },
	{ "x86-64/*", "RETIRED_MISPREDICTED_BRANCH_INSTRUCTIONS",
	  "RETIRED_BRANCH_INSTRUCTIONS_MISPREDICTED" },
	{ "x86-64/*", "RETIRED_MISPREDICTED_BRANCH_INSTRUCTIONS", "EX_RET_BRN_MISP" },
	{ "x86-64/*", "BR_INST_RETIRED", "RETIRED_BRANCH_INSTRUCTIONS" },
	{ "x86-64/*", "BR_INST_RETIRED", "EX_RET_BRN" },
	{ "x86-64/*", "BR_MISS_PRED_RETIRED",
	  "RETIRED_BRANCH_INSTRUCTIONS_MISPREDICTED" },
	{ "x86-64/*", "BR_MISS_PRED_RETIRED", "EX_RET_BRN_MISP" },
	{ "x86-64/*", "DATA_CACHE_ACCESSES", "LS_DC_ACCESSES" },
	{ "x86-64/*", "DATA_CACHE_ACCESSES", "ALL_DATA_CACHE_ACCESSES" },
	{ "x86-64/*", "DATA_CACHE_ACCESSES", "LS_DISPATCH.ALL" },
	{ "x86-64/*", "DATA_CACHE_MISSES", "L2_REQUEST_G1.ALL_DC" },
	{ "x86-64/*", "DATA_CACHE_MISSES", "L2_CACHE_ACCESSES_FROM_DC_MISSES" },
	{ "x86-64/*", "BR_MISS_PRED_RETIRED",
	  "RETIRED_MISPREDICTED_BRANCH_INSTRUCTIONS" },
	{ "x86-64/*", "LLC_MISSES", "LS_ANY_FILLS_FROM_SYS.DRAM_IO_ALL" },
	{ "x86-64/*", "LLC_MISSES",
	  "LS_ANY_FILLS_FROM_SYS.MEM_IO_LOCAL+MEM_IO_REMOTE" },
	{ "x86-64/*", "LLC_MISSES",
	  "LS_REFILLS_FROM_SYS.LS_MABRESP_LCL_DRAM+LS_MABRESP_RMT_DRAM" },
	{ "x86-64/family15h", "LLC_MISSES", "L3_CACHE_MISSES" },
	{ "x86-64/family10", "LLC_MISSES", "L3_CACHE_MISSES" },
	{ "x86-64/*", "LLC_MISSES", "L2_CACHE_MISS" },
	{ "arm/*", "CPU_CLK_UNHALTED", "CPU_CYCLES" },
	{ "arm/*", "INST_RETIRED", "INST_RETIRED" },
	{ "arm/*", "LLC_MISSES", "LL_CACHE_MISS_RD" },
	{ "arm/*", "LLC_MISSES", "L2D_CACHE_REFILL" },
	{ "arm/*", "LLC_REFS", "LL_CACHE_RD" },
	{ "arm/*", "BR_INST_RETIRED", "BR_RETIRED" },
	{ "arm/*", "BR_MISS_PRED_RETIRED", "BR_MIS_PRED_RETIRED" },
	{ "ppc64/*", "CYCLES", "PM_CYC" },
	{ "ppc64/*", "CPU_CLK_UNHALTED", "PM_RUN_CYC" },
	{ "ppc64/*", "INST_RETIRED", "PM_INST_CMPL" },
	{ "ppc64/*", "LLC_MISSES", "PM_DATA_FROM_L3MISS" },
	{ "ppc64/*", "BR_MISS_PRED_RETIRED", "PM_BR_MPRED_CMPL" },
	{ "s390/*", "CPU_CLK_UNHALTED", "CPU_CYCLES" },
	{ "s390/*", "INST_RETIRED", "INSTRUCTIONS" },
};

enum {
	NR_CLASSICS = COUNT_OF(classics)
};

const char *cpu_type_classic(const struct cpu_type *cpu, const char *name, size_t index)
{
	for (size_t i = 0; i < NR_CLASSICS; i++)
		if (!strcasecmp(classics[i].name, name) &&
		    !fnmatch(classics[i].cpus, cpu->name, 0) && index-- == 0)
			return classics[i].is;
	return NULL;
}

const char *cpu_type_classic_next(size_t *at)
{
	while (*at < NR_CLASSICS) {
		size_t row = (*at)++;
		bool seen = false;

		/* Search backwards, because rows with the same name are usually adjacent. */
		for (size_t before = row; before-- > 0 && !seen;)
			seen = !strcmp(classics[before].name, classics[row].name);
		if (!seen)
			return classics[row].name;
	}
	return NULL;
}

/* cpu_types.h - the types of CPUs that have names: OProfile's, and those made since.
 * Layer: capture. */
#pragma once
#include <stddef.h>

struct cpu_type {
	int number;         /* OProfile's; -1: it has none for it */
	const char *name;   /* "i386/skylake" */
	const char *title;  /* "Intel Skylake microarchitecture" */
	const char *pfm;    /* the table of libpfm4, NULL: none */
	const char *list;   /* our own, NULL: none */
	const char *common; /* what all of the architecture have, NULL: none */
	const char *default_event;
	const char *document;     /* where its events are described, NULL: not known */
	const char *match;        /* patterns of cpu_type_key(), separated by blanks */
	unsigned int nr_counters; /* general ones; 0: as libpfm4 says, if it does */
};

/* The i-th, NULL behind the last. */
const struct cpu_type *cpu_type_at(size_t i);
/* By name, or by OProfile's number; NULL: no such type. */
const struct cpu_type *cpu_type_find(const char *word);
/* The type of this machine, by /proc/cpuinfo; NULL where it is not known. */
const struct cpu_type *cpu_type_host(void);
enum {
	CPU_TYPE_KEY_MAX = 64
};
/* What decides, of the text of a /proc/cpuinfo: "GenuineIntel-6-8F-8" (vendor, family, model,
 * stepping), "arm-0x41-0xd0c", "s390-8561", "power-POWER9", "riscv"; "" if nothing is known. */
void cpu_type_key(const char *cpuinfo, char ret_key[CPU_TYPE_KEY_MAX]);
/* The first type that a key matches, or NULL. */
const struct cpu_type *cpu_type_of_key(const char *key);
/* An older or shorter name of an event of `cpu` as its catalogue calls it ("LLC_MISSES":
 * "LONGEST_LAT_CACHE.MISS"), one after the other; NULL behind the last. */
const char *cpu_type_classic(const struct cpu_type *cpu, const char *name, size_t turn);
/* The classic names themselves, each once, NULL behind the last: *at begins as 0. */
const char *cpu_type_classic_next(size_t *at);

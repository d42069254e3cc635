/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpu_types.h - the known CPU types: OProfile's, and newer ones.
 * Layer: capture. */
#pragma once
#include <stddef.h>

struct cpu_type {
	int number;         /* OProfile's number of the type; -1: OProfile has none */
	const char *name;   /* "i386/skylake" */
	const char *title;  /* "Intel Skylake microarchitecture" */
	const char *pfm;    /* name of libpfm4's table, or NULL */
	const char *list;   /* our event list, or NULL */
	const char *common; /* event list of the architecture, or NULL */
	const char *default_event;
	const char *document; /* where its events are documented; NULL: unknown */
	const char *match;    /* patterns for cpu_type_key(), separated by blanks */
	/* number of general counters; 0: use libpfm4's number, if any */
	unsigned int nr_counters;
};

/* Returns the i-th type, or NULL after the last one. */
const struct cpu_type *cpu_type_at(size_t i);
/* Finds a type by name or by OProfile's number. Returns NULL if it does not exist. */
const struct cpu_type *cpu_type_find(const char *word);
/* Returns the type of this machine according to /proc/cpuinfo, or NULL if it is unknown. */
const struct cpu_type *cpu_type_host(void);
enum {
	CPU_TYPE_KEY_MAX = 64
};
/* Extracts the identification from the text of /proc/cpuinfo: "GenuineIntel-6-8F-8" (vendor,
 * family, model, stepping), "arm-0x41-0xd0c", "s390-8561", "power-POWER9", "riscv"; "" if
 * unknown. */
void cpu_type_key(const char *cpuinfo, char ret_key[CPU_TYPE_KEY_MAX]);
/* Returns the first type that matches a key, or NULL. */
const struct cpu_type *cpu_type_of_key(const char *key);
/* Translates an older or shorter event name to a name in the catalogue of `cpu`, for example
 * LLC_MISSES to LONGEST_LAT_CACHE.MISS. `index` counts the translations from 0. Returns NULL after
 * the last one. */
const char *cpu_type_classic(const struct cpu_type *cpu, const char *name,
			     size_t index);
/* Enumerates the classic names, each once. Set *at to 0 first. Returns NULL after the last. */
const char *cpu_type_classic_next(size_t *at);

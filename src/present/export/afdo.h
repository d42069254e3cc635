/* SPDX-License-Identifier: GPL-2.0-or-later */
/* afdo.h - writes a sample profile for clang -fprofile-sample-use and llvm-profdata.
 * Layer: present.  Not thread safe.
 * Counts are by line relative to the start of the function, and discriminator; inlined functions
 * are nested in their callers.  Format: Clang User's Manual, "Sample Profile Text Format";
 * discriminators: llvm/IR/DebugInfoMetadata.h. */
#pragma once
#include <stdint.h>
#include <stdio.h>

struct afdo;
struct code_counts;
struct dict;
struct lines_options;
struct naming;

/* How many samples were used or dropped. */
struct afdo_stats {
	uint64_t used;
	uint64_t without_lines; /* dropped: no debug information for the code */
	uint64_t without_start; /* dropped: the first line of the function is unknown */
};

/* Makes an empty profile. Returns 0 or -ENOMEM.  Free *ret_afdo with afdo_free(). */
int afdo_new(struct afdo **ret_afdo);
void afdo_free(struct afdo *a); /* `a` can be NULL */
/* Adds the counts of a source. Branch stacks show how often code ran, samples only how long it ran.
 * So branch stacks are used if the source has them, and otherwise the samples. `naming` must belong
 * to the dict of the images. Returns 0 or -ENOMEM. */
int afdo_add(struct afdo *a, const struct code_counts *counts, const struct dict *dict,
	     struct naming *naming, const struct lines_options *lines);
/* Returns the number of functions, and in *ret_stats how many samples were used or dropped. */
size_t afdo_nr_functions(const struct afdo *a, struct afdo_stats *ret_stats);
/* Writes the functions, most samples first.  Returns 0 or -ENOMEM.  The caller checks `out` with
 * ferror(). */
int afdo_write(struct afdo *a, FILE *out);

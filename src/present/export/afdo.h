/* afdo.h - a sample profile as clang -fprofile-sample-use and llvm-profdata read it.
 * Layer: present.  Not thread safe.
 *
 * Counts stand at lines, counted from where their function begins, and discriminators; what was
 * inlined stands below where it was.  Source of the format: Clang User's Manual, "Sample Profile
 * Text Format"; of discriminators: llvm/IR/DebugInfoMetadata.h. */
#pragma once
#include <stdint.h>
#include <stdio.h>

struct afdo;
struct code_counts;
struct dict;
struct lines_options;
struct naming;

/* What became of the samples. */
struct afdo_stats {
	uint64_t used;
	uint64_t without_lines; /* no debug information knows the code */
	uint64_t without_start; /* ... but not where its function begins */
};

/* 0 or -ENOMEM. */
int afdo_new(struct afdo **ret_afdo);
void afdo_free(struct afdo *a); /* NULL is fine */
/* Adds what one source counted: by branch stacks where it has them, which tell how often code ran,
 * else by samples, which tell how long.  `naming` is of the dict that the images are of.
 * 0 or -ENOMEM. */
int afdo_add(struct afdo *a, const struct code_counts *counts, const struct dict *dict,
	     struct naming *naming, const struct lines_options *lines);
/* How many functions there are; what became of the samples. */
size_t afdo_nr_functions(const struct afdo *a, struct afdo_stats *ret_stats);
/* Functions with most samples first.  0 or -ENOMEM; errors of `out` are found by ferror(). */
int afdo_write(struct afdo *a, FILE *out);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bolt.h - writes the same output as perf2bolt, for one binary.
 * Layer: present. With branch stacks, one line per branch: "1 FROM OFFSET 1 TO OFFSET MISPREDICTED
 * COUNT", with hexadecimal offsets from the start of the function, and "0 [unknown] 0" for a
 * location in no function of the binary. Execution that continues from one basic block into the
 * next also counts as a branch. Without branch stacks: "no_lbr EVENTS" and "1 FUNCTION OFFSET
 * COUNT". */
#pragma once
#include <stdbool.h>
#include <stdio.h>

struct bolt;
struct code_counts;
struct dict;
struct err;
struct naming;

/* Creates the object. Returns 0 or -ENOMEM with a message in *err; release it with bolt_free(). */
int bolt_new(struct bolt **ret_bolt, struct err *err);
void bolt_free(struct bolt *b);
/* Adds the counts of one source; `bolt` is the struct bolt. The first source selects the binary:
 * the one with the most samples. Returns 0, or a negative errno with a message in *err. */
int bolt_add_source(void *bolt, const struct code_counts *counts,
		    const struct dict *dict, struct naming *naming, struct err *err);
/* Writes the counts of all sources. Returns 0; -ENODATA if no sample is in a function; or -ENOMEM;
 * with a message in *err. */
int bolt_write(struct bolt *b, FILE *out, struct err *err);
/* Returns the path of the binary, or NULL if no source has a binary with samples. */
const char *bolt_binary(const struct bolt *b);
bool bolt_has_branches(const struct bolt *b);

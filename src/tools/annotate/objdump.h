/* SPDX-License-Identifier: GPL-2.0-or-later */
/* objdump.h - functions as objdump shows them, for `opannotate --objdump-params`.
 * Layer: tools.  The output of `objdump -d --no-show-raw-insn [-S]` with further options, of one
 * function at a time, with the samples in front: as OProfile does it (oprofile-behaviour.md 1.2). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct assembly;
struct assembly_function;
struct err;

struct annotate_objdump {
	char **params; /* ends with NULL */
	char *text;    /* what they point into */
	bool mixed;    /* source lines, too */
	bool failed;   /* it was said that it does not work */
};

/* The parameters are split at blanks; there is no quoting.  0 or -ENOMEM with a line. */
int annotate_objdump_init(struct annotate_objdump *o, const char *params, bool mixed,
			  struct err *err);
void annotate_objdump_done(struct annotate_objdump *o);
/* Writes the instructions of a function whose rows are at hand.  1: it did, and what it showed
 * was added to `shown`; 0: objdump cannot do it, which is said; -ENOMEM. */
int annotate_objdump_write(struct annotate_objdump *o, FILE *out,
			   const struct assembly *s,
			   const struct assembly_function *function, uint64_t *shown);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* objdump.h - prints functions with objdump, for `opannotate --objdump-params`.
 * Layer: present. Runs `objdump -d --no-show-raw-insn [-S]` with the user's options for one
 * function at a time and adds the samples on the left, as OProfile does. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct assembly;
struct assembly_function;
struct err;

struct annotate_objdump {
	char **params; /* NULL-terminated */
	char *text;    /* contains the strings of `params` */
	bool mixed;    /* with source lines */
	bool failed;   /* already warned that objdump failed */
};

/* Splits the parameters at blanks, without quoting.  Returns 0 or -ENOMEM with a message in *err.
 */
int annotate_objdump_init(struct annotate_objdump *o, const char *params, bool mixed,
			  struct err *err);
void annotate_objdump_done(struct annotate_objdump *o);
/* Writes the instructions of the current function. Returns 1 and adds the function's samples to
 * `shown`; 0 if objdump cannot show the function; or -ENOMEM. If it returns 0, *why_not is the
 * reason, except after an earlier failure of objdump. */
int annotate_objdump_write(struct annotate_objdump *o, FILE *out,
			   const struct assembly *s,
			   const struct assembly_function *function, uint64_t *shown,
			   struct err *why_not);

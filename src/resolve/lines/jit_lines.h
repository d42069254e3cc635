/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jit_lines.h - source lines of the code in a jitdump.
 * Layer: resolve.
 *
 * Code is identified by its first address and its function's name. If several were loaded at
 * the same address with the same name, the last one wins. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/files/mapped.h"
#include "format/jit/jitdump.h"

struct jit_lines;

/* `dump` and its bytes must outlive the object. Returns 0 or -ENOMEM. */
int jit_lines_new(const struct jitdump *dump, const struct mapped *bytes,
		  struct jit_lines **ret_lines);
void jit_lines_free(struct jit_lines *l); /* accepts NULL */
/* Returns the code at an address: that of `function`, if it has code there (NULL: any), else
 * the code that was loaded last. Returns NULL if none exists. */
const struct jitdump_code *jit_lines_code(const struct jit_lines *l, uint64_t address,
					  const char *function);
/* Finds the source line of an address in that code; returns false if it has none. */
bool jit_lines_find(const struct jit_lines *l, const struct jitdump_code *code,
		    uint64_t address, const char **ret_file, uint32_t *ret_line);

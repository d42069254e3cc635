/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kallsyms.h - parses the text of /proc/kallsyms, and finds the lines of each module.
 * Layer: resolve.
 * A line is "ADDRESS TYPE NAME", followed by "\t[MODULE]" if it belongs to a module. Types are
 * those of nm(1). Source: kernel/kallsyms.c, s_show(). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/vec.h"

struct kallsyms_line {
	uint64_t address;
	char type;
	const char *name; /* borrowed, not NUL-terminated */
	size_t name_len;
	const char *module; /* without brackets; NULL: the kernel itself */
	size_t module_len;
};

/* Parses the line at *pos and advances *pos to the next one. Returns 1 for a line, 0 for a
 * malformed line, -1 at the end of the text. */
int kallsyms_next(const char *text, size_t len, size_t *pos,
		  struct kallsyms_line *ret_line);

/* Consecutive lines of a module, or of the kernel (module_len 0). */
struct kallsyms_part {
	const char *module;
	size_t module_len;
	size_t begin;
	size_t end;
};
struct kallsyms_index {
	const char *text; /* borrowed */
	VEC(struct kallsyms_part) parts;
};

/* Fills index->parts, so that a report on many modules reads each line only once. Returns 0 or
 * -ENOMEM; the caller calls kallsyms_index_done() in both cases. */
int kallsyms_index(struct kallsyms_index *index, const char *text, size_t len);
/* Returns the first part of `module` (NULL: the kernel), or NULL. A module that was loaded once
 * has one part, and so has the kernel. */
const struct kallsyms_part *kallsyms_part(const struct kallsyms_index *index,
					  const char *module);
/* Like kallsyms_part(), but for a module that was loaded several times, returns the part for which
 * kallsyms_fits() is true, or the first one. */
const struct kallsyms_part *kallsyms_part_at(const struct kallsyms_index *index,
					     const char *module, uint64_t start,
					     uint64_t end);
void kallsyms_index_done(struct kallsyms_index *index);

/* Finds the address of a symbol of the kernel itself, such as "_stext". Returns false if it
 * does not exist, or if the addresses are hidden (all 0). */
bool kallsyms_find(const char *text, size_t len, const char *name,
		   uint64_t *ret_address);
/* Returns whether any code has an address: the kernel hides addresses from users without the
 * permission to see them. */
bool kallsyms_has_addresses(const char *text, size_t len);
/* Returns whether these lines of a module can be from the load whose code began at `start`
 * and ended before `end`. A reloaded module usually is on other pages. True if the lowest
 * symbol is in the first page, and the highest one below `end`. */
bool kallsyms_fits(const char *text, size_t len, uint64_t start, uint64_t end);

/* kallsyms.h - the text of /proc/kallsyms, line by line, and which part is whose.
 * Layer: resolve.
 * A line is "ADDRESS TYPE NAME", followed by "\t[MODULE]" where it is not the kernel's own;
 * types are those of nm(1).  Source: kernel/kallsyms.c, s_show(). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/vec.h"

struct kallsyms_line {
	uint64_t address;
	char type;
	const char *name; /* borrowed, not terminated */
	size_t name_len;
	const char *module; /* without brackets; NULL: the kernel itself */
	size_t module_len;
};

/* Reads the line at *pos and moves *pos behind it.  1: a line; 0: one that is malformed;
 * -1: the text is over. */
int kallsyms_next(const char *text, size_t len, size_t *pos,
		  struct kallsyms_line *ret_line);

/* A run of lines that belong to one module, or to the kernel (module_len 0). */
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

/* Finds the parts, so that a report that needs many modules reads each line once.
 * 0 or -ENOMEM (kallsyms_index_done() is due all the same). */
int kallsyms_index(struct kallsyms_index *index, const char *text, size_t len);
/* The first part of `module` (NULL: the kernel), or NULL.  A module that was loaded
 * once has one, the kernel too. */
const struct kallsyms_part *kallsyms_part(const struct kallsyms_index *index,
					  const char *module);
/* Of a module that was loaded several times the part that fits (below), else the first. */
const struct kallsyms_part *kallsyms_part_at(const struct kallsyms_index *index,
					     const char *module, uint64_t start,
					     uint64_t end);
void kallsyms_index_done(struct kallsyms_index *index);

/* The address of a symbol of the kernel itself, "_stext".  False: there is none, or the
 * addresses are hidden (all 0). */
bool kallsyms_find(const char *text, size_t len, const char *name,
		   uint64_t *ret_address);
/* Whether any code has an address: the kernel hides them from those without the right. */
bool kallsyms_has_addresses(const char *text, size_t len);
/* Whether the lines of one module can be those of a module whose code began at `start` and
 * that ended before `end`: a module that was loaded anew lies on other pages.  Then the first
 * symbol is not in the first page, or the last one is not in it. */
bool kallsyms_fits(const char *text, size_t len, uint64_t start, uint64_t end);

/* module_list.h - the session's `modules` file: where the kernel's modules and their sections
 * were.
 * Layer: resolve.  Format: docs/format.md; a line is
 * "NAME 0xADDRESS SIZE BUILD-ID-or-- SECTION=0xADDRESS...". */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/containers/vec.h"
#include "format/session/dict.h"
#include "resolve/symbols/symtab.h"

struct module_line {
	uint64_t address;
	struct build_id build_id; /* length 0: not known */
	char *text;               /* what the sections' names point into */
	VEC(struct symtab_place) places;
};

/* Finds the module's line in the text ('-', ',' and '_' are one): of one that was loaded
 * several times the line of the load at `address`, else the first.  Sections that make no
 * sense are left out.  0 (module_line_done() is due), -ENODATA (no such line), -EBADMSG, -ENOMEM. */
int module_line_find(const char *text, size_t len, const char *module, uint64_t address,
		     struct module_line *ret_line);
void module_line_done(struct module_line *line);

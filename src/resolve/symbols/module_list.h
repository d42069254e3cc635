/* SPDX-License-Identifier: GPL-2.0-or-later */
/* module_list.h - reads the session's `modules` file: the addresses of the kernel's modules and
 * their sections.
 * Layer: resolve. Format: docs/format.md; a line is "NAME 0xADDRESS SIZE BUILD-ID-or--
 * SECTION=0xADDRESS...". */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/containers/vec.h"
#include "format/session/dict.h"
#include "resolve/symbols/symtab.h"

struct module_line {
	uint64_t address;
	struct build_id build_id; /* length 0: unknown */
	char *text;               /* contains the section names */
	VEC(struct section_address) sections;
};

/* Finds the line of a module in the text ('-', ',' and '_' are treated as the same character).
 * If the module was loaded several times, returns the line with `address`, else the first.
 * Skips malformed sections. Returns 0, -ENODATA (no such line), -EBADMSG or -ENOMEM. The caller
 * calls module_line_done() only after 0. */
int module_line_find(const char *text, size_t len, const char *module, uint64_t address,
		     struct module_line *ret_line);
void module_line_done(struct module_line *line);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* abbrev.h - abbreviation tables, compiled so that skipping an unwanted entry usually costs one
 * addition.
 * Layer: resolve. Source of the format: DWARF 5, section 7.5.3. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/vec.h"
#include "base/cursor.h"

struct dwarf_section;
struct dwarf_spare;

enum {
	DWARF_NOT_FIXED = 0xffffffff,
	DWARF_NO_SIBLING = 0xffffffff
};

struct dwarf_attr {
	uint16_t at;   /* DW_AT_... */
	uint16_t form; /* DW_FORM_... */
	int64_t implicit;
};

/* A fixed number of bytes, then possibly a form whose size depends on the data. */
struct dwarf_skip {
	uint32_t fixed;
	uint16_t form; /* 0: none */
};

/* How the walk handles an entry. */
enum dwarf_entry {
	DWARF_PASS, /* skip it, but visit its children */
	/* A type, or a function without code: skip it. In C, also skip its children, if it has a
	 * sibling attribute. */
	DWARF_PASS_TYPE,
	DWARF_PASS_ALL, /* skip it with its children, which never contain functions */
	DWARF_FUNCTION, /* a function or inlined function that has code */
	DWARF_IMPORT    /* imports the entries of another unit */
};

struct dwarf_abbrev {
	uint64_t code;
	uint32_t first_attr;
	uint32_t nr_attrs;
	uint32_t first_skip;
	uint32_t nr_skips;
	uint32_t fixed;   /* bytes of all attributes, or DWARF_NOT_FIXED */
	uint32_t sibling; /* offset of a DW_FORM_ref4 sibling, or DWARF_NO_SIBLING */
	uint16_t tag;     /* DW_TAG_... */
	uint8_t children;
	uint8_t entry; /* enum dwarf_entry */
};

/* The sizes of values in a unit, in bytes. */
struct dwarf_widths {
	uint8_t version;
	uint8_t addr_bytes;
	uint8_t off_bytes;
};

struct dwarf_abbrevs {
	VEC(struct dwarf_abbrev) abbrevs;
	VEC(struct dwarf_attr) attrs;
	VEC(struct dwarf_skip) skips;
	bool dense; /* code N is abbrevs.at[N - 1] */
};

/* Reads the table at `off` up to and including the code `until` (0: all of it). Replaces the
 * content of `t`. Returns 0, -EBADMSG or -ENOMEM. */
int dwarf_abbrevs_read(struct dwarf_abbrevs *t, struct dwarf_section *section,
		       struct dwarf_spare *spare, uint64_t off,
		       const struct dwarf_widths *widths, uint64_t until);
void dwarf_abbrevs_done(struct dwarf_abbrevs *t);
/* Returns the abbreviation with this code; NULL if the table has no such code. */
const struct dwarf_abbrev *dwarf_abbrevs_search(const struct dwarf_abbrevs *t,
						uint64_t code);

static inline const struct dwarf_abbrev *
dwarf_abbrevs_find(const struct dwarf_abbrevs *t, uint64_t code)
{
	if (t->dense)
		return code - 1 < t->abbrevs.nr ? &t->abbrevs.at[code - 1] : NULL;
	return dwarf_abbrevs_search(t, code);
}

/* Returns the size of a form in bytes, or DWARF_NOT_FIXED (also for unknown forms). */
uint32_t dwarf_form_bytes(uint16_t form, const struct dwarf_widths *widths);
/* Skips one value; an unknown form sets the cursor's error flag. */
void dwarf_form_skip(struct cursor *c, uint64_t form,
		     const struct dwarf_widths *widths);
/* Skips an entry's attributes. With `skips_children`, also skips its children if the entry has a
 * sibling attribute, which contains the position after them. Returns whether the entry's
 * children come next. */
bool dwarf_abbrev_pass(const struct dwarf_abbrevs *t, const struct dwarf_abbrev *a,
		       struct cursor *c, const struct dwarf_widths *widths,
		       bool skips_children);
/* Skips the attributes of an entry. */
void dwarf_abbrev_skip(const struct dwarf_abbrevs *t, const struct dwarf_abbrev *a,
		       struct cursor *c, const struct dwarf_widths *widths);

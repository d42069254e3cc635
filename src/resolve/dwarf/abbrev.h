/* abbrev.h - abbreviation tables, compiled so that an entry that nobody wants is
 * stepped over with one addition.
 * Layer: resolve.  Source of the format: DWARF 5, section 7.5.3. */
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

/* Bytes of fixed number, then perhaps a form of which only the data tells the size. */
struct dwarf_skip {
	uint32_t fixed;
	uint16_t form; /* 0: none */
};

/* What the walk does with an entry. */
enum dwarf_entry {
	DWARF_PASS,      /* step over it, look at what is in it */
	DWARF_PASS_TYPE, /* a type: in C, and by its sibling, with all that is in it */
	DWARF_PASS_ALL,  /* nothing of ours is ever in it */
	DWARF_FUNCTION,  /* a function or an inlined one that has code */
	DWARF_IMPORT     /* another unit's entries count here too */
};

struct dwarf_abbrev {
	uint64_t code;
	uint32_t first_attr;
	uint32_t nr_attrs;
	uint32_t first_skip;
	uint32_t nr_skips;
	uint32_t fixed;   /* bytes of all attributes, or DWARF_NOT_FIXED */
	uint32_t sibling; /* where a DW_FORM_ref4 sibling is, or DWARF_NO_SIBLING */
	uint16_t tag;     /* DW_TAG_... */
	uint8_t children;
	uint8_t entry; /* enum dwarf_entry */
};

/* How wide things are in a unit. */
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

/* Reads the table at `off`, up to and with the code `until` (0: all of it); `t` may have
 * held another one.  0, -EBADMSG or -ENOMEM. */
int dwarf_abbrevs_read(struct dwarf_abbrevs *t, struct dwarf_section *section,
		       struct dwarf_spare *spare, uint64_t off,
		       const struct dwarf_widths *widths, uint64_t until);
void dwarf_abbrevs_done(struct dwarf_abbrevs *t);
/* NULL: no such code. */
const struct dwarf_abbrev *dwarf_abbrevs_search(const struct dwarf_abbrevs *t,
						uint64_t code);

static inline const struct dwarf_abbrev *
dwarf_abbrevs_find(const struct dwarf_abbrevs *t, uint64_t code)
{
	if (t->dense)
		return code - 1 < t->abbrevs.nr ? &t->abbrevs.at[code - 1] : NULL;
	return dwarf_abbrevs_search(t, code);
}

/* Bytes that a form takes, or DWARF_NOT_FIXED (also of unknown forms). */
uint32_t dwarf_form_bytes(uint16_t form, const struct dwarf_widths *widths);
/* Steps over one value; an unknown form fails the cursor. */
void dwarf_form_skip(struct cursor *c, uint64_t form,
		     const struct dwarf_widths *widths);
/* Steps over the attributes of an entry. */
void dwarf_abbrev_skip(const struct dwarf_abbrevs *t, const struct dwarf_abbrev *a,
		       struct cursor *c, const struct dwarf_widths *widths);

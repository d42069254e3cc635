/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unit.h - the units of .debug_info, their root entries, and attribute values.
 * Layer: resolve. A dwarf_info is read-only after its units were scanned. Each thread needs its
 * own dwarf_reader.
 * Source of the format: DWARF 5, sections 7.5 (units, forms), 7.3.5 (package files); the GNU
 * extensions for split DWARF 4 and alternate files as GCC, GDB and dwz use them. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/vec.h"
#include "base/cursor.h"
#include "resolve/dwarf/abbrev.h"
#include "resolve/dwarf/file.h"
#include "resolve/dwarf/section.h"

struct dwarf_info;

enum dwarf_value_kind {
	DWARF_VALUE_NONE,
	DWARF_VALUE_NUMBER,    /* constants, flags, offsets into other sections */
	DWARF_VALUE_ADDR,      /* an address */
	DWARF_VALUE_ADDRX,     /* an index in .debug_addr */
	DWARF_VALUE_TEXT,      /* an offset in .debug_info, where the text is */
	DWARF_VALUE_STRP,      /* ... in .debug_str */
	DWARF_VALUE_LINE_STRP, /* ... in .debug_line_str */
	DWARF_VALUE_ALT_STRP,  /* ... in .debug_str of the alternate file */
	DWARF_VALUE_STRX,      /* an index in .debug_str_offsets */
	DWARF_VALUE_REF,       /* an offset in .debug_info */
	DWARF_VALUE_ALT_REF,   /* ... of the alternate file */
	DWARF_VALUE_RANGEX     /* an index in .debug_rnglists */
};

struct dwarf_value {
	enum dwarf_value_kind kind;
	uint64_t v;
};

enum {
	DWARF_NONE = 0xffffffff
};

struct dwarf_unit {
	atomic_bool root_read; /* set last */
	const struct dwarf_info *info;
	uint64_t off;   /* of its header in .debug_info */
	uint64_t bytes; /* including the header */
	uint32_t dies;  /* offset of the first entry, relative to `off` */
	struct dwarf_widths widths;
	uint8_t type;  /* DW_UT_... */
	bool bad_root; /* the root entry cannot be read, so nothing in the unit can */
	bool has_line;
	bool has_ranges;
	bool has_code; /* has low and high, or ranges */
	uint16_t lang; /* DW_LANG_... */
	uint64_t abbrev_off;
	uint64_t dwo_id;
	/* Attributes of the root entry. */
	uint64_t line_off;
	uint64_t low;
	uint64_t high; /* the address after the last byte; 0: not given */
	uint64_t str_base;
	uint64_t addr_base;
	uint64_t rnglists_base;
	uint64_t ranges_base; /* GNU: the skeleton's base, for the split unit */
	struct dwarf_value ranges;
	struct dwarf_value name;
	struct dwarf_value comp_dir;
	struct dwarf_value dwo_name;
	/* For a unit in a package: the offsets of its contribution to a section. */
	uint64_t str_part;
	uint64_t rnglists_part;
	/* For a split unit: its skeleton unit in the program. */
	const struct dwarf_unit *skeleton;
};

struct dwarf_info {
	struct dwarf_file *file;
	const struct dwarf_info *alt; /* dwz's file, or NULL */
	VEC(struct dwarf_unit) units; /* by offset */
};

/* A unit whose entries are in memory. */
struct dwarf_open_unit {
	const struct dwarf_unit *unit;
	struct cursor c; /* .data is the unit's header */
	const struct dwarf_abbrevs *abbrevs;
};

enum {
	DWARF_READER_TABLES = 8
};

/* A thread's buffers and caches for reading. */
struct dwarf_reader {
	struct dwarf_spare spare;
	uint8_t *unit_bytes;
	size_t unit_cap;
	uint8_t *root_bytes;
	size_t root_cap;
	uint8_t *line_bytes;
	size_t line_cap;
	struct {
		const struct dwarf_file *file;
		uint64_t off;
		struct dwarf_widths widths;
		uint64_t used;
		struct dwarf_abbrevs table;
	} tables[DWARF_READER_TABLES];
	uint64_t clock;
	/* Abbreviation table of the open unit, which is never evicted. */
	const struct dwarf_abbrevs *open;
};

void dwarf_reader_done(struct dwarf_reader *rd);
/* Removes all cached data of a file; call it before closing the file. */
void dwarf_reader_forget(struct dwarf_reader *rd);

/* Fills info->units with the units of the file; reads only their headers. Skips type units; a
 * malformed header ends the list. Returns 0 or -ENOMEM. */
int dwarf_info_scan(struct dwarf_info *info);
void dwarf_info_done(struct dwarf_info *info);
/* Sets *ret_unit from the unit header at `off`, without reading the list of units. Returns 0; 1
 * for a type unit or an unsupported format, of which only the size is set; or -EBADMSG. */
int dwarf_unit_init_at(const struct dwarf_info *info, uint64_t off,
		       struct dwarf_unit *ret_unit);
/* The offsets of a split unit's data in the sections of a package. */
struct dwarf_parts {
	uint64_t abbrev;
	uint64_t str_offsets;
	uint64_t rnglists;
};
/* Finds the split unit with this id in [off, end) of .debug_info, and reads its root entry. Type
 * units and other units can precede it. `parts` can be NULL. Returns 0 or -ENOENT. */
int dwarf_unit_find_split(const struct dwarf_info *info, uint64_t off, uint64_t end,
			  uint64_t id, const struct dwarf_parts *parts,
			  struct dwarf_reader *rd, struct dwarf_unit *ret_unit);
/* Reads the root entry of a unit and stores its attributes in `u`. */
void dwarf_unit_read_root(struct dwarf_unit *u, struct dwarf_reader *rd);
/* Returns the unit that contains offset `off`, or NULL. */
const struct dwarf_unit *dwarf_info_unit_at(const struct dwarf_info *info,
					    uint64_t off);
/* Reads a unit and its abbreviations; valid until this reader opens another unit. Returns 0,
 * -EBADMSG, -ENOMEM, or another negative errno. */
int dwarf_unit_open(struct dwarf_open_unit *o, const struct dwarf_unit *u,
		    struct dwarf_reader *rd);
const struct dwarf_abbrevs *dwarf_unit_abbrevs(const struct dwarf_unit *u,
					       struct dwarf_reader *rd);
bool dwarf_unit_is_c(const struct dwarf_unit *u);
/* Returns whether symbols in the unit's language equal the names in the source. */
bool dwarf_unit_is_unmangled(const struct dwarf_unit *u);

/* Reads a value at the cursor; c->data is at offset `base` in .debug_info. */
struct dwarf_value dwarf_value_read(const struct dwarf_unit *u, struct cursor *c,
				    uint64_t base, const struct dwarf_attr *attr);
/* Gets the address that a value represents. Returns false if it has none. */
bool dwarf_value_addr(const struct dwarf_unit *u, struct dwarf_reader *rd,
		      struct dwarf_value v, uint64_t *ret_addr);
/* Returns the text, or NULL if none exists; valid until this thread reads again. */
const char *dwarf_value_text(const struct dwarf_unit *u, struct dwarf_reader *rd,
			     struct dwarf_value v);
/* Reads entry number `i` of .debug_addr. Returns false if it does not exist. */
bool dwarf_unit_addrx(const struct dwarf_unit *u, struct dwarf_reader *rd, uint64_t i,
		      uint64_t *ret_addr);

/* unit.h - the units of .debug_info, their root entries, and attribute values.
 * Layer: resolve.  A dwarf_info is read-only once its units were scanned; each thread reads
 * with a dwarf_reader of its own.
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
	DWARF_VALUE_ADDRX,     /* a number in .debug_addr */
	DWARF_VALUE_TEXT,      /* an offset in .debug_info: the text is there */
	DWARF_VALUE_STRP,      /* ... in .debug_str */
	DWARF_VALUE_LINE_STRP, /* ... in .debug_line_str */
	DWARF_VALUE_ALT_STRP,  /* ... in .debug_str of the alternate file */
	DWARF_VALUE_STRX,      /* a number in .debug_str_offsets */
	DWARF_VALUE_REF,       /* an offset in .debug_info */
	DWARF_VALUE_ALT_REF,   /* ... of the alternate file */
	DWARF_VALUE_RANGEX     /* a number in .debug_rnglists */
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
	uint64_t bytes; /* with the header */
	uint32_t dies;  /* where entries begin, from `off` */
	struct dwarf_widths widths;
	uint8_t type;  /* DW_UT_... */
	bool bad_root; /* the root entry cannot be read: nothing in it can */
	bool has_line;
	bool has_ranges;
	bool has_code; /* low and high, or ranges, are there */
	uint16_t lang; /* DW_LANG_... */
	uint64_t abbrev_off;
	uint64_t dwo_id;
	/* From the root entry. */
	uint64_t line_off;
	uint64_t low;
	uint64_t high; /* behind the last byte; 0: not given so */
	uint64_t str_base;
	uint64_t addr_base;
	uint64_t rnglists_base;
	uint64_t ranges_base; /* GNU: of the skeleton, for the split unit */
	struct dwarf_value ranges;
	struct dwarf_value name;
	struct dwarf_value comp_dir;
	struct dwarf_value dwo_name;
	/* Of a unit in a package: where its part of a section begins. */
	uint64_t str_part;
	uint64_t rnglists_part;
	/* Of a split unit: the unit in the program that stands for it. */
	const struct dwarf_unit *skeleton;
};

struct dwarf_info {
	struct dwarf_file *file;
	const struct dwarf_info *alt; /* dwz's file, or NULL */
	VEC(struct dwarf_unit) units; /* by offset */
};

/* A unit whose entries are at hand. */
struct dwarf_open_unit {
	const struct dwarf_unit *unit;
	struct cursor c; /* .data is the unit's header */
	const struct dwarf_abbrevs *abbrevs;
};

enum {
	DWARF_READER_TABLES = 8
};

/* What a thread reads with. */
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
	const struct dwarf_abbrevs *open; /* the open unit's: stays */
};

void dwarf_reader_done(struct dwarf_reader *rd);
/* Before a file that was read is closed: nothing of it is remembered. */
void dwarf_reader_forget(struct dwarf_reader *rd);

/* Finds the units of a file: headers only.  Type units are left out; what cannot be read
 * ends the list.  0 or -ENOMEM. */
int dwarf_info_scan(struct dwarf_info *info);
void dwarf_info_done(struct dwarf_info *info);
/* The unit whose header is at `off`, alone.  0 or -EBADMSG. */
int dwarf_unit_init_at(const struct dwarf_info *info, uint64_t off,
		       struct dwarf_unit *ret_unit);
/* Reads the root entry of a unit into it. */
void dwarf_unit_read_root(struct dwarf_unit *u, struct dwarf_reader *rd);
/* The unit whose bytes hold `off`, NULL if none does. */
const struct dwarf_unit *dwarf_info_unit_at(const struct dwarf_info *info,
					    uint64_t off);
/* Brings a unit and its abbreviations to hand, good until the next unit is opened by this
 * reader.  0, -EBADMSG, -ENOMEM, ... */
int dwarf_unit_open(struct dwarf_open_unit *o, const struct dwarf_unit *u,
		    struct dwarf_reader *rd);
const struct dwarf_abbrevs *dwarf_unit_abbrevs(const struct dwarf_unit *u,
					       struct dwarf_reader *rd);
bool dwarf_unit_is_c(const struct dwarf_unit *u);
/* Whether its language's linkers see the names of the source. */
bool dwarf_unit_is_unmangled(const struct dwarf_unit *u);

/* Reads a value at the cursor, whose first byte is at `base` in .debug_info. */
struct dwarf_value dwarf_value_read(const struct dwarf_unit *u, struct cursor *c,
				    uint64_t base, const struct dwarf_attr *attr);
/* The address; false if there is none. */
bool dwarf_value_addr(const struct dwarf_unit *u, struct dwarf_reader *rd,
		      struct dwarf_value v, uint64_t *ret_addr);
/* The text, NULL if there is none; good until this thread reads on. */
const char *dwarf_value_text(const struct dwarf_unit *u, struct dwarf_reader *rd,
			     struct dwarf_value v);
/* Entry number `i` of .debug_addr. */
bool dwarf_unit_addrx(const struct dwarf_unit *u, struct dwarf_reader *rd, uint64_t i,
		      uint64_t *ret_addr);

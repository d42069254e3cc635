/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lines.h - maps addresses to functions, source lines and inlined calls.
 * Layer: resolve.
 *
 * Addresses are link-time addresses (struct elf_vaddr; symtab_vaddr() computes one from a file
 * offset); in a relocatable file (.o, .ko), those returned by lines_position().
 *
 * Results come from the binary's index file (resolve/lines/index.h). Units that it does not
 * contain are read from the debug information, in parallel, when an address in them is looked
 * up, and added to the index file. Call lines_prepare() for all addresses at once, then
 * lines_find() for each.
 *
 * A `struct lines` is not thread-safe, and owns all strings that it returns. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct line_later;
struct lines;

struct lines_options {
	/* Directory of index files (index_cache_dir()); NULL or "": read and write none. */
	const char *cache_dir;
	unsigned int threads; /* maximum; 0: number of CPUs */
	bool no_write;        /* do not write index files */
	bool symbols;         /* lines_symbol() will be called */
	/* Defers index files to this list (resolve/lines/later.h), which must outlive the
	 * object; NULL: lines_free() waits until they are written. */
	struct line_later *later;
};

/* The files to open: the binary, and its separate debug file if it has one. */
struct lines_file {
	int fd; /* the caller keeps it open until lines_free() */
	/* Path of the binary, for messages, and to find .dwo and .dwp files in its directory. */
	const char *path;
	int debug_fd;           /* -1: none */
	const char *debug_path; /* NULL: none */
};

/* A source location. The first frame is that of the address itself; each further one is the
 * call by which the previous frame was inlined. */
struct line_frame {
	const char *name; /* name of the function; NULL: unknown */
	/* The name is the linker's symbol, possibly mangled; else only the name in the source,
	 * and a symbol may be more specific. */
	bool linkage;
	bool inlined; /* this function was inlined into the function of the next frame */
	const char *file; /* path; NULL: unknown */
	uint32_t line;    /* 0: unknown, or no source line */
	uint32_t column;  /* 0: unknown */
	/* In the innermost frame: the block in the line; 0: none. */
	uint32_t discriminator;
	/* In other frames: the block of the call in its line; 0: none. */
	uint32_t call_discriminator;
	uint64_t start;        /* function that is not inlined: its first address */
	const char *decl_file; /* file of the function's declaration; NULL: unknown */
	uint32_t decl_line;
};

/* A symbol of the binary, for code without debug information. */
struct line_symbol_name {
	const char *name;
	/* For a local symbol: name of the source file without directory; NULL: unknown. */
	const char *file;
	uint64_t addr;
	uint64_t size;
};

/* Finds the separate debug file of a binary that has no debug information: by build-id in
 * /usr/lib/debug, or by .gnu_debuglink. Returns 0: the caller owns *ret_fd and *ret_path
 * (malloc'd); -ENOENT if none exists, or none is needed; -EBADMSG (not an ELF file) or
 * -ENOMEM. */
int lines_debug_file(int fd, const char *path, int *ret_fd, char **ret_path);

/* Opens a binary. Returns 0 (also if it has no debug information; then nothing is found),
 * -EBADMSG (not an ELF file), -ENOMEM, or another negative errno. */
int lines_open(const struct lines_options *options, const struct lines_file *file,
	       struct lines **ret_lines, struct err *err);
/* Like lines_open(), for the binary at `path` and its debug file from lines_debug_file(). Also
 * returns errors of open(2), and -EINVAL if it is not a regular file. */
int lines_open_path(const struct lines_options *options, const char *path,
		    struct lines **ret_lines, struct err *err);
/* Waits until the index file is written, unless that is deferred. Accepts NULL. */
void lines_free(struct lines *l);
/* Returns whether there is debug information. */
bool lines_has_info(const struct lines *l);
/* Reads the units that contain these addresses, which can be in any order. Ignores errors. */
void lines_prepare(struct lines *l, const uint64_t *addrs, size_t nr);
/* Like lines_prepare(), for the whole binary. */
void lines_prepare_all(struct lines *l);
/* Reads all units that are not in the index file, and writes the new index file meanwhile, so
 * that memory contains only the units that are being read. Afterwards, no lookups are possible.
 * Returns 0, -ENOTSUP (index files are disabled), -ENOMEM, or an error of writing. */
int lines_make_index(struct lines *l);
/* Returns whether units were read that the index file lacks, while other units are still
 * missing. */
bool lines_is_partial(const struct lines *l);
/* Starts to write the units that were read to the index file, in a thread, if it is worthwhile.
 * Best called before the results are printed. lines_free() waits for it, and writes them itself
 * if this was not called. */
void lines_store(struct lines *l);
/* Stores the frames of an address, innermost first, at most `max`. Returns their number; 0 if
 * nothing is known. */
size_t lines_find(struct lines *l, uint64_t addr, struct line_frame *ret_frames,
		  size_t max);
/* The addresses for which lines_find() would return its last result. */
struct lines_reach {
	uint64_t low; /* everything is the same in [low, high) */
	uint64_t high;
	/* Results with the same value have the same frames, except for the innermost one's
	 * source location; 0: unknown. */
	uint64_t chain;
};
void lines_reach(const struct lines *l, struct lines_reach *ret_reach);
/* Sets *ret_symbol to the symbol at an address. If several symbols are there, prefers the one
 * with the name `wanted` (may be NULL). Returns false if there is no symbol. */
bool lines_symbol(struct lines *l, uint64_t addr, const char *wanted,
		  struct line_symbol_name *ret_symbol);
/* Sets *ret_addr to the address of an offset in a section; if `section` is NULL, in the first
 * section that is in memory and long enough. For relocatable files, whose sections have no
 * addresses. Returns 0, -ENOENT, -EBADMSG or another negative errno. */
int lines_position(struct lines *l, const char *section, uint64_t off,
		   uint64_t *ret_addr);
bool lines_is_relocatable(const struct lines *l);
/* Returns the size of an address in bytes: 4 or 8. */
unsigned int lines_addr_bytes(const struct lines *l);

/* A row of lines_rows(). The rows in [low, high) are sorted by address; the first one is cut to
 * begin at `low`. */
struct line_position {
	uint64_t low;
	uint64_t high;    /* the address after the last byte */
	const char *file; /* NULL: unknown */
	uint32_t line;
	uint32_t column;
	uint32_t discriminator;
};
typedef int (*lines_row_fn)(void *ctx, const struct line_position *position);
/* Calls `fn` for each row until it returns a value other than 0, which is then returned; else
 * returns 0. */
int lines_rows(struct lines *l, uint64_t low, uint64_t high, lines_row_fn fn,
	       void *ctx);
/* Calls `fn` with the path of each source file of the binary's lines, some of them more than
 * once. */
typedef int (*lines_source_fn)(void *ctx, const char *path);
int lines_sources(struct lines *l, lines_source_fn fn, void *ctx);

/* Appends the text of a source that is embedded in the debug information, by its path_full().
 * Returns 0, -ENOENT (not embedded) or -ENOMEM. */
struct buf;
int lines_embedded(struct lines *l, const char *path, struct buf *out);

/* Statistics, for --verbose and tests. */
struct lines_stats {
	bool index_found;
	size_t units; /* in the debug information */
	size_t units_read; /* number of units that were read from the debug information instead of
			     * the index */
	size_t units_split; /* number of units whose .dwo or .dwp was needed and not found */
	bool alt_missing; /* the alternate file of dwz was not found */
};
void lines_stats(const struct lines *l, struct lines_stats *ret_stats);

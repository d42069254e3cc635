/* lines.h - from an address to function, source line and the chain of inlined calls.
 * Layer: resolve.
 *
 * Addresses are link-time addresses (struct elf_vaddr; symtab_vaddr() makes one of a mapped
 * file's offset); in a relocatable file (.o, .ko) what lines_place() says.
 *
 * Answers come from the binary's index file (resolve/lines/index.h), as far as it goes; the
 * units of which it says nothing are read from the debug information, in parallel, when an
 * address in them is asked about, and are added to the index file.  Ask with lines_prepare()
 * for all addresses at once, then one by one with lines_find().
 *
 * One thread at a time may use a `struct lines`.  All strings are borrowed from it. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct line_later;
struct lines;

struct lines_options {
	const char *cache_dir; /* where index files are (index_cache_dir()); NULL or "":
				* none is read or written */
	unsigned int threads;  /* at most; 0: as many as there are CPUs */
	bool no_write;         /* index files are only read */
	bool symbols;          /* lines_symbol() will be asked, too */
	struct line_later
		*later; /* index files are left there (resolve/lines/later.h), which
				   * outlives the lines; NULL: lines_free() waits for them */
};

/* What is opened: the binary, and its separate debug file if it has one. */
struct lines_file {
	int fd;           /* stays the caller's, and open until lines_free() */
	const char *path; /* said in messages; where .dwo and .dwp files are near */
	int debug_fd;     /* -1: none */
	const char *debug_path; /* NULL: none */
};

/* One place in the source: the innermost frame is where the address itself is, each further
 * one where the frame before was inlined into it. */
struct line_frame {
	const char *name; /* of the function; NULL: unknown */
	bool linkage;     /* the name is what the linker sees, perhaps mangled; else
				* only that of the source, and a symbol may say more */
	bool inlined;     /* this function was inlined into the next frame's */
	const char *file; /* path; NULL: unknown */
	uint32_t line;    /* 0: unknown, or no line of its own */
	uint32_t column;  /* 0: unknown */
	uint32_t
		discriminator; /* of the innermost frame: which block of the line; 0: none */
	uint32_t call_discriminator; /* likewise, of the others */
	uint64_t start; /* of a function that is not inlined: its first address */
	const char *decl_file; /* where the function is declared; NULL: unknown */
	uint32_t decl_line;
};

/* A symbol of the binary, for code without debug information. */
struct line_symbol_name {
	const char *name;
	const char
		*file; /* a local symbol's source file, without folder; NULL: unknown */
	uint64_t addr;
	uint64_t size;
};

/* The separate debug file of a binary that has no debug information itself: by build-id
 * under /usr/lib/debug, else by .gnu_debuglink.  0: *ret_fd and *ret_path (malloc'd) are the
 * caller's; -ENOENT: there is none, or none is needed; -EBADMSG (no ELF file), -ENOMEM. */
int lines_debug_file(int fd, const char *path, int *ret_fd, char **ret_path);

/* 0 also for a file without debug information: then nothing is found in it.  -EBADMSG (no
 * ELF file), -ENOMEM, -EIO ... */
int lines_open(const struct lines_options *options, const struct lines_file *file,
	       struct lines **ret_lines, struct err *err);
/* The same of the binary at `path` with its separate debug file, found as lines_debug_file()
 * does.  Further errors: what an open says, -EINVAL: no regular file. */
int lines_open_path(const struct lines_options *options, const char *path,
		    struct lines **ret_lines, struct err *err);
/* Waits until an index that is being written is whole, unless it is left for later.  NULL is fine. */
void lines_free(struct lines *l);
/* Whether there is debug information. */
bool lines_has_info(const struct lines *l);
/* Reads what is needed for these addresses, in any order; what fails is left out. */
void lines_prepare(struct lines *l, const uint64_t *addrs, size_t nr);
/* The same for the whole binary. */
void lines_prepare_all(struct lines *l);
/* Reads all that is not in the index file, and writes that as it goes: memory holds the units
 * that are being read, not the index.  Nothing can be asked afterwards.  0, -ENOTSUP (no index
 * is wanted), -ENOMEM, or what writing says. */
int lines_make_index(struct lines *l);
/* Whether this has something for the index file, and something is left that it has not. */
bool lines_is_partial(const struct lines *l);
/* Begins to keep what was read in the index file, in a thread of its own, if that is worth
 * while: before the answers are printed is a good time.  lines_free() waits for it, and does
 * it if nobody asked. */
void lines_store(struct lines *l);
/* Innermost first; at most `max` of them.  Returns how many: 0 if nothing is known. */
size_t lines_find(struct lines *l, uint64_t addr, struct line_frame *ret_frames,
		  size_t max);
/* Where else lines_find() would say what it said last. */
struct lines_reach {
	uint64_t low; /* in [low, high) all is the same */
	uint64_t high;
	uint64_t chain; /* where this is the same, all frames are, but for the innermost
			 * one's place in the source; 0: that is not known */
};
void lines_reach(const struct lines *l, struct lines_reach *ret_reach);
/* The symbol at an address; where it has several names, `wanted` (may be NULL) if that is
 * one of them. */
bool lines_symbol(struct lines *l, uint64_t addr, const char *wanted,
		  struct line_symbol_name *ret_symbol);
/* The address of an offset in a section; `section` NULL: the first one in memory that is
 * that long.  For relocatable files, whose sections have no addresses yet.  0, -ENOENT,
 * -EBADMSG ... */
int lines_place(struct lines *l, const char *section, uint64_t off, uint64_t *ret_addr);
bool lines_is_relocatable(const struct lines *l);
/* Bytes of an address: 4 or 8. */
unsigned int lines_addr_bytes(const struct lines *l);

/* All rows in [low, high), by address, the first one as if it began at `low`. */
struct line_place {
	uint64_t low;
	uint64_t high;    /* behind the last byte */
	const char *file; /* NULL: unknown */
	uint32_t line;
	uint32_t column;
	uint32_t discriminator;
};
typedef int (*lines_row_fn)(void *ctx, const struct line_place *place);
/* Calls `fn` until it returns other than 0, which is returned then; else 0. */
int lines_rows(struct lines *l, uint64_t low, uint64_t high, lines_row_fn fn,
	       void *ctx);
/* The paths of all sources that lines of the binary come from; some come more than once. */
typedef int (*lines_source_fn)(void *ctx, const char *path);
int lines_sources(struct lines *l, lines_source_fn fn, void *ctx);

/* Appends the text of a source that the debug information has itself, by its path_full().  0;
 * -ENOENT: it has none; -ENOMEM. */
struct buf;
int lines_embedded(struct lines *l, const char *path, struct buf *out);

/* What was done, for --verbose and tests. */
struct lines_stats {
	bool index_found;
	size_t units;       /* in the debug information */
	size_t units_read;  /* from it, not from the index */
	size_t units_split; /* of which a .dwo or .dwp was needed and not found */
	bool alt_missing;   /* dwz's file was not found */
};
void lines_stats(const struct lines *l, struct lines_stats *ret_stats);

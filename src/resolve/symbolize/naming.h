/* SPDX-License-Identifier: GPL-2.0-or-later */
/* naming.h - names for the frames of a segment: finds each image's symbols where the
 * session, or this machine, has them, and never takes those of another binary.
 * Layer: resolve.  One per segment; not thread safe; loads an image at its first lookup. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/session/dict.h"
#include "format/session/session.h"
#include "resolve/find/naming_status.h"
#include "resolve/jit/files.h"
#include "resolve/symbols/symtab.h"

struct debuginfod_options;
struct err;
struct naming;
struct naming_places;

/* Where else to look, of a whole report: made once, used by the naming of each segment.
 * What is said of an image (log_say(), in OProfile's words) is said once. */
struct naming_options {
	const char *root;              /* put before recorded paths; NULL: none */
	const char *const *image_path; /* folders, searched with all below them for a
					* file of the name; ends with NULL; NULL: none */
	const char *vmlinux;           /* instead of the session's; NULL: none */
	/* Of the virtual machine whose kernel was sampled, too: the text of its
	 * /proc/kallsyms, and its kernel's file; NULL: none. */
	const char *guest_kallsyms;
	const char *guest_vmlinux;
	const char
		*debug_dir; /* perf's cache (resolve/find/debug_cache.h); NULL: none */
	const char *cache_dir; /* of unwind tables (index_cache_dir()); NULL: none */
	const struct naming_trace *trace; /* NULL: none; outlives the places */
	const struct debuginfod_options
		*debuginfod; /* servers that are asked for what is nowhere here, by
			      * build-id (resolve/find/debuginfod.h); NULL: none */
	bool archive; /* `root` holds a copy of all that this machine, or another one,
		       * found: nothing outside of it is looked at */
};
/* The strings are copied; image_path is read when it is first needed.  0 or -ENOMEM. */
int naming_places_new(const struct naming_options *options,
		      struct naming_places **ret_places);
void naming_places_free(struct naming_places *p); /* NULL is fine */
/* A source of the binary with this build-id from servers, by the absolute path that its debug
 * information has.  0: *ret_fd and *ret_path (malloc'd) are the caller's; -ENOENT: it is not to be
 * had; -ENOMEM. */
int naming_places_source(struct naming_places *p, const struct build_id *id,
			 const char *path, int *ret_fd, char **ret_path);
/* Before the first lookup; `p` outlives the naming. */
void naming_use(struct naming *n, struct naming_places *p);

/* `session_dir` holds the saved kallsyms, vdso and image copies, and what JIT compilers told
 * (docs/format.md); NULL or "" for a recording that has none, a perf.data: then only what has
 * the right build-id is used, and what has none only on the machine where it was recorded
 * (hostname and os_release of `info`; where it has no hostname, what is the very file, and the
 * kernel with the very ends).  So it is of an imported session but for JIT code.  `dict` and `info` outlive it.  0 or -ENOMEM. */
int naming_new(const struct dict *dict, const struct session_info *info,
	       const char *session_dir, struct naming **ret_naming);
void naming_free(struct naming *n); /* NULL is fine */
/* The file that the recording was written to: it changed last at the recording's end, and files of JIT
 * compilers that are newer may be of other processes.  Anything but a regular file changes nothing. */
void naming_recorded_in(struct naming *n, const char *path);
/* Where files of JIT compilers are; borrowed. */
struct jit_places naming_jit_places(const struct naming *n);
/* Whether the recording was made on this machine, under this kernel. */
bool naming_is_local(const struct naming *n);
/* Whether it was made on another machine, as far as that is known: its paths mean nothing here. */
bool naming_is_foreign(const struct naming *n);
/* Symbols that the recording carries itself (simpleperf's do), for what has none elsewhere.
 * Before the first lookup; they outlive the naming. */
struct perf_input_symbol_file;
void naming_use_symbol_files(struct naming *n,
			     const struct perf_input_symbol_file *files, size_t nr);
/* Code of BPF programs that the recording carries, of a machine by its uname -m.  Before lines are
 * asked for; both outlive the naming. */
struct perf_input_code;
void naming_use_codes(struct naming *n, const struct perf_input_code *codes, size_t nr,
		      const char *machine);
/* Where servers may be asked for files: an image for which they would be has no symbols until
 * naming_fetch(), so that all can be asked for at once, the most important ones first.  False:
 * no servers are asked, nothing is put off.  Without this a file is fetched when it is
 * needed. */
bool naming_defer(struct naming *n);
/* Whether the image waits for naming_fetch(). */
bool naming_is_deferred(struct naming *n, uint32_t image);
/* After naming_defer(): looks for the files of these images, and has those that are missing
 * here fetched, in this order, several at once.  For other images no server is asked any more.
 * 0 or -ENOMEM; a file that does not come is no error. */
int naming_fetch(struct naming *n, const uint32_t *images, size_t nr);
/* The image's table, or NULL if it has none; the same pointer each time. */
const struct symtab *naming_symtab(struct naming *n, uint32_t image);
/* What covers `offset` of the image: naming_symtab()'s symbol, and where that has none what
 * resolve/symbolize/unnamed.h makes of it.  *ret_kind (may be NULL) tells which.  NULL: nothing is
 * known.  Borrowed until naming_free(), and the same pointer for the same thing.  To be
 * asked once for a place, not once for a sample. */
enum naming_kind {
	NAMING_SYMBOL,   /* a real name, also "malloc@plt" */
	NAMING_FUNCTION, /* "0xSTART": a function without a name */
	NAMING_SECTION   /* "anonymous symbol from section .plt" */
};
const struct symbol *naming_find(struct naming *n, uint32_t image, uint64_t offset,
				 enum naming_kind *ret_kind);
/* The object (a variable, a table) at `offset` of a mapped file, NULL: none is known.  Borrowed
 * likewise. */
const struct symbol *naming_find_data(struct naming *n, uint32_t image,
				      uint64_t offset);
/* Status and where the symbols came from ("" if nowhere); after naming_symtab(). */
enum naming_status naming_status(struct naming *n, uint32_t image,
				 const char **ret_from);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* naming.h - the symbolizer for the frames of a segment: finds each image's symbols in the
 * session or on this machine, and never uses those of another binary.
 * Layer: resolve. One object per segment; not thread-safe. Loads an image at its first lookup. */
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
struct naming_locations;

/* Other locations to search, for a whole report: created once, used by the symbolizer of each
 * segment. Each warning about an image (log_say(), in OProfile's words) is printed once. */
struct naming_options {
	const char *root; /* prefix for recorded paths; NULL: none */
	/* Directories that are searched recursively by file name; NULL-terminated; NULL: none. */
	const char *const *image_path;
	const char *vmlinux; /* instead of the session's; NULL: none */
	/* For a sampled virtual machine: the text of its /proc/kallsyms, and its kernel's file;
	 * NULL: none. */
	const char *guest_kallsyms;
	const char *guest_vmlinux;
	const char
		*debug_dir; /* perf's cache (resolve/find/debug_cache.h); NULL: none */
	/* Directory of unwind tables (index_cache_dir()); NULL: none. */
	const char *cache_dir;
	const struct naming_trace *trace; /* NULL: none; must outlive the locations */
	/* Servers for files that are not on this machine, by build-id
	 * (resolve/find/debuginfod.h); NULL: none. */
	const struct debuginfod_options *debuginfod;
	/* `root` contains copies of everything that was found when the archive was made: nothing
	 * outside of it is used */
	bool archive;
	/* Uses a binary that is now at the recorded path even if its build-id, or time and size,
	 * differ; warns about it */
	bool accept_changed;
};
/* Copies the strings; reads image_path when it is first needed. Returns 0 or -ENOMEM. */
int naming_locations_new(const struct naming_options *options,
			 struct naming_locations **ret_locations);
void naming_locations_free(struct naming_locations *p); /* accepts NULL */
/* Returns whether debuginfod servers are queried. */
bool naming_locations_has_servers(const struct naming_locations *p);
/* Gets a source file of the binary with this build-id from servers, by its absolute path in the
 * debug information. Returns 0: the caller owns *ret_fd and *ret_path (malloc'd); -ENOENT or
 * -ENOMEM. */
int naming_locations_source(struct naming_locations *p, const struct build_id *id,
			    const char *path, int *ret_fd, char **ret_path);
/* Sets the other locations to search. Call it before the first lookup; `p` must outlive the
 * symbolizer. */
void naming_use(struct naming *n, struct naming_locations *p);

/* Creates a symbolizer. `session_dir` contains the saved kallsyms, vdso, copies of images, and
 * files of JIT compilers (docs/format.md); NULL or "" for a perf.data, which has none. Without
 * a session, files must have the right build-id. Images without a build-id are then symbolized
 * only on the recording machine (hostname and os_release of `info`); if `info` has no hostname,
 * only with the identical file, and the kernel only if its start and end match. The same
 * applies to an imported session, except for JIT code. `dict` and `info` must outlive the
 * object. Returns 0 or -ENOMEM. */
int naming_new(const struct dict *dict, const struct session_info *info,
	       const char *session_dir, struct naming **ret_naming);
void naming_free(struct naming *n); /* accepts NULL */
/* Sets the file of the recording. Its modification time is the end of the recording; newer
 * files of JIT compilers can belong to other processes. Ignored if it is not a regular file. */
void naming_recorded_in(struct naming *n, const char *path);
/* Returns the locations of files of JIT compilers; borrowed. */
struct jit_locations naming_jit_locations(const struct naming *n);
/* Returns whether the recording was made on this machine with this kernel. */
bool naming_is_local(const struct naming *n);
/* Returns whether the recording is known to be from another machine, so that its paths do not
 * refer to files here. */
bool naming_is_foreign(const struct naming *n);
/* Uses symbols that the recording contains (as simpleperf's do) for images without any others.
 * Call it before the first lookup; they must outlive the symbolizer. */
struct perf_input_symbol_file;
void naming_use_symbol_files(struct naming *n,
			     const struct perf_input_symbol_file *files, size_t nr);
/* Uses the code of BPF programs that the recording contains, for a machine (uname -m). Call it
 * before lines are opened; both must outlive the symbolizer. */
struct perf_input_code;
void naming_use_codes(struct naming *n, const struct perf_input_code *codes, size_t nr,
		      const char *machine);
/* Defers requests to servers: an image that needs one has no symbols until naming_fetch(), so
 * that all files can be requested at once, the most important ones first. Returns false if
 * there are no servers; then nothing is deferred. Without this call, each file is fetched when
 * it is needed. */
bool naming_defer(struct naming *n);
/* Returns whether the image is waiting for naming_fetch(). */
bool naming_is_deferred(struct naming *n, uint32_t image);
/* After naming_defer(): searches for the files of these images, and fetches the missing ones,
 * in this order, several at once. Later, servers are not queried for other images. Returns 0
 * (also if files could not be fetched) or -ENOMEM. */
int naming_fetch(struct naming *n, const uint32_t *images, size_t nr);
/* Returns the image's table, or NULL if it has none; always the same pointer. */
const struct symtab *naming_symtab(struct naming *n, uint32_t image);
/* Returns the symbol that covers `offset` of the image: that of naming_symtab(), or a
 * substitute from resolve/symbolize/unnamed.h. *ret_kind (may be NULL) is the kind. Returns
 * NULL if nothing is known. Valid until naming_free(), and always the same pointer for the same
 * symbol. Call it once per location, not once per sample. */
enum naming_kind {
	NAMING_SYMBOL,   /* a real name, or for example "malloc@plt" */
	NAMING_FUNCTION, /* "0xSTART": a function without a name */
	NAMING_SECTION   /* "anonymous symbol from section .plt" */
};
const struct symbol *naming_find(struct naming *n, uint32_t image, uint64_t offset,
				 enum naming_kind *ret_kind);
/* Returns the data object (a variable or table) at `offset` of a mapped file, or NULL. The result
 * is valid as long as that of naming_find(). */
const struct symbol *naming_find_data(struct naming *n, uint32_t image,
				      uint64_t offset);
/* Returns the status and the file of the symbols ("": none). Call naming_symtab() first. */
enum naming_status naming_status(struct naming *n, uint32_t image,
				 const char **ret_from);

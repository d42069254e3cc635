/* SPDX-License-Identifier: GPL-2.0-or-later */
/* priv.h - shared by the files of this directory.
 * Layer: resolve, only for this directory. */
#pragma once
#include <stdbool.h>

#include "base/buf.h"
#include "base/containers/vec.h"
#include "base/files/mapped.h"
#include "format/perfdata/input.h"
#include "resolve/find/binary.h"
#include "resolve/find/debuginfod.h"
#include "resolve/symbolize/naming.h"
#include "resolve/symbols/kallsyms.h"
#include "resolve/symbols/module_list.h"
#include "resolve/symbols/perf_map.h"

struct unnamed;

struct naming_entry {
	bool done;
	bool deferred;           /* waits for naming_fetch() */
	bool unnamed_done;       /* `unnamed` was made, or making it failed */
	struct unnamed *unnamed; /* for code that `tab` does not cover; NULL: none */
	enum naming_status status;
	struct symtab *tab;
	bool data_done;      /* `data` was searched for */
	struct symtab *data; /* its data objects; NULL: none */
	char *from;          /* file of the symbols; NULL: none */
};

/* The kallsyms text in use: that of a single kernel and boot. */
struct naming_kallsyms {
	bool read; /* all sources were tried */
	char *path;
	struct buf text;
	struct kallsyms_index index;
	uint64_t shift; /* to add to its addresses; not 0: from another boot */
	/* Known to be from the recorded boot, so its modules are valid. */
	bool same_boot;
	bool for_modules;
	enum naming_status status; /* OK or UNVERIFIED */
};

/* The map of a JIT compiler for one process. */
struct naming_jit {
	int32_t pid;               /* 0: not searched yet */
	enum naming_status status; /* NAMING_NO_SYMBOLS: the map was found */
	char *path;
	struct mapped text;
	struct perf_map map;
};

/* /proc/kallsyms of a virtual machine, specified by the user. */
struct naming_guest {
	bool read;
	enum naming_status status; /* OK: the text was read */
	struct buf text;
	struct kallsyms_index index;
};

struct naming {
	const struct dict *dict;
	const struct session_info *info;
	char *session_dir;      /* "": none, or an imported one */
	char *jit_dir;          /* of any session; "": none */
	bool is_local;          /* recorded on this machine, with this kernel */
	uint64_t until_wall_ns; /* end of the recording; 0: unknown */
	bool host_unknown;      /* the recording names no machine */
	/* Files of the recorded processes; NULL: the recording is from another boot, or they are
	 * not opened yet. */
	struct live_files *live;
	bool live_tried;
	struct naming_locations *locations; /* NULL: nowhere else */
	VEC(struct naming_entry) entries;   /* by image index */
	struct naming_kallsyms kallsyms;
	struct naming_jit jit;
	struct naming_guest guest;
	bool modules_read;
	struct buf modules; /* the session's list of modules */
	/* Index of the installed modules of the recorded kernel; NULL: none. */
	struct file_index *installed_modules;
	bool installed_modules_read;
	const struct perf_input_symbol_file *symbol_files;
	size_t nr_symbol_files;
	const struct perf_input_code *codes;
	size_t nr_codes;
	const char *machine;
	bool deferring;         /* requests for servers are added to ... */
	debuginfod_wants wants; /* ... this */
	bool fetched;           /* servers are not used any more */
	bool want_lines;        /* naming_want_lines() */
};

/* Sets the file of the symbols; "" if out of memory. */
void naming_set_from(struct naming_entry *e, const char *path);
/* Reports a step to the trace, if there is one. */
void naming_tried(const struct naming *n, const char *step, const char *path,
		  enum naming_status outcome);
/* Returns the parameters of binary_find() for one stage; borrows from `n`. */
struct binary_locations naming_binary_locations(struct naming *n,
						enum binary_stage stage);
/* The loaders in symbolize/kernel.c. They return 0, with the result in e->status, or -ENOMEM. */
int naming_kernel(struct naming *n, const struct image *image, struct naming_entry *e);
int naming_module(struct naming *n, const struct image *image, struct naming_entry *e);
/* Loads the symbols of the kernel from the ELF file at `fd`, and sets the status. Returns 0 or
 * -ENOMEM. */
int naming_load_vmlinux(struct naming *n, const struct image *image, int fd,
			struct naming_entry *e);
/* In symbolize/guest.c: loads the symbols of a virtual machine's kernel or module. Returns 0, with
 * the result in e->status, or a negative errno. */
int naming_guest(struct naming *n, const struct image *image, struct naming_entry *e);
void naming_guest_done(struct naming_guest *g);
/* Finds the binary of an image of kind FILE or VDSO, in the first stage that has it; like
 * binary_find(). */
int naming_find_binary(struct naming *n, const struct image *image, const char *name,
		       struct binary *b);
/* Opens the vmlinux that was specified, if it can be the recorded one. Returns 0: the caller
 * owns *ret_fd and *ret_path (malloc'd); -ENOENT, -ESTALE (another kernel), -ENOMEM, or another
 * negative errno. */
int naming_open_vmlinux(struct naming *n, const struct image *image, int *ret_fd,
			char **ret_path);
/* Finds a module's own file, and the addresses of its sections (empty: unknown). Returns 0
 * or -ENOMEM. The caller calls binary_close() and module_line_done(); ret_binary->fd is -1 if no
 * file was found. */
int naming_find_module(struct naming *n, const struct image *image,
		       struct binary *ret_binary, struct module_line *ret_line);
/* In symbolize/given.c: uses the symbols in the recording, if it has those of the image. Returns
 * 0, with the result in e->status, or -ENOMEM. */
int naming_given(struct naming *n, const struct image *image, struct naming_entry *e);
/* In symbolize/jit.c: uses the map or the dump of a JIT compiler. */
int naming_dump(struct naming *n, const struct image *image, struct naming_entry *e);
/* Opens the dump. Returns 0 or a negative errno. The caller frees *ret_path (malloc'd), which can
 * be set even on failure, and on success *ret_bytes and *ret_dump. */
struct jitdump;
int naming_open_dump(const struct naming *n, const struct image *image, char **ret_path,
		     struct mapped *ret_bytes, struct jitdump *ret_dump);
/* Uses the map of the process. Returns 0 (e->status is the result) or -ENOMEM. */
int naming_anon(struct naming *n, const struct image *image, struct naming_entry *e);
void naming_jit_done(struct naming_jit *j);
/* In symbolize/vdso.c: uses the running kernel's vdso, if it is the recorded kernel. Returns 0,
 * with the result in e->status, or -ENOMEM. */
int naming_own_vdso(struct naming *n, const struct image *image,
		    struct naming_entry *e);
/* In symbolize/kallsyms.c: returns whether the recorded kernel is the running one. */
bool naming_runs_here(struct naming *n);
/* Reads the text for the recorded kernel, once; index.parts.nr is 0 if none exists. */
int naming_kallsyms_read(struct naming *n);
void naming_kallsyms_done(struct naming_kallsyms *k);
/* Returns the build-id of the recorded kernel; length 0: unknown. */
const struct build_id *naming_kernel_id(const struct naming *n,
					const struct image *image);
/* Returns the image with the most information about the recorded kernel, or NULL. */
const struct image *naming_kernel_image(const struct naming *n);

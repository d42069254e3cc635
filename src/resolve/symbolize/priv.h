/* SPDX-License-Identifier: GPL-2.0-or-later */
/* priv.h - what the files of the naming share.
 * Layer: resolve, for naming*.c alone. */
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
	bool deferred;           /* servers are to be asked first */
	bool unnamed_done;       /* `unnamed` was made, or cannot be */
	struct unnamed *unnamed; /* for what `tab` does not cover; NULL: nothing */
	enum naming_status status;
	struct symtab *tab;
	bool data_done;      /* `data` was looked for */
	struct symtab *data; /* its objects; NULL: none */
	char *from;          /* NULL: nowhere */
};

/* The kallsyms text that is used: of one kernel, and of one boot. */
struct naming_kallsyms {
	bool read; /* all was tried */
	char *path;
	struct buf text;
	struct kallsyms_index index;
	uint64_t shift; /* to be added to its addresses: of another boot if not 0 */
	bool same_boot; /* known to be: its modules count as they are */
	bool for_modules;
	enum naming_status status; /* OK or UNVERIFIED */
};

/* The map of the JIT compiler in one process. */
struct naming_jit {
	int32_t pid;               /* 0: none was looked for */
	enum naming_status status; /* NO_SYMBOLS: the map is there */
	char *path;
	struct mapped text;
	struct perf_map map;
};

/* /proc/kallsyms of a virtual machine, as the user gave it. */
struct naming_guest {
	bool read;
	enum naming_status status; /* OK: there is a text */
	struct buf text;
	struct kallsyms_index index;
};

struct naming {
	const struct dict *dict;
	const struct session_info *info;
	char *session_dir;       /* "" none, or an imported one */
	char *jit_dir;           /* of any session, "" none */
	bool is_local;           /* recorded on this machine, under this kernel */
	uint64_t until_wall_ns;  /* the recording's end; 0: unknown */
	bool host_unknown;       /* the recording does not tell its machine */
	struct live_files *live; /* of its processes; NULL: of another boot, or not
				       * looked for yet */
	bool live_tried;
	struct naming_places *places;     /* NULL: nowhere else */
	VEC(struct naming_entry) entries; /* by image number */
	struct naming_kallsyms kallsyms;
	struct naming_jit jit;
	struct naming_guest guest;
	bool modules_read;
	struct buf modules;                   /* the session's list of them */
	struct file_index *installed_modules; /* of the kernel that ran; NULL: none */
	bool installed_modules_read;
	const struct perf_input_symbol_file *symbol_files;
	size_t nr_symbol_files;
	const struct perf_input_code *codes;
	size_t nr_codes;
	const char *machine;
	bool deferring;         /* what servers would be asked for is noted in ... */
	debuginfod_wants wants; /* ... this */
	bool fetched;           /* nothing is asked of servers any more */
	bool want_lines;        /* naming_want_lines() */
};

/* Notes where the symbols came from; a short memory shows as "". */
void naming_set_from(struct naming_entry *e, const char *path);
/* Tells the trace, if there is one. */
void naming_tried(const struct naming *n, const char *step, const char *path,
		  enum naming_status outcome);
struct binary_places naming_binary_places(struct naming *n, enum binary_stage stage);
/* The loaders of symbolize/kernel.c.  0 (e->status tells) or -ENOMEM. */
int naming_kernel(struct naming *n, const struct image *image, struct naming_entry *e);
int naming_module(struct naming *n, const struct image *image, struct naming_entry *e);
/* The symbols of the kernel in the ELF file at `fd`.  Sets the status.  0 or -ENOMEM. */
int naming_load_vmlinux(struct naming *n, const struct image *image, int fd,
			struct naming_entry *e);
/* Of symbolize/guest.c. */
int naming_guest(struct naming *n, const struct image *image, struct naming_entry *e);
void naming_guest_done(struct naming_guest *g);
/* The binary of an image of kind FILE or VDSO, from the first stage that has it; as
 * binary_find(). */
int naming_find_binary(struct naming *n, const struct image *image, const char *name,
		       struct binary *b);
/* The file given as the kernel's, if it can be the one that ran.  0: *ret_fd and *ret_path
 * (malloc'd) are the caller's; -ENOENT, -ESTALE (of another kernel), -ENOMEM, ... */
int naming_open_vmlinux(struct naming *n, const struct image *image, int *ret_fd,
			char **ret_path);
/* A module's own file, and where its sections were (none: not known).  0: both are the
 * caller's to end, with fd -1 where there is none; or -ENOMEM. */
int naming_find_module(struct naming *n, const struct image *image,
		       struct binary *ret_binary, struct module_line *ret_line);
/* Of symbolize/given.c: the symbols that a recording carries, if it has those of the image. */
int naming_given(struct naming *n, const struct image *image, struct naming_entry *e);
/* Of symbolize/jit.c: from the map of a JIT compiler, or its dump. */
int naming_dump(struct naming *n, const struct image *image, struct naming_entry *e);
/* The dump itself: 0, and all is the caller's; else a negative errno, *ret_path (malloc'd) may be
 * set. */
struct jitdump;
int naming_open_dump(const struct naming *n, const struct image *image, char **ret_path,
		     struct mapped *ret_bytes, struct jitdump *ret_dump);
int naming_anon(struct naming *n, const struct image *image, struct naming_entry *e);
void naming_jit_done(struct naming_jit *j);
/* Of symbolize/vdso.c: this kernel's own, if it is the one that ran. */
int naming_own_vdso(struct naming *n, const struct image *image,
		    struct naming_entry *e);
/* Of symbolize/kallsyms.c.  Whether the kernel that ran is the one of this machine now. */
bool naming_runs_here(struct naming *n);
/* The text for the kernel that ran, once; index.parts.nr is 0 if
 * there is none. */
int naming_kallsyms_read(struct naming *n);
void naming_kallsyms_done(struct naming_kallsyms *k);
/* The build-id of the kernel that ran, length 0: not known. */
const struct build_id *naming_kernel_id(const struct naming *n,
					const struct image *image);
/* The image that knows most of the kernel that ran, or NULL. */
const struct image *naming_kernel_image(const struct naming *n);

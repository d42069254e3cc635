/* SPDX-License-Identifier: GPL-2.0-or-later */
/* naming_status.h - the results and the steps of the search for an image's symbols.
 * Layer: resolve. */
#pragma once

/* Why an image has, or lacks, symbols; shown by `--quality`. */
enum naming_status {
	NAMING_OK,           /* symbols loaded */
	NAMING_NO_SYMBOLS,   /* the right file was found, but has no symbols */
	NAMING_NO_FILE,      /* the recorded path does not exist */
	NAMING_OTHER_FILE,   /* the file found has another build-id (or inode, mtime) */
	NAMING_UNREADABLE,   /* permission denied, or not a usable ELF file */
	NAMING_AMBIGUOUS,    /* several files have its name, and there is no build-id */
	NAMING_UNVERIFIED,   /* symbols loaded; no build-id, but all else matches */
	NAMING_NO_KALLSYMS,  /* kernel without saved symbols (kptr_restrict) */
	NAMING_FOREIGN,      /* recorded on another machine, and there is no build-id */
	NAMING_UNKNOWN_HOST, /* likewise, on an unknown machine */
	NAMING_NONE_EXPECTED, /* anonymous without a JIT map, unmapped, or lost */
	NAMING_STATUS_COUNT
};

/* Receives each step of a search: its name, the file (NULL: none), and the result: NAMING_OK or
 * NAMING_UNVERIFIED (file is used), NAMING_NO_FILE, NAMING_OTHER_FILE, NAMING_NO_SYMBOLS ... */
struct naming_trace {
	void (*tried)(void *ctx, const char *step, const char *path,
		      enum naming_status outcome);
	void *ctx;
};

/* Names of the steps. */
#define NAMING_STEP_COPY "the session's copy"
#define NAMING_STEP_RECORDED "recorded path"
#define NAMING_STEP_INDEX "--image-path"
#define NAMING_STEP_CACHE "perf's cache"
#define NAMING_STEP_DEBUG_ID "debug files by build-id"
#define NAMING_STEP_DEBUG_LINK "debug file by link"
#define NAMING_STEP_KERNEL "installed vmlinux"
#define NAMING_STEP_KALLSYMS "kallsyms"
#define NAMING_STEP_VMLINUX "--vmlinux"
#define NAMING_STEP_CACHED_KERNEL "vmlinux in perf's cache"
#define NAMING_STEP_LIVE "/proc of its processes"
#define NAMING_STEP_DEBUGINFOD "debuginfod"
#define NAMING_STEP_JIT_MAP "map of a JIT compiler"
#define NAMING_STEP_JIT_DUMP "jitdump"

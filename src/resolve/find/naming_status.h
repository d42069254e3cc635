/* naming_status.h - why an image has or lacks symbols, and the steps of the search for them.
 * Layer: resolve. */
#pragma once

/* Why an image has, or lacks, symbols; shown by `--quality`. */
enum naming_status {
	NAMING_OK,         /* symbols loaded */
	NAMING_NO_SYMBOLS, /* the right file was there, without symbols */
	NAMING_NO_FILE,    /* recorded path does not exist here */
	NAMING_OTHER_FILE, /* a file is there, but with another build-id (or inode, mtime) */
	NAMING_UNREADABLE, /* permission, or not a usable ELF file */
	NAMING_AMBIGUOUS, /* several files have its name, and no build-id tells which */
	NAMING_UNVERIFIED, /* symbols loaded, and no build-id to check them by: all else fits */
	NAMING_NO_KALLSYMS, /* kernel without saved symbols (kptr_restrict) */
	NAMING_FOREIGN, /* of another machine, and no build-id tells which file it was */
	NAMING_UNKNOWN_HOST, /* likewise, of which machine is not known */
	NAMING_NONE_EXPECTED, /* anonymous without a map of a JIT compiler, unmapped, lost */
	NAMING_STATUS_COUNT
};

/* Hears of each step of a search: which it was, the file (NULL: none was named), and what
 * came of it: OK or UNVERIFIED (taken), NO_FILE, OTHER_FILE, NO_SYMBOLS ... */
struct naming_trace {
	void (*tried)(void *ctx, const char *step, const char *path,
		      enum naming_status outcome);
	void *ctx;
};

/* The steps. */
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

/* places.h - where binaries are looked for, from the options --root, --image-path, --vmlinux,
 * --debuginfod-timeout and from the environment.
 * Layer: tools. */
#pragma once
#include "tools/options.h"

struct err;
struct naming_places;
struct naming_trace;

/* `image_path`: folders separated by commas.  `archive`: the folder of one, below which all
 * is then looked for, the image path too.  Each of them may be NULL.  0, or a negative errno
 * with a line for the user. */
struct places_options {
	const char *root;
	const char *image_path;
	const char *vmlinux;
	const char *guest_kallsyms;
	const char *guest_vmlinux;
	const char *archive;
	const char *debuginfod_timeout;
	const struct naming_trace *trace;
	bool no_cache; /* neither read nor write unwind tables in the user's cache */
};

/* For every command that looks for binaries: put a member `struct places_options places` into
 * its settings and PLACES_OPTION_ROWS(struct settings) among its rows. */
#define PLACES_OPTION_ROWS(type)                                                       \
	{ .name = "image-path",                                                        \
	  .letter = 'p',                                                               \
	  .kind = OPTION_TEXT,                                                         \
	  .value = "DIR[,DIR...]",                                                     \
	  .offset = OPTION(type, places.image_path),                                   \
	  .help = "Where else binaries and modules are looked for, with all folders "  \
		  "below." },                                                          \
		{ .name = "root",                                                      \
		  .letter = 'R',                                                       \
		  .kind = OPTION_TEXT,                                                 \
		  .value = "DIR",                                                      \
		  .offset = OPTION(type, places.root),                                 \
		  .help = "A folder in which the recorded paths are looked up." },     \
		{ .name = "symfs", .alias_of = "root" },                               \
		{ .name = "vmlinux",                                                   \
		  .letter = 'k',                                                       \
		  .kind = OPTION_TEXT,                                                 \
		  .value = "FILE",                                                     \
		  .offset = OPTION(type, places.vmlinux),                              \
		  .help = "The kernel's uncompressed image, for its functions." },     \
		{ .name = "guestkallsyms",                                             \
		  .kind = OPTION_TEXT,                                                 \
		  .value = "FILE",                                                     \
		  .offset = OPTION(type, places.guest_kallsyms),                       \
		  .help = "/proc/kallsyms of the virtual machine that was sampled." }, \
		{ .name = "guestvmlinux",                                              \
		  .kind = OPTION_TEXT,                                                 \
		  .value = "FILE",                                                     \
		  .offset = OPTION(type, places.guest_vmlinux),                        \
		  .help = "Its kernel's uncompressed image." },                        \
	{                                                                              \
		.name = "debuginfod-timeout", .kind = OPTION_TEXT, .value = "SECONDS", \
		.offset = OPTION(type, places.debuginfod_timeout),                     \
		.help = "How long servers of DEBUGINFOD_URLS are waited for, all in "  \
			"all (15; 0: they are not asked)."                             \
	}

int places_make(const struct places_options *from, struct naming_places **ret_places,
		struct err *err);

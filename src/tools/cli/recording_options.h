/* SPDX-License-Identifier: GPL-2.0-or-later */
/* recording_options.h - rows of the options shared by all commands that read recordings or search
 * for binaries.
 * Layer: tools. */
#pragma once
#include "tools/cli/options.h"

/* For every command that reads recordings: the member `session_dir`, and `threads` if it can
 * decompress and unwind a perf.data in parallel. */
#define SESSION_DIR_OPTION_ROW(type)                                                                 \
	{                                                                                            \
		.name = "session-dir", .kind = OPTION_TEXT, .value = "DIR",                          \
		.offset = OPTION(type, session_dir),                                                 \
		.help = "Where samples/ is. The default is ./oprofile_data, else /var/lib/oprofile." \
	}
#define THREADS_OPTION_ROW(type)                                                                     \
	{                                                                                            \
		.name = "threads", .kind = OPTION_TEXT, .value = "N",                                \
		.offset = OPTION(type, threads),                                                     \
		.help = "Unpack perf.data files and unwind their stacks with N threads (1 or more; " \
			"default: as there are CPUs).  "                                             \
			"The result is the same."                                                    \
	}
/* Likewise, the member `force`, for report_trust(); its letter is perf's `f` if that is free. */
#define FORCE_OPTION_ROW(type, short_option)                                           \
	{                                                                              \
		.name = "force", .letter = (short_option), .kind = OPTION_FLAG,        \
		.offset = OPTION(type, force),                                         \
		.help = "Also read recordings that belong neither to you nor to root." \
	}

/* For every command that searches for binaries: put a member `struct places_options places` into
 * its settings and PLACES_OPTION_ROWS(struct settings) among its rows. */
#define PLACES_OPTION_ROWS(type)                                                                  \
	{                                                                                         \
		.name = "image-path",                                                             \
		.letter = 'p',                                                                    \
		.kind = OPTION_TEXT,                                                              \
		.value = "DIR[,DIR...]",                                                          \
		.offset = OPTION(type, places.image_path),                                        \
		.help = "Where else binaries and modules are looked for, with all folders below." \
	},                                                                                        \
		{ .name = "root",                                                                 \
		  .letter = 'R',                                                                  \
		  .kind = OPTION_TEXT,                                                            \
		  .value = "DIR",                                                                 \
		  .offset = OPTION(type, places.root),                                            \
		  .help = "A folder in which the recorded paths are looked up." },                \
		{ .name = "symfs", .alias_of = "root" },                                          \
		{ .name = "vmlinux",                                                              \
		  .letter = 'k',                                                                  \
		  .kind = OPTION_TEXT,                                                            \
		  .value = "FILE",                                                                \
		  .offset = OPTION(type, places.vmlinux),                                         \
		  .help = "The kernel's uncompressed image, for its functions." },                \
		{ .name = "guestkallsyms",                                                        \
		  .kind = OPTION_TEXT,                                                            \
		  .value = "FILE",                                                                \
		  .offset = OPTION(type, places.guest_kallsyms),                                  \
		  .help = "/proc/kallsyms of the virtual machine that was sampled." },            \
		{ .name = "guestvmlinux",                                                         \
		  .kind = OPTION_TEXT,                                                            \
		  .value = "FILE",                                                                \
		  .offset = OPTION(type, places.guest_vmlinux),                                   \
		  .help = "Its kernel's uncompressed image." },                                   \
	{                                                                                         \
		.name = "debuginfod-timeout", .kind = OPTION_TEXT, .value = "SECONDS",            \
		.offset = OPTION(type, places.debuginfod_timeout),                                \
		.help = "How long servers of DEBUGINFOD_URLS are waited for, all in all (15; "    \
			"0: they are not asked)."                                                 \
	}

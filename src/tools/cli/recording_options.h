/* SPDX-License-Identifier: GPL-2.0-or-later */
/* recording_options.h - rows of the options shared by all commands that read recordings or search
 * for binaries.
 * Layer: tools. */
#pragma once
#include "tools/cli/options.h"

/* Rows for every command that reads recordings. Its struct has a member `session_dir` and, if the
 * command can decompress and unwind a perf.data in parallel, `threads`. */
#define SESSION_DIR_OPTION_ROW(type)                                                                              \
	{                                                                                                         \
		.name = "session-dir", .kind = OPTION_TEXT, .value = "DIR",                                       \
		.offset = OPTION(type, session_dir),                                                              \
		.help = "Look for samples/ in this directory (default: ./oprofile_data, else /var/lib/oprofile)." \
	}
#define THREADS_OPTION_ROW(type)                                                                                                             \
	{                                                                                                                                    \
		.name = "threads", .kind = OPTION_TEXT, .value = "N",                                                                        \
		.offset = OPTION(type, threads),                                                                                             \
		.help = "Use N threads to unpack and unwind perf.data files (default: the number of CPUs). The result does not depend on N." \
	}
/* A row for every command that reads recordings. Its struct has a member `force`, the argument of
 * report_trust(). The letter is perf's `f` if the command does not use it otherwise. */
#define FORCE_OPTION_ROW(type, short_option)                                           \
	{                                                                              \
		.name = "force", .letter = (short_option), .kind = OPTION_FLAG,        \
		.offset = OPTION(type, force),                                         \
		.help = "Read recordings that belong to other users."                  \
	}

/* Rows for every command that searches for binaries. Its struct has a member `struct
 * location_options locations`. */
#define LOCATION_OPTION_ROWS(type)                                                                                      \
	{ .name = "image-path",                                                                                         \
	  .letter = 'p',                                                                                                \
	  .kind = OPTION_TEXT,                                                                                          \
	  .value = "DIR[,DIR...]",                                                                                      \
	  .offset = OPTION(type, locations.image_path),                                                                 \
	  .help = "Also search for binaries and modules below these directories." },                                    \
		{ .name = "root",                                                                                       \
		  .letter = 'R',                                                                                        \
		  .kind = OPTION_TEXT,                                                                                  \
		  .value = "DIR",                                                                                       \
		  .offset = OPTION(type, locations.root),                                                               \
		  .help = "Look up recorded paths below this directory." },                                             \
		{ .name = "symfs", .alias_of = "root" },                                                                \
		{ .name = "vmlinux",                                                                                    \
		  .letter = 'k',                                                                                        \
		  .kind = OPTION_TEXT,                                                                                  \
		  .value = "FILE",                                                                                      \
		  .offset = OPTION(type, locations.vmlinux),                                                            \
		  .help = "Read kernel symbols from this uncompressed image." },                                        \
		{ .name = "guestkallsyms",                                                                              \
		  .kind = OPTION_TEXT,                                                                                  \
		  .value = "FILE",                                                                                      \
		  .offset = OPTION(type, locations.guest_kallsyms),                                                     \
		  .help = "Read symbols of the sampled virtual machine from this copy of /proc/kallsyms." },            \
		{ .name = "guestvmlinux",                                                                               \
		  .kind = OPTION_TEXT,                                                                                  \
		  .value = "FILE",                                                                                      \
		  .offset = OPTION(type, locations.guest_vmlinux),                                                      \
		  .help = "Read symbols of the sampled virtual machine from this kernel image." },                      \
	{                                                                                                               \
		.name = "debuginfod-timeout", .kind = OPTION_TEXT, .value = "SECONDS",                                  \
		.offset = OPTION(type, locations.debuginfod_timeout),                                                   \
		.help = "Wait at most this long for all servers of DEBUGINFOD_URLS (default 15; 0: do not query them)." \
	}
/* A row for every command that symbolizes samples. */
#define ACCEPT_CHANGED_OPTION_ROW(type)                                                                                                   \
	{                                                                                                                                 \
		.name = "accept-changed", .kind = OPTION_FLAG,                                                                            \
		.offset = OPTION(type, locations.accept_changed),                                                                         \
		.help = "Use the symbols and lines of binaries that were changed since the recording, with a warning. They can be wrong." \
	}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* options.h - the options of `oprofile report`.
 * Layer: tools. */
#pragma once
#include <stdbool.h>

#include "recordings/locations.h"
#include "tools/cli/options.h"
#include "tools/cli/recording_options.h"
#include "tools/cli/terminal.h"

struct report_options {
	bool symbols;
	bool details;
	const char *by;
	bool callgraph;
	bool numbered;
	bool no_empty_self;
	const char *tree;
	const char *focus;
	bool children;
	bool inlined;
	bool no_inline;
	uint64_t max_stack;
	bool csv;
	bool json;
	bool xml;
	bool total_period;
	const char *confidence;
	bool without_effect;
	bool force;
	const char *output_file;
	const char *threshold;
	uint64_t top;
	struct word_list sort;
	struct word_list ratios; /* EVENT/EVENT */
	bool reverse;
	bool long_names;
	bool no_header;
	bool show_address;
	bool debug_info;
	bool no_cache;
	bool accumulated;
	bool global_percent;
	struct word_list merge;
	struct word_list separate;
	bool unnamed;
	bool separate_thread;
	bool separate_cpu;
	bool exclude_dependent;
	struct word_list exclude_symbols;
	struct word_list include_symbols;
	const char *demangle;
	bool smart_demangle;
	const char *demangle_patterns;
	bool no_demangle;
	bool quality;
	bool quality_alone; /* `oprofile quality`: without a report */
	bool strict;
	const char *dsos;
	const char *comms;
	const char *pids;
	const char *tids;
	const char *cpus;
	const char *times;
	const char *since;
	const char *between;
	const char *input;
	struct location_options locations;
	const char *session_dir;
	const char *threads;
	const char *verbose;
	struct terminal_options terminal;
};

/* Rows of filters and of the display of names, for commands whose settings begin with `struct
 * report_options`. */
#define REPORT_NAME_ROWS                                                                                                     \
	{                                                                                                                    \
		.name = "exclude-dependent",                                                                                 \
		.letter = 'x',                                                                                               \
		.kind = OPTION_FLAG,                                                                                         \
		.offset = OPTION(struct report_options, exclude_dependent),                                                  \
		.help = "Only use samples in the programs themselves, not in libraries or the kernel."                       \
	},                                                                                                                   \
		{ .name = "exclude-symbols",                                                                                 \
		  .letter = 'e',                                                                                             \
		  .kind = OPTION_LIST,                                                                                       \
		  .value = "NAME[,NAME...]",                                                                                 \
		  .offset = OPTION(struct report_options, exclude_symbols),                                                  \
		  .help = "Exclude these functions, also from the totals." },                                                \
		{ .name = "include-symbols",                                                                                 \
		  .letter = 'i',                                                                                             \
		  .kind = OPTION_LIST,                                                                                       \
		  .value = "NAME[,NAME...]",                                                                                 \
		  .offset = OPTION(struct report_options, include_symbols),                                                  \
		  .help = "Only these functions." },                                                                         \
		{ .name = "demangle",                                                                                        \
		  .letter = 'D',                                                                                             \
		  .kind = OPTION_TEXT,                                                                                       \
		  .value = "none|normal|smart",                                                                              \
		  .offset = OPTION(struct report_options, demangle),                                                         \
		  .help = "Demangle names of C++, Rust, D and Java; smart also abbreviates templates of the C++ library." }, \
		{ .name = "smart-demangle",                                                                                  \
		  .kind = OPTION_FLAG,                                                                                       \
		  .offset = OPTION(struct report_options, smart_demangle),                                                   \
		  .help = "Same as --demangle=smart." },                                                                     \
		{ .name = "demangle-patterns",                                                                               \
		  .kind = OPTION_TEXT,                                                                                       \
		  .value = "FILE",                                                                                           \
		  .offset = OPTION(struct report_options, demangle_patterns),                                                \
		  .help = "Read the rules for --demangle=smart from this file instead of ~/.config/oprofile/stl.pat." },     \
	{                                                                                                                    \
		.name = "no-demangle", .kind = OPTION_FLAG,                                                                  \
		.offset = OPTION(struct report_options, no_demangle),                                                        \
		.help = "Same as --demangle=none."                                                                           \
	}

/* Rows for commands that print or write functions, each with a help text that describes the
 * command's output. */
#define REPORT_THRESHOLD_ROW(text)                                                     \
	{                                                                              \
		.name = "threshold", .letter = 't', .kind = OPTION_TEXT,               \
		.value = "PERCENT",                                                    \
		.offset = OPTION(struct report_options, threshold), .help = (text)     \
	}
#define REPORT_RATIO_ROW                                                                              \
	{                                                                                             \
		.name = "ratio", .kind = OPTION_LIST, .value = "EVENT/EVENT",                         \
		.offset = OPTION(struct report_options, ratios),                                      \
		.help = "Add a column with the ratio of two events, such as LLC_MISSES/INST_RETIRED." \
	}
#define REPORT_MERGE_ROW(text)                                                         \
	{                                                                              \
		.name = "merge", .letter = 'm', .kind = OPTION_LIST, .value = "LIST",  \
		.offset = OPTION(struct report_options, merge), .help = (text)         \
	}

/* Rows for commands that read recordings: input, search for files, and messages. */
#define REPORT_READ_ROWS                                                                                                                           \
	{ .name = "input",                                                                                                                         \
	  .kind = OPTION_TEXT,                                                                                                                     \
	  .value = "FILE",                                                                                                                         \
	  .offset = OPTION(struct report_options, input),                                                                                          \
	  .help = "Read this recording (same as the argument FILE)." },                                                                            \
		SESSION_DIR_OPTION_ROW(struct report_options),                                                                                     \
		FORCE_OPTION_ROW(struct report_options, 0),                                                                                        \
		ACCEPT_CHANGED_OPTION_ROW(struct report_options),                                                                                  \
		LOCATION_OPTION_ROWS(struct report_options),                                                                                       \
		THREADS_OPTION_ROW(struct report_options),                                                                                         \
		{ .name = "no-cache",                                                                                                              \
		  .kind = OPTION_FLAG,                                                                                                             \
		  .offset = OPTION(struct report_options, no_cache),                                                                               \
		  .help = "Neither read nor write index files and unwind tables (oprofile cache)." },                                              \
		{ .name = "strict",                                                                                                                \
		  .kind = OPTION_FLAG,                                                                                                             \
		  .offset = OPTION(struct report_options, strict),                                                                                 \
		  .help = "Exit with status 1 if there was a warning." },                                                                          \
		{ .name = "verbose",                                                                                                               \
		  .letter = 'V',                                                                                                                   \
		  .kind = OPTION_TEXT,                                                                                                             \
		  .value = "LIST",                                                                                                                 \
		  .offset = OPTION(struct report_options, verbose),                                                                                \
		  .help = "Print more to stderr: all, debug, bfd (sources of symbols), sfile (files), stats (amounts read), level1, xml, arcs." }, \
		TERMINAL_OPTION_ROWS(struct report_options)

extern const struct option_row report_rows[];

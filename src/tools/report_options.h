/* report_options.h - the options of `oprofile report`.
 * Layer: tools. */
#pragma once
#include <stdbool.h>

#include "tools/options.h"
#include "tools/places.h"
#include "tools/terminal.h"

struct report_options {
	bool symbols;
	bool details;
	const char *by;
	bool csv;
	bool json;
	bool total_period;
	bool without_effect;
	const char *output_file;
	const char *threshold;
	struct option_list sort;
	bool reverse;
	bool long_names;
	bool no_header;
	bool show_address;
	bool debug_info;
	bool no_cache;
	bool accumulated;
	bool global_percent;
	struct option_list merge;
	bool separate_thread;
	bool separate_cpu;
	bool exclude_dependent;
	struct option_list exclude_symbols;
	struct option_list include_symbols;
	const char *demangle;
	bool smart_demangle;
	const char *demangle_patterns;
	bool no_demangle;
	bool quality;
	bool strict;
	const char *dsos;
	const char *comms;
	const char *pids;
	const char *tids;
	const char *cpus;
	const char *times;
	const char *input;
	struct places_options places;
	const char *session_dir;
	const char *threads;
	const char *verbose;
	struct terminal_options terminal;
};

extern const struct option_row report_rows[];

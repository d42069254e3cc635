/* report_options.h - the options of `oprofile report`.
 * Layer: tools. */
#pragma once
#include <stdbool.h>

#include "tools/options.h"

struct report_options {
	bool symbols;
	const char *by;
	bool csv;
	bool json;
	const char *output_file;
	const char *threshold;
	bool reverse;
	bool long_names;
	bool no_header;
	bool quality;
	bool strict;
	const char *dsos;
	const char *comms;
	const char *session_dir;
};

extern const struct option_row report_rows[];

#include "tools/report_options.h"

#define LATER "comes with a later version"

/* Options of OProfile 0.6 to 1.x that are not offered yet are known by name, so that none
 * is taken for something else or ignored. */
#define REFUSED(long_name, the_letter, text)                                           \
	{                                                                              \
		.name = (long_name), .letter = (the_letter), .kind = OPTION_REFUSED,   \
		.refusal = (text)                                                      \
	}
#define REFUSED_VALUE(long_name, the_letter, what, text)                               \
	{                                                                              \
		.name = (long_name), .letter = (the_letter), .kind = OPTION_REFUSED,   \
		.value = (what), .refusal = (text)                                     \
	}

const struct option_row report_rows[] = {
	{ .name = "symbols",
	  .letter = 'l',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct report_options, symbols),
	  .help = "One line a function, instead of one a program and image." },
	{ .name = "by",
	  .kind = OPTION_TEXT,
	  .value = "KEY[,KEY...]",
	  .offset = OPTION(struct report_options, by),
	  .help = "One line for each combination of: event, comm, pid (tgid), tid, "
		  "cpu, "
		  "image (dso), app, symbol, address, cgroup, session, host, "
		  "time:10ms." },
	{ .name = "csv",
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct report_options, csv),
	  .help = "Comma separated values: the keys, then samples, period, percent." },
	{ .name = "json",
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct report_options, json),
	  .help = "The same as one JSON object." },
	{ .name = "output-file",
	  .letter = 'o',
	  .kind = OPTION_TEXT,
	  .value = "FILE",
	  .offset = OPTION(struct report_options, output_file),
	  .help = "Write to FILE instead of the standard output." },
	{ .name = "threshold",
	  .letter = 't',
	  .kind = OPTION_TEXT,
	  .value = "PERCENT",
	  .offset = OPTION(struct report_options, threshold),
	  .help = "Hide lines with a smaller share. The shares of the others stay." },
	{ .name = "reverse-sort",
	  .letter = 'r',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct report_options, reverse),
	  .help = "The smallest first." },
	{ .name = "long-filenames",
	  .letter = 'f',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct report_options, long_names),
	  .help = "Full paths of binaries." },
	{ .name = "no-header",
	  .letter = 'n',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct report_options, no_header),
	  .help = "Neither the lines on what was counted nor column titles." },
	{ .name = "quality",
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct report_options, quality),
	  .help = "Say how far the profile can be trusted: lost, unresolved and "
		  "misplaced "
		  "samples, and what would help." },
	{ .name = "strict",
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct report_options, strict),
	  .help = "End with status 1 if there was a warning." },
	{ .name = "dsos",
	  .kind = OPTION_TEXT,
	  .value = "LIST",
	  .offset = OPTION(struct report_options, dsos),
	  .help = "Only samples in these images: the same as lib-image:LIST." },
	{ .name = "comms",
	  .kind = OPTION_TEXT,
	  .value = "LIST",
	  .offset = OPTION(struct report_options, comms),
	  .help = "Only samples of these commands: the same as comm:LIST." },
	{ .name = "session-dir",
	  .kind = OPTION_TEXT,
	  .value = "DIR",
	  .offset = OPTION(struct report_options, session_dir),
	  .help = "Where samples/ is. The default is ./oprofile_data, else "
		  "/var/lib/oprofile." },
	REFUSED_VALUE("verbose", 'V', "LIST", "more words on the way: " LATER),
	REFUSED_VALUE("image-path", 'p', "DIRS",
		      "looking for binaries elsewhere " LATER),
	REFUSED_VALUE("root", 'R', "DIR", "looking for binaries below a root " LATER),
	REFUSED_VALUE("vmlinux", 'k', "FILE",
		      "give --vmlinux to operf; here it " LATER),
	REFUSED("callgraph", 'c', "the call graph report " LATER),
	REFUSED("details", 'd', "the report by address " LATER " (--by address)"),
	REFUSED_VALUE("sort", 's', "KEYS",
		      "another order " LATER
		      "; to group by keys use --by KEY[,KEY...]"),
	REFUSED_VALUE("merge", 'm', "LIST", "merging " LATER "; group with --by"),
	REFUSED("exclude-dependent", 'x', LATER),
	REFUSED_VALUE("exclude-symbols", 'e', "SYMBOLS", LATER),
	REFUSED_VALUE("include-symbols", 'i', "SYMBOLS", LATER),
	REFUSED_VALUE("demangle", 'D', "none|normal|smart",
		      "names are always demangled; a choice " LATER),
	REFUSED("no-demangle", 0, "names are always demangled; a choice " LATER),
	REFUSED("smart-demangle", 0, "names are always demangled; a choice " LATER),
	REFUSED("debug-info", 'g', "source lines: " LATER),
	REFUSED("show-address", 'w', "the address column " LATER " (--by address)"),
	REFUSED("accumulated", 'a', "cumulative columns: " LATER),
	REFUSED("global-percent", '%', LATER),
	REFUSED("xml", 'X', "XML " LATER "; there are --json and --csv"),
	{ 0 },
};

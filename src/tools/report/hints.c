/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/report/hints.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "present/lines/screen.h"
#include "recordings/sources.h"
#include "tools/cli/command.h"
#include "tools/report/options.h"

/* Returns whether `word` is a group of options without values, such as -ld, that ends with
 * `letter`. */
static bool ends_in_flag(const char *word, char letter)
{
	static const char flags[] = "ldcwagrnfxX%";
	size_t len = strlen(word);

	return len > 1 && word[0] == '-' && word[len - 1] == letter &&
	       strspn(word + 1, flags) == len - 1;
}

static bool is_dir(const char *word)
{
	struct stat st;

	return !stat(word, &st) && S_ISDIR(st.st_mode);
}

static bool report_hint_is_number(const char *word)
{
	return *word && !word[strspn(word, "0123456789")];
}

/* Returns whether the argument is probably a recording and not a function. A function can have the
 * name of a file, but not that of a path. */
static bool is_recording_file(const char *word)
{
	return report_source_is(word) || strstr(word, "perf.data") ||
	       (strpbrk(word, "/.") && !access(word, F_OK));
}

struct hint_row {
	char letter;
	bool takes_value; /* the next argument is the option's value */
	bool (*is_trap)(const char *word);
	const char *effect;
	const char *purpose;
	const char *instead; /* the word follows it */
};

static const struct hint_row hints[] = {
	{ 'd', false, is_dir, "prints details", "to choose a session directory",
	  "--session-dir=" },
	{ 'i', true, is_recording_file, "selects functions", "to read a recording",
	  "--input=" },
	{ 'n', false, report_hint_is_number, "omits the header",
	  "to print only the first lines", "-n | head -n " },
};

static bool is_option_of(const struct hint_row *row, const char *word)
{
	return row->takes_value
		       ? strlen(word) == 2 && word[0] == '-' && word[1] == row->letter
		       : ends_in_flag(word, row->letter);
}

void report_hint_words(int argc, char *const *argv)
{
	for (int i = 1; i + 1 < argc && strcmp(argv[i], "--") != 0; i++) {
		for (size_t h = 0; h < COUNT_OF(hints); h++) {
			const struct hint_row *row = &hints[h];

			if (is_option_of(row, argv[i]) && row->is_trap(argv[i + 1]))
				screen_print_line(
					stderr, "%s: hint: -%c %s; %s: %s %s%s",
					command_name(), row->letter, row->effect,
					row->purpose, command_name(), row->instead,
					argv[i + 1]);
		}
	}
}

void report_hint_refused(const struct report_options *options)
{
	if (options->debug_info && !options->symbols && !options->details &&
	    !options->callgraph && !options->xml)
		fprintf(stderr,
			"%s: hint: -g adds source lines: %s -lg; call graphs are printed by %s -c\n",
			command_name(), command_name(), command_name());
}

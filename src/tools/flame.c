/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flame.c - `oprofile flame`: records with call stacks, writes a flame graph and opens it in the
 * browser. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/containers/vec.h"
#include "base/err.h"
#include "present/lines/screen.h"
#include "serve/page/browser.h"
#include "tools/cli/command.h"
#include "tools/export/export.h"
#include "tools/record/run.h"

enum {
	EXIT_OWN_FAILURE = 125
};

struct flame_settings {
	const char *events, *frequency, *callgraph, *pids, *duration, *session_dir;
	const char *output;
	bool system_wide;
	bool no_browser;
};

static const struct option_row rows[] = {
	{ .name = "events",
	  .letter = 'e',
	  .kind = OPTION_TEXT,
	  .value = "SPEC[,SPEC]",
	  .offset = OPTION(struct flame_settings, events),
	  .help = "Sample these events, as operf." },
	{ .name = "frequency",
	  .letter = 'F',
	  .kind = OPTION_TEXT,
	  .value = "HZ|max",
	  .offset = OPTION(struct flame_settings, frequency),
	  .help = "Take this many samples per second and CPU (default 997)." },
	{ .name = "callgraph",
	  .letter = 'g',
	  .kind = OPTION_TEXT,
	  .value = "HOW",
	  .offset = OPTION(struct flame_settings, callgraph),
	  .help = "How to unwind call stacks: dwarf, fp or auto (default), as operf." },
	{ .name = "pid",
	  .letter = 'p',
	  .kind = OPTION_TEXT,
	  .value = "PID|NAME[,...]",
	  .offset = OPTION(struct flame_settings, pids),
	  .help = "Record running processes, until they end or Ctrl-C." },
	{ .name = "system-wide",
	  .letter = 's',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct flame_settings, system_wide),
	  .help = "Record every process and the kernel, until COMMAND ends or Ctrl-C." },
	{ .name = "all-cpus", .letter = 'a', .alias_of = "system-wide" },
	{ .name = "duration",
	  .kind = OPTION_TEXT,
	  .value = "TIME",
	  .offset = OPTION(struct flame_settings, duration),
	  .help = "Stop sampling after this time (10, 1.5s, 250ms, 2m)." },
	{ .name = "session-dir",
	  .letter = 'd',
	  .kind = OPTION_TEXT,
	  .value = "DIR",
	  .offset = OPTION(struct flame_settings, session_dir),
	  .help = "Store the session in this existing directory (default: ./oprofile_data, created if needed)." },
	{ .name = "output-file",
	  .letter = 'o',
	  .kind = OPTION_TEXT,
	  .value = "FILE",
	  .offset = OPTION(struct flame_settings, output),
	  .help = "Write the page to FILE (default: flamegraph.html in the session directory)." },
	{ .name = "no-browser",
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct flame_settings, no_browser),
	  .help = "Do not open the page." },
	{ 0 },
};

/* The arguments of operf. */
struct flame_words {
	VEC(char *) all;
	bool failed;
};

static void flame_words_add(struct flame_words *w, const char *name, const char *value)
{
	char *word;

	if (asprintf(&word, "--%s%s%s", name, value ? "=" : "", value ? value : "") < 0)
		word = NULL;
	if (!word || !vec_push(&w->all, word)) {
		free(word);
		w->failed = true;
	}
}

static void flame_words_make(struct flame_words *w, const struct flame_settings *set,
			     char *const *command)
{
	const struct {
		const char *name, *value;
	} options[] = {
		{ "events", set->events },
		{ "frequency", set->frequency },
		{ "pid", set->pids },
		{ "duration", set->duration },
		{ "session-dir", set->session_dir },
	};

	flame_words_add(w, "callgraph", set->callgraph);
	for (size_t i = 0; i < COUNT_OF(options); i++)
		if (options[i].value)
			flame_words_add(w, options[i].name, options[i].value);
	if (set->system_wide)
		flame_words_add(w, "system-wide", NULL);
	flame_words_add(w, "", NULL);
	for (; *command; command++) {
		char *copy = strdup(*command);

		if (!copy || !vec_push(&w->all, copy)) {
			free(copy);
			w->failed = true;
		}
	}
	w->failed |= !vec_push(&w->all, NULL);
}

static void flame_words_done(struct flame_words *w)
{
	for (size_t i = 0; i < w->all.nr; i++)
		free(w->all.at[i]);
	vec_done(&w->all);
}

/* Opens the page in the browser, if there is one. */
static void flame_open_page(const char *path)
{
	char *full = realpath(path, NULL);
	int r = full ? page_browser_show(full) : -ENOENT;

	if (r)
		screen_print_line(stderr, "Open it in a browser: file://%s",
				  full ? full : path);
	free(full);
}

static int flame_write_page(const struct flame_settings *set)
{
	const char *dir = set->session_dir ? set->session_dir : "oprofile_data";
	struct export_options options = { .session_dir = dir };
	char *const none[] = { NULL };
	char *path;
	int status;

	if ((set->output ? asprintf(&path, "%s", set->output)
			 : asprintf(&path, "%s/flamegraph.html", dir)) < 0) {
		command_error("out of memory");
		return 1;
	}
	options.output = path;
	status = export_command("flamegraph", &options, none);
	if (status != 1) {
		screen_print_line(stderr, "Flame graph: %s", path);
		if (!set->no_browser)
			flame_open_page(path);
	}
	free(path);
	return status;
}

static int flame_run(const struct command *self, int argc, char **argv)
{
	struct flame_settings set = { 0 };
	struct flame_words words = { 0 };
	bool recorded = false;
	int first, status;

	status = command_options(self, OPTIONS_STOP_AT_WORD, argc, argv, &set, &first);
	if (status >= 0)
		return status;
	if (!argv[first] && !set.pids && !set.system_wide) {
		command_error(
			"nothing to record: give a command, --pid or --system-wide; for an existing recording: oprofile export flamegraph -o FILE [RECORDING]");
		return EXIT_OWN_FAILURE;
	}
	flame_words_make(&words, &set, argv + first);
	if (words.failed) {
		command_error("out of memory");
		status = EXIT_OWN_FAILURE;
	} else {
		status = record_run(set.session_dir, words.all.at, &recorded);
	}
	flame_words_done(&words);
	if (recorded && flame_write_page(&set) == 1 && !status)
		status = EXIT_OWN_FAILURE;
	return status;
}

extern const struct command command_flame;
const struct command command_flame = {
	.name = "flame",
	.summary = "record with call stacks and open a flame graph",
	.usage = "[options] COMMAND [ARGS...]\n"
		 "[options] --pid PID|NAME[,...]\n"
		 "[options] --system-wide [COMMAND [ARGS...]]",
	.notes =
		"The exit status is that of operf: that of the command, 125 if the recording or the page failed.\n"
		"Examples:\n"
		"  oprofile flame ./program\n"
		"  oprofile flame -a --duration 10s --no-browser -o flames.html",
	.options = rows,
	.letters_h_u = true,
	.failure_status = EXIT_OWN_FAILURE,
	.is_recorder = true,
	.run = flame_run,
};

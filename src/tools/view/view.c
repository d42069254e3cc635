/* SPDX-License-Identifier: GPL-2.0-or-later */
/* view.c - `oprofile view` and `oprof_start`: a page that shows recordings, and records. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/byte_text.h"
#include "base/err.h"
#include "base/files/program_find.h"
#include "present/lines/screen.h"
#include "recordings/locations.h"
#include "recordings/sources.h"
#include "serve/page/page.h"
#include "tools/cli/command.h"
#include "tools/cli/progress.h"
#include "tools/cli/recording_options.h"
#include "tools/report/out.h"

enum {
	PORT_MAX = 65535,
	SIZE_BYTES = 32
};

extern const struct command command_view;
extern const struct command command_start;

struct view_settings {
	bool no_browser;
	bool force;
	const char *callgraph;
	const char *session_dir;
	const char *export;
	uint64_t port;
	uint64_t timeout_ns;
	struct location_options locations;
};

/* The arguments of both sides. */
struct view_words {
	VEC(char *) sides[VIEW_SIDES];
	const char *titles[VIEW_SIDES];
	bool is_comparison;
};

#define PAGE_OPTION_ROWS(type)                                                                                                      \
	{ .name = "no-browser",                                                                                                     \
	  .kind = OPTION_FLAG,                                                                                                      \
	  .offset = OPTION(type, no_browser),                                                                                       \
	  .help = "Only print the address of the page." },                                                                          \
		{ .name = "port",                                                                                                   \
		  .kind = OPTION_COUNT,                                                                                             \
		  .value = "N",                                                                                                     \
		  .offset = OPTION(type, port),                                                                                     \
		  .help = "Listen on this port of 127.0.0.1 (default: a free one)." },                                              \
		{ .name = "timeout",                                                                                                \
		  .kind = OPTION_DURATION,                                                                                          \
		  .value = "TIME",                                                                                                  \
		  .not_zero = true,                                                                                                 \
		  .offset = OPTION(type, timeout_ns),                                                                               \
		  .help = "End if no page was open for this time (10, 1.5s, 2m)." },                                                \
	{                                                                                                                           \
		.name = "session-dir", .kind = OPTION_TEXT, .value = "DIR",                                                         \
		.offset = OPTION(type, session_dir),                                                                                \
		.help = "Read and store sessions in this directory (default: ./oprofile_data, for reading also /var/lib/oprofile)." \
	}

static const struct option_row view_rows[] = {
	PAGE_OPTION_ROWS(struct view_settings),
	{ .name = "callgraph",
	  .letter = 'g',
	  .kind = OPTION_TEXT,
	  .value = "HOW",
	  .value_optional = true,
	  .offset = OPTION(struct view_settings, callgraph),
	  .help = "When recording a program: record call stacks (auto, dwarf, fp), as operf does." },
	{ .name = "export",
	  .kind = OPTION_TEXT,
	  .value = "FILE",
	  .offset = OPTION(struct view_settings, export),
	  .not_with = "no-browser port timeout callgraph",
	  .help = "Write the page with its data to this file, which needs no server." },
	FORCE_OPTION_ROW(struct view_settings, 0),
	ACCEPT_CHANGED_OPTION_ROW(struct view_settings),
	LOCATION_OPTION_ROWS(struct view_settings),
	{ 0 },
};

static const struct option_row start_rows[] = {
	PAGE_OPTION_ROWS(struct view_settings),
	{ 0 },
};

static void view_say(const char *text)
{
	progress_hide();
	command_error("%s", text);
}

static void view_show_address(const char *url)
{
	progress_end();
	puts(url);
	fflush(stdout);
}

static void view_progress(void *ctx, uint64_t done, uint64_t total)
{
	(void)ctx;
	progress_bytes(done, total);
}

static bool view_is_recording(const char *word)
{
	return report_source_is(word) || report_source_is_archive(word) ||
	       !strncmp(word, "session:", strlen("session:"));
}

/* Returns whether the argument begins the command line of a program. */
static bool view_is_program(const char *word)
{
	return !view_is_recording(word) && program_can_run(word);
}

static int view_too_many(struct err *err)
{
	return err_set(
		err, -EINVAL,
		"more than two recordings, but no '--' between the sides: oprofile view BASE... -- NEW...");
}

/* Sorts the arguments: recordings to their sides, the specification to both.  `nr_after` is the
 * number of arguments after "--", or -1 if there was no "--". */
static int view_sort(struct view_words *w, char *const *words, int nr_after,
		     struct err *err)
{
	int left = 0, nr = 0;

	while (words[left])
		left++;
	for (; *words; words++, left--) {
		bool is_spec = !view_is_recording(*words);
		size_t side = nr_after >= 0 ? left <= nr_after : nr > 0;

		if (!is_spec && nr_after < 0 && nr == VIEW_SIDES)
			return view_too_many(err);
		nr += !is_spec;
		w->is_comparison |= !is_spec && side;
		for (size_t s = 0; s < VIEW_SIDES; s++) {
			if (!is_spec && s != side)
				continue;
			if (!is_spec && !w->titles[s])
				w->titles[s] = *words;
			if (!vec_push(&w->sides[s], *words))
				return err_set(err, -ENOMEM, "out of memory");
		}
	}
	return vec_push(&w->sides[0], NULL) && vec_push(&w->sides[1], NULL)
		       ? 0
		       : err_set(err, -ENOMEM, "out of memory");
}

static void view_fill(const struct view_settings *set, struct page_options *page)
{
	page->session_dir = set->session_dir;
	page->force = set->force;
	page->locations = &set->locations;
	page->callgraph = set->callgraph;
	page->port = set->port;
	page->timeout_ns = set->timeout_ns;
	page->no_browser = set->no_browser;
	page->show_address = view_show_address;
	page->say = view_say;
	page->progress = view_progress;
}

static int view_serve(const struct view_settings *set, struct page_options *page,
		      struct err *err)
{
	view_fill(set, page);
	if (set->port > PORT_MAX)
		return err_set(err, -EINVAL, "--port: the maximum is %d", PORT_MAX);
	return page_run(page, err);
}

static int view_export(const struct view_settings *set, struct page_options *page,
		       struct err *err)
{
	struct report_out out;
	bool is_private = true;
	uint64_t bytes;
	char size[SIZE_BYTES];
	int r;

	view_fill(set, page);
	if (page->command)
		return err_set(err, -EINVAL, "'%s' is not a recording",
			       page->command[0]);
	r = report_out_open(&out, set->export, err);
	if (!r)
		r = page_export(page, out.file, &is_private, &bytes, err);
	if (r) {
		(void)report_out_close(&out, EXPORT_DROPPED, NULL);
		return r;
	}
	r = report_out_close(&out, report_out_end(is_private), err);
	if (r)
		return r;
	byte_text_put(size, sizeof(size), bytes);
	progress_end();
	screen_print_line(stderr, "%s: %s, %s%s", command_name(), set->export, size,
			  is_private ? ", readable only for you" : "");
	return 0;
}

static int view_show(const struct view_settings *set, char *const *words, int nr_after)
{
	struct page_options page = { .fragment = "" };
	struct view_words w = { 0 };
	struct err err = { 0 };
	int r = 0;

	if (*words && view_is_program(*words)) {
		page.command = words;
	} else {
		r = view_sort(&w, words, nr_after, &err);
		page.sides[0] = w.sides[0].at;
		page.sides[1] = w.is_comparison ? w.sides[1].at : NULL;
		page.titles[0] = w.titles[0];
		page.titles[1] = w.titles[1];
	}
	progress_begin("reading");
	if (!r)
		r = set->export ? view_export(set, &page, &err)
				: view_serve(set, &page, &err);
	progress_end();
	if (r)
		command_error("%s", err.text);
	vec_done(&w.sides[0]);
	vec_done(&w.sides[1]);
	return r != 0;
}

static int view_nr_after(int argc, char *const *argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--"))
			return argc - i - 1;
	return -1;
}

static int view_run(const struct command *self, int argc, char **argv)
{
	struct view_settings set = { 0 };
	int nr_after = view_nr_after(argc, argv);
	int first;
	int status =
		command_options(self, OPTIONS_STOP_AT_WORD, argc, argv, &set, &first);

	if (status >= 0)
		return status;
	/* Options after a program are those of the program; otherwise they can follow the words. */
	if (first < argc && !view_is_program(argv[first])) {
		set = (struct view_settings){ 0 };
		status = command_options(self, OPTIONS_PERMUTE, argc, argv, &set,
					 &first);
	}
	return status >= 0 ? status : view_show(&set, argv + first, nr_after);
}

static int start_run(const struct command *self, int argc, char **argv)
{
	struct page_options page = { .fragment = "#tab=record" };
	struct view_settings set = { 0 };
	struct err err = { 0 };
	int first;
	int status = command_options(self, OPTIONS_PERMUTE, argc, argv, &set, &first);

	if (status >= 0)
		return status;
	if (first < argc) {
		command_error("'%s': choose what to record in the page", argv[first]);
		return 1;
	}
	if (!view_serve(&set, &page, &err))
		return 0;
	command_error("%s", err.text);
	return 1;
}

const struct command command_view = {
	.name = "view",
	.summary = "show recordings in the browser: timeline, flame graph, sources",
	.usage = "[options] [RECORDING] [specification...]\n"
		 "[options] BASE NEW\n"
		 "[options] COMMAND [ARGS...]",
	.notes =
		"RECORDING is a session, session:NAME, an archive, a perf.data file or a profile of another tool; default: the current session, also while it is recorded. "
		"COMMAND is recorded as operf does, and shown meanwhile. "
		"The page is served on 127.0.0.1 until Ctrl-C. Its address contains a random token, without which other users cannot read it.\n"
		"Examples:\n"
		"  oprofile view\n"
		"  oprofile view -g ./program\n"
		"  oprofile view before.data after.data\n"
		"  oprofile view --export report.html perf.data",
	.options = view_rows,
	.run = view_run,
};

const struct command command_start = {
	.name = "start",
	.classic = "oprof_start",
	.summary = "choose events and record, in a page of the browser",
	.usage = "[options]",
	.notes =
		"Opens the page of 'oprofile view' at the form that starts, stops and saves recordings. They are stored in the session directory, as those of operf; the settings of the form are remembered in ~/.oprofile/record.json.",
	.options = start_rows,
	.run = start_run,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* buildid_list.c - `oprofile buildid-list`: lists the build-ids of a recording in perf's format:
 * 40 digits (or blanks), a blank, the name. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/files/io.h"
#include "base/parse.h"
#include "format/perfdata/input.h"
#include "present/lines/screen.h"
#include "recordings/images.h"
#include "recordings/sources.h"
#include "resolve/elf/build_id.h"
#include "resolve/symbols/kallsyms.h"
#include "tools/cli/command.h"
#include "tools/cli/recording_options.h"

enum {
	STATUS_INCOMPLETE = 3,
	HEX_BYTES = 2 * BUILD_ID_MAX + 1,
	TEXT_MAX_BYTES = 256 << 20,
	FEATURE_BUILD_ID = 2 /* tools/perf/util/header.h */
};

extern const struct command command_buildid_list;

struct buildid_list_settings {
	bool with_hits;
	bool force;
	bool kernel;
	bool modules;
	const char *input;
	const char *session_dir;
};

static const struct option_row rows[] = {
	{ .name = "with-hits",
	  .letter = 'H',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct buildid_list_settings, with_hits),
	  .help = "Read the samples and list the binaries that were hit, including those without a build-id." },
	{ .name = "kernel",
	  .letter = 'k',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct buildid_list_settings, kernel),
	  .help = "Print the build-id of the running kernel." },
	{ .name = "modules",
	  .letter = 'm',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct buildid_list_settings, modules),
	  .help = "List the running kernel and its modules with addresses." },
	{ .name = "kernel-maps", .alias_of = "modules" },
	{ .name = "input",
	  .letter = 'i',
	  .kind = OPTION_TEXT,
	  .value = "FILE",
	  .offset = OPTION(struct buildid_list_settings, input),
	  .help = "Read this recording (same as the argument)." },
	FORCE_OPTION_ROW(struct buildid_list_settings, 'f'),
	SESSION_DIR_OPTION_ROW(struct buildid_list_settings),
	{ 0 },
};

static void print_row(const struct build_id *id, const char *name)
{
	char hex[HEX_BYTES];

	build_id_to_hex(id, hex);
	printf("%-*s ", HEX_BYTES - 1, hex);
	screen_write_name(stdout, name);
	putchar('\n');
}

/* Reads the build-id of the running kernel. Returns 0 or a negative errno. */
static int running_kernel(struct build_id *ret_id)
{
	struct buf notes = { 0 };
	int r = io_read_file("/sys/kernel/notes", &notes, TEXT_MAX_BYTES);

	if (!r)
		r = notes_build_id(notes.data, notes.len, ret_id);
	buf_done(&notes);
	return r;
}

static int buildid_list_print_kernel(void)
{
	char hex[HEX_BYTES];
	struct build_id id;
	int r = running_kernel(&id);

	if (r) {
		command_error("cannot read the build-id of the running kernel: %s",
			      strerror(-r));
		return 1;
	}
	build_id_to_hex(&id, hex);
	puts(hex);
	return 0;
}

static void print_map(const struct build_id *id, uint64_t start, uint64_t end,
		      const char *name)
{
	char hex[HEX_BYTES];

	build_id_to_hex(id, hex);
	screen_print_line(stdout, "%s %16" PRIx64 " %16" PRIx64 " %s", hex, start, end,
			  name);
}

static struct build_id module_id(const char *name)
{
	struct build_id id = { 0 };
	struct buf notes = { 0 };
	char *path;

	if (asprintf(&path, "/sys/module/%s/notes/.note.gnu.build-id", name) < 0)
		return id;
	if (io_read_file(path, &notes, TEXT_MAX_BYTES) ||
	    notes_build_id(notes.data, notes.len, &id))
		id = (struct build_id){ 0 };
	free(path);
	buf_done(&notes);
	return id;
}

/* Prints a module from a line of /proc/modules: "ext4 999424 1 - Live 0xffffffffc0100000". */
static void print_module(char *line)
{
	enum {
		FIELD_NAME,
		FIELD_SIZE,
		FIELD_ADDRESS = 5,
		FIELDS
	};
	const char *fields[FIELDS] = { NULL };
	char *save = NULL, *word = strtok_r(line, " ", &save);
	uint64_t size, start;
	struct build_id id;
	char shown[64];

	for (size_t i = 0; i < FIELDS && word; i++, word = strtok_r(NULL, " ", &save))
		fields[i] = word;
	if (!fields[FIELD_ADDRESS] || !parse_u64(fields[FIELD_SIZE], &size) ||
	    !parse_u64(fields[FIELD_ADDRESS], &start))
		return;
	id = module_id(fields[FIELD_NAME]);
	snprintf(shown, sizeof(shown), "[%s]", fields[FIELD_NAME]);
	print_map(&id, start, start + size, shown);
}

static int print_modules(void)
{
	struct buf text = { 0 };
	uint64_t start = 0, end = 0;
	struct build_id id;
	int r = running_kernel(&id);

	if (r)
		return buildid_list_print_kernel();
	if (!io_read_file("/proc/kallsyms", &text, TEXT_MAX_BYTES)) {
		(void)kallsyms_find((const char *)text.data, text.len, "_text", &start);
		(void)kallsyms_find((const char *)text.data, text.len, "_etext", &end);
	}
	print_map(&id, start, end, "[kernel.kallsyms]");
	buf_clear(&text);
	if (!io_read_file("/proc/modules", &text, TEXT_MAX_BYTES)) {
		char *save = NULL;

		buf_put_u8(&text, 0);
		for (char *line = text.failed
					  ? NULL
					  : strtok_r((char *)text.data, "\n", &save);
		     line; line = strtok_r(NULL, "\n", &save))
			print_module(line);
	}
	buf_done(&text);
	return 0;
}

static int print_image(void *ctx, const struct source_image *at)
{
	(void)ctx;
	print_row(&at->image->build_id, at->name);
	return 0;
}

/* Returns whether the table contains the entry before: old versions of perf recorded [vdso] once
 * per process. */
static bool is_repeated(const struct perf_input_info *info, size_t row)
{
	for (size_t i = 0; i < row; i++)
		if (build_id_equal(&info->build_ids.at[i].id,
				   &info->build_ids.at[row].id) &&
		    !strcmp(info->build_ids.at[i].name, info->build_ids.at[row].name))
			return true;
	return false;
}

/* Prints the table that perf wrote into the header.  Returns 1 if it has no such table, or not
 * all features of the header can be read. */
static int print_table(const struct report_session *from, struct err *err)
{
	const struct perf_input_info *info;
	struct perf_input *in;
	int r = perf_input_open(from->dir, from->trust, &in, err);

	if (r)
		return r;
	info = perf_input_info(in);
	if (info->is_pipe || perf_input_damage(in)->bad_features ||
	    !(info->features[0] >> FEATURE_BUILD_ID & 1)) {
		r = 1;
	} else {
		for (size_t i = 0; i < info->build_ids.nr; i++)
			if (!is_repeated(info, i))
				print_row(&info->build_ids.at[i].id,
					  info->build_ids.at[i].name);
	}
	perf_input_close(in);
	return r;
}

/* Prints the build-ids of all recordings. Returns 0, 1 if some input is incomplete, or a negative
 * errno. */
static int list_sources(const struct buildid_list_settings *set,
			struct report_sources *sources, struct err *err)
{
	int r = 1;

	if (!set->with_hits && sources->sessions.nr == 1 &&
	    sources->sessions.at[0].perf_data &&
	    strcmp(sources->sessions.at[0].dir, "-") != 0)
		r = print_table(&sources->sessions.at[0], err);
	return r > 0 ? source_images_walk(sources, print_image, NULL, err) : r;
}

/* Prints the build-id of a binary that was named in place of a recording.  Returns false if the
 * file has no build-id. */
static bool print_binary(const char *path)
{
	char hex[HEX_BYTES];
	struct build_id id;

	if (elf_build_id(path, &id, NULL))
		return false;
	build_id_to_hex(&id, hex);
	puts(hex);
	return true;
}

static int buildid_list_words(const struct buildid_list_settings *set,
			      char *const *words)
{
	char *given[] = { set->input ? strdup(set->input) : NULL, NULL };
	struct report_sources sources = { .trust = report_trust(set->force) };
	struct spec spec = { 0 };
	struct err err = { 0 };
	int r;

	if (!words[0])
		words = given;
	if (words[0] && !words[1] && print_binary(words[0])) {
		free(given[0]);
		return 0;
	}
	r = source_images_find(set->session_dir, words, &spec, &sources, &err);
	if (!r)
		r = list_sources(set, &sources, &err);
	if (r < 0)
		command_error("%s", err.text);
	free(given[0]);
	report_sources_done(&sources);
	spec_done(&spec);
	return r < 0 ? 1 : r ? STATUS_INCOMPLETE : 0;
}

static int buildid_list_run(const struct command *self, int argc, char **argv)
{
	struct buildid_list_settings set = { 0 };
	int first;
	int status = command_options(self, OPTIONS_PERMUTE, argc, argv, &set, &first);

	if (status >= 0)
		return status;
	if (set.kernel || set.modules) {
		if (argv[first]) {
			command_error(
				"--kernel and --modules do not accept a recording");
			return 1;
		}
		return set.modules ? print_modules() : buildid_list_print_kernel();
	}
	return buildid_list_words(&set, argv + first);
}

const struct command command_buildid_list = {
	.name = "buildid-list",
	.summary = "list the build-ids of a recording's binaries",
	.usage = "[options] [perf.data | SESSION-DIR | BINARY]",
	.notes =
		"The default is the current session. A build-id identifies a binary on any machine: see `oprofile where` and `oprofile buildid-cache`.",
	.options = rows,
	.run = buildid_list_run,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control.c - `oprofile control`, opcontrol: parses the options and selects the action. */
#include "tools/control/control.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/err.h"
#include "present/lines/screen.h"
#include "tools/cli/command.h"
#include "tools/cli/help.h"
#include "tools/control/actions.h"

extern const struct command command_control;
extern const struct command command_events;

#define ACTION(word, short_word, field_name, text)                                     \
	{                                                                              \
		.name = (word), .letter = (short_word), .kind = OPTION_FLAG,           \
		.offset = OPTION(struct control_options, field_name), .help = (text)   \
	}
#define SETTING(word, short_word, value_name, field_name, text)                        \
	{                                                                              \
		.name = (word), .letter = (short_word), .kind = OPTION_TEXT,           \
		.value = (value_name),                                                 \
		.offset = OPTION(struct control_options, field_name), .help = (text)   \
	}

static const struct option_row rows[] = {
	ACTION("init", 0, init,
	       "Check that the kernel can sample, and mount /dev/oprofile."),
	ACTION("setup", 0, setup, "Store the settings; you can omit this option."),
	ACTION("start-daemon", 0, start_daemon, "Start the daemon without sampling."),
	ACTION("start", 's', start,
	       "Start sampling, and the daemon if it is not running."),
	ACTION("dump", 'd', dump,
	       "Return when all samples so far can be read. Every user can do this."),
	ACTION("stop", 't', stop, "Stop sampling; the daemon keeps running."),
	ACTION("shutdown", 'h', shutdown, "Stop sampling and stop the daemon."),
	ACTION("reset", 0, reset,
	       "Remove the data of the current session; saved sessions remain."),
	SETTING("save", 0, "NAME", save,
		"Save the current session under this name: opreport session:NAME."),
	ACTION("deinit", 0, deinit, "Same as --shutdown, and unmount /dev/oprofile."),
	ACTION("status", 0, status, "Show the daemon's state and its settings."),
	ACTION("list-events", 'l', list_events,
	       "List the events of this CPU, as ophelp does. Every user can do this."),
	{ .name = "event",
	  .letter = 'e',
	  .kind = OPTION_LIST,
	  .value = "SPEC",
	  .offset = OPTION(struct control_options, events),
	  .help = "Sample this event: NAME:COUNT[:UNITMASK[:KERNEL[:USER]]], or \"default\". Can be repeated; replaces earlier settings." },
	{ .name = "separate",
	  .letter = 'p',
	  .kind = OPTION_LIST,
	  .value = "LIST",
	  .offset = OPTION(struct control_options, separate),
	  .help = "Separate profiles by none, lib, library, kernel (implies library), thread, cpu or all (comma-separated)." },
	SETTING("callgraph", 'c', "DEPTH", callgraph,
		"Keep this many callers per sample, 0 for none."),
	SETTING("vmlinux", 0, "FILE", vmlinux,
		"Use this kernel image for symbols; \"none\" is the same as --no-vmlinux."),
	{ .name = "no-vmlinux",
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct control_options, no_vmlinux),
	  .help = "Use no kernel image." },
	SETTING("kernel-range", 0, "START,END", kernel_range,
		"Addresses of the kernel's code, in hexadecimal; stored without effect."),
	{ .name = "image",
	  .letter = 'i',
	  .kind = OPTION_LIST,
	  .value = "LIST",
	  .offset = OPTION(struct control_options, images),
	  .help = "Only keep samples of these binaries (comma-separated), or \"all\"." },
	SETTING("session-dir", 0, "DIR", session_dir,
		"Store sessions in samples/ below this directory (default: /var/lib/oprofile)."),
	SETTING("buffer-size", 0, "SAMPLES", buffer_size,
		"Number of samples that the buffers of all CPUs hold, 0 for the default."),
	SETTING("buffer-watershed", 0, "SAMPLES", buffer_watershed,
		"Number of samples at which the daemon reads the buffers; stored without effect."),
	SETTING("cpu-buffer-size", 0, "SAMPLES", cpu_buffer_size,
		"Number of samples that the buffer of one CPU holds, 0 for the default."),
	SETTING("note-table-size", 0, "ENTRIES", note_table_size,
		"A setting of the kernel module of Linux 2.4; stored without effect."),
	SETTING("pid-filter", 0, "PID", pid_filter,
		"Record only samples of this process; none: of all processes."),
	SETTING("pgrp-filter", 0, "PGRP", pgrp_filter,
		"Record only samples of this process group; none: of all groups."),
	SETTING("metrics-listen", 0, "[ADDR:]PORT", metrics_listen,
		"Serve metrics for Prometheus at this port of 127.0.0.1; none: do not serve them."),
	{ .name = "kernel-only",
	  .kind = OPTION_TEXT,
	  .value = "1",
	  .value_optional = true,
	  .offset = OPTION(struct control_options, kernel_only),
	  .help = "Count these events only in the kernel." },
	SETTING("xen", 0, "FILE", xen, "A setting for Xen; accepted without effect."),
	SETTING("active-domains", 0, "LIST", active_domains,
		"A setting for Xen; accepted without effect."),
	SETTING("s390hwsampbufsize", 0, "SIZE", s390_buffer,
		"A setting for s390; accepted without effect."),
	{ .name = "verbose",
	  .letter = 'V',
	  .kind = OPTION_TEXT,
	  .value = "WHAT",
	  .value_optional = true,
	  .offset = OPTION(struct control_options, verbose),
	  .help = "With --start and --start-daemon: log more. WHAT is all, or sfile, arcs, samples, module, misc, ext." },
	{ 0 },
};

/* ---- unknown options ---- */

/* Returns the row of an option, whose name may be abbreviated, or NULL. */
static const struct option_row *control_row_of(const struct option_row *table,
					       const char *word)
{
	bool is_long = word[1] == '-';
	size_t len = is_long ? strcspn(word + 2, "=") : 0;
	const struct option_row *begun = NULL;

	for (const struct option_row *row = table; row->name; row++) {
		if (!is_long && row->letter == word[1])
			return row;
		if (!is_long || strncmp(row->name, word + 2, len) != 0)
			continue;
		if (!row->name[len])
			return row;
		begun = row;
	}
	return begun;
}

static bool has_value_after(const struct option_row *row, const char *word)
{
	return row->value && !row->value_optional &&
	       (word[1] == '-' ? !strchr(word, '=') : !word[2]);
}

/* Returns the first unknown option, or NULL. */
static const char *find_unknown(const struct command *self, char *const *words,
				size_t nr)
{
	for (size_t i = 1; i < nr && strcmp(words[i], "--") != 0; i++) {
		const char *word = words[i];
		const struct option_row *row;

		if (word[0] != '-' || !word[1])
			continue;
		row = control_row_of(self->options, word);
		if (!row)
			row = control_row_of(command_common_rows(self), word);
		if (!row)
			return word;
		i += has_value_after(row, word);
	}
	return NULL;
}

static int refuse_word(const char *word)
{
	screen_print_line(stderr, "Unknown option \"%s\". See opcontrol --help", word);
	return 1;
}

/* ---- combinations of options ---- */

static const struct {
	size_t field;
	const char *option;
} exclusive[] = {
	{ OPTION(struct control_options, init), "--init" },
	{ OPTION(struct control_options, dump), "--dump" },
	{ OPTION(struct control_options, stop), "--stop" },
	{ OPTION(struct control_options, shutdown), "--shutdown" },
	{ OPTION(struct control_options, reset), "--reset" },
	{ OPTION(struct control_options, deinit), "--deinit" },
	{ OPTION(struct control_options, status), "--status" },
	{ OPTION(struct control_options, list_events), "--list-events" },
};

static bool is_given(const struct control_options *set, const struct option_row *row)
{
	const char *field = (const char *)set + row->offset;

	if (row->kind == OPTION_FLAG)
		return *(const bool *)field;
	if (row->kind == OPTION_LIST)
		return ((const struct word_list *)field)->values.nr != 0;
	return *(const char *const *)field != NULL;
}

bool control_is_given(const struct control_options *set, const char *option)
{
	const struct option_row *row = options_find(rows, option);

	return row && is_given(set, row);
}

const char *control_asked(const struct control_options *set)
{
	const struct option_row *row = rows;

	while (row->name && !is_given(set, row))
		row++;
	return row->name ? row->name : "setup";
}

/* Returns false with a message if an action is combined with another one. */
static bool check_together(const struct control_options *set)
{
	const char *alone = set->save ? "--save" : NULL;
	size_t nr = 0;

	for (const struct option_row *row = rows; row->name; row++)
		nr += is_given(set, row);
	for (size_t i = 0; i < COUNT_OF(exclusive); i++) {
		if (*(const bool *)((const char *)set + exclusive[i].field))
			alone = exclusive[i].option;
	}
	if (alone && nr > 1) {
		screen_print_line(stderr, "Option \"%s\" not valid with other options.",
				  alone);
		return false;
	}
	if (set->verbose && !set->start && !set->start_daemon) {
		fputs("Option \"--verbose\" is only valid with --start or --start-daemon.\n",
		      stderr);
		return false;
	}
	return true;
}

/* ---- files ---- */

/* Finds the paths of the settings files, which are those of root, also for other users. */
static int control_find_files(struct control *c, struct err *err)
{
	const char *dir = getenv("OPROFILE_SETUP_DIR");
	const struct passwd *root = getpwuid(0);
	const char *home = root ? root->pw_dir : "/";
	int r;

	if (dir && *dir)
		r = asprintf(&c->rc_path, "%s/daemonrc", dir);
	else
		r = asprintf(&c->rc_path, "%s/.oprofile/daemonrc", home);
	if (r < 0)
		c->rc_path = NULL;
	if (r < 0 || asprintf(&c->rc_new_path, "%s_new", c->rc_path) < 0) {
		c->rc_new_path = NULL;
		return err_set(err, -ENOMEM, "out of memory");
	}
	return 0;
}

/* Loads the settings: from daemonrc_new if it exists, else from daemonrc. If the file is damaged,
 * only actions that need it fail; for example, stopping the daemon still works. */
static void load_settings(struct control *c)
{
	struct err err = { 0 };
	int r = daemonrc_load(&c->rc, c->rc_new_path, &err);

	c->has_new = !r;
	if (r == -ENOENT)
		r = daemonrc_load(&c->rc, c->rc_path, &err);
	/* Other users may be unable to read root's files, which is not an error. */
	if (r && r != -ENOENT && (r != -EACCES || !geteuid()))
		c->rc_failure = err;
}

/* ---- the actions ---- */

static int list_events(void)
{
	char name[] = "ophelp";
	char *argv[] = { name, NULL };

	return command_events.run(&command_events, 1, argv);
}

static int act_alone(struct control *c)
{
	static const struct {
		size_t field;
		int (*act)(struct control *);
	} actions[] = {
		{ OPTION(struct control_options, init), control_init },
		{ OPTION(struct control_options, stop), control_stop },
		{ OPTION(struct control_options, shutdown), control_shutdown },
		{ OPTION(struct control_options, reset), control_reset },
		{ OPTION(struct control_options, deinit), control_deinit },
	};

	for (size_t i = 0; i < COUNT_OF(actions); i++) {
		if (*(const bool *)((const char *)&c->set + actions[i].field))
			return actions[i].act(c);
	}
	return c->set.save ? control_save(c) : -1;
}

static int act(struct control *c)
{
	struct err err = { 0 };
	int r;

	/* Do not use the caller's umask: all users may access the daemon's directories. */
	umask(022);
	r = control_find_files(c, &err);
	if (r)
		return control_fail(c, &err);
	load_settings(c);
	if (c->set.status)
		return control_print_status(c);
	if (c->set.dump)
		return control_dump(c);
	/* Only root needs the lock, to change settings and to start the daemon. The daemon itself
	 * handles one request at a time. */
	if (!geteuid() && control_lock(c, &err))
		return control_fail(c, &err);
	r = act_alone(c);
	if (r >= 0)
		return r;
	r = control_setup(c);
	if (!r && (c->set.start || c->set.start_daemon))
		r = control_start(c, c->set.start);
	return r;
}

static void control_done(struct control *c)
{
	if (c->connected)
		control_disconnect(&c->daemon);
	if (c->lock_fd >= 0)
		close(c->lock_fd);
	vec_done(&c->set.events.values);
	vec_done(&c->set.separate.values);
	vec_done(&c->set.images.values);
	daemonrc_done(&c->rc);
	free(c->rc_path);
	free(c->rc_new_path);
}

static int control_run(const struct command *self, int argc, char **argv)
{
	struct control c = { .lock_fd = -1 };
	struct control_words words;
	struct err err = { 0 };
	const char *unknown;
	int status = 1;
	int first;

	if (control_words_make(argc, argv, &words, &err)) {
		command_error("%s", err.text);
		control_words_done(&words);
		return 1;
	}
	unknown = find_unknown(self, words.words.at, words.words.nr);
	status = unknown ? refuse_word(unknown)
			 : command_options(self, OPTIONS_PERMUTE, (int)words.words.nr,
					   words.words.at, &c.set, &first);
	if (status < 0 && first < (int)words.words.nr) {
		status = refuse_word(words.words.at[first]);
	} else if (status < 0 && argc == 1) {
		help_print_usage(stdout, self, command_name());
		status = 0;
	} else if (status < 0) {
		status = !check_together(&c.set) ? 1
			 : c.set.list_events     ? list_events()
						 : act(&c);
	}
	control_done(&c);
	control_words_done(&words);
	return status;
}

const struct command command_control = {
	.name = "control",
	.classic = "opcontrol",
	.summary = "set up, start, stop and read out the system profiler's daemon",
	.usage =
		"--setup [settings]\n"
		"--start [settings]\n"
		"--dump | --stop | --shutdown | --reset | --save=NAME | --status | --list-events",
	.notes =
		"Examples:\n"
		"  opcontrol --no-vmlinux\n"
		"  opcontrol --start --callgraph=32\n"
		"  opcontrol --dump; opreport --long-filenames\n"
		"  opcontrol --save=monday\n"
		"  opcontrol --shutdown\n"
		"Settings are stored in ~root/.oprofile/daemonrc; while the daemon runs, in daemonrc_new until it starts again. Root, the daemon's user and members of its group (oprofile) can use all actions; other users can use --dump, --status and --list-events.",
	.options = rows,
	.is_recorder = true,
	.run = control_run,
};

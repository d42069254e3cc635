/* SPDX-License-Identifier: GPL-2.0-or-later */
/* doctor.c - `oprofile doctor`: shows what this user can record here, and how to lift limits. */
#include "doctor/doctor.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "capture/events/perf_attr.h"
#include "present/facts/doctor.h"
#include "tools/cli/command.h"
#include "tools/cli/pager.h"

enum {
	STATUS_NOT_POSSIBLE = 1,
	STATUS_WRONG_USAGE = 2
};

extern const struct command command_doctor;

struct doctor_settings {
	const char *session_dir;
	bool json;
	struct terminal_options terminal;
};

static const struct option_row rows[] = {
	{ .name = "session-dir",
	  .kind = OPTION_TEXT,
	  .value = "DIR",
	  .offset = OPTION(struct doctor_settings, session_dir),
	  .help = "Check the free space of this directory (default: ./oprofile_data)." },
	{ .name = "json",
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct doctor_settings, json),
	  .help = "Print one JSON object." },
	TERMINAL_OPTION_ROWS(struct doctor_settings),
	{ 0 },
};

struct doctor_writing {
	const struct doctor *doctor;
	const struct screen *screen;
	bool json;
};

static int doctor_write(FILE *out, void *ctx)
{
	const struct doctor_writing *w = ctx;

	if (w->json)
		doctor_print_json(w->doctor, out);
	else
		doctor_print_text(w->doctor, w->screen, out);
	return 0;
}

/* Prints all checks.  Returns the exit status. */
static int doctor_show(const struct doctor *d, const struct doctor_settings *set)
{
	struct screen screen = { 0 };
	struct doctor_writing w = { d, &screen, set->json };
	struct err err = { 0 };
	int r = terminal_screen(&set->terminal, true, &screen, &err);

	if (!r) {
		r = pager_run(&set->terminal, &screen, doctor_write, &w);
		if (r)
			err_sys(&err, r, "cannot write to the standard output");
	}
	if (!r && d->no_memory)
		r = err_set(&err, -ENOMEM, "out of memory");
	if (r) {
		command_error("%s", err.text);
		return STATUS_WRONG_USAGE;
	}
	return d->can_record ? 0 : STATUS_NOT_POSSIBLE;
}

static int doctor_check_all(struct doctor *d, const char *program)
{
	int r = program ? doctor_program(d, program) : 0;

	if (r) {
		command_error("cannot check '%s': %s", program,
			      r == -EBADMSG ? "neither an ELF file nor a script"
					    : strerror(-r));
		return STATUS_WRONG_USAGE;
	}
	doctor_settings(d);
	doctor_events(d);
	doctor_rights(d);
	doctor_symbols(d);
	doctor_storage(d);
	doctor_jit(d);
	return 0;
}

static int doctor_run(const struct command *self, int argc, char **argv)
{
	struct doctor_settings set = { 0 };
	struct doctor d = { .root = "", .open_event = perf_attr_open };
	int first;
	int status = command_options(self, OPTIONS_PERMUTE, argc, argv, &set, &first);

	if (status >= 0)
		return status;
	if (argc - first > 1) {
		command_error("give at most one program");
		return STATUS_WRONG_USAGE;
	}
	d.session_dir = set.session_dir;
	status = doctor_check_all(&d, argv[first]);
	if (!status)
		status = doctor_show(&d, &set);
	doctor_done(&d);
	return status;
}

const struct command command_doctor = {
	.name = "doctor",
	.summary = "show what you can record on this machine, and how to lift limits",
	.usage = "[options] [PROGRAM]",
	.notes =
		"Each line is ok, limited or missing. A limit is shown with its cost and, if there is one, "
		"the command or setting that lifts it. "
		"PROGRAM is a binary or script whose symbols and debug information are checked, too.\n"
		"Exit status: 0 if this user can record, 1 if not, 2 for a wrong call.",
	.options = rows,
	.failure_status = STATUS_WRONG_USAGE,
	.run = doctor_run,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record.c - `oprofile record`, called operf: records a program, a process or everything. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "archive/make/make.h"
#include "base/err.h"
#include "base/files/io.h"
#include "base/files/scratch.h"
#include "capture/events/perf_attr.h"
#include "capture/source/perf_source.h"
#include "present/lines/screen.h"
#include "record/recorder.h"
#include "tools/cli/command.h"
#include "tools/record/hint.h"
#include "tools/record/plan.h"
#include "tools/record/report.h"

enum {
	EXIT_NO_SAMPLES = 1,
	EXIT_OWN_FAILURE = 125,
	EXIT_CANNOT_RUN = 126,
	EXIT_NOT_FOUND = 127
};

static const struct option_row rows[] = {
	{ .name = "events",
	  .letter = 'e',
	  .kind = OPTION_LIST,
	  .value = "SPEC[,SPEC]",
	  .offset = OPTION(struct record_options, events),
	  .help = "Sample these events: NAME[:COUNT[:UNITMASK[:KERNEL[:USER]]]]. COUNT is the number of events between samples (nanoseconds for TIMER); without it, sample at --frequency. Default: CPU cycles, or TIMER without a PMU." },
	{ .name = "event",
	  .kind = OPTION_LIST,
	  .value = "SPEC[,SPEC]",
	  .alias_of = "events",
	  .offset = OPTION(struct record_options, events),
	  .help = "Same as --events." },
	{ .name = "frequency",
	  .letter = 'F',
	  .kind = OPTION_TEXT,
	  .value = "HZ|max",
	  .offset = OPTION(struct record_options, frequency),
	  .help = "Take this many samples per second and CPU for events without a count (default 997; max: as many as the kernel permits)." },
	{ .name = "callgraph",
	  .letter = 'g',
	  .kind = OPTION_TEXT,
	  .value = "HOW",
	  .value_optional = true,
	  .offset = OPTION(struct record_options, callgraph),
	  .help = "Record call stacks: dwarf unwinds a copy of the top of each stack with debug information, fp follows frame pointers, auto (default) uses dwarf if this machine supports it." },
	{ .name = "pid",
	  .letter = 'p',
	  .kind = OPTION_TEXT,
	  .value = "PID|NAME[,...]",
	  .offset = OPTION(struct record_options, pids),
	  .help = "Record running processes, by number or name, and their children, until they end or Ctrl-C." },
	{ .name = "system-wide",
	  .letter = 's',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct record_options, system_wide),
	  .help = "Record every process and the kernel, until COMMAND ends or Ctrl-C." },
	{ .name = "all-cpus", .alias_of = "system-wide" },
	{ .name = "duration",
	  .kind = OPTION_DURATION,
	  .value = "TIME",
	  .not_zero = true,
	  .offset = OPTION(struct record_options, duration_ns),
	  .help = "Stop sampling after this time (10, 1.5s, 250ms, 2m), but wait until the command ends." },
	{ .name = "delay",
	  .kind = OPTION_DURATION,
	  .value = "TIME",
	  .offset = OPTION(struct record_options, delay_ns),
	  .help = "Start sampling this long after the start." },
	{ .name = "session-dir",
	  .letter = 'd',
	  .kind = OPTION_TEXT,
	  .value = "DIR",
	  .offset = OPTION(struct record_options, session_dir),
	  .help = "Store the session in this existing directory (default: ./oprofile_data, created if needed)." },
	{ .name = "append",
	  .letter = 'a',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct record_options, append),
	  .by_letter = OPTION(struct record_options, append_letter),
	  .help = "Add to the current session instead of starting a new one. But -a without COMMAND and --pid is --system-wide." },
	{ .name = "perf-data",
	  .kind = OPTION_TEXT,
	  .value = "FILE",
	  .offset = OPTION(struct record_options, perf_data),
	  .help = "Also write the recording as a perf.data file." },
	{ .name = "output",
	  .letter = 'o',
	  .kind = OPTION_TEXT,
	  .value = "NAME.oparchive",
	  .offset = OPTION(struct record_options, output),
	  .not_with = "session-dir append archive",
	  .help = "Only write this archive, as --archive does, and no session directory." },
	{ .name = "archive",
	  .kind = OPTION_TEXT,
	  .value = "FILE",
	  .value_optional = true,
	  .offset = OPTION(struct record_options, archive),
	  .help = "Archive the session at the end, like oparchive, including deleted binaries and those of containers. Default FILE: oprofile_data.oparchive." },
	{ .name = "vmlinux",
	  .letter = 'k',
	  .kind = OPTION_TEXT,
	  .value = "FILE",
	  .offset = OPTION(struct record_options, vmlinux),
	  .help = "Use this uncompressed kernel image with symbols. Default: save the symbols of the running kernel with the session." },
	{ .name = "separate-thread",
	  .letter = 't',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct record_options, separate_thread),
	  .help = "Separate threads in reports by default. (Recordings always separate threads.)" },
	{ .name = "separate-cpu",
	  .letter = 'c',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct record_options, separate_cpu),
	  .help = "Separate CPUs in reports by default. (Recordings always separate CPUs.)" },
	{ .name = "lazy-conversion",
	  .letter = 'l',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct record_options, lazy),
	  .help = "Ignored; accepted for old scripts." },
	{ .name = "ring-pages",
	  .kind = OPTION_COUNT,
	  .value = "N",
	  .not_zero = true,
	  .offset = OPTION(struct record_options, ring_pages),
	  .help = "Use this many pages for the sample buffer of each CPU, rounded up to a power of two (default 256, with stacks 4096, or the limit of perf_event_mlock_kb)." },
	{ .name = "verbose",
	  .letter = 'V',
	  .kind = OPTION_TEXT,
	  .value = "LIST",
	  .value_optional = true,
	  .offset = OPTION(struct record_options, verbose),
	  .help = "Print more to stderr: opened events and buffers, existing processes, written blocks. LIST (debug, record, convert, misc, sfile, arcs, all) is ignored." },
	{ .name = NULL }
};

static int record_fail(const struct err *err)
{
	command_error("%s", err->text);
	return EXIT_OWN_FAILURE;
}

/* ---- start ---- */

static int record_block_signals(struct record_plan *p, struct err *err)
{
	struct sigaction hangup;
	sigset_t mask;
	int r;

	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGQUIT);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGCHLD);
	/* Under nohup, do not block SIGHUP: a signalfd reports a blocked signal even if it is
	 * ignored. */
	if (sigaction(SIGHUP, NULL, &hangup) || hangup.sa_handler != SIG_IGN)
		sigaddset(&mask, SIGHUP);
	r = target_signals_take(&mask, &p->old_signals, err);
	if (r)
		return r;
	p->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	return p->signal_fd < 0
		       ? err_sys(err, -errno, "cannot create a descriptor for signals")
		       : 0;
}

static int record_open_recorder(struct record_plan *p, char **argv, int argc,
				struct err *err)
{
	const struct record_options *o = &p->options;
	struct recorder_config config = {
		.events = p->events.list.at,
		.nr_events = p->events.list.nr,
		.chains = o->callgraph != NULL,
		.stack_bytes = p->stack_bytes,
		.ring_pages = o->ring_pages,
		.session_flags = p->flags,
		.vmlinux = p->vmlinux ? p->vmlinux : "",
		.perf_data = o->perf_data,
		.command = argv,
		.nr_command = argc,
		.dir = &p->dir,
	};

	/* Root records the programs of all users, so divide the budget for stacks among them. */
	config.fair = o->system_wide && !geteuid();
	if (p->nr_pids) {
		config.pids = p->pids;
		config.nr_pids = p->nr_pids;
	} else if (!o->system_wide) {
		config.pids = &p->target.pid;
		config.nr_pids = 1;
		config.on_exec = !o->delay_ns;
	}
	return recorder_open(&config, &p->recorder, err);
}

/* Like record_open_recorder(). If the kernel cannot copy stacks and the user did not explicitly
 * request that, falls back to frame pointers. */
static int open_with_chains(struct record_plan *p, char **argv, int argc,
			    struct err *err)
{
	int r = record_open_recorder(p, argv, argc, err);

	if (!p->stack_bytes || !p->stacks_optional ||
	    (r != -EOPNOTSUPP && r != -ENOSYS && r != -EINVAL))
		return r;
	p->stack_bytes = 0;
	r = record_open_recorder(p, argv, argc, err);
	if (!r)
		fprintf(stderr,
			"%s: --callgraph: this kernel does not copy stacks: using frame pointers\n",
			command_name());
	return r;
}

/* Opens the recorder. If that is not permitted, as with perf_event_paranoid 2, tries to record
 * user space only, with a warning. */
static int record_open_with_rights(struct record_plan *p, char **argv, int argc,
				   struct err *err)
{
	int r = open_with_chains(p, argv, argc, err);
	bool may_retry = (r == -EACCES || r == -EPERM) && !p->options.system_wide;

	/* Do not retry from level 3 on: Debian's kernels then refuse everything. Other kernels
	 * treat it like 2, but the administrator wanted to forbid recording. */
	if (!may_retry || perf_attr_paranoid() > 2)
		return r;
	for (size_t i = 0; i < p->events.list.nr; i++) {
		struct event_request *e = &p->events.list.at[i];

		may_retry &= e->user && !(e->scope_given && e->kernel);
		event_request_user_only(e);
	}
	if (!may_retry)
		return r;
	p->flags |= SESSION_USER_ONLY;
	r = open_with_chains(p, argv, argc, err);
	if (!r)
		fprintf(stderr,
			"%s: user space only: /proc/sys/kernel/perf_event_paranoid does not let you sample the kernel (1 or less does)\n",
			command_name());
	return r;
}

static int record_start(struct record_plan *p, char **argv, int argc, struct err *err)
{
	const struct record_options *o = &p->options;
	int r = 0;

	if (o->output)
		r = scratch_new_next_to(o->output, &p->scratch, err);
	if (!r)
		r = session_dir_open(o->output ? scratch_folder(p->scratch)
					       : o->session_dir,
				     o->append, &p->dir, err);
	if (!r)
		r = record_block_signals(p, err);
	if (!r && p->command)
		r = target_hold(p->command, &p->old_signals, &p->target, err);
	if (!r)
		r = record_open_with_rights(p, argv, argc, err);
	if (!r && !p->target.pid && !o->delay_ns)
		r = recorder_enable(p->recorder, true, err);
	if (!r && p->target.pid && o->system_wide && !o->delay_ns)
		r = recorder_enable(p->recorder, true, err);
	return r;
}

/* ---- the end ---- */

static int exit_status(const struct record_plan *p, int signal)
{
	if (p->target.pid && p->target.ended)
		return target_exit_status(p->target.status);
	if (signal && signal != SIGINT)
		return 128 + signal;
	return 0;
}

static enum record_target record_target_of(const struct record_plan *p)
{
	return p->command   ? RECORD_COMMAND
	       : p->nr_pids ? RECORD_PROCESSES
			    : RECORD_SYSTEM;
}

/* Gives a recording that could not be archived a permanent name. */
static void keep_temporary_session(const struct record_plan *p, const char *why)
{
	const char *from = scratch_folder(p->scratch);
	char *to;

	if (asprintf(&to, "%s.session", p->options.output) < 0)
		to = NULL;
	if (to && !io_rename(from, to))
		command_error("%s; the recording is in '%s': use --session-dir=%s", why,
			      to, to);
	else
		command_error("%s; the recording is lost", why);
	free(to);
}

/* Creates the archive of --output or --archive; if the latter has no name, DIR.oparchive.  Returns
 * 0, or a negative errno after reporting the error. */
static int record_archive(const struct record_plan *p)
{
	const char *given = p->options.output ? p->options.output : p->options.archive;
	struct err err = { 0 };
	char *path;
	int r;

	if (!given)
		return 0;
	if ((given[0] ? asprintf(&path, "%s", given)
		      : asprintf(&path, "%s.oparchive", p->dir.root)) < 0)
		return -ENOMEM;
	r = archive_make_of_session(p->dir.current, path, &err);
	if (r < 0 && p->scratch)
		keep_temporary_session(p, err.text);
	else if (r < 0)
		command_error("%s; the session itself is complete", err.text);
	else
		screen_print_line(stderr, "Archive: %s", path);
	free(path);
	return r < 0 ? r : 0;
}

/* Ends the recording; the target may continue after it. */
static int record_finish(struct record_plan *p, int failed, int signal, struct err *err)
{
	struct record_summary summary = { .dir = p->scratch ? NULL : p->dir.current };
	struct err late = { 0 };
	int status;
	int r;

	target_poll(&p->target);
	r = recorder_close(p->recorder, p->target.ended ? p->target.status : -1,
			   &summary.totals, &summary.file_bytes, &late);
	p->recorder = NULL;
	if (failed || r) {
		command_error("%s; recording stops, %llu samples are saved",
			      failed ? err->text : late.text,
			      (unsigned long long)summary.totals.samples);
	} else if (access(p->dir.current, F_OK)) {
		r = -errno;
		command_error("'%s' was moved or removed during the recording",
			      p->dir.current);
	}
	summary.target = record_target_of(p);
	summary.delayed = !p->sampled;
	record_report_end(&summary, p->events.list.at, p->events.list.nr);
	/* From here on, signals have their normal effect again. */
	sigprocmask(SIG_SETMASK, &p->old_signals.mask, NULL);
	if (record_archive(p) && !r)
		r = -EIO;
	if (signal != SIGTERM && signal != SIGHUP)
		target_wait(&p->target);
	if (failed || r)
		return EXIT_OWN_FAILURE;
	status = exit_status(p, signal);
	return status || summary.totals.samples ? status : EXIT_NO_SAMPLES;
}

static int record_begin_words(struct record_plan *p, char **argv, int argc)
{
	struct err err = { 0 };
	int signal = 0;
	int r = record_start(p, argv, argc, &err);

	if (r)
		return record_fail(&err);
	if (p->target.pid) {
		r = target_go(&p->target, p->command[0], &err);
		if (r) {
			command_error("%s", err.text);
			record_hint_value(&p->options, p->command);
			return r == -ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
		}
	}
	r = session_dir_commit(&p->dir, &err);
	if (r)
		command_error("%s", err.text);
	else
		record_report_start(p->events.list.at, p->events.list.nr, p->flags,
				    !p->command);
	if (!r)
		r = record_loop_run(p, &err, &signal);
	return record_finish(p, r, signal, &err);
}

static void plan_done(struct record_plan *p)
{
	recorder_discard(p->recorder);
	target_drop(&p->target);
	session_dir_close(&p->dir);
	scratch_free(p->scratch);
	events_done(&p->events);
	vec_done(&p->options.events.values);
	free(p->vmlinux);
	if (p->signal_fd >= 0)
		close(p->signal_fd);
}

/* Opens /dev/null in place of closed standard streams, so that no file opened later receives
 * messages. The target still starts with them closed. */
static void hold_closed_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && io_open("/dev/null", O_RDWR, 0) < 0)
			return;
}

static int run_record(const struct command *self, int argc, char **argv)
{
	static struct record_plan plan = { .frequency_hz = EVENT_DEFAULT_HZ,
					   .signal_fd = -1,
					   .dir = { .samples_fd = -1, .lock_fd = -1 } };
	struct err err = { 0 };
	int first;
	int status = command_options(self, OPTIONS_STOP_AT_WORD, argc, argv,
				     &plan.options, &first);

	if (status >= 0)
		return status;
	hold_closed_streams();
	command_set_verbose(plan.options.verbose != NULL);
	plan.command = first < argc ? &argv[first] : NULL;
	record_hint_append(&plan.options, plan.command);
	if (plan.options.lazy)
		fprintf(stderr,
			"%s: --lazy-conversion has no effect: samples are never converted\n",
			command_name());
	if (record_plan_make(&plan, &err))
		status = record_fail(&err);
	else
		status = record_begin_words(&plan, argv, argc);
	plan_done(&plan);
	return status;
}

extern const struct command command_record;
const struct command command_record = {
	.name = "record",
	.classic = "operf",
	.summary = "record where programs and the kernel spend their time",
	.usage = "[options] COMMAND [ARGS...]\n"
		 "[options] --pid PID|NAME[,...]\n"
		 "[options] --system-wide [COMMAND [ARGS...]]",
	.notes =
		"The exit status is that of the command (128 + N if signal N ended it), but 1 instead of 0 if no sample was collected; "
		"125 if the recording failed, 126 if the command could not be run, 127 if it was not found.\n"
		"\n"
		"Examples:\n"
		"  operf ./program            then: "
		"opreport, opreport --symbols\n"
		"  operf -g make -j8          with call stacks\n"
		"  operf --system-wide --duration 10s\n"
		"  operf -o run.oparchive ./program\n"
		"  operf -e page-faults:1 ./program",
	.options = rows,
	.letters_h_u = true,
	.failure_status = EXIT_OWN_FAILURE,
	.is_recorder = true,
	.run = run_record,
};

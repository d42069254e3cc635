/* record.c - `oprofile record`, called operf: records a program, a process or everything. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/io.h"
#include "base/parse.h"
#include "capture/events.h"
#include "capture/perf_source.h"
#include "tools/command.h"
#include "tools/record_report.h"
#include "tools/recorder.h"
#include "tools/session_dir.h"
#include "tools/target.h"

enum {
	EXIT_OWN_FAILURE = 125,
	EXIT_CANNOT_RUN = 126,
	EXIT_NOT_FOUND = 127,
	PIDS_MAX = 1024
};

struct record_options {
	struct option_list events;
	const char *pids;
	bool system_wide;
	uint64_t frequency_hz;
	const char *callgraph; /* NULL: none; "" or "fp" */
	const char *vmlinux;
	const char *session_dir;
	const char *perf_data;
	const char *verbose;
	uint64_t duration_ns;
	uint64_t delay_ns;
	uint64_t ring_pages;
	bool separate_thread;
	bool separate_cpu;
	bool append;
	bool lazy;
};

static const struct option_row rows[] = {
	{ .name = "events",
	  .letter = 'e',
	  .kind = OPTION_LIST,
	  .value = "SPEC[,SPEC]",
	  .offset = OPTION(struct record_options, events),
	  .help = "What to sample: NAME[:COUNT[:UNITMASK[:KERNEL[:USER]]]]. A COUNT is "
		  "the "
		  "number of events between two samples (nanoseconds for TIMER); "
		  "without one "
		  "the event is sampled at --frequency. The default is the CPU's "
		  "cycles, and "
		  "TIMER where there is no PMU." },
	{ .name = "event",
	  .kind = OPTION_LIST,
	  .value = "SPEC[,SPEC]",
	  .alias_of = "events",
	  .offset = OPTION(struct record_options, events),
	  .help = "The same as --events." },
	{ .name = "frequency",
	  .letter = 'F',
	  .kind = OPTION_COUNT,
	  .value = "HZ",
	  .offset = OPTION(struct record_options, frequency_hz),
	  .help = "Samples per second and CPU for events without a count of their own "
		  "(default 997)." },
	{ .name = "callgraph",
	  .letter = 'g',
	  .kind = OPTION_TEXT,
	  .value = "fp",
	  .value_optional = true,
	  .offset = OPTION(struct record_options, callgraph),
	  .help = "Record call stacks, by frame pointers." },
	{ .name = "pid",
	  .letter = 'p',
	  .kind = OPTION_TEXT,
	  .value = "PID[,PID]",
	  .offset = OPTION(struct record_options, pids),
	  .help = "Record running processes and what they start, until they end or "
		  "Ctrl-C." },
	{ .name = "system-wide",
	  .letter = 's',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct record_options, system_wide),
	  .help = "Record every process and the kernel, until COMMAND ends or "
		  "Ctrl-C." },
	{ .name = "duration",
	  .kind = OPTION_DURATION,
	  .value = "TIME",
	  .offset = OPTION(struct record_options, duration_ns),
	  .help = "Stop sampling after this time (10, 1.5s, 250ms, 2m). A command that "
		  "still "
		  "runs is waited for." },
	{ .name = "delay",
	  .kind = OPTION_DURATION,
	  .value = "TIME",
	  .offset = OPTION(struct record_options, delay_ns),
	  .help = "Begin sampling this long after the start." },
	{ .name = "session-dir",
	  .letter = 'd',
	  .kind = OPTION_TEXT,
	  .value = "DIR",
	  .offset = OPTION(struct record_options, session_dir),
	  .help = "Where the session goes; must exist. The default is ./oprofile_data, "
		  "which "
		  "is made." },
	{ .name = "append",
	  .letter = 'a',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct record_options, append),
	  .help = "Add to the current session instead of starting a new one." },
	{ .name = "perf-data",
	  .kind = OPTION_TEXT,
	  .value = "FILE",
	  .offset = OPTION(struct record_options, perf_data),
	  .help = "Also write what is recorded as a perf.data file." },
	{ .name = "vmlinux",
	  .letter = 'k',
	  .kind = OPTION_TEXT,
	  .value = "FILE",
	  .offset = OPTION(struct record_options, vmlinux),
	  .help = "The uncompressed kernel image with symbols. Without it the running "
		  "kernel's own symbols are saved with the session." },
	{ .name = "separate-thread",
	  .letter = 't',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct record_options, separate_thread),
	  .help = "Show threads apart by default. Every recording keeps threads apart; "
		  "this "
		  "only sets the view." },
	{ .name = "separate-cpu",
	  .letter = 'c',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct record_options, separate_cpu),
	  .help = "Show CPUs apart by default. Every recording keeps CPUs apart." },
	{ .name = "lazy-conversion",
	  .letter = 'l',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct record_options, lazy),
	  .help = "Accepted for old scripts and without effect: samples are never "
		  "converted." },
	{ .name = "ring-pages",
	  .kind = OPTION_COUNT,
	  .value = "N",
	  .offset = OPTION(struct record_options, ring_pages),
	  .help = "Pages of each CPU's sample ring, rounded up to a power of two "
		  "(default "
		  "256, or what perf_event_mlock_kb allows)." },
	{ .name = "verbose",
	  .letter = 'V',
	  .kind = OPTION_TEXT,
	  .value = "LIST",
	  .value_optional = true,
	  .offset = OPTION(struct record_options, verbose),
	  .help = "Say more on stderr: debug, record, convert, misc, sfile, arcs, "
		  "all." },
	{ .name = NULL }
};

/* What this run does, made of the options. */
struct plan {
	struct record_options options;
	struct event_requests events;
	pid_t pids[PIDS_MAX];
	size_t nr_pids;
	char **command; /* NULL: none */
	uint32_t flags;
	struct session_dir dir;
	struct target target;
	struct recorder *recorder;
	sigset_t old_mask;
	int signal_fd;
	char *vmlinux;
};

static int fail(const struct err *err)
{
	command_error("%s", err->text);
	return EXIT_OWN_FAILURE;
}

/* ---- from options to a plan ---- */

static int check_verbose(const char *list, struct err *err)
{
	static const char *const known[] = { "debug", "record", "convert", "misc",
					     "sfile", "arcs",   "all",     "" };
	char word[32];

	while (list && *list) {
		size_t len = strcspn(list, ",");
		bool found = false;

		snprintf(word, sizeof(word), "%.*s", (int)(len < 31 ? len : 31), list);
		for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
			found |= !strcmp(word, known[i]);
		if (!found)
			return err_set(err, -EINVAL, "unknown --verbose= options: %s",
				       word);
		list += len + (list[len] == ',');
	}
	return 0;
}

static int parse_pids(struct plan *p, struct err *err)
{
	const char *text = p->options.pids;

	while (text && *text) {
		size_t len = strcspn(text, ",");
		char word[24];
		uint64_t pid;

		snprintf(word, sizeof(word), "%.*s", (int)(len < 23 ? len : 23), text);
		if (!parse_u64_max(word, INT32_MAX, &pid) || !pid)
			return err_set(err, -EINVAL,
				       "--pid: \"%s\" is not a process number", word);
		if (p->nr_pids == PIDS_MAX)
			return err_set(err, -E2BIG, "--pid: more than %d processes",
				       PIDS_MAX);
		p->pids[p->nr_pids++] = (pid_t)pid;
		text += len + (text[len] == ',');
	}
	return 0;
}

static int check_modes(const struct plan *p, struct err *err)
{
	const struct record_options *o = &p->options;

	if (p->nr_pids && (o->system_wide || p->command))
		return err_set(err, -EINVAL,
			       "--pid goes with neither --system-wide nor a "
			       "command: give one of them");
	if (!p->nr_pids && !o->system_wide && !p->command)
		return err_set(err, -EINVAL,
			       "nothing to record: give a command, --pid PID or "
			       "--system-wide (see --help)");
	if (o->callgraph && *o->callgraph && strcmp(o->callgraph, "fp"))
		return err_set(
			err, -EINVAL,
			"--callgraph=%s: only fp (frame pointers) is there in this "
			"version",
			o->callgraph);
	return check_verbose(o->verbose, err);
}

static int check_vmlinux(struct plan *p, struct err *err)
{
	const char *path = p->options.vmlinux;
	char magic[4] = "";
	int fd;

	if (!path)
		return 0;
	fd = io_open(path, O_RDONLY | O_NONBLOCK, 0);
	if (fd < 0)
		return err_sys(err, fd, "--vmlinux: %s", path);
	if (io_pread_full(fd, magic, sizeof(magic), 0) != sizeof(magic) ||
	    memcmp(magic, "\177ELF", sizeof(magic))) {
		close(fd);
		return err_set(
			err, -EINVAL,
			"The specified vmlinux file (%s) does not seem to be valid: "
			"make sure you are using a non-compressed image file",
			path);
	}
	close(fd);
	p->vmlinux = realpath(path, NULL);
	return p->vmlinux ? 0 : err_sys(err, -errno, "--vmlinux: %s", path);
}

static int choose_events(struct plan *p, struct err *err)
{
	const struct record_options *o = &p->options;
	struct event_request event;
	int r = 0;

	for (size_t i = 0; i < o->events.values.nr && !r; i++)
		r = events_parse(o->events.values.at[i], o->frequency_hz, &p->events,
				 err);
	if (r || p->events.list.nr)
		return r;
	events_default(o->frequency_hz, &event);
	if (event.timer)
		p->flags |= SESSION_TIMER_FALLBACK;
	return vec_push(&p->events.list, event)
		       ? 0
		       : err_set(err, -ENOMEM, "out of memory");
}

static int make_plan(struct plan *p, struct err *err)
{
	const struct record_options *o = &p->options;
	int r = parse_pids(p, err);

	if (!r)
		r = check_modes(p, err);
	if (!r)
		r = check_vmlinux(p, err);
	if (!r)
		r = choose_events(p, err);
	p->flags |= (o->system_wide ? SESSION_SYSTEM_WIDE : 0) |
		    (o->separate_thread ? SESSION_SEPARATE_THREAD : 0) |
		    (o->separate_cpu ? SESSION_SEPARATE_CPU : 0);
	return r;
}

/* ---- starting ---- */

static int block_signals(struct plan *p, struct err *err)
{
	sigset_t mask;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ,
	       SIG_IGN); /* a size limit is a full disk: seen as an error of write */
	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGQUIT);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGHUP);
	sigaddset(&mask, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &mask, &p->old_mask))
		return err_sys(err, -errno, "sigprocmask");
	p->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	return p->signal_fd < 0 ? err_sys(err, -errno, "signalfd") : 0;
}

static int open_recorder(struct plan *p, char **argv, int argc, struct err *err)
{
	const struct record_options *o = &p->options;
	struct recorder_config config = {
		.events = p->events.list.at,
		.nr_events = p->events.list.nr,
		.chains = o->callgraph != NULL,
		.ring_pages = o->ring_pages,
		.session_flags = p->flags,
		.vmlinux = p->vmlinux ? p->vmlinux : "",
		.perf_data = o->perf_data,
		.command = argv,
		.nr_command = argc,
		.dir = &p->dir,
	};

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

/* perf_event_paranoid 2 leaves one's own processes in user space: better than nothing, if
 * it is said. */
static int open_with_rights(struct plan *p, char **argv, int argc, struct err *err)
{
	int r = open_recorder(p, argv, argc, err);
	bool may_retry = (r == -EACCES || r == -EPERM) && !p->options.system_wide;

	/* Debian's kernels refuse everything from 3 on; others treat it as 2, but who set it
	 * meant to forbid it. */
	if (!may_retry || perf_source_paranoid() > 2)
		return r;
	for (size_t i = 0; i < p->events.list.nr; i++) {
		struct event_request *e = &p->events.list.at[i];

		may_retry &= e->user && !(e->scope_given && e->kernel);
		event_request_user_only(e);
	}
	if (!may_retry)
		return r;
	p->flags |= SESSION_USER_ONLY;
	r = open_recorder(p, argv, argc, err);
	if (!r)
		fprintf(stderr,
			"%s: user space only: "
			"/proc/sys/kernel/perf_event_paranoid does not let you sample "
			"the kernel (1 or less does)\n",
			command_name());
	return r;
}

static int start(struct plan *p, char **argv, int argc, struct err *err)
{
	const struct record_options *o = &p->options;
	int r = session_dir_open(o->session_dir, o->append, &p->dir, err);

	if (!r)
		r = block_signals(p, err);
	if (!r && p->command)
		r = target_hold(p->command, &p->old_mask, &p->target, err);
	if (!r)
		r = open_with_rights(p, argv, argc, err);
	if (!r && !p->target.pid && !o->delay_ns)
		r = recorder_enable(p->recorder, true, err);
	if (!r && p->target.pid && o->system_wide && !o->delay_ns)
		r = recorder_enable(p->recorder, true, err);
	return r;
}

/* ---- the loop ---- */

struct loop {
	struct plan *p;
	uint64_t start_ns;
	uint64_t stop_ns;  /* of --duration; UINT64_MAX: none */
	uint64_t begin_ns; /* of --delay; UINT64_MAX: begun */
	bool stopped;      /* sampling is over; the command may go on */
	bool done;
	int signal; /* that ended us, 0 none */
	int failed; /* the recorder's error */
	int pid_fds[PIDS_MAX];
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* A terminal sends its signals to the whole foreground group, the target included; one that
 * somebody sent to us alone is passed on. */
static void pass_on(const struct loop *l, const struct signalfd_siginfo *info)
{
	const struct target *t = &l->p->target;

	if (t->pid && !t->ended && info->ssi_code != SI_KERNEL)
		kill(t->pid, (int)info->ssi_signo);
}

static void take_signals(struct loop *l)
{
	struct signalfd_siginfo info;

	while (read(l->p->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD) {
			target_poll(&l->p->target);
			continue;
		}
		pass_on(l, &info);
		l->signal = (int)info.ssi_signo;
		/* Ctrl-C is the target's to answer, as under a shell; without a target, and
		 * for a request to end, the session ends here. */
		if (!l->p->target.pid || info.ssi_signo == SIGTERM ||
		    info.ssi_signo == SIGHUP || l->p->options.system_wide)
			l->done = true;
	}
	if (l->p->target.pid && l->p->target.ended)
		l->done = true;
}

/* --pid: over when all of them are. */
static bool pids_live(const struct loop *l)
{
	for (size_t i = 0; i < l->p->nr_pids; i++) {
		struct pollfd poll_fd = { .fd = l->pid_fds[i], .events = POLLIN };

		if (l->pid_fds[i] < 0 ? !kill(l->p->pids[i], 0) || errno == EPERM
				      : poll(&poll_fd, 1, 0) == 0)
			return true;
	}
	return false;
}

static int timeout_ms(const struct loop *l)
{
	uint64_t next = l->begin_ns < l->stop_ns ? l->begin_ns : l->stop_ns;
	uint64_t now = now_ns();
	int ms = l->stopped ? 1000 : recorder_timeout_ms(l->p->recorder);

	if (next == UINT64_MAX || l->stopped)
		return ms;
	if (next <= now)
		return 0;
	return (next - now) / 1000000 + 1 < (uint64_t)ms
		       ? (int)((next - now) / 1000000 + 1)
		       : ms;
}

static void stop_sampling(struct loop *l)
{
	struct err err = { 0 };

	recorder_enable(l->p->recorder, false, &err);
	l->stopped = true;
	if (!l->p->target.pid)
		l->done = true;
}

/* --delay and --duration. */
static void keep_time(struct loop *l, struct err *err)
{
	uint64_t now = now_ns();

	if (now >= l->begin_ns) {
		l->begin_ns = UINT64_MAX;
		if (l->p->options.duration_ns)
			l->stop_ns = now + l->p->options.duration_ns;
		l->failed = recorder_enable(l->p->recorder, true, err);
	}
	if (now >= l->stop_ns && !l->stopped)
		stop_sampling(l);
}

static void one_turn(struct loop *l, struct err *err)
{
	struct pollfd fds[2] = {
		{ .fd = l->stopped ? -1 : recorder_poll_fd(l->p->recorder),
		  .events = POLLIN },
		{ .fd = l->p->signal_fd, .events = POLLIN },
	};

	if (poll(fds, 2, timeout_ms(l)) < 0 && errno != EINTR) {
		l->failed = err_sys(err, -errno, "poll");
		return;
	}
	take_signals(l);
	keep_time(l, err);
	if (!l->failed && !l->stopped)
		l->failed = recorder_round(l->p->recorder, err);
	if (l->p->nr_pids && !pids_live(l))
		l->done = true;
}

static int run_loop(struct plan *p, struct err *err, int *ret_signal)
{
	struct loop l = { .p = p,
			  .start_ns = now_ns(),
			  .stop_ns = UINT64_MAX,
			  .begin_ns = UINT64_MAX };

	if (p->options.delay_ns)
		l.begin_ns = l.start_ns + p->options.delay_ns;
	else if (p->options.duration_ns)
		l.stop_ns = l.start_ns + p->options.duration_ns;
	for (size_t i = 0; i < p->nr_pids; i++)
		l.pid_fds[i] = (int)syscall(SYS_pidfd_open, p->pids[i], 0);
	target_poll(&p->target);
	l.done = p->target.ended;
	while (!l.done && !l.failed)
		one_turn(&l, err);
	for (size_t i = 0; i < p->nr_pids; i++)
		if (l.pid_fds[i] >= 0)
			close(l.pid_fds[i]);
	*ret_signal = l.signal;
	return l.failed;
}

/* ---- the end ---- */

static int exit_status(const struct plan *p, int signal)
{
	if (p->target.pid && p->target.ended)
		return target_exit_status(p->target.status);
	if (signal && signal != SIGINT)
		return 128 + signal;
	return 0;
}

/* Ends the recording; the target may go on behind it. */
static int finish(struct plan *p, int failed, int signal, struct err *err)
{
	struct record_summary summary = { .dir = p->dir.current };
	struct err late = { 0 };
	int r;

	target_poll(&p->target);
	r = recorder_close(p->recorder, p->target.ended ? p->target.status : -1,
			   &summary.totals, &summary.file_bytes, &late);
	p->recorder = NULL;
	if (failed || r)
		command_error("%s; the recording ends here, %llu samples are saved",
			      failed ? err->text : late.text,
			      (unsigned long long)summary.totals.samples);
	summary.have_target = p->command != NULL;
	record_report_end(&summary, p->events.list.at, p->events.list.nr);
	/* From here on a signal is answered as by any program. */
	sigprocmask(SIG_SETMASK, &p->old_mask, NULL);
	if (signal != SIGTERM && signal != SIGHUP)
		target_wait(&p->target);
	return failed || r ? EXIT_OWN_FAILURE : exit_status(p, signal);
}

static int record(struct plan *p, char **argv, int argc)
{
	struct err err = { 0 };
	int signal = 0;
	int r = start(p, argv, argc, &err);

	if (r)
		return fail(&err);
	if (p->target.pid) {
		r = target_go(&p->target, p->command[0], &err);
		if (r) {
			command_error("%s", err.text);
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
		r = run_loop(p, &err, &signal);
	return finish(p, r, signal, &err);
}

static void plan_done(struct plan *p)
{
	struct session_totals totals;
	uint64_t bytes;

	if (p->recorder)
		recorder_close(p->recorder, -1, &totals, &bytes, NULL);
	target_drop(&p->target);
	session_dir_close(&p->dir);
	events_done(&p->events);
	vec_done(&p->options.events.values);
	free(p->vmlinux);
	if (p->signal_fd >= 0)
		close(p->signal_fd);
}

static int run_record(const struct command *self, int argc, char **argv)
{
	static struct plan plan = { .signal_fd = -1, .dir = { .lock_fd = -1 } };
	struct err err = { 0 };
	int first;
	int status = command_options(self, OPTIONS_STOP_AT_WORD, argc, argv,
				     &plan.options, &first);

	if (status >= 0)
		return status;
	plan.command = first < argc ? &argv[first] : NULL;
	if (plan.options.lazy)
		fprintf(stderr,
			"%s: --lazy-conversion has no effect: samples are never "
			"converted\n",
			command_name());
	if (make_plan(&plan, &err))
		status = fail(&err);
	else
		status = record(&plan, argv, argc);
	plan_done(&plan);
	return status;
}

extern const struct command command_record;
const struct command command_record = {
	.name = "record",
	.classic = "operf",
	.summary = "record a program, a process or the whole system",
	.usage = "[options] COMMAND [ARGS...]\n"
		 "[options] --pid PID[,PID...]\n"
		 "[options] --system-wide [COMMAND [ARGS...]]",
	.notes = "The exit status is the command's own (128 + N if signal N ended it); "
		 "125 if "
		 "the recording failed, 126 if the command could not be run, 127 if it "
		 "was not "
		 "found.\n\n"
		 "Examples:\n"
		 "  operf ./program            then: opreport, opreport --symbols\n"
		 "  operf -g make -j8          with call stacks\n"
		 "  operf --system-wide --duration 10s\n"
		 "  operf -e page-faults:1 ./program",
	.options = rows,
	.letters_h_u = true,
	.failure_status = EXIT_OWN_FAILURE,
	.run = run_record,
};

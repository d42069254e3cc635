/* SPDX-License-Identifier: GPL-2.0-or-later */
/* loop.c - the daemon's main loop: waits for rings, requests, signals and timers. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/files/guard.h"
#include "base/files/io.h"
#include "base/files/output.h"
#include "base/log.h"
#include "capture/events/perf_attr.h"
#include "capture/source/perf_source.h"
#include "capture/source/snapshot.h"
#include "daemon/engine/engine.h"
#include "daemon/server/control_client.h"
#include "daemon/server/control_server.h"
#include "daemon/server/daemon_calls.h"
#include "daemon/server/service.h"
#include "record/helper/rights.h"
#include "record/helper/table_budget.h"
#include "record/helper/table_helper.h"
#include "record/priv.h"
#include "record/recorder.h"
#include "resolve/unwind/table.h"

enum {
	LARGE_BYTES = 1 << 20
};

/* ---- the log ---- */

static FILE *log_file; /* NULL: standard error */
static bool log_all;

static void log_to_file(enum log_level level, const char *text)
{
	static const char *const names[LOG_COUNT] = { "warning: ", "", "debug: " };
	time_t now = time(NULL);
	struct tm tm;
	char stamp[32] = "";

	if (level == LOG_DEBUG && !log_all)
		return;
	if (localtime_r(&now, &tm))
		strftime(stamp, sizeof(stamp), "%F %T ", &tm);
	if (log_file)
		fprintf(log_file, "%s%s%s\n", stamp, names[level], text);
}

/* Opens a log file for appending, and creates it if missing. Refuses files that could block, such
 * as a FIFO. Returns a descriptor or a negative errno. */
static int oprofiled_loop_open_regular(const char *path)
{
	int fd = io_open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK,
			 RECORDING_FILE_MODE);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
		close(fd);
		return -EINVAL;
	}
	return fd;
}

/* Checks "DIR/samples", so that a link there cannot redirect the log. */
static int guard_samples(const char *dir, struct err *err)
{
	int fd = output_make_dir(dir, 0755, err);
	int r;

	if (fd < 0)
		return fd;
	r = guard_add(dir, "samples", fd);
	close(fd);
	return r ? err_sys(err, r, "cannot open '%s'", dir) : 0;
}

/* Opens the log at `path`, and creates its directory DIR/samples if missing. Returns a descriptor
 * or a negative errno. */
static int open_log(const char *dir, const char *path, struct err *err)
{
	char samples[4096];
	int r = guard_samples(dir, err);

	snprintf(samples, sizeof(samples), "%s/samples", dir);
	if (r)
		return r;
	r = io_make_dirs(samples, 0755);
	if (r) {
		err_sys(err, r, "cannot create '%s'", samples);
	} else {
		r = oprofiled_loop_open_regular(path);
		if (r < 0)
			err_sys(err, r, "cannot open '%s'", path);
	}
	guard_drop(dir, "samples");
	return r;
}

/* Opens the log, unless the daemon is in the foreground: SESSION_DIR/samples/oprofiled.log, as in
 * OProfile. */
int oprofiled_open_log(const struct oprofiled *d, struct err *err)
{
	const char *dir = oprofiled_session_dir(d);
	char path[4096];
	int fd, r;

	if (d->options.foreground)
		return 0;
	log_all = d->options.verbose;
	if (snprintf(path, sizeof(path), "%s/samples/oprofiled.log", dir) >=
	    (int)sizeof(path))
		return err_set(err, -ENAMETOOLONG, "the path '%s' is too long", dir);
	fd = open_log(dir, path, err);
	if (fd < 0)
		return fd;
	/* Other threads may be writing to it, so replace its descriptor in place. */
	if (log_file) {
		r = dup3(fd, fileno(log_file), O_CLOEXEC) < 0 ? -errno : 0;
		close(fd);
		return r ? err_sys(err, r, "cannot open '%s'", path) : 0;
	}
	log_file = fdopen(fd, "a");
	if (!log_file) {
		close(fd);
		return err_set(err, -ENOMEM, "out of memory");
	}
	setvbuf(log_file, NULL, _IOLBF, 0);
	log_set_sink(log_to_file);
	return 0;
}

/* ---- signals ---- */

static int oprofiled_loop_block_signals(struct oprofiled *d, struct err *err)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &mask, NULL))
		return err_sys(err, -errno, "cannot change the signal mask");
	d->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	return d->signal_fd < 0
		       ? err_sys(err, -errno, "cannot create a descriptor for signals")
		       : 0;
}

static void oprofiled_loop_take_signals(struct oprofiled *d)
{
	struct signalfd_siginfo info;
	struct err err = { 0 };

	while (read(d->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGHUP) {
			log_say(LOG_NOTE, "%s", strsignal((int)info.ssi_signo));
			d->done = true;
			continue;
		}
		/* The log may have been moved, and the session with it. */
		if (oprofiled_open_log(d, &err) || oprofiled_rotate(d, &err))
			log_say(LOG_WARNING, "%s", err.text);
	}
}

/* ---- the loop ---- */

/* Logs system calls that the filter refused.  The daemon needs none of them. */
static void report_refused(void)
{
	int call;

	while ((call = daemon_calls_next_refused()) >= 0)
		log_say(LOG_WARNING,
			"refused system call %d, which oprofiled does not need: this is a bug in oprofiled or a library, or an attack on it",
			call);
}

static int oprofiled_loop_iterate(struct oprofiled *d, struct err *err)
{
	struct pollfd fds[] = {
		{ .fd = d->signal_fd, .events = POLLIN },
		{ .fd = control_server_fd(d->server), .events = POLLIN },
		{ .fd = d->recorder ? recorder_poll_fd(d->recorder) : -1,
		  .events = POLLIN },
		{ .fd = d->recorder ? recorder_attend_fd(d->recorder) : -1,
		  .events = POLLIN },
		{ .fd = metrics_server_fd(d->metrics), .events = POLLIN },
	};

	if (poll(fds, COUNT_OF(fds), oprofiled_record_ms(d)) < 0 && errno != EINTR)
		return err_sys(err, -errno, "cannot wait for samples and requests");
	if (fds[0].revents)
		oprofiled_loop_take_signals(d);
	oprofiled_record(d, fds[2].revents, fds[3].revents);
	oprofiled_govern(d);
	oprofiled_metrics_poll(d);
	/* Handle requests last: one may end the recording that owns the other descriptors. */
	if (fds[1].revents)
		control_server_poll(d->server);
	control_server_send_samples(d->server);
	report_refused();
	return 0;
}

/* Returns the name of the group whose members may control the daemon: that of --group, otherwise
 * "oprofile". Warns if there is no group with the name of --group. */
static const char *oprofiled_loop_group(const struct oprofiled *d)
{
	const char *asked = d->options.group;

	if (!asked)
		return "oprofile";
	if (!getgrnam(asked))
		log_say(LOG_WARNING,
			"--group: there is no group %s: only root and the daemon's user can control the daemon",
			asked);
	return asked;
}

/* Makes the daemon's future files belong to the group that controls it, so that its members can
 * read the recordings. If the group does not exist, only root can. Returns 0, or a negative errno
 * with a message in *err. */
static int share_with_group(const char *name, struct err *err)
{
	const struct group *found = geteuid() ? NULL : getgrnam(name);

	if (!found || !setegid(found->gr_gid))
		return 0;
	return err_sys(err, -errno, "cannot write files for group '%s'", name);
}

/* Creates the budget for unwind tables. It is never freed, because a thread that hangs on a file
 * still uses it when the daemon exits. Returns 0, or -ENOMEM with a message in *err. */
static int begin_budget(struct oprofiled *d, struct err *err)
{
	long nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return table_budget_new(nr_cpus > 0 ? (unsigned int)nr_cpus : 1,
				clock_now_ns(CLOCK_MONOTONIC), &d->tables.budget)
		       ? err_set(err, -ENOMEM, "out of memory")
		       : 0;
}

/* Restricts the system calls once startup is complete. */
static void oprofiled_loop_confine(void)
{
	struct err err = { 0 };

	if (daemon_calls_confine(&err))
		log_say(LOG_WARNING, "system calls are not restricted: %s", err.text);
}

static int oprofiled_loop_open_all(struct oprofiled *d, struct err *err)
{
	char path[4096];
	struct control_server_config config = { .path = path,
						.listen_fd = service_listen_fd(),
						.group = oprofiled_loop_group(d),
						.handle = oprofiled_answer,
						.ctx = d };
	uint64_t start, end;
	int r;

	d->run_dir = control_run_dir();
	r = background_lock(d->run_dir, &d->lock_fd, err);
	if (!r)
		r = oprofiled_loop_block_signals(d, err);
	/* Do this before dropping privileges: without them the kernel's end address is unknown,
	 * and it would be placed after all symbols. */
	(void)snapshot_kernel_text(&start, &end);
	/* Start the helper before dropping privileges too: it must be able to change to another
	 * user. */
	if (!r)
		r = table_helper_start(unwind_table_load_fd, &d->tables.helper, err);
	if (!r)
		r = begin_budget(d, err);
	if (!r)
		r = share_with_group(config.group, err);
	if (!r)
		r = rights_keep_needed(perf_attr_paranoid() > 2, err);
	if (!r)
		r = oprofiled_metrics_listen(d, err);
	if (!r && !d->options.paused)
		r = oprofiled_start(d, err);
	if (!r &&
	    snprintf(path, sizeof(path), "%s/control", d->run_dir) >= (int)sizeof(path))
		r = err_set(err, -ENAMETOOLONG, "the path '%s' is too long",
			    d->run_dir);
	if (!r)
		r = control_server_open(&config, &d->server, err);
	if (!r)
		oprofiled_loop_confine();
	return r;
}

/* Makes free() return large blocks to the system. By default, after a large block was freed, glibc
 * keeps blocks up to that size. */
static void keep_little(void)
{
#ifdef M_MMAP_THRESHOLD
	mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
#endif
}

int oprofiled_run(struct oprofiled *d, struct err *err)
{
	int r;

	keep_little();
	r = oprofiled_open_log(d, err);
	if (!r)
		r = oprofiled_loop_open_all(d, err);
	if (!r) {
		log_say(LOG_NOTE, "oprofiled " OPROFILE_VERSION " runs as process %d",
			getpid());
		background_ready(&d->background, NULL);
		d->watchdog_ns = service_watchdog_ns();
		service_notify("READY=1\nMAINPID=%d\nSTATUS=%s", getpid(),
			       d->recorder ? "sampling" : "paused");
	}
	while (!r && !d->done)
		r = oprofiled_loop_iterate(d, err);
	service_notify("STOPPING=1");
	/* If the log is standard error, the caller prints the message. */
	if (r && log_file)
		log_say(LOG_WARNING, "%s", err->text);
	oprofiled_govern_end(d);
	oprofiled_recording_done(d);
	if (d->server)
		control_server_send_samples(d->server);
	control_server_close(d->server);
	d->server = NULL;
	oprofiled_metrics_done(d);
	/* Do this last, because a disk can be slow and other processes may be waiting for the
	 * steps above. */
	disk_sync_done(&d->upkeep.sync);
	table_helper_stop(d->tables.helper);
	d->tables.helper = NULL;
	oprofiled_stream_done(d);
	background_unlock(d->lock_fd);
	if (d->signal_fd >= 0)
		close(d->signal_fd);
	if (!r)
		log_say(LOG_NOTE, "oprofiled exits: %llu samples, %llu lost",
			(unsigned long long)d->sums.samples,
			(unsigned long long)d->sums.lost);
	return r;
}

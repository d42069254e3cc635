/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine.h - the state that the files of oprofiled share: its options, its recording, its setup,
 * and its loop.
 * Layer: daemon.  Single-threaded. */
#pragma once
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/containers/word_list.h"
#include "base/err.h"
#include "capture/events/events.h"
#include "capture/system/cpus.h"
#include "daemon/server/background.h"
#include "daemon/server/control_keys.h"
#include "daemon/server/control_request.h"
#include "daemon/server/daemonrc.h"
#include "daemon/server/event_cookies.h"
#include "daemon/server/event_stream.h"
#include "daemon/server/metrics_server.h"
#include "daemon/upkeep/disk_sync.h"
#include "daemon/upkeep/governor.h"
#include "daemon/upkeep/memory_bound.h"
#include "daemon/upkeep/retention.h"
#include "daemon/upkeep/sample_filter.h"
#include "record/keep/copy_list.h"
#include "record/keep/session_dir.h"
#include "record/shared_tables.h"

struct control_server;
struct daemon_numbers;
struct metrics_server;
struct recorder;
struct recorder_config;
struct table_helper;

struct oprofiled_options {
	struct word_list events;
	const char *session_dir;
	const char *callgraph; /* depth; NULL: whole stacks; "none": no callers */
	const char *vmlinux;
	bool no_vmlinux;
	const char *group; /* group with control rights; NULL: the default */
	const char *separate_lib, *separate_kernel, *separate_thread, *separate_cpu;
	const char *image;
	const char *kernel_range;
	const char *verbose;
	uint64_t frequency_hz;
	uint64_t rotate_ns;
	const char *retain;
	const char *max_overhead;
	const char *max_memory;
	const char *metrics_listen;
	bool foreground;
	bool paused;
};

/* Totals of the recordings that this process has finished. */
struct oprofiled_sums {
	uint64_t samples; /* written, also to sessions that were removed since */
	uint64_t lost;    /* by the kernel, and dropped ones */
	uint64_t dropped; /* memory was short, or the disk was full */
	uint64_t
		side_band_ns; /* CPU time for the side band (mmap, fork and similar records) */
	VEC(uint64_t) cpu_samples;
};

/* State for the clients that read samples (daemon/server/event_stream.h). */
struct oprofiled_stream {
	struct event_cookies cookies;
	/* Cookie of each image number of the current recorder; 0: not looked up yet. */
	VEC(uint64_t) cookies_by_image;
	uint32_t counters[CONTROL_COUNTERS]; /* indexed by event number */
	size_t max_positions;                /* per sample */
	uint64_t nr_nowhere;                 /* samples outside all mappings */
	struct event_position positions[EVENT_POSITIONS_MAX];
};

/* The thread that copies files into the session and checks old segments. While `runs` is set and
 * `is_done` is not, the thread uses copies_under_way, retention, dir, live_from, failed, result and
 * err, so other threads must not modify these. */
struct oprofiled_upkeep {
	struct disk_sync sync;
	uint64_t next_sync_ns;
	uint64_t next_folder_ns; /* when to sync the segment's directories */
	uint64_t nr_writes;      /* the recorder's number of writes at the last sync */
	bool is_new;             /* the segment was created after the last sync */
	pthread_t thread;
	bool runs;
	atomic_bool is_done;
	uint64_t next_ns;
	struct retention retention;
	char *dir;
	uint64_t live_from;
	int failed;
	struct retention_result result;
	struct err err;
	/* Copies that ended recordings still need, for the next run of the thread. */
	struct copy_list copies;
	struct copy_list copies_under_way;
	uint64_t copy_bytes; /* size of all copies at the last check */
	atomic_bool stops;   /* set: the thread soon stops; the rest is done later */
	bool is_too_large; /* the reason for `stops`: the merge uses too much memory */
};

/* The kernel's cost per sample, for the governor.  While `runs` is set and `is_done` is not,
 * attr, ns and failed belong to the thread. */
struct oprofiled_gauge {
	struct perf_event_attr attr; /* attr of the events whose samples are measured */
	bool is_known;               /* `attr` is set */
	pthread_t thread;
	bool runs;
	atomic_bool is_done;
	uint64_t ns;
	int failed; /* 0 or a negative errno */
};

/* State of a CPU at the previous check for CPUs that were offline. */
struct oprofiled_cpu {
	uint64_t samples;
	uint64_t enabled_ns; /* enabled time of the CPU's event, at the last query */
};

struct oprofiled {
	struct oprofiled_options options;
	/* The requested settings, as opcontrol stores them; `options` supplies those that are not
	 * set. */
	struct daemonrc asked;
	/* The settings in effect: while sampling, a copy of `asked` from the start of the
	 * recording; otherwise a copy of the current `asked`. */
	struct daemonrc setup;
	struct control_keys keys; /* the control files, which read and write `asked` */
	struct background background;
	const char *run_dir;
	int lock_fd;
	int signal_fd;
	struct control_server *server;
	struct shared_tables tables;
	struct metrics_server *metrics; /* NULL: metrics are off */
	/* The address that was set; "": metrics are off. */
	char metrics_where[METRICS_NAME_BYTES];
	/* The address at which the server could not listen; "": none. */
	char metrics_refused[METRICS_NAME_BYTES];
	uint64_t metrics_retry_ns; /* when to retry that address; 0: never */
	char *const *command;
	int nr_command;

	struct session_dir dir; /* locked while the daemon runs */
	bool dir_is_open;
	struct event_requests events;        /* the events of the recording */
	struct recorder *recorder;           /* NULL: paused */
	struct cpu_list cpus;                /* online when the recording started */
	VEC(struct oprofiled_cpu) seen_cpus; /* indexed by CPU number */
	uint64_t rate_hz; /* of events without a count, before the governor limits it */
	uint64_t next_rotate_ns;
	/* CLOCK_REALTIME minus the recording's clock, at its start or after the last clock step. */
	int64_t clock_gap_ns;
	uint64_t failed_ns; /* when a recording failed last; 0: none has */
	uint64_t retry_ns; /* when to restart a failed recording; 0: no retry pending */
	/* the reason that was logged last why the recording could not start or continue */
	struct err last_error;
	uint64_t next_report_ns; /* when to log it again */
	struct oprofiled_sums sums;
	struct oprofiled_stream stream;
	struct sample_filter filter; /* selects the samples of the recording */
	struct oprofiled_upkeep upkeep;
	struct governor governor;
	struct oprofiled_gauge gauge;
	struct memory_bound memory;
	uint64_t watchdog_ns;
	uint64_t next_govern_ns, next_memory_ns, next_cpus_ns, next_statistics_ns,
		next_watchdog_ns;
	bool is_started; /* sampling was requested: restart a failed recording */
	bool disk_is_full;
	bool excess_is_reported; /* already logged since this start */
	bool socket_is_reported; /* already logged: the socket was removed and cannot be created */
	bool memory_is_short; /* the memory limit was exceeded at the previous check */
	bool done;
};

/* ---- setup.c ---- */

/* Stores the options that correspond to keys of daemonrc.  Returns 0 or a negative errno with a
 * message in *err. */
int oprofiled_setup_options(struct oprofiled *d, struct err *err);
/* Applies the KEY=VALUE settings, all or none; `may_move` permits another SESSION_DIR.  Returns
 * 0, or -EINVAL (-EPERM) with a message that names the invalid (refused) setting. */
int oprofiled_setup_words(struct oprofiled *d, char *const *words, size_t nr,
			  bool may_move, struct err *err);
/* Copies the requested settings (`asked`) to `setup`, which the next recording uses. Returns 0 or
 * -ENOMEM with a message in *err. */
int oprofiled_setup_take(struct oprofiled *d, struct err *err);
/* Call after `asked` has changed. Calls oprofiled_setup_take() and returns its result, unless
 * sampling was started: then the next start applies the settings, and this returns 0. */
int oprofiled_setup_changed(struct oprofiled *d, struct err *err);
/* Parses the events that `setup` requests into *ret_events. Returns 0 or a negative errno with a
 * message in *err. */
int oprofiled_setup_events(const struct oprofiled *d, const struct daemonrc *setup,
			   struct event_requests *ret_events, struct err *err);
const char *oprofiled_session_dir(const struct oprofiled *d);
/* Returns whether a key is set and not 0. */
bool oprofiled_setup_flag(const struct oprofiled *d, const char *key);
/* Returns how many pages each CPU's ring needs for the number of samples that the setup says to
 * buffer, if each sample contains `stack_bytes` of the stack. */
size_t oprofiled_ring_pages(const struct oprofiled *d, uint32_t stack_bytes);

/* Compiles the sample filter of `setup` into `ret_filter`, which must be zero-initialized. Returns
 * 0 or a negative errno with a message in *err. */
int oprofiled_setup_filter(const struct daemonrc *setup,
			   struct sample_filter *ret_filter, struct err *err);
/* Checks that this machine can sample `spec` (NAME:COUNT:UNITMASK:KERNEL:USER). Returns 0 or a
 * negative errno with a message in *err. */
int oprofiled_check_event(const struct oprofiled *d, const char *spec, struct err *err);

/* ---- keys.c ---- */

/* Lets the control files read and write the daemon's settings; call it once `asked` is filled. */
void oprofiled_keys_init(struct oprofiled *d);
/* Returns the number of samples taken on one CPU. */
uint64_t oprofiled_cpu_samples(const struct oprofiled *d, unsigned int cpu);

/* ---- recording.c ---- */

/* The functions of this section that return int return 0 or a negative errno with a message in
 * *err, except oprofiled_record_ms(). oprofiled_start() applies the requested settings. */
int oprofiled_start(struct oprofiled *d, struct err *err);
int oprofiled_stop(struct oprofiled *d, struct err *err);
/* Frees all memory of the recording and starts another one with the same setup. */
int oprofiled_restart(struct oprofiled *d, struct err *err);
int oprofiled_dump(struct oprofiled *d, struct err *err);
/* Continues in a new recorder, which writes another segment and starts with an empty dictionary. */
int oprofiled_rotate(struct oprofiled *d, struct err *err);
/* Returns the highest rate of the events that have one; 0: all have counts. */
uint64_t oprofiled_rate_hz(const struct event_requests *events);
/* Reads the rings and does the periodic work of the recording that is due. `ring`: a ring may soon
 * be full; `begun`: a new process started. */
void oprofiled_record(struct oprofiled *d, bool ring, bool begun);
/* Keeps recording for `ms` while another thread works: reads rings when needed, and notifies the
 * service manager that the daemon is alive. */
void oprofiled_wait(struct oprofiled *d, int ms);
/* Returns for how many milliseconds oprofiled_record() will have no work. */
int oprofiled_record_ms(const struct oprofiled *d);
/* Ends the recording and unlocks the session's directory. */
void oprofiled_recording_done(struct oprofiled *d);

/* The functions from here on implement those above, but other files also call them.
 *
 * Opens and locks the session directory of the setup. Neither modifies nor continues recordings
 * that operf made in that directory. */
int oprofiled_open_dir(struct oprofiled *d, struct err *err);
/* Starts a recording with the current setup. Call it only while no recording is running. Returns 0
 * or a negative errno with a message in *err. */
int oprofiled_begin(struct oprofiled *d, struct err *err);
/* Writes the recorder's pending data to disk and frees it (NULL is allowed). If writing fails,
 * logs the loss and returns the first error. Passes pending copies to the upkeep thread. */
int oprofiled_close_recorder(struct oprofiled *d, struct recorder *recorder,
			     struct err *err);
/* Closes d->recorder, makes the copies that it needs (oprofiled_upkeep_end()), and frees the unwind
 * tables that were kept for the next recorder. Returns the same as oprofiled_close_recorder(). */
int oprofiled_end_recording(struct oprofiled *d, struct err *err);

/* Schedules a restart in some seconds, as after a failed recording. */
void oprofiled_retry_later(struct oprofiled *d);

/* ---- session.c ---- */

/* oprofiled_reset() removes the data recorded so far, oprofiled_save() moves it to another session
 * NAME. Each returns 0 or a negative errno with a message in *err. */
int oprofiled_reset(struct oprofiled *d, struct err *err);
int oprofiled_save(struct oprofiled *d, const char *name, struct err *err);
/* Returns whether another process has removed the segment being written. */
bool oprofiled_is_removed(const struct oprofiled *d);
/* Returns -ENOENT with a message in *err that the segment was removed. */
int oprofiled_report_removed(const struct oprofiled *d, struct err *err);
/* Returns 0, or, if the segment was removed, -ENOENT with a message in *err. In that case, it has
 * also logged the message, and another recording has started or will start. */
int oprofiled_check_removed(struct oprofiled *d, struct err *err);

/* ---- govern.c ---- */

/* Starts the measurement of the cost; call it when a recording starts. */
void oprofiled_govern_begin(struct oprofiled *d);
/* Waits (a fraction of a second at most) for the thread that measures the kernel's cost per
 * sample. */
void oprofiled_govern_end(struct oprofiled *d);
/* Does the periodic checks once a second. If the daemon's CPU time or memory exceeds a limit,
 * lowers the sampling rate or restarts the recording. Starts another recording if its segment was
 * removed, or if CPUs came online. Creates a removed control socket again. Also writes statistics
 * to the log, and notifies the service manager that the daemon is alive. */
void oprofiled_govern(struct oprofiled *d);
void oprofiled_report_alive(struct oprofiled *d);
uint64_t oprofiled_resident_bytes(void);
/* Returns the CPU time of the daemon's processes since the start. */
uint64_t oprofiled_cpu_ns(const struct oprofiled *d);

/* ---- cpus.c ---- */

/* Every few seconds, checks for CPUs that came online or were offline for a moment.  If there are
 * any, starts another recording, which samples them. */
void oprofiled_watch_cpus(struct oprofiled *d, uint64_t now);

/* ---- metrics.c ---- */

/* Fills in all of the daemon's numbers except the samples per CPU. */
void oprofiled_numbers(const struct oprofiled *d, struct daemon_numbers *ret_numbers);
/* Starts listening at the address of the setup, if one is set and not in use yet.  If that fails
 * (for example because the port is taken), logs the failure, keeps the previous server and
 * retries later: samples matter more than metrics.  Returns 0, or -EINVAL with a message if the
 * setting is not an address. */
int oprofiled_metrics_listen(struct oprofiled *d, struct err *err);
/* Answers clients, and retries an address that failed. */
void oprofiled_metrics_poll(struct oprofiled *d);
void oprofiled_metrics_done(struct oprofiled *d);

/* ---- upkeep.c ---- */

/* Requests a sync of the recorded data to disk when it is due. Starts the upkeep thread when a
 * check of old segments is due or when recordings listed files to copy, and collects its
 * results. */
void oprofiled_upkeep(struct oprofiled *d);
/* Waits until the upkeep thread has stopped working in the session's directory, and reads rings
 * meanwhile. The thread stops early; its remaining copies and merges are done later. */
void oprofiled_upkeep_pause(struct oprofiled *d);
/* Aborts a merge for good because memory is short.  Returns false if no merge is running or it is
 * already aborted. */
bool oprofiled_upkeep_shrink(struct oprofiled *d);
/* Stops the upkeep thread and makes its remaining copies in the calling thread, so that nothing
 * more is copied into the session's directory. Merges are done later. Call it only when nothing is
 * sampled. */
void oprofiled_upkeep_end(struct oprofiled *d);
/* Drops the pending copies of a session that is about to be removed. */
void oprofiled_upkeep_drop(struct oprofiled *d);

/* ---- stream.c ---- */

/* Makes the recorder of `config` pass its samples to the clients that read samples. */
void oprofiled_stream_attach(struct oprofiled *d, struct recorder_config *config);
/* Call after d->recorder was replaced: image numbers now refer to the new recorder. */
void oprofiled_stream_begin(struct oprofiled *d);
/* Answers the request `stream`. Returns, as control_handler demands, the maximum number of words
 * in the client's queue. */
int oprofiled_stream_open(struct oprofiled *d);
/* Appends the fields `path` and `build_id` of the binary with the cookie `number`. Returns 0 or
 * -ENOENT. */
int oprofiled_stream_cookie(const struct oprofiled *d, const char *number,
			    struct buf *reply, struct err *err);
void oprofiled_stream_done(struct oprofiled *d);

/* ---- requests.c ---- */

/* Answers a request of a client; a control_handler (daemon/server/control_server.h), whose `ctx`
 * is the daemon. */
int oprofiled_answer(void *ctx, const struct control_request *request,
		     struct buf *reply, struct err *err);

/* ---- loop.c ---- */

/* Opens SESSION_DIR/samples/oprofiled.log for the log, and creates it again if it was moved or
 * removed. Does nothing in the foreground. Returns 0 or a negative errno with a message in *err. */
int oprofiled_open_log(const struct oprofiled *d, struct err *err);

/* Runs the daemon: locks the run directory, listens for requests, and records until it is
 * requested to stop. Returns 0 or a negative errno with a message in *err. */
int oprofiled_run(struct oprofiled *d, struct err *err);

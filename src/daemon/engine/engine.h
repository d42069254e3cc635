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
	const char *callgraph; /* NULL: whole stacks; "none": no callers */
	const char *vmlinux;
	bool no_vmlinux;
	const char *group; /* NULL: the default one, which need not exist */
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

/* Totals of the recordings that have ended. */
struct oprofiled_sums {
	uint64_t samples; /* written, including sessions that were removed */
	uint64_t lost;    /* samples that could not be written */
	uint64_t unwritten;
	uint64_t
		side_band_ns; /* CPU time for the side band (mmap, fork and similar records) */
	VEC(uint64_t) cpu_samples;
};

/* The data sent to readers of samples (daemon/server/event_stream.h). */
struct oprofiled_stream {
	struct event_cookies cookies;
	VEC(uint64_t)
	cookies_by_image; /* for the recorder that delivers samples; 0: unknown */
	uint32_t counters[CONTROL_COUNTERS]; /* indexed by event number */
	size_t max_positions;                /* per sample */
	uint64_t nr_nowhere;                 /* samples outside all mappings */
	struct event_position positions[EVENT_POSITIONS_MAX];
};

/* Copying files into the session and checking old segments.  While `runs` is set and `is_done` is
 * not, everything except `next_ns` belongs to the thread. */
struct oprofiled_upkeep {
	struct disk_sync sync;
	uint64_t next_sync_ns;
	uint64_t next_folder_ns; /* for syncing the directories around the segment */
	uint64_t nr_writes;      /* of the recorder, at the last sync */
	bool is_new;             /* the segment is new since then */
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
	struct copy_list
		copies; /* for recordings that ended; the thread owns those under way */
	struct copy_list copies_under_way;
	uint64_t copy_bytes; /* of all copies in the session, at the last look */
	atomic_bool stops;   /* defers copies and merges */
	bool is_too_large; /* the reason for `stops`: the merge uses too much memory */
};

/* The kernel's cost per sample, for the governor.  While `runs` is set and `is_done` is not,
 * attr, ns and failed belong to the thread. */
struct oprofiled_gauge {
	struct perf_event_attr attr; /* of the measured samples */
	bool is_known;               /* `attr` is set */
	pthread_t thread;
	bool runs;
	atomic_bool is_done;
	uint64_t ns;
	int failed; /* 0 or a negative errno */
};

/* A CPU at the previous check. */
struct oprofiled_cpu {
	uint64_t samples;
	uint64_t enabled_ns; /* of its event, at the last query */
};

struct oprofiled {
	struct oprofiled_options options;
	struct daemonrc
		asked; /* the requested settings, as opcontrol keeps them; the options supply the
                        * rest */
	struct daemonrc
		setup; /* the settings in effect: a copy of `asked` from the last start, or the
                        * current `asked` while sampling is stopped */
	struct control_keys keys; /* the control files that show `asked` */
	struct background background;
	const char *run_dir;
	int lock_fd;
	int signal_fd;
	struct control_server *server;
	struct shared_tables tables;
	struct metrics_server *metrics;         /* NULL: metrics are off */
	char metrics_where[METRICS_NAME_BYTES]; /* as set; "": off */
	char metrics_refused
		[METRICS_NAME_BYTES]; /* the address that failed; "": none failed */
	uint64_t metrics_retry_ns;    /* when to retry that address; 0: never */
	char *const *command;
	int nr_command;

	struct session_dir dir; /* locked while the daemon runs */
	bool dir_is_open;
	struct event_requests events;        /* of the recording */
	struct recorder *recorder;           /* NULL: paused */
	struct cpu_list cpus;                /* online when the recording started */
	VEC(struct oprofiled_cpu) seen_cpus; /* indexed by CPU number */
	uint64_t rate_hz; /* of events without a count, before the governor limits it */
	uint64_t next_rotate_ns;
	int64_t clock_gap_ns; /* at the start of the recording, or after the last clock step */
	uint64_t retry_ns; /* when to restart a failed recording; 0: no retry pending */
	/* the reason that was logged last why the recording could not start or continue */
	struct err last_error;
	uint64_t next_report_ns; /* when to log it again */
	struct oprofiled_sums sums;
	struct oprofiled_stream stream;
	struct sample_filter filter; /* of the recording */
	struct oprofiled_upkeep upkeep;
	struct governor governor;
	struct oprofiled_gauge gauge;
	struct memory_bound memory;
	uint64_t watchdog_ns;
	uint64_t next_govern_ns, next_memory_ns, next_cpus_ns, next_statistics_ns,
		next_watchdog_ns;
	bool is_started; /* a request started it: a failed recording is restarted */
	bool disk_is_full;
	bool excess_is_reported; /* already logged since this start */
	bool socket_is_reported; /* already logged: the socket was removed and cannot be created */
	bool memory_is_short; /* at the previous check */
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
/* Makes the requested settings those of the next recording.  Returns 0 or -ENOMEM with a message
 * in *err. */
int oprofiled_setup_take(struct oprofiled *d, struct err *err);
/* Like oprofiled_setup_take(), except while sampling: then the next start applies the settings. */
int oprofiled_setup_changed(struct oprofiled *d, struct err *err);
/* Parses the events that `setup` requests. */
int oprofiled_setup_events(const struct oprofiled *d, const struct daemonrc *setup,
			   struct event_requests *ret_events, struct err *err);
const char *oprofiled_session_dir(const struct oprofiled *d);
/* Returns whether a key is set and not 0. */
bool oprofiled_setup_flag(const struct oprofiled *d, const char *key);
/* Returns the pages of each CPU's ring that hold the samples the setup wants buffered, with
 * `stack_bytes` of stack in each. */
size_t oprofiled_ring_pages(const struct oprofiled *d, uint32_t stack_bytes);

/* Compiles the sample filter of `setup`; `ret_filter` starts empty. */
int oprofiled_setup_filter(const struct daemonrc *setup,
			   struct sample_filter *ret_filter, struct err *err);
/* Checks that `spec` can be sampled. */
int oprofiled_check_event(const struct oprofiled *d, const char *spec, struct err *err);

/* ---- keys.c ---- */

/* Connects the control files to the daemon; call it once the setup exists. */
void oprofiled_keys_init(struct oprofiled *d);
/* Returns the number of samples taken on one CPU. */
uint64_t oprofiled_cpu_samples(const struct oprofiled *d, unsigned int cpu);

/* ---- recording.c ---- */

/* Each returns 0 or a negative errno with a message in *err.  A start applies the requested
 * settings. */
int oprofiled_start(struct oprofiled *d, struct err *err);
int oprofiled_stop(struct oprofiled *d, struct err *err);
/* Frees all memory of the recording and starts another one with the same setup. */
int oprofiled_restart(struct oprofiled *d, struct err *err);
int oprofiled_dump(struct oprofiled *d, struct err *err);
/* Continues in a new recording: another segment, with initial memory use. */
int oprofiled_rotate(struct oprofiled *d, struct err *err);
/* Returns the highest rate of the events that have one; 0: all have counts. */
uint64_t oprofiled_rate_hz(const struct event_requests *events);
/* Does the work that is due.  `ring`: a ring may soon be full; `begun`: a new process started. */
void oprofiled_record(struct oprofiled *d, bool ring, bool begun);
/* Waits for `ms` while another thread works: reads rings when needed, and keeps notifying the
 * service manager that the daemon is alive. */
void oprofiled_wait(struct oprofiled *d, int ms);
/* Returns the milliseconds until oprofiled_record() has work to do. */
int oprofiled_record_ms(const struct oprofiled *d);
/* Ends the recording and unlocks the session's directory. */
void oprofiled_recording_done(struct oprofiled *d);

/* Building blocks of the functions above.  Opens and locks the directory of the setup.
 * Recordings that operf makes in the same directory are neither modified nor continued. */
int oprofiled_open_dir(struct oprofiled *d, struct err *err);
/* Starts a recording with the setup unless one is running. */
int oprofiled_begin(struct oprofiled *d, struct err *err);
/* Writes pending data to disk.  If that fails, logs the loss and returns the first error.  Leaves
 * pending copies to the upkeep thread.  NULL is allowed. */
int oprofiled_close_recorder(struct oprofiled *d, struct recorder *recorder,
			     struct err *err);
/* Closes d->recorder and frees everything made for it. */
int oprofiled_end_recording(struct oprofiled *d, struct err *err);

/* Schedules a restart in some seconds, as after a failed recording. */
void oprofiled_retry_later(struct oprofiled *d);

/* ---- session.c ---- */

/* Each returns 0 or a negative errno with a message in *err. */
int oprofiled_reset(struct oprofiled *d, struct err *err);
int oprofiled_save(struct oprofiled *d, const char *name, struct err *err);
/* Returns whether another process has removed the segment being written. */
bool oprofiled_is_removed(const struct oprofiled *d);
/* Returns -ENOENT with a message that reports the removal. */
int oprofiled_report_removed(const struct oprofiled *d, struct err *err);
/* Returns 0, or -ENOENT with that message.  Then the message is also in the log, and another
 * recording has started or will start. */
int oprofiled_check_removed(struct oprofiled *d, struct err *err);

/* ---- govern.c ---- */

/* Call when a recording starts. */
void oprofiled_govern_begin(struct oprofiled *d);
/* Waits for a running measurement: a fraction of a second. */
void oprofiled_govern_end(struct oprofiled *d);
/* Once a second, checks the daemon's cost; also writes statistics to the log and notifies the
 * service manager that the daemon is alive. */
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

/* Fills in everything except the samples per CPU. */
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

/* When due, starts a check of old segments and the copying of files that recordings listed;
 * collects the results. */
void oprofiled_upkeep(struct oprofiled *d);
/* Waits until no thread works in the session's directory, and reads rings meanwhile.  Unfinished
 * copies and merges are deferred. */
void oprofiled_upkeep_pause(struct oprofiled *d);
/* Aborts a merge for good because memory is short.  Returns false if no merge is running or it is
 * already aborted. */
bool oprofiled_upkeep_shrink(struct oprofiled *d);
/* Waits until all work there is finished; for use when nothing is sampled. */
void oprofiled_upkeep_end(struct oprofiled *d);
/* Drops the pending copies of a session that is about to be removed. */
void oprofiled_upkeep_drop(struct oprofiled *d);

/* ---- stream.c ---- */

/* Makes the recorder report its samples to us. */
void oprofiled_stream_attach(struct oprofiled *d, struct recorder_config *config);
/* From now on, samples come from a new recorder: d->recorder. */
void oprofiled_stream_begin(struct oprofiled *d);
/* The handler's result for `stream`: the maximum number of words in the client's queue. */
int oprofiled_stream_open(struct oprofiled *d);
/* Appends `path` and `build_id` of the binary that has the number.  Returns 0 or -ENOENT. */
int oprofiled_stream_cookie(const struct oprofiled *d, const char *number,
			    struct buf *reply, struct err *err);
void oprofiled_stream_done(struct oprofiled *d);

/* ---- requests.c ---- */

/* The handler of control_server.h; `ctx` is the daemon. */
int oprofiled_answer(void *ctx, const struct control_request *request,
		     struct buf *reply, struct err *err);

/* ---- loop.c ---- */

/* Opens SESSION_DIR/samples/oprofiled.log for the log, and creates it again if it was moved or
 * removed.  Does nothing in the foreground. */
int oprofiled_open_log(const struct oprofiled *d, struct err *err);

/* Locks, listens, and records until requested to stop.  Returns 0 or a negative errno with a
 * message in *err. */
int oprofiled_run(struct oprofiled *d, struct err *err);

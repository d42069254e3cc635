/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine.h - what the files of oprofiled share: the command, its recording, what it is
 * asked for, and its loop.
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
	const char *callgraph; /* NULL: whole stacks; "none" */
	const char *vmlinux;
	bool no_vmlinux;
	const char *group; /* NULL: the usual one, which need not be there */
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

/* Of the recordings that have ended. */
struct oprofiled_sums {
	uint64_t samples; /* that were written, also of sessions that are gone */
	uint64_t lost;    /* those that could not be written among them */
	uint64_t unwritten;
	uint64_t side_band_ns; /* CPU time for what processes did */
	VEC(uint64_t) cpu_samples;
};

/* What goes to the readers of samples (daemon/server/event_stream.h). */
struct oprofiled_stream {
	struct event_cookies cookies;
	VEC(uint64_t)
	cookies_by_image; /* of the recorder that gives samples; 0: not known */
	uint32_t counters[CONTROL_COUNTERS]; /* by the number of the event */
	size_t max_places;                   /* of a sample */
	uint64_t nr_nowhere;                 /* samples in no mapping */
	struct event_place places[EVENT_PLACES_MAX];
};

/* Copies into the session and a look after old segments; while `runs` and not `is_done` all but `next_ns` is the thread's. */
struct oprofiled_upkeep {
	struct disk_sync sync;
	uint64_t next_sync_ns;
	uint64_t next_folder_ns; /* of what is beside the segment, too */
	uint64_t nr_writes;      /* of the recorder, when it was put to the disk last */
	bool is_new;             /* the segment, since then */
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
		copies; /* of recordings that ended; under way are the thread's */
	struct copy_list copies_under_way;
	atomic_bool stops; /* copies and merges are left for later */
	bool is_too_large; /* that is why: what it merged takes too much memory */
};

/* What the kernel takes for a sample, for the governor; while `runs` and not `is_done` attr, ns and
 * failed are the thread's. */
struct oprofiled_gauge {
	struct perf_event_attr attr; /* of such samples */
	bool is_known;               /* `attr` is somebody's */
	pthread_t thread;
	bool runs;
	atomic_bool is_done;
	uint64_t ns;
	int failed; /* 0 or a negative errno */
};

/* A CPU at the last look. */
struct oprofiled_cpu {
	uint64_t samples;
	uint64_t enabled_ns; /* of its events, when it was asked */
};

struct oprofiled {
	struct oprofiled_options options;
	struct daemonrc
		asked; /* as opcontrol keeps it; what is not in it is by the options */
	struct daemonrc
		setup; /* what was asked for when sampling was started; while it is not,
				* what is asked for */
	struct control_keys keys; /* the control files of what is asked for */
	struct background background;
	const char *run_dir;
	int lock_fd;
	int signal_fd;
	struct control_server *server;
	struct shared_tables tables;
	struct metrics_server *metrics;           /* NULL: nobody may ask for them */
	char metrics_where[METRICS_NAME_BYTES];   /* as it was set; "": nowhere */
	char metrics_refused[METRICS_NAME_BYTES]; /* where it cannot be; "": nothing */
	uint64_t metrics_retry_ns; /* that is tried again then; 0: nothing */
	char *const *command;
	int nr_command;

	struct session_dir dir; /* locked while the daemon lives */
	bool dir_is_open;
	struct event_requests events;        /* of the recording */
	struct recorder *recorder;           /* NULL: paused */
	struct cpu_list cpus;                /* that were online when it began */
	VEC(struct oprofiled_cpu) seen_cpus; /* by number */
	uint64_t rate_hz; /* of events without a count, before the governor's bound */
	uint64_t next_rotate_ns;
	int64_t clock_gap_ns;  /* as the recording began, or was found when it moved */
	uint64_t retry_ns;     /* a recording that failed is begun anew then; 0: none */
	struct err told;       /* why it could not begin, or go on in another segment */
	uint64_t next_tell_ns; /* that is told again */
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
	bool is_started; /* by request: a recording that failed is begun anew */
	bool disk_is_full;
	bool excess_is_told;  /* of this start */
	bool socket_is_told;  /* that it is gone, and cannot be made */
	bool memory_is_short; /* at the last look */
	bool done;
};

/* ---- setup.c ---- */

/* Sets what the options say that stand for keys of daemonrc.  0 or a negative errno with a
 * line. */
int oprofiled_setup_options(struct oprofiled *d, struct err *err);
/* Sets the KEY=VALUEs, all or none; `may_move`: also to another SESSION_DIR.  -EINVAL (-EPERM)
 * names the one that is wrong (refused). */
int oprofiled_setup_words(struct oprofiled *d, char *const *words, size_t nr,
			  bool may_move, struct err *err);
/* What is asked for is what the next recording goes by.  0 or -ENOMEM with a line. */
int oprofiled_setup_take(struct oprofiled *d, struct err *err);
/* Likewise, unless sampling has been started: then the next start takes it. */
int oprofiled_setup_changed(struct oprofiled *d, struct err *err);
/* The events that `setup` asks for. */
int oprofiled_setup_events(const struct oprofiled *d, const struct daemonrc *setup,
			   struct event_requests *ret_events, struct err *err);
const char *oprofiled_session_dir(const struct oprofiled *d);
/* Whether a key is there and not 0. */
bool oprofiled_setup_flag(const struct oprofiled *d, const char *key);
/* Pages of each CPU's ring for the samples that the setup wants buffered, with so much of a stack in
 * each. */
size_t oprofiled_ring_pages(const struct oprofiled *d, uint32_t stack_bytes);

/* Which samples `setup` wants; `ret_filter` starts empty. */
int oprofiled_setup_filter(const struct daemonrc *setup,
			   struct sample_filter *ret_filter, struct err *err);
/* Whether `spec` can be sampled. */
int oprofiled_check_event(const struct oprofiled *d, const char *spec, struct err *err);

/* ---- keys.c ---- */

/* The control files are those of the daemon, once its setup is made. */
void oprofiled_keys_init(struct oprofiled *d);
/* Samples taken on one CPU. */
uint64_t oprofiled_cpu_samples(const struct oprofiled *d, unsigned int cpu);

/* ---- recording.c ---- */

/* Each: 0 or a negative errno with a line.  A start takes what is asked for by then. */
int oprofiled_start(struct oprofiled *d, struct err *err);
int oprofiled_stop(struct oprofiled *d, struct err *err);
/* Gives back all memory of the recording, and begins another as it was. */
int oprofiled_begin_anew(struct oprofiled *d, struct err *err);
int oprofiled_dump(struct oprofiled *d, struct err *err);
/* A recording of its own from here on: another segment, and memory as at the beginning. */
int oprofiled_rotate(struct oprofiled *d, struct err *err);
/* The rate of the events that have one, the highest; 0: all have counts. */
uint64_t oprofiled_rate_hz(const struct event_requests *events);
/* What is due now; `ring`: one may be full soon, `begun`: some process began. */
void oprofiled_record(struct oprofiled *d, bool ring, bool begun);
/* For who has to wait for others: waits for so long, reads rings when it is time, and tells the service
 * manager that the daemon lives. */
void oprofiled_wait(struct oprofiled *d, int ms);
/* Milliseconds until oprofiled_record() has something to do. */
int oprofiled_record_ms(const struct oprofiled *d);
/* Ends the recording and gives the session's folder free. */
void oprofiled_recording_done(struct oprofiled *d);

/* What the four above are made of.  The folder of the setup, locked: recordings of operf in the same
 * place are neither touched nor continued elsewhere. */
int oprofiled_open_dir(struct oprofiled *d, struct err *err);
/* A recording by the setup, where there is none. */
int oprofiled_begin(struct oprofiled *d, struct err *err);
/* What it had is on disk, or it is lost: then that is logged, and the first error returned.  What is to
 * be copied is the upkeep's.  NULL is fine. */
int oprofiled_close_recorder(struct oprofiled *d, struct recorder *recorder,
			     struct err *err);
/* Closes d->recorder, and all that was made for it. */
int oprofiled_end_recording(struct oprofiled *d, struct err *err);

/* As if a recording had failed: it is begun anew in some seconds. */
void oprofiled_retry_later(struct oprofiled *d);

/* ---- session.c ---- */

/* Each: 0 or a negative errno with a line. */
int oprofiled_reset(struct oprofiled *d, struct err *err);
int oprofiled_save(struct oprofiled *d, const char *name, struct err *err);
/* Whether somebody has removed what is written to. */
bool oprofiled_is_removed(const struct oprofiled *d);
/* -ENOENT, with the line that says so. */
int oprofiled_tell_removed(const struct oprofiled *d, struct err *err);
/* 0, or -ENOENT with that line: then it is in the log, too, and another recording has begun, or
 * will. */
int oprofiled_check_removed(struct oprofiled *d, struct err *err);

/* ---- govern.c ---- */

/* A recording begins. */
void oprofiled_govern_begin(struct oprofiled *d);
/* Waits for what it has begun: a fraction of a second. */
void oprofiled_govern_end(struct oprofiled *d);
/* Looks once a second at what the daemon costs; writes statistics to the log, and tells the
 * service manager that it lives. */
void oprofiled_govern(struct oprofiled *d);
void oprofiled_tell_alive(struct oprofiled *d);
uint64_t oprofiled_resident_bytes(void);
/* CPU time of the daemon's processes since it began. */
uint64_t oprofiled_cpu_ns(const struct oprofiled *d);

/* ---- cpus.c ---- */

/* Every few seconds: one that has come online, or was offline for a moment, is sampled from now on, in
 * another recording. */
void oprofiled_watch_cpus(struct oprofiled *d, uint64_t now);

/* ---- metrics.c ---- */

/* All but the samples of each CPU. */
void oprofiled_numbers(const struct oprofiled *d, struct daemon_numbers *ret_numbers);
/* Listens where the setup says, if it says so and did not before.  Where that cannot be (a port is
 * another's) the log says so, what there was stays, and it is tried again: samples are worth
 * more than metrics.  0, or -EINVAL with a line: what is set is no address. */
int oprofiled_metrics_listen(struct oprofiled *d, struct err *err);
/* Answers who asks; tries again what could not be. */
void oprofiled_metrics_turn(struct oprofiled *d);
void oprofiled_metrics_done(struct oprofiled *d);

/* ---- upkeep.c ---- */

/* Begins a look after old segments when it is time, and copies of what recordings left, and takes what came
 * of it. */
void oprofiled_upkeep(struct oprofiled *d);
/* Waits until nobody works in the session's folder, and reads rings meanwhile: copies and merges that are
 * not made yet have to wait. */
void oprofiled_upkeep_pause(struct oprofiled *d);
/* Memory is short: a merge is given up for good.  False: none is under way, or it is given up already. */
bool oprofiled_upkeep_shrink(struct oprofiled *d);
/* Waits until nobody has anything to do there: for when nothing is sampled. */
void oprofiled_upkeep_end(struct oprofiled *d);
/* The session goes: so do the copies that were to be made for it. */
void oprofiled_upkeep_drop(struct oprofiled *d);

/* ---- stream.c ---- */

/* The recorder will tell of its samples. */
void oprofiled_stream_attach(struct oprofiled *d, struct recorder_config *config);
/* Samples are another recorder's from here on: d->recorder's. */
void oprofiled_stream_begin(struct oprofiled *d);
/* What the handler says to `stream`: the words that may wait for who asked. */
int oprofiled_stream_open(struct oprofiled *d);
/* Appends `path` and `build_id` of the binary that a number stands for.  0 or -ENOENT. */
int oprofiled_stream_cookie(const struct oprofiled *d, const char *number,
			    struct buf *reply, struct err *err);
void oprofiled_stream_done(struct oprofiled *d);

/* ---- requests.c ---- */

/* The handler of control_server.h; `ctx` is the daemon. */
int oprofiled_answer(void *ctx, const struct control_request *request,
		     struct buf *reply, struct err *err);

/* ---- loop.c ---- */

/* SESSION_DIR/samples/oprofiled.log is written to, anew if it was moved or removed; nothing in the
 * foreground. */
int oprofiled_open_log(const struct oprofiled *d, struct err *err);

/* Locks, listens, records until it is told to end.  0 or a negative errno with a line. */
int oprofiled_run(struct oprofiled *d, struct err *err);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* session.h - reads and writes the segments of a session on disk.
 * Layer: format.  The format is in docs/format.md.
 *
 * A session is a directory (oprofile_data/samples/current) of append-only segment files
 * `segment-NNNNNN`. Each is self-contained: a header and then blocks, which depend only on
 * earlier blocks of the same segment. All whole blocks of a truncated file can be read.
 * `segment-NNNNNN-MMMMMM` contains everything of the segments NNNNNN to MMMMMM, which are
 * ignored while it exists. So a merge takes effect with a single rename. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/files/trust.h"
#include "format/session/dict.h"

struct err;

/* Metadata known when a segment begins. Strings are never NULL. */
struct session_info {
	const char *tool_version;
	const char *hostname;
	const char *os_release; /* uname -r */
	const char *machine;    /* uname -m */
	const char *cpu_desc;   /* model name of /proc/cpuinfo */
	const char *boot_id;
	/* the recorder's command line, arguments quoted for a shell */
	const char *command;
	const char *vmlinux; /* the argument of --vmlinux; "" if not given */
	struct build_id kernel_build_id;
	double cpu_mhz; /* 0: unknown */
	uint32_t nr_cpus_online;
	uint32_t flags;         /* SESSION_... */
	int32_t clock_id;       /* clock of all times: CLOCK_MONOTONIC */
	uint64_t start_ns;      /* start of the segment in the recording's clock */
	uint64_t start_wall_ns; /* CLOCK_REALTIME at the start of the segment */
};

enum {
	SESSION_TIMER_FALLBACK = 1, /* no PMU: TIMER was recorded instead of cycles */
	/* kernel space was not permitted (perf_event_paranoid) */
	SESSION_USER_ONLY = 2,
	SESSION_SYSTEM_WIDE = 4,
	/* Requested when recording: operf -t. */
	SESSION_SEPARATE_THREAD = 8,
	SESSION_SEPARATE_CPU = 16, /* likewise: operf -c */
	SESSION_BIG_ENDIAN = 32,   /* the recorded machine is big-endian */
	SESSION_64BIT = 64,
	/* Made from a perf.data file: the session has no copies of the kernel's files. */
	SESSION_IMPORTED = 128,
	SESSION_SEALED = 256, /* rewritten as a whole; times are rounded to 10 us */
	/* the directory has a list of checksums; set by segment_writer_open() */
	SESSION_CHECKSUMS = 512,
	/* A stored sample represents several: its period divided by the event's count
	 * (session_sample_weight()). Used for imports of OProfile's sample files. */
	SESSION_WEIGHTED = 1024,
	/* Requested when recording (opcontrol --separate): reports do not show libraries, or the
	 * kernel and its modules, below applications. */
	SESSION_FLAT_LIBRARIES = 2048,
	SESSION_FLAT_KERNEL = 4096,
	SESSION_VALUES = 8192, /* some events have EVENT_VALUES */
	/* An imported profile without times: samples have consecutive numbers in place of times. */
	SESSION_NUMBERED = 16384
};

enum {
	SESSION_STACK_ENDS = 8,
	/* number of events, the first ones, for which shares are stored */
	SESSION_EVENT_SHARES = 24,
	SESSION_SHARE_WHOLE = 10000
};

/* Running totals. A segment contains several; the last ones are valid. */
struct session_totals {
	uint64_t samples;
	/* samples that the kernel lost, because a ring buffer was full */
	uint64_t lost;
	uint64_t lost_records; /* side-band records that the kernel lost */
	uint64_t throttled;    /* THROTTLE records */
	uint64_t undecodable;  /* records skipped as malformed */
	/* Time at which the totals were written, in the recording's clock. */
	uint64_t end_ns;
	uint64_t recorder_cpu_ns; /* user + system time of the recorder */
	int32_t target_status; /* wait status of the command; -1: none, or still running */
	bool finished;         /* the recording ended normally */
	/* Number of user stacks that were unwound from a copy of the stack, by the reason for
	 * which the unwinding ended (enum unwind_end of resolve/unwind/unwind.h). */
	uint64_t stack_ends[SESSION_STACK_ENDS];
	/* Per event: the share of its enabled time during which it had a counter, in units of
	 * 1/SESSION_SHARE_WHOLE, plus 1; 0: unknown. */
	uint16_t event_shares[SESSION_EVENT_SHARES];
	/* Samples that the recorder received, but could not write: memory was short, or the disk
	 * was full. */
	uint64_t dropped;
};

/* Adds the totals of another segment to `sum`. Uses the later end; `finished` stays true only if
 * both segments are finished. Keeps the event shares and the target's status of `sum`, because
 * event numbers are specific to a segment. */
void session_totals_add(struct session_totals *sum, const struct session_totals *t);

/* One weighted sample, as used by all code after resolve. */
struct sample {
	uint64_t time_ns; /* in the recording's clock; stored in units of 100 ns */
	uint64_t period;
	uint32_t thread;
	uint32_t event;
	uint32_t stack; /* number of the stack: the node of the innermost frame */
	uint32_t cpu;
};

/* Returns how many samples a stored sample with this period represents. */
static inline uint64_t session_sample_weight(const struct session_info *info,
					     const struct event_desc *event,
					     uint64_t period)
{
	if (!(info->flags & SESSION_WEIGHTED))
		return 1;
	return event->count ? period / event->count : period;
}

/* Returns whether an event of a dict has calls instead of samples (EVENT_CALLS). */
static inline bool session_event_is_calls(const struct dict *d, uint32_t event)
{
	return event < d->events.nr && d->events.at[event].flags & EVENT_CALLS;
}

struct segment_writer;

/* Creates the file `path`, which must not exist, including its header, so that no reader finds
 * a file without one. The caller keeps `dict`, which must outlive the writer, and adds entries
 * to it between flushes. `info` is copied. Returns 0 or a negative errno. */
int segment_writer_open(const char *path, const struct session_info *info,
			const struct dict *dict, struct segment_writer **ret_writer,
			struct err *err);
/* For rewriting a segment whose dict is complete: makes later flushes round times down to
 * multiples of `unit_ns`, which must be a multiple of 400 (without this call: 100 ns), and
 * encode all stacks as sections of calls. */
void segment_writer_coarsen(struct segment_writer *w, uint64_t unit_ns);
/* Queues a sample for the next flush. Any order is correct, but files are smaller if the samples
 * of each CPU are consecutive and roughly in time order. Returns 0 or -ENOMEM. */
int segment_writer_add(struct segment_writer *w, const struct sample *sample);
/* Returns the number of samples queued for the next flush. */
size_t segment_writer_pending(const struct segment_writer *w);
/* Writes the new entries of the dict, the queued samples and the totals as blocks. Ignores
 * totals->samples, because the writer counts the samples. On an error (-ENOSPC ...) everything
 * stays queued, the file is truncated to the last whole block, and the call can be repeated. */
int segment_writer_flush(struct segment_writer *w, const struct session_totals *totals,
			 struct err *err);
uint64_t segment_writer_bytes(const struct segment_writer *w);
/* Returns whether the file no longer has its name, because it was removed or renamed, even if
 * another file has the name now. Everything written to it would be lost. */
bool segment_writer_is_removed(const struct segment_writer *w);
/* Flushes, closes and frees the writer, even on an error. Returns 0 or a negative errno. */
int segment_writer_close(struct segment_writer *w, const struct session_totals *totals,
			 struct err *err);
/* Discards the queued samples, after a flush has failed. Returns their number. */
size_t segment_writer_drop(struct segment_writer *w);
/* Like segment_writer_close(), for a recording that failed: the file gets no end block, so readers
 * do not take it as complete. If memory or the disk is too small for the rest, writes only the
 * totals, so that readers can report the loss. */
int segment_writer_abandon(struct segment_writer *w,
			   const struct session_totals *totals, struct err *err);

/* The columns that a reader wants to decode. */
enum {
	COLUMN_TIME = 1,
	COLUMN_THREAD = 2,
	COLUMN_CPU = 4,
	COLUMN_EVENT = 8,
	COLUMN_STACK = 16,
	COLUMN_PERIOD = 32,
	COLUMN_ALL = 63
};

/* The samples of a block as columns. Columns that were not requested are NULL. The segment
 * owns the memory, which is valid until the next call. All numbers are valid in the dict, or
 * DICT_NONE where the file was damaged. */
struct sample_batch {
	size_t nr;
	const uint64_t *time_ns;
	const uint64_t *period;
	const uint32_t *thread;
	const uint32_t *event;
	const uint32_t *stack;
	const uint32_t *cpu;
};

/* Returns sample `i` of a batch that has all columns. */
static inline struct sample sample_batch_at(const struct sample_batch *b, size_t i)
{
	return (struct sample){
		.time_ns = b->time_ns[i],
		.period = b->period[i],
		.thread = b->thread[i],
		.event = b->event[i],
		.stack = b->stack[i],
		.cpu = b->cpu[i],
	};
}

/* Data that could not be read. */
struct segment_damage {
	/* Number of blocks skipped because of a wrong checksum or invalid contents. */
	uint64_t bad_blocks;
	uint64_t cut_bytes;   /* bytes after the last whole block */
	uint64_t bad_samples; /* samples that refer to damaged or missing entries */
	/* Samples that were written according to the totals, but are in no valid block. */
	uint64_t missing_samples;
	/* the end of the recording is missing: the recorder was killed, or the file was cut off */
	bool unfinished;
};

/* Returns true if anything is missing. */
bool segment_damage_any(const struct segment_damage *d);
void segment_damage_add(struct segment_damage *sum, const struct segment_damage *d);

struct segment;

/* Opens one segment file and reads its header. Returns 0, -ENOENT, -EPERM (trust_check()),
 * -EBADMSG (not a segment, or its header is damaged), -EPROTONOSUPPORT (a newer format),
 * -ENOMEM ... */
int segment_open(const char *path, enum trust trust, struct segment **ret_segment,
		 struct err *err);
/* Like segment_open(), for an open regular file of any owner. The segment takes ownership of `fd`
 * unless it returns an error. */
int segment_open_fd(int fd, struct segment **ret_segment, struct err *err);
void segment_close(struct segment *s); /* accepts NULL */
const struct session_info *segment_info(const struct segment *s);
/* Returns the path passed to segment_open(). */
const char *segment_path(const struct segment *s);
/* Returns the dict, which grows with each segment_next(). A batch refers only to entries that are
 * already present. */
const struct dict *segment_dict(const struct segment *s);
/* Return the totals and the damage, which are complete once segment_next() has returned 1. */
const struct session_totals *segment_totals(const struct segment *s);
const struct segment_damage *segment_damage(const struct segment *s);
/* Returns true if a recorder is still writing the file. */
bool segment_is_written(const struct segment *s);
/* Reads the next batch, with the columns in `columns`. Returns 0, 1 at the end, or a negative
 * errno (I/O, memory). Damage is counted and not an error. */
int segment_next(struct segment *s, unsigned int columns,
		 struct sample_batch *ret_batch, struct err *err);

/* Stores the bytes of the file read so far, and the total, for a progress display. */
void segment_progress(const struct segment *s, uint64_t *ret_done, uint64_t *ret_total);

/* Stores the paths of the segment files of a session directory, in order, without those that a
 * merged segment replaces. Free them with session_list_free(). Returns -ENOENT if it is not a
 * directory or contains no segment. */
int session_list(const char *dir, char ***ret_paths, size_t *ret_nr, struct err *err);
/* A segment file and the range of segments that it contains. */
struct session_file {
	/* The number of the segment. A merged segment contains all numbers from `first` to
	 * `last`; for others, `last` equals `first`. */
	uint64_t first;
	uint64_t last;
	bool covered; /* a merged segment contains the same data, so this file can be removed */
};

/* Stores all segment files of a directory, sorted by `first`; a merged segment precedes the ones
 * it covers. The caller frees *ret_files. There may be none. Returns 0, -ENOENT or another
 * negative errno. */
int session_files(const char *dir, struct session_file **ret_files, size_t *ret_nr);
/* Returns the path of a segment file (the caller frees it), or NULL if memory is short. */
char *session_file_path(const char *dir, const struct session_file *file);
void session_list_free(char **paths, size_t nr);
/* Stores the path for a new segment in `dir`, which must be readable; the caller frees the path.
 * Returns 0 or a negative errno. */
int session_next_path(const char *dir, char **ret_path, struct err *err);

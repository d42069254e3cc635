/* session.h - segments of a session on disk: what a recording writes and a report reads.
 * Layer: format.  The format is in docs/format.md.
 *
 * A session is a directory (oprofile_data/samples/current) of append-only segment files
 * `segment-NNNNNN`, each self-contained: a header, then blocks, each of which needs only
 * earlier blocks of its segment.  A cut file gives back all whole blocks.
 * `segment-NNNNNN-MMMMMM` has all that segments NNNNNN to MMMMMM had: while it is there, they
 * are not read, so that a merge counts from one rename on, and once. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/files/trust.h"
#include "format/session/dict.h"

struct err;

/* What is known when a segment begins.  Strings are never NULL. */
struct session_info {
	const char *tool_version;
	const char *hostname;
	const char *os_release; /* uname -r */
	const char *machine;    /* uname -m */
	const char *cpu_desc;   /* model name of /proc/cpuinfo */
	const char *boot_id;
	const char *command; /* the recorder's command line, words shell-quoted */
	const char *vmlinux; /* --vmlinux, "" if not given */
	struct build_id kernel_build_id;
	double cpu_mhz; /* 0 unknown */
	uint32_t nr_cpus_online;
	uint32_t flags;         /* SESSION_... */
	int32_t clock_id;       /* of all times: CLOCK_MONOTONIC */
	uint64_t start_ns;      /* session clock */
	uint64_t start_wall_ns; /* CLOCK_REALTIME at the same moment */
};

enum {
	SESSION_TIMER_FALLBACK = 1, /* no PMU: TIMER was taken instead of cycles */
	SESSION_USER_ONLY = 2,      /* kernel space was refused (perf_event_paranoid) */
	SESSION_SYSTEM_WIDE = 4,
	SESSION_SEPARATE_THREAD = 8, /* views asked for when recording (operf -t, -c) */
	SESSION_SEPARATE_CPU = 16,
	SESSION_BIG_ENDIAN = 32, /* of the recorded machine */
	SESSION_64BIT = 64,
	SESSION_IMPORTED =
		128,         /* of a perf.data: files of the kernel are not beside it */
	SESSION_SEALED = 256 /* written anew as a whole; times to 10 us */
};

enum {
	SESSION_STACK_ENDS = 8,
	SESSION_EVENT_SHARES = 24, /* of the first events */
	SESSION_SHARE_WHOLE = 10000
};

/* Running totals; the last written one counts. */
struct session_totals {
	uint64_t samples;
	uint64_t lost;            /* samples the kernel could not put in a ring */
	uint64_t lost_records;    /* side-band records that the kernel lost */
	uint64_t throttled;       /* THROTTLE records */
	uint64_t undecodable;     /* records skipped as malformed */
	uint64_t end_ns;          /* session clock when written */
	uint64_t recorder_cpu_ns; /* user + system time of the recorder itself */
	int32_t target_status; /* wait status of the command, -1 none or still running */
	bool finished;         /* the recording ended in good order */
	/* User stacks that were unwound from a copy, by why they end: enum unwind_end of
	 * resolve/unwind/unwind.h. */
	uint64_t stack_ends[SESSION_STACK_ENDS];
	/* By event: of the time that it was to be counted, how much it had a counter, in
	 * SESSION_SHARE_WHOLEs, plus 1; 0: not known. */
	uint16_t event_shares[SESSION_EVENT_SHARES];
};

/* Adds those of another segment: the end is the later one, finished are both or none.  Event
 * shares and the target's status stay, because numbers of events are a segment's own. */
void session_totals_add(struct session_totals *sum, const struct session_totals *t);

/* One weighted sample, the currency of everything after resolve. */
struct sample {
	uint64_t time_ns; /* session clock; kept to 100 ns */
	uint64_t period;
	uint32_t thread;
	uint32_t event;
	uint32_t stack; /* leaf node */
	uint32_t cpu;
};

struct segment_writer;

/* Creates `path` (must not exist), with its head: who reads the directory finds no file without
 * one.  `dict` stays the caller's, outlives the writer, and is
 * what grows between flushes; `info` is copied.  0 or a negative errno. */
int segment_writer_open(const char *path, const struct session_info *info,
			const struct dict *dict, struct segment_writer **ret_writer,
			struct err *err);
/* Times are rounded down to `unit_ns`, a multiple of 400 (without: 100), from the next flush on. */
void segment_writer_coarsen(struct segment_writer *w, uint64_t unit_ns);
/* Keeps a sample for the next flush.  Samples of one cpu should come in a run and roughly
 * in time order: that is what makes the columns small; any order is correct.  0 or -ENOMEM. */
int segment_writer_add(struct segment_writer *w, const struct sample *sample);
/* How many samples wait for a flush. */
size_t segment_writer_pending(const struct segment_writer *w);
/* Writes what the dict gained, the samples and the totals as blocks with one write(); totals->samples does not count,
 * the writer knows how many there are.  On
 * an error (-ENOSPC ...) everything stays pending, the file is cut back to the last whole
 * block, and the call can be repeated. */
int segment_writer_flush(struct segment_writer *w, const struct session_totals *totals,
			 struct err *err);
uint64_t segment_writer_bytes(const struct segment_writer *w);
/* Whether its file was removed, whatever has its name now: what is written will be gone. */
bool segment_writer_is_removed(const struct segment_writer *w);
/* Flushes and frees.  The writer is gone even on an error. */
int segment_writer_close(struct segment_writer *w, const struct session_totals *totals,
			 struct err *err);

/* Which columns a reader wants decoded. */
enum {
	COLUMN_TIME = 1,
	COLUMN_THREAD = 2,
	COLUMN_CPU = 4,
	COLUMN_EVENT = 8,
	COLUMN_STACK = 16,
	COLUMN_PERIOD = 32,
	COLUMN_ALL = 63
};

/* The samples of one block as columns; a column that was not asked for is NULL.  Borrowed
 * from the segment until the next call.  All numbers are < the dict's counts, or DICT_NONE
 * where the file was damaged. */
struct sample_batch {
	size_t nr;
	const uint64_t *time_ns;
	const uint64_t *period;
	const uint32_t *thread;
	const uint32_t *event;
	const uint32_t *stack;
	const uint32_t *cpu;
};

/* Sample `i` of a batch with all columns. */
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

/* What could not be read. */
struct segment_damage {
	uint64_t bad_blocks;  /* checksum or content wrong: skipped */
	uint64_t cut_bytes;   /* bytes behind the last whole block */
	uint64_t bad_samples; /* samples that refer to something damaged or missing */
	uint64_t
		missing_samples; /* that were written, by TOTALS, but are in no sound block */
	bool unfinished; /* no end was written, and no more will be: killed, or cut */
};

/* Whether anything is missing. */
bool segment_damage_any(const struct segment_damage *d);
void segment_damage_add(struct segment_damage *sum, const struct segment_damage *d);

struct segment;

/* Opens one segment file and reads its header.  -ENOENT, -EPERM (trust_check()), -EBADMSG (not a
 * segment, or the header is damaged), -EPROTONOSUPPORT (a newer format), -ENOMEM ... */
int segment_open(const char *path, enum trust trust, struct segment **ret_segment,
		 struct err *err);
/* The same for an open regular file, of any owner, which becomes the segment's if it is one. */
int segment_open_fd(int fd, struct segment **ret_segment, struct err *err);
void segment_close(struct segment *s); /* NULL is fine */
const struct session_info *segment_info(const struct segment *s);
/* As it was opened. */
const char *segment_path(const struct segment *s);
/* Grows while segment_next() proceeds: a batch refers only to what is there. */
const struct dict *segment_dict(const struct segment *s);
/* Complete once segment_next() has returned 1. */
const struct session_totals *segment_totals(const struct segment *s);
const struct segment_damage *segment_damage(const struct segment *s);
/* Whether somebody writes it at this moment: its end is still to come. */
bool segment_is_written(const struct segment *s);
/* The next batch with the columns in `columns`.  0, 1 at the end, or a negative errno (I/O,
 * memory); damage is counted, not an error. */
int segment_next(struct segment *s, unsigned int columns,
		 struct sample_batch *ret_batch, struct err *err);

/* Bytes of the file taken so far, and all in all, for a progress display. */
void segment_progress(const struct segment *s, uint64_t *ret_done, uint64_t *ret_total);

/* The segment files of a session directory in order, without those that a merged one stands
 * for, for session_list_free().  -ENOENT: not a directory or no segment in it. */
int session_list(const char *dir, char ***ret_paths, size_t *ret_nr, struct err *err);
/* A segment file and what it stands for. */
struct session_file {
	uint64_t
		first; /* its number; of a merged one: the first and last that it has */
	uint64_t last;
	bool covered; /* a merged one has it, too: it is to be removed */
};

/* All segment files of a directory, by `first`, a merged one before what it covers.  `ret_files`
 * is for free(), and may come out empty.  0, -ENOENT or another negative errno. */
int session_files(const char *dir, struct session_file **ret_files, size_t *ret_nr);
/* malloc'd path of one; NULL when memory is short. */
char *session_file_path(const char *dir, const struct session_file *file);
void session_list_free(char **paths, size_t nr);
/* malloc'd path for the next segment to write in `dir`, which must be readable.  0 or a negative
 * errno. */
int session_next_path(const char *dir, char **ret_path, struct err *err);

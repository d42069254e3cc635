/* SPDX-License-Identifier: GPL-2.0-or-later */
/* recorder.h - one recording: joins capture, decode, resolve and the session's writer.
 * Layer: record.  Single-threaded (docs/decisions/0004): a round a second, or when a ring is
 * getting full, drains the rings up to a time frontier, resolves, and writes. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/events/events.h"
#include "format/session/session.h"

struct copy_list;
struct err;
struct recorder;
struct session_dir;
struct shared_tables;

struct recorder_config {
	const struct event_request *events;
	size_t nr_events;
	const pid_t *pids; /* processes to follow; NULL: the whole system */
	size_t nr_pids;
	bool on_exec; /* the one pid is a held child: begin with its exec */
	bool chains;
	/* Not 0: of the user's stack, copied with each sample; chains are unwound from it. */
	uint32_t stack_bytes;
	size_t ring_pages;      /* 0: chosen */
	uint32_t session_flags; /* SESSION_... known to the caller */
	const char *vmlinux;    /* "" none */
	const char *perf_data;  /* NULL none */
	char *const *command;   /* the recorder's own command line */
	int nr_command;
	bool one_of_many;  /* the cost of the others of this process is not its own */
	bool no_build_ids; /* as in struct perf_source_config */
	/* Wakes seldom, for what is always there: stacks longer than their copies and containers
	 * that live for less than a moment may be gone before they are looked at. */
	bool patient;
	/* Of binaries, for stacks; they outlive the recorder.  NULL: it makes its own. */
	struct shared_tables *tables;
	/* What is to be copied into the session at the end is put there, for the caller to make; it outlives
	 * the recorder.  NULL: recorder_close() makes the copies. */
	struct copy_list *copies;
	struct session_dir *dir; /* outlives the recorder */
	uint32_t max_frames;     /* of a stack; 0: all */
	/* Whether a sample is to be added; NULL: each is. */
	bool (*is_wanted)(void *ctx, const struct dict *dict,
			  const struct sample *sample);
	/* Told of each sample that was added, in terms of the recorder's dict; NULL: nobody. */
	void (*on_sample)(void *ctx, const struct dict *dict,
			  const struct sample *sample);
	/* Told of each process that is forked, before its samples; NULL: nobody. */
	void (*on_fork)(void *ctx, int32_t pid, int32_t ppid);
	void *ctx; /* of these three */
};

/* Opens events and files and takes the snapshots; sampling has not begun.  Errors as of
 * perf_source_open(), or of the files, with a line for the user. */
int recorder_open(const struct recorder_config *config, struct recorder **ret_recorder,
		  struct err *err);
/* Starts or stops sampling (not needed to start with on_exec). */
int recorder_enable(struct recorder *r, bool on, struct err *err);
/* Stops sampling for good and writes all that came before, while the command goes on.
 * 0 or a negative errno with a line. */
int recorder_stop(struct recorder *r, struct err *err);
/* Polls readable when a round may be due before its second is over. */
int recorder_poll_fd(const struct recorder *r);
/* Whether it is due.  `woken`: that descriptor polled readable. */
bool recorder_is_due(struct recorder *r, bool woken);
/* Milliseconds until the next round is due. */
int recorder_timeout_ms(const struct recorder *r);
/* Containers that begin are looked at between the rounds: polls readable when something may
 * have begun; -1: not now, or it is not told. */
int recorder_attend_fd(const struct recorder *r);
/* Milliseconds until recorder_attend() is due or recorder_attend_fd() is another; 0: it is due;
 * -1: not before that is readable. */
int recorder_attend_ms(const struct recorder *r);
/* Reads what has begun, and opens files that may be gone soon.  0 or a negative errno with a
 * line. */
int recorder_attend(struct recorder *r, struct err *err);
/* One round; writes to disk when a second has passed.  0 or a negative errno with a line
 * (-ENOSPC ...): what was written before is sound. */
int recorder_round(struct recorder *r, struct err *err);
/* As a round, and writes all that was sampled before the call: then it can be read. */
int recorder_dump(struct recorder *r, struct err *err);
/* So far; of what is lost, what the rings have told. */
const struct session_totals *recorder_totals(const struct recorder *r);
/* Of these, those of each CPU that had some. */
const uint64_t *recorder_cpu_samples(const struct recorder *r, size_t *ret_nr_cpus);
/* Frees a recorder whose recording did not begin, and removes the segment. */
void recorder_discard(struct recorder *r); /* NULL is fine */
/* Stops sampling, drains to the end, writes the totals and frees.  `target_status`: wait
 * status of the command, or -1.  The totals are filled also on an error. */
int recorder_close(struct recorder *r, int target_status,
		   struct session_totals *ret_totals, uint64_t *ret_file_bytes,
		   struct err *err);

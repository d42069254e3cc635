/* SPDX-License-Identifier: GPL-2.0-or-later */
/* priv.h - what record/open.c (events, files, snapshots), record/samples.c and record/rounds.c
 * share.
 * Layer: record. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "capture/system/machine.h"
#include "capture/system/module_watch.h"
#include "decode/record.h"
#include "record/deferred_samples.h"
#include "record/due_samples.h"
#include "record/keep/containers.h"
#include "record/keep/image_keeper.h"
#include "record/keep/jit_keeper.h"
#include "record/recorder.h"
#include "record/stacks.h"
#include "resolve/replay/resolver.h"
#include "resolve/replay/sample_group.h"
#include "resolve/replay/side_band.h"

struct perf_data_out;
struct perf_source;
struct segment_writer;
struct snapshot;

struct recorder {
	struct recorder_config config;
	struct machine machine;
	struct perf_source *source;
	struct decoder decoder;
	struct dict dict;
	struct resolver_ops ops;
	struct resolver *resolver;
	struct snapshot *snapshot;
	struct image_keeper keeper;
	struct jit_keeper jit_keeper;
	struct recorder_stacks stacks;
	struct segment_writer *writer;
	char *segment_path;
	struct perf_data_out *perf_data; /* NULL: not asked for */
	struct side_band side_band;      /* waits for the frontier */
	struct buf own_record; /* the last one that was cut to its own bytes */
	struct buf held; /* samples from behind the frontier, for the next round */
	struct due_samples due; /* that wait for tables to be unwound with */
	uint64_t waited_ns;     /* for such tables, at dumps and at the end */
	struct deferred_samples deferred;
	struct sample_group group;
	struct session_totals totals;
	VEC(uint64_t) cpu_samples; /* of the totals */
	uint64_t cpu_begin_ns;     /* of this process, before it */
	int64_t clock_gap_ns; /* the time of day less that of the samples, as it began */
	uint64_t frontier_ns;
	uint64_t next_flush_ns;
	uint64_t round_ns;       /* from this flush to the next */
	uint64_t hurry_until_ns; /* rings are emptied more often */
	uint64_t nr_rests;       /* that were looked for so far */
	uint64_t side_band_ns;   /* CPU time for the side band */
	uint64_t nr_taken;       /* samples that were in the rings, kept or not */
	uint64_t lost_in_records;
	uint64_t lost_side_band; /* records that the kernel could not write */
	uint64_t nr_rounds;      /* and what came of them, for --verbose */
	uint64_t nr_writes;
	uint64_t nr_side_band;
	struct module_watch modules;
	VEC(struct proc_module) symbols_due; /* of these modules, ... */
	uint64_t symbols_due_ns;             /* ... from then on */
	struct symbols_job *symbols_job;     /* reads them; NULL: nothing is read */
	uint64_t modules_ns;                 /* all that were there then are known */
	struct containers containers;
	uint64_t attention_end_ns; /* until then containers may come at any moment */
	uint64_t next_look_ns;     /* at what the side band has new of them */
	bool snapshot_done;
	bool snapshot_is_new; /* it tells of what has just come */
	bool stopped;         /* nothing is drained any more */
	struct err *err;      /* of the call at hand, for callbacks */
};

/* Takes a record of the side band; `ctx` is the recorder.  0, -ENOMEM or an error of the
 * perf.data file. */
int recorder_take_side_band(void *ctx, const void *record, size_t len);
/* Takes a sample from the rings, as recorder_take_side_band(). */
int recorder_take_sample(void *ctx, const void *bytes, size_t len);
/* What the last rounds held back: samples that were too young, and callers that had not come.  0 or a
 * negative errno with a line, also of the next two. */
int recorder_take_held(struct recorder *r);
/* Samples that waited for tables, if some are made. */
int recorder_take_due(struct recorder *r);
/* All that is due; with frame pointers what has waited for too long. */
int recorder_settle_due(struct recorder *r);
/* The group that samples are resolved in.  0 or -ENOMEM. */
int recorder_open_group(struct recorder *r);
/* Resolves the samples that were taken, whose bytes were borrowed up to now; `ctx` is the recorder.  0 or
 * a negative errno with a line. */
int recorder_end_group(void *ctx);
/* Has a look at a mapping: a jitdump is held. */
void recorder_keep_jit(struct recorder *r, const struct record *rec);
/* Notes what a record tells of containers, and opens their files. */
void recorder_attend_to(struct recorder *r, const struct record *rec);
/* Looks whether modules have come since the last look, and takes them as mapped since then.
 * The first one, before the snapshot, takes what is there as known.  0 or -ENOMEM. */
int recorder_look_at_modules(struct recorder *r);
/* Has the symbols of modules that came read, if it is time: by a thread, for that takes long, and
 * others may come and go meanwhile. */
void recorder_read_symbols(struct recorder *r);
/* Waits until all are read. */
void recorder_end_symbols(struct recorder *r);
/* Frees all but the segment's writer, which must be closed. */
void recorder_free(struct recorder *r);

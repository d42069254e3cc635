/* SPDX-License-Identifier: GPL-2.0-or-later */
/* priv.h - shared by the files that implement recorder.h: open.c, samples.c, rounds.c, attend.c
 * and modules.c.
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
#include "record/keep/copy_list.h"
#include "record/keep/image_store.h"
#include "record/keep/jit_store.h"
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
	VEC(pid_t) processes; /* to record; empty: the whole system */
	struct perf_source *source;
	struct decoder decoder;
	struct dict dict;
	struct resolver_ops ops;
	struct resolver *resolver;
	struct snapshot *snapshot;
	struct image_store image_store;
	struct jit_store jit_store;
	struct copy_list own_copies; /* used if config.copies is NULL */
	struct recorder_stacks stacks;
	struct segment_writer *writer;
	char *segment_path;
	struct perf_data_out *perf_data; /* NULL: not requested */
	struct side_band side_band;      /* records that wait for the frontier */
	/* Scratch of own_record() in rounds.c: the last record that was shortened to its real
	 * size. */
	struct buf own_record;
	/* Samples newer than the frontier, for the next round. */
	struct buf held;
	struct due_samples due; /* samples that wait for unwind tables */
	/* Total time that recorder_settle_due() has waited for unwind tables. */
	uint64_t waited_ns;
	struct deferred_samples deferred;
	struct sample_group group;
	struct session_totals totals;
	VEC(uint64_t) cpu_samples; /* samples of each CPU */
	uint64_t cpu_begin_ns;     /* CPU time of this process before the recording */
	/* CLOCK_REALTIME minus the clock of the samples, when the recording started. */
	int64_t clock_gap_ns;
	/* The rings contain all side-band records up to this time, so samples up to it can be
	 * resolved. Newer samples wait for the next round. */
	uint64_t frontier_ns;
	uint64_t next_flush_ns;
	uint64_t round_ns;       /* interval between flushes */
	uint64_t hurry_until_ns; /* until this time, drain the rings more often */
	/* Number of stacks so far that were longer than their copies. */
	uint64_t nr_rests;
	uint64_t side_band_ns; /* CPU time for the side band */
	uint64_t nr_taken;     /* samples read from the rings so far */
	/* How many of nr_taken were added to the session, excluded by is_wanted(), or undecodable.
	 * The others still wait; if they still do at the end, they count as dropped. */
	uint64_t nr_settled;
	uint64_t nr_unread; /* samples that were dropped from the rings at the end */
	uint64_t lost_in_records;
	uint64_t lost_side_band; /* side-band records that the kernel dropped */
	uint64_t nr_rounds; /* statistics for --verbose, like the next two fields */
	uint64_t nr_writes;
	uint64_t nr_side_band;
	struct module_watch modules;
	/* modules whose symbols must still be read */
	VEC(struct proc_module) symbols_due;
	uint64_t symbols_due_ns;         /* the earliest time to read them */
	struct symbols_job *symbols_job; /* NULL: none runs */
	uint64_t modules_ns;             /* all modules loaded before this are known */
	struct containers containers;
	/* Until this time, recorder_attend() is called at the short interval. */
	uint64_t attention_end_ns;
	uint64_t next_look_ns; /* the earliest time of the next recorder_attend() */
	bool snapshot_done;
	bool snapshot_is_new; /* the snapshot describes a module that was just loaded */
	bool stopped;         /* recorder_stop() was called */
	bool failed;          /* a call failed, so records can be missing */
	struct err *err; /* where callbacks store the message of the current call */
};

/* Handles a side-band record. `ctx` is the recorder. Returns 0, -ENOMEM or an error of the
 * perf.data file. */
int recorder_take_side_band(void *ctx, const void *record, size_t len);
/* Handles a record from the sample rings, like recorder_take_side_band(). */
int recorder_take_sample(void *ctx, const void *bytes, size_t len);
/* Handles the samples that earlier rounds could not resolve: those that were newer than the
 * frontier, and those whose deferred callers had not arrived. Returns 0, or a negative errno with a
 * message in *r->err, like the next two functions. */
int recorder_take_held(struct recorder *r);
/* Resolves the waiting samples whose unwind tables have been completed since the last call. */
int recorder_take_due(struct recorder *r);
/* Resolves all samples that wait for unwind tables, after waiting for the tables. If a table takes
 * too long, unwinds its samples by frame pointers. */
int recorder_settle_due(struct recorder *r);
/* Opens r->group, which collects samples so that they are resolved together. Returns 0 or
 * -ENOMEM. */
int recorder_open_group(struct recorder *r);
/* Resolves the samples of r->group and adds them to the session. Call it before the memory of their
 * records is reused. `ctx` is the recorder. Returns 0, or a negative errno with a message. */
int recorder_end_group(void *ctx);
/* Call at the end of each call that handled records, with its result. If it failed, notes that
 * records can be missing, and stores a message unless there is one. Returns `result`. */
int recorder_judge(struct recorder *r, int result);
/* If the record maps a jitdump, opens the file and keeps it open. */
void recorder_keep_jit(struct recorder *r, const struct record *rec);
/* Handles a side-band record as soon as it is read, because files may soon disappear: notes a new
 * container, opens a file that a container maps, and opens a jitdump. */
void recorder_attend_to(struct recorder *r, const struct record *rec);
/* Finds kernel modules that were loaded since the last call, and adds them to the session. Records
 * each as mapped since it was loaded or, if that time is unknown, since the last call. The first
 * call, before the snapshot, only notes the modules that are loaded already. Returns 0 or
 * -ENOMEM. */
int recorder_look_at_modules(struct recorder *r);
/* Joins the thread that reads symbols of new modules, if it has finished. When symbols are due and
 * no thread runs, starts one, which saves them in the session. A thread is used because reading
 * takes long, and other modules can be loaded or removed meanwhile. */
void recorder_read_symbols(struct recorder *r);
/* Waits until the symbols of all new modules are read. */
void recorder_end_symbols(struct recorder *r);
/* Frees everything except the segment's writer, which must be closed already. */
void recorder_free(struct recorder *r);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sink.h - writes the samples of any source as lines of perf script.
 * Layer: script.  Not thread safe. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "aggregate/selection/spec.h"
#include "base/buf.h"
#include "base/containers/vec.h"
#include "format/session/dict.h"
#include "format/session/session.h"
#include "present/export/script.h"
#include "recordings/sample_filter.h"
#include "script/positions.h"

struct err;
struct naming;
struct naming_locations;
struct perf_input_info;

struct script_options {
	const char *fields; /* -F; NULL: the defaults */
	bool hide_chains;   /* one line per sample */
	bool nanoseconds;   /* print times with nine decimals */
	uint64_t max_stack; /* maximum frames of a chain */
	bool show_mmaps;    /* side-band records between the samples */
	bool show_tasks;
	unsigned int threads; /* see struct profile_options */
	struct naming_locations *locations;
	const struct spec *spec;
	FILE *out;
};

struct script_sink {
	const struct script_options *options;
	const struct dict *dict;
	struct naming *naming;
	struct script_writer writer;
	struct script_positions positions;
	struct script_positions branch_positions;
	struct script_filter filter;
	VEC(struct script_event) events; /* added by the source */
	VEC(uint32_t) fields;            /* fields to print, by event */
	uint32_t all_fields;             /* fields that are printed for some event */
	VEC(struct script_text) comms; /* command names, by thread number of the dict */
	VEC(char *) cleaned;           /* escaped copies of names */
	VEC(struct script_frame) frames; /* frames of the current sample */
	VEC(struct script_branch) branches;
	struct buf out;
	uint64_t samples; /* written */
};

/* The source of the samples; not owned. */
struct script_source {
	const struct dict *dict;
	const struct session_info *info;
	const char *session_dir;            /* "": the session has no files */
	const char *recorded_in;            /* segment or perf.data */
	const struct perf_input_info *perf; /* NULL: no perf.data */
};

/* Sets the events of the samples. Call it before the first sample, and again after adding events,
 * before their samples. Initialize the sink with { .options = ... } first, and call
 * script_sink_done() in any case. */
int script_sink_set_events(struct script_sink *s, struct err *err);
/* Prepares the output of samples from `source`; call it after the first
 * script_sink_set_events(). */
int script_sink_open(struct script_sink *s, const struct script_source *source,
		     struct err *err);
/* Writes a sample, after setting the fields that describe its thread from thread number `thread`
 * of the dict. Returns 0, -ENOMEM or -EIO. */
int script_sink_write(struct script_sink *s, struct script_sample *sample,
		      uint32_t thread);
/* Writes the pending text. Returns 0 or -EIO. */
int script_sink_flush(struct script_sink *s);
/* Stores a message in *err that the output cannot be written; returns -EIO. */
int script_sink_failed(struct err *err);
void script_sink_done(struct script_sink *s);

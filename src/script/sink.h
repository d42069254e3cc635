/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sink.h - where the samples of any source become lines of perf script.
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
#include "script/places.h"

struct err;
struct naming;
struct naming_places;
struct perf_input_info;

struct script_options {
	const char *fields; /* -F; NULL: the defaults */
	bool hide_chains;   /* one line a sample */
	bool nanoseconds;   /* times with nine decimals */
	uint64_t max_stack; /* frames of a chain that are shown */
	bool show_mmaps;    /* side-band records between the samples */
	bool show_tasks;
	unsigned int threads; /* as in struct profile_options */
	struct naming_places *places;
	const struct spec *spec;
	FILE *out;
};

struct script_sink {
	const struct script_options *options;
	const struct dict *dict;
	struct naming *naming;
	struct script_writer writer;
	struct script_places places;
	struct script_places branch_places;
	struct script_filter filter;
	VEC(struct script_event) events; /* the source adds them */
	VEC(uint32_t) fields;            /* of each */
	uint32_t all_fields;             /* of any */
	VEC(struct script_text) comms;   /* by thread of the dict */
	VEC(char *) cleaned; /* those that would not have stayed in their line */
	VEC(struct script_frame) frames; /* of the sample at hand */
	VEC(struct script_branch) branches;
	struct buf out;
	uint64_t samples; /* written */
};

/* Where the samples come from; all is borrowed. */
struct script_source {
	const struct dict *dict;
	const struct session_info *info;
	const char *session_dir;            /* "": it has no files of its own */
	const char *recorded_in;            /* segment or perf.data */
	const struct perf_input_info *perf; /* NULL: no perf.data */
};

/* Begin with { .options = ... }: script_sink_done() is due in any case.  Once for the events
 * that are known at first, and whenever some were added, before their samples. */
int script_sink_set_events(struct script_sink *s, struct err *err);
/* Behind the first script_sink_set_events(). */
int script_sink_open(struct script_sink *s, const struct script_source *source,
		     struct err *err);
/* Writes one; sets its thread's fields from the dict.  0, -ENOMEM or -EIO. */
int script_sink_write(struct script_sink *s, struct script_sample *sample,
		      uint32_t thread);
/* 0 or -EIO. */
int script_sink_flush(struct script_sink *s);
/* Says that the output cannot be written; returns -EIO. */
int script_sink_failed(struct err *err);
void script_sink_done(struct script_sink *s);

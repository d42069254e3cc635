/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model.h - the data of interactive views: one or two recordings in memory, and queries on them.
 * Layer: view.  Not thread safe: one query at a time.  Knows neither HTTP nor a terminal.
 * docs/view-api.md describes the queries by name and their JSON; query.h answers them. The other
 * headers of this directory return the same answers as structures.
 * The samples are stored as columns. A span contains the samples of one track (thread, CPU, event,
 * recording) in one bin of time; each sample has a node of the call tree and a count. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct naming_locations;
struct report_sources;
struct source_find;
struct spec;
struct view_model;

enum {
	VIEW_SIDES = 2, /* maximum number of recordings: a base and a new one */
	VIEW_NONE = 0xffffffff
};

/* A recording, which must outlive the model. */
struct view_side {
	const struct report_sources *sources;
	const char *title; /* as the user named it */
};

/* Everything is borrowed and must outlive the model. */
struct view_options {
	struct view_side sides[VIEW_SIDES];
	size_t nr_sides;         /* 1, or 2: base and new */
	const struct spec *spec; /* the samples to load; NULL: all */
	/* Where binaries are searched; NULL: the usual locations. */
	struct naming_locations *locations;
	const struct source_find
		*find; /* where sources are searched; NULL: at their paths */
	uint64_t first_generation; /* the model starts with the generation after it */
	bool live; /* the recording is still being made: view_model_update() reads it again */
	bool can_record;      /* value of `record` in the answer to the query "info" */
	bool no_inline;       /* do not read debug information for inlined functions */
	unsigned int threads; /* maximum number of reading threads; 0: number of CPUs */
	/* Reports a warning about the input.  Can be NULL. */
	void (*warn)(void *ctx, const char *text);
	/* Reports the bytes read so far of a file, and its size (0: unknown).  Can be NULL. */
	void (*progress)(void *ctx, uint64_t done, uint64_t total);
	void *ctx;
};

/* Reads the recordings.  Returns 0, or a negative errno with a message in *err; -ENOENT if no
 * sample is selected, unless the recording is live. */
int view_model_open(const struct view_options *options, struct view_model **ret_model,
		    struct err *err);
void view_model_close(struct view_model *m); /* accepts NULL */
/* Reads the recordings again if their files have changed since the last reading. Returns 1 if the
 * model has new data, 0 if not, or a negative errno with a message in *err; then the model keeps
 * its old data. */
int view_model_update(struct view_model *m, struct err *err);
/* Returns a number that increases with each update that has new data. */
uint64_t view_model_generation(const struct view_model *m);
/* Stores the number of samples of the first event, and of lost samples of all recordings. */
void view_model_totals(const struct view_model *m, uint64_t *ret_samples,
		       uint64_t *ret_lost);
/* Returns whether some input is not readable for every user, so that a copy must be private. */
bool view_model_is_private(const struct view_model *m);

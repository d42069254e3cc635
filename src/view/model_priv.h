/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model_priv.h - the columns of a model.
 * Layer: view; private to src/view. */
#pragma once
#include "base/containers/strtab.h"
#include "base/containers/vec.h"
#include "view/model.h"

struct name_patterns;
struct profile;

enum view_kind {
	VIEW_USER,
	VIEW_KERNEL,
	VIEW_INLINED,
	VIEW_UNKNOWN
};

/* A function: one for each full name and image. In a comparison, names that differ only in suffixes
 * of compilers are the same function. */
struct view_function {
	uint32_t name;       /* string: full name */
	uint32_t short_name; /* string; VIEW_NONE until needed */
	uint32_t image;      /* string; VIEW_NONE: none */
	enum view_kind kind;
};

/* A call-tree node. Nodes are in preorder: the nodes after it and before `end` are its direct and
 * indirect callees. Siblings are sorted by name. */
struct view_node {
	uint32_t caller; /* VIEW_NONE: a root */
	uint32_t function;
	uint32_t end;
};

/* A thread, with one name and cgroup. A thread that changes these occurs several times. */
struct view_thread {
	int32_t pid, tid;
	uint32_t comm, cgroup; /* strings */
};

struct view_event {
	uint32_t name; /* string */
	uint64_t samples;
	uint64_t hz;
	bool has_values; /* samples have values, and counts are sums of these */
};

struct view_track {
	uint32_t thread;
	int32_t cpu; /* -1: unknown */
	uint32_t event;
	uint32_t side;
};

/* The samples from index `at` up to `at` of the next span (excluded). */
struct view_span {
	uint32_t track;
	uint32_t bin;
	uint32_t at;
};

/* Facts about one recording; strings are malloc'd or NULL. */
struct view_facts {
	char *command;
	char *host;
	uint64_t wall_ns;   /* start of the recording, since 1970; 0: unknown */
	uint64_t length_ns; /* 0: unknown */
	uint64_t samples, lost;
	bool has_times;
};

/* The data of one generation. */
struct view_data {
	struct strtab strings;
	VEC(struct view_function) functions; /* sorted by name and image */
	VEC(struct view_node) nodes;
	VEC(struct view_thread) threads;
	VEC(struct view_event) events;
	VEC(struct view_track) tracks;
	VEC(struct view_span) spans; /* and one at the end that has no samples */
	VEC(uint32_t) node_of;       /* by sample */
	VEC(uint64_t) count_of;      /* by sample */
	VEC(int32_t) cpus;           /* sorted */
	uint32_t nr_bins;
	uint64_t bin_ns;
	struct view_facts facts[VIEW_SIDES];
	bool has_stacks, has_cgroups, is_private;
	VEC(char *) warnings;
};

struct view_model {
	struct view_options options;
	struct view_data data;
	uint64_t generation;
	uint64_t fingerprint; /* of the files of a live recording when they were read */
	char *cache_dir;      /* of line indexes; NULL: none */
	struct name_patterns *patterns;
};

/* Reads all recordings into *ret_data.  Returns 0 or a negative errno with a message; call
 * view_data_done() in any case. */
int view_load(struct view_model *m, struct view_data *ret_data, struct err *err);
void view_data_done(struct view_data *d);
/* Returns a number that changes when the files of the recordings change. */
uint64_t view_fingerprint(const struct view_options *o);

static inline const char *view_text(const struct view_data *d, uint32_t string)
{
	return strtab_get(&d->strings, string);
}
const char *view_function_name(const struct view_data *d, uint32_t function);
/* Returns the name in a short form, or the full name if memory is short. */
const char *view_function_short(struct view_model *m, uint32_t function);
/* Returns the name of the image, or "" if the image is unknown. */
const char *view_function_image(const struct view_data *d, uint32_t function);

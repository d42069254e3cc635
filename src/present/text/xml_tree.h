/* SPDX-License-Identifier: GPL-2.0-or-later */
/* xml_tree.h - arranges a profile as OProfile's XML needs it: programs, their images, their
 * functions, with counts by class (event, unit mask, CPU).
 * Layer: present, for write_xml.c. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/map.h"
#include "base/containers/vec.h"

struct present_options;
struct profile;

enum {
	XML_NO_KEY = -1
};

/* Indices of keys, or XML_NO_KEY if not requested. */
struct xml_keys {
	int app, image, symbol; /* required */
	int line, address, detail_line;
	int pid, tid, cpu;
};

struct xml_class {
	uint32_t event; /* of the profile */
	int64_t cpu;    /* -1: all */
};

/* A function in an image of a program. */
struct xml_symbol {
	int64_t pid, tid;    /* 0: all */
	uint32_t app, image; /* offsets of strings */
	/* Number of the function in the profile; out of range: unknown. */
	uint64_t function;
	uint32_t group; /* of the profile: any of its groups */
	/* Row of the tree's `counts`: its first element is at this number times the number of
	 * classes. */
	uint32_t counts;
	uint64_t of_program, of_thread; /* samples, for sorting */
	size_t first_detail, nr_details;
};

/* Samples at an address. */
struct xml_detail {
	uint32_t symbol; /* its `counts` */
	uint32_t class;
	uint32_t group;
	uint64_t address;
	uint64_t samples;
};

/* Samples of a call.  Both ends are `counts` of symbols; UINT32_MAX: the stacks were truncated. */
struct xml_arc {
	uint32_t caller, callee;
	uint32_t class;
	uint64_t samples;
};

struct xml_tree {
	struct profile *p;
	struct xml_keys keys;
	unsigned int kept;             /* KEEP_... of classes.h */
	bool threads;                  /* separate threads: programs are processes */
	VEC(struct xml_class) classes; /* sorted */
	VEC(struct xml_symbol)
	symbols; /* grouped by program, most samples first */
	uint64_t *counts;
	uint64_t *totals;               /* by class */
	VEC(struct xml_detail) details; /* sorted by symbol, address, class */
	VEC(struct xml_arc) arcs;       /* sorted by callee, caller */
	uint32_t *arcs_out;             /* indices, sorted by caller, callee */
	uint32_t *position_of;          /* index of the symbol, by `counts` */
	/* Used only while the tree is built. */
	struct map symbol_by, actor_by, class_by;
	uint32_t *symbol_of, *class_of; /* by row */
};

/* Makes the tree of elements from a profile. Returns 0, -EINVAL (keys are missing) or -ENOMEM.
 * Call xml_tree_done() in every case. */
int xml_tree_make(struct xml_tree *t, struct profile *p,
		  const struct present_options *options);
void xml_tree_done(struct xml_tree *t);
/* Returns the samples of a symbol in all classes. */
uint64_t xml_tree_samples(const struct xml_tree *t, const struct xml_symbol *s);

/* xml_tree.h - a profile as OProfile's XML has it: programs, in them images, in these functions;
 * counts of classes (event, unit mask, CPU).
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

/* Positions of keys; XML_NO_KEY: they are not asked for. */
struct xml_keys {
	int app, image, symbol; /* always there */
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
	uint32_t app, image; /* strings */
	uint64_t function;   /* of the profile; all beyond: none is known */
	uint32_t group;      /* of the profile: one of it */
	uint32_t counts; /* of `counts` of the tree: this times the number of classes */
	uint64_t of_program, of_thread, of_module; /* samples, for the order */
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

/* Samples with a call, by `counts` of the two; UINT32_MAX: the stacks were cut. */
struct xml_arc {
	uint32_t caller, callee;
	uint32_t class;
	uint64_t samples;
};

struct xml_tree {
	struct profile *p;
	struct xml_keys keys;
	unsigned int kept;             /* KEEP_... of classes.h */
	bool threads;                  /* told apart: programs are processes */
	VEC(struct xml_class) classes; /* in order */
	VEC(struct xml_symbol)
	symbols; /* the most samples first, those of a program together */
	uint64_t *counts;
	uint64_t *totals;               /* by class */
	VEC(struct xml_detail) details; /* by symbol, address, class */
	VEC(struct xml_arc) arcs;       /* by callee, then caller; */
	uint32_t *arcs_out;             /* the same by caller, then callee */
	uint32_t *turn_of;              /* by `counts`: where the symbol stands */
	/* While it is made. */
	struct map symbol_by, actor_by, class_by;
	uint32_t *symbol_of, *class_of; /* by row */
};

/* 0, -EINVAL (keys are missing) or -ENOMEM; xml_tree_done() in any case. */
int xml_tree_make(struct xml_tree *t, struct profile *p,
		  const struct present_options *options);
void xml_tree_done(struct xml_tree *t);
/* Samples of all classes of a symbol. */
uint64_t xml_tree_samples(const struct xml_tree *t, const struct xml_symbol *s);

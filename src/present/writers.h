/* writers.h - the forms a profile is written in.
 * Layer: present.  A form is a row of writers.c and a function of its own file. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "present/order.h"
#include "present/screen.h"

struct err;
struct profile;
struct xml_about;

struct present_options {
	double threshold; /* percent; smaller shares are not shown */
	bool no_header;   /* neither header lines nor column titles */
	bool reverse;     /* smallest first */
	bool long_names;  /* full paths in text forms */
	bool periods;     /* a column of periods beside that of samples */
	bool quality;     /* a footer (JSON: an object) on how far it can be trusted */
	bool numbered;    /* these two of write_calls() */
	bool no_empty_self;
	bool callers;      /* of trees: from the samples outwards */
	bool both_parts;   /* of trees with a focus: inwards, too */
	const char *focus; /* of trees and write_calls(): a function; NULL: all */
	bool children; /* columns with what functions called, too: call_graph_make() */
	struct order order;        /* of --sort */
	unsigned int kept;         /* KEEP_... of classes.h: what columns there are */
	const char *const *ratios; /* EVENT/EVENT, columns of their own */
	size_t nr_ratios;
	struct screen screen;
	const struct xml_about *xml; /* of write_xml() alone */
	/* These are of OProfile's layouts. */
	bool show_vma;
	bool debug_info;     /* where functions, and with details addresses, are in the
			      * source */
	bool accumulated;    /* sums from the first line to this one */
	bool global_percent; /* of the whole, also what stands below something */
	bool details;        /* the addresses below each function */
};

struct writer {
	const char *name;
	const char *help;
	/* 0, -ENOMEM, or -EINVAL: the profile cannot be shown in this form.  Errors of `out`
	 * are found by ferror(). */
	int (*write)(FILE *out, struct profile *p,
		     const struct present_options *options, struct err *err);
};

extern const struct writer writers[]; /* ends with name NULL */

const struct writer *writer_find(const char *name);

/* -EINVAL with a line that says how to choose one, if there are samples of several events. */
int writer_needs_one_event(const struct profile *p, const char *what, struct err *err);

int write_summary(FILE *out, struct profile *p, const struct present_options *options,
		  struct err *err);
int write_symbols(FILE *out, struct profile *p, const struct present_options *options,
		  struct err *err);
int write_table(FILE *out, struct profile *p, const struct present_options *options,
		struct err *err);
int write_csv(FILE *out, struct profile *p, const struct present_options *options,
	      struct err *err);
int write_folded(FILE *out, struct profile *p, const struct present_options *options,
		 struct err *err);
int write_pprof(FILE *out, struct profile *p, const struct present_options *options,
		struct err *err);
int write_speedscope(FILE *out, struct profile *p,
		     const struct present_options *options, struct err *err);
int write_chrome(FILE *out, struct profile *p, const struct present_options *options,
		 struct err *err);
int write_firefox(FILE *out, struct profile *p, const struct present_options *options,
		  struct err *err);
int write_flamegraph(FILE *out, struct profile *p,
		     const struct present_options *options, struct err *err);
int write_heatmap(FILE *out, struct profile *p, const struct present_options *options,
		  struct err *err);
int write_flame_svg(FILE *out, struct profile *p, const struct present_options *options,
		    struct err *err);
/* Of a profile after call_graph_make(). */
int write_calls(FILE *out, struct profile *p, const struct present_options *options,
		struct err *err);
int write_calls_csv(FILE *out, struct profile *p, const struct present_options *options,
		    struct err *err);
int write_calls_json(FILE *out, struct profile *p,
		     const struct present_options *options, struct err *err);
/* Of a profile with options.call_graph, keys image and symbol, as it is read. */
int write_tree(FILE *out, struct profile *p, const struct present_options *options,
	       struct err *err);
int write_tree_csv(FILE *out, struct profile *p, const struct present_options *options,
		   struct err *err);
int write_tree_json(FILE *out, struct profile *p, const struct present_options *options,
		    struct err *err);
int write_gmon(FILE *out, struct profile *p, const struct present_options *options,
	       struct err *err);
/* Of a profile with the keys app, image, symbol; after call_graph_make() with callers and
 * callees. */
int write_xml(FILE *out, struct profile *p, const struct present_options *options,
	      struct err *err);
int write_json(FILE *out, struct profile *p, const struct present_options *options,
	       struct err *err);

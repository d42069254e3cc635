/* options.h - how a profile is to be shown.
 * Layer: present. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "present/lines/order.h"
#include "present/lines/screen.h"

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

/* -EINVAL with a line that says how to choose one, if there are samples of several events. */
int present_needs_one_event(const struct profile *p, const char *what, struct err *err);

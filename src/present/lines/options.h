/* SPDX-License-Identifier: GPL-2.0-or-later */
/* options.h - options that control how a profile is shown.
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
	size_t top;       /* only the lines with the most samples; 0: all */
	/* Level of confidence limits, in percent; 0: none.  Needs profile_fold_blocks(). */
	double confidence;
	bool no_header;  /* omit header lines and column titles */
	bool reverse;    /* smallest first */
	bool long_names; /* full paths in text formats */
	bool periods;    /* a column of periods next to the samples */
	bool quality;    /* a footer (JSON: an object) about the quality of the data */
	bool numbered;   /* write_calls() numbers the functions: [1] */
	bool no_empty_self; /* write_calls() omits self lines without samples */
	bool callers;       /* trees: start at the sampled functions */
	bool both_parts; /* trees with a focus: show both the callers and the callees */
	const char *focus;         /* trees and write_calls(): a function; NULL: all */
	bool children;             /* columns that include callees: call_graph_make() */
	struct order order;        /* from --sort */
	unsigned int kept;         /* KEEP_... of classes.h: which columns exist */
	const char *const *ratios; /* EVENT/EVENT; each becomes a column */
	size_t nr_ratios;
	struct screen screen;
	const struct xml_about *xml; /* write_xml() only */
	/* The following apply to OProfile's layouts. */
	bool show_vma;
	/* Source lines of functions and, with `details`, of addresses. */
	bool debug_info;
	bool accumulated;    /* cumulative sums */
	bool global_percent; /* percentages in nested lines refer to all samples */
	bool details;        /* the addresses below each function */
};

/* Checks that a single event has samples. Returns 0, or -EINVAL with a message that says how to
 * choose an event if there are several. */
int present_needs_one_event(const struct profile *p, const char *what, struct err *err);

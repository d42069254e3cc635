/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links.h - arranges the arcs of a call graph for a report: the sorted callers and callees of
 * each line.
 * Layer: present. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/containers/vec.h"

struct profile;

struct call_link {
	/* Index of the line; CALL_BY_UNKNOWN: the stacks were truncated. */
	uint32_t caller;
	uint32_t callee;
};

/* Maps each row of the profile to its line and its column of counts. */
struct call_lines {
	const uint32_t *line_of;   /* NULL: each row is a line */
	const uint32_t *column_of; /* NULL: there is a single column */
	const uint32_t *
		rank_of; /* by line: its position in the report; NULL: the line's number is its
			   * position */
	/* By line: its address, which orders links of equal counts; NULL: only the rank does. */
	const uint64_t *vma_of;
	size_t nr_lines;
	size_t nr_columns;
};

struct call_links {
	VEC(struct call_link) all;
	uint64_t *counts; /* by link, then column */
	uint64_t *periods;
	/* Links by line: those to its callers, fewest samples of the first column first; and
	 * those to its callees, most samples first. */
	uint32_t *callers;
	uint32_t *callees;
	size_t *callers_from; /* by line: index of its first link; the last element is the total */
	size_t *callees_from;
	size_t nr_columns;
};

/* Makes the links between callers and callees. Returns 0 or -ENOMEM.  Call call_links_done() in
 * either case. */
int call_links_make(struct call_links *l, const struct profile *p,
		    const struct call_lines *lines);
void call_links_done(struct call_links *l);

/* links.h - the arcs of a call graph as a report shows them: callers and callees of each of
 * its lines, in order.
 * Layer: present. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/containers/vec.h"

struct profile;

struct call_link {
	uint32_t caller; /* lines; CALL_BY_UNKNOWN: where stacks were cut */
	uint32_t callee;
};

/* What arcs become: by row of the profile, its line and its column of counts. */
struct call_lines {
	const uint32_t *line_of;   /* NULL: each row is a line */
	const uint32_t *column_of; /* NULL: there is one column */
	const uint32_t
		*rank_of; /* by line: its place in the report; NULL: its number */
	size_t nr_lines;
	size_t nr_columns;
};

struct call_links {
	VEC(struct call_link) all;
	uint64_t *counts; /* by link, then column */
	uint64_t *periods;
	/* Links by line: those to its callers, the fewest samples of the first column first;
	 * those to its callees, the most first. */
	uint32_t *callers;
	uint32_t *callees;
	size_t *callers_from; /* by line, and one more: where they begin */
	size_t *callees_from;
	size_t nr_columns;
};

/* 0 or -ENOMEM; call_links_done() is called in either case. */
int call_links_make(struct call_links *l, const struct profile *p,
		    const struct call_lines *lines);
void call_links_done(struct call_links *l);

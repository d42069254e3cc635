/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flame_page.h - shared by pages with a flame graph: the data of functions and calls, and the
 * page's common elements.
 * Layer: present.
 * The page's element #data contains JSON, which pages/flamegraph.js reads.  Its members here:
 *   events, images       names
 *   symbols              [name, index of its image or -1, 0 user 1 kernel 2 inlined 3 unknown]
 *   symbol, up           by node, callers first: its symbol; the distance to its caller */
#pragma once
#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"
#include "present/calls/table.h"
#include "present/lines/json.h"

struct profile;

struct flame_page {
	struct profile *p;
	struct call_table calls;
	struct json json;
	struct buf text;
	uint32_t *symbol_at; /* by symbol: its number in the page */
};

/* Builds the data of a profile with KEY_STACK.  Returns 0 or -ENOMEM.  Call flame_page_done() in
 * either case. */
int flame_page_make(struct flame_page *f, FILE *out, struct profile *p,
		    double threshold);
void flame_page_done(struct flame_page *f);

/* Writes a string in #data. */
void flame_page_text(struct flame_page *f, const char *text);
/* Writes the names of events, images and symbols; then the nodes. number_of[node] is the node's
 * number in the page, in node order; DICT_NONE omits the node and its callees.  NULL: include all
 * nodes. */
void flame_page_calls(struct flame_page *f, const uint32_t *number_of);
/* Returns the sum of all events. */
uint64_t flame_page_samples(const struct flame_page *f);

/* Elements of a page in addition to the flame graph; all can be "". */
struct flame_page_more {
	const char *title;
	const char *heading; /* NULL: the title and the number of samples */
	const char *style, *style_hash, *script, *script_hash;
	const char *body; /* between the header and the flame graph */
};

/* Write the page up to the contents of #data, and the page from there to the end. */
void flame_page_begin(struct flame_page *f, const struct flame_page_more *more);
void flame_page_end(struct flame_page *f, const struct flame_page_more *more);

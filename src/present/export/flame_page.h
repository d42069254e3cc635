/* flame_page.h - what pages with a flame graph share: the data of functions and of calls, and the
 * page's own parts.
 * Layer: present.
 *
 * The page's element #data holds JSON (pages/flamegraph.js reads it); here:
 *	events, images	names
 *	symbols		[name, number of its image or -1, 0 user 1 kernel 2 inlined 3 unknown]
 *	symbol, up	by node, callers in front: its symbol; how far in front its caller is */
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

/* A profile with KEY_STACK.  0 or -ENOMEM; flame_page_done() is called in either case. */
int flame_page_make(struct flame_page *f, FILE *out, struct profile *p,
		    double threshold);
void flame_page_done(struct flame_page *f);

/* A string in #data. */
void flame_page_text(struct flame_page *f, const char *text);
/* Names of events, images, symbols; then the nodes.  number_of: by node its number in the page, in
 * the order of the nodes, or DICT_NONE: it is not there, nor is anything below it; NULL: all are. */
void flame_page_calls(struct flame_page *f, const uint32_t *number_of);
/* The sum of all events. */
uint64_t flame_page_samples(const struct flame_page *f);

/* What a page has besides the flame graph; all may be "". */
struct flame_page_more {
	const char *title;
	const char *style, *style_hash, *script, *script_hash;
	const char *body; /* between the header and the flame graph */
};

/* Up to #data's contents, and from there on. */
void flame_page_begin(struct flame_page *f, const struct flame_page_more *more);
void flame_page_end(struct flame_page *f, const struct flame_page_more *more);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* html_pages.h - shared by the files that write the pages of annotation/html.h.
 * Layer: present, only for html*.c. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "present/annotation/assembly.h"
#include "present/annotation/html.h"
#include "present/annotation/links.h"
#include "present/annotation/source_text.h"

enum {
	PAGE_NAME_MAX = 80,
	PAGE_CHUNK = 200 /* lines per chunk; a browser can skip the layout of a chunk */
};

/* The name of a page without directory; "": there is no page. */
struct page_name {
	char text[PAGE_NAME_MAX];
};

struct html_pages {
	const struct annotation *a;
	const struct annotation_pages *to;
	struct assembly code;
	struct annotation_links links;
	struct page_name *sources;   /* by file */
	struct page_name *functions; /* by function of `code` */
	uint32_t *function_of;       /* by function of the profile: index in `code` */
	/* (image, string of its symbol) -> index of the function in `code`. */
	struct map by_symbol;
	struct source_texts texts;
	uint64_t *shown; /* samples in sources that have pages */
	FILE *out;       /* the current page */
};

/* Opens a page: the head, and the bar with `title`.  `up` is the link to the index; NULL: this
 * is the index.  Returns 0 or an error of open_page. */
int page_begin(struct html_pages *p, const char *path, const char *title,
	       const char *up);
/* End the bar, and the page. */
void page_main(struct html_pages *p);
int page_end(struct html_pages *p);

/* Returns " h5" or similar for hot lines, otherwise "". */
const char *page_heat(const struct html_pages *p, const uint64_t *counts);
/* Writes counts and percentages as in a listing, or blanks. */
void page_margin(const struct html_pages *p, const uint64_t *counts);
/* Writes "<a href=..>name.c:12</a>", or plain text if the line has no page.  `class` can be
 * NULL; `from` is the path to the root, such as "../". */
void page_line_link(const struct html_pages *p, const char *from, const char *class,
		    uint32_t file, const char *path, uint32_t line);
/* Writes two blanks and a source line of at most `max` bytes, or nothing if the source cannot be
 * read.  `skip` omits leading blanks.  `path` is a string of the annotation's profile.  Returns 0
 * or -ENOMEM. */
int page_source_line(struct html_pages *p, const char *path, uint32_t line, bool skip,
		     size_t max);
/* Start a new chunk every PAGE_CHUNK lines: call page_chunk() before each line, and
 * page_chunk_end() after the last. */
void page_chunk(const struct html_pages *p, size_t *nr);
void page_chunk_end(const struct html_pages *p, const size_t *nr);

/* Write all pages of a kind. Return 0 or a negative errno. */
int write_html_sources(struct html_pages *p);
int write_html_functions(struct html_pages *p);
int write_html_index(struct html_pages *p);

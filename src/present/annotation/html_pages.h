/* html_pages.h - what the pages of annotation/html.h share.
 * Layer: present, for write_annotation_html*.c alone. */
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
	PAGE_CHUNK = 200 /* lines that a browser lays out together, or not at all */
};

/* The name of a page without folder; "": there is none. */
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
	uint32_t *function_of;       /* of the profile -> of `code` */
	struct map by_symbol; /* image, string of its symbol -> function of `code` */
	struct source_texts texts;
	uint64_t *shown; /* samples in sources that have pages */
	FILE *out;       /* the page at hand */
};

/* Opens a page: head, and the bar with `title`; "up" is the way to the index, NULL: this is it. */
int page_begin(struct html_pages *p, const char *path, const char *title,
	       const char *up);
/* The end of the bar, and of the page. */
void page_main(struct html_pages *p);
int page_end(struct html_pages *p);

/* " h5" for shares that are hot, else "". */
const char *page_heat(const struct html_pages *p, const uint64_t *counts);
/* Counts and percents as in a listing, or blanks. */
void page_margin(const struct html_pages *p, const uint64_t *counts);
/* "<a href=..>name.c:12</a>": to a line, as text where it has no page.  `class` may be NULL;
 * `from` is the way to the root, "../". */
void page_line_link(const struct html_pages *p, const char *from, const char *class,
		    uint32_t file, const char *path, uint32_t line);
/* A line of a source with `skip` its leading blanks, cut to `max` bytes, behind two blanks; nothing
 * if it is not to be had.  `path` as the annotation has it.  0 or -ENOMEM. */
int page_source_line(struct html_pages *p, const char *path, uint32_t line, bool skip,
		     size_t max);
/* Lines begin a new chunk now and then: to be called in front of each, and behind the last. */
void page_chunk(const struct html_pages *p, size_t *nr);
void page_chunk_end(const struct html_pages *p, const size_t *nr);

/* Each page of its kind. */
int write_html_sources(struct html_pages *p);
int write_html_functions(struct html_pages *p);
int write_html_index(struct html_pages *p);

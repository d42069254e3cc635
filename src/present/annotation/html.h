/* html.h - an annotation as pages that a browser shows from files: an index by
 * heat, a page for each source and one for each function's instructions, linked line by line.
 * Layer: present.
 *
 * Pages need nothing but each other: no server, no network.  Whatever stands in sources and names
 * is shown as text; a policy in each page (Content-Security-Policy) lets nothing run but the
 * script that is part of this program, src/present/pages/. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct annotation;
struct annotation_source;
struct code;

/* Where what is shown comes from, and where pages go. */
struct annotation_pages {
	/* The code of an image of the profile, borrowed until the next call; NULL: it is
	 * nowhere. */
	struct code *(*code_of)(void *ctx, uint32_t image);
	/* Opens the source of one of the files; its text is closed by the caller.  `again`: it
	 * was asked for before, and what is wrong with it is known.  0 or -ENOMEM. */
	int (*open_source)(void *ctx, size_t file, bool again,
			   struct annotation_source *ret_source);
	/* Whether there is to be a page of the file. */
	bool (*wants_file)(void *ctx, size_t file);
	/* A new page at a path such as "source/x.html", and its end; or a negative errno. */
	int (*open_page)(void *ctx, const char *path, FILE **ret_page);
	int (*close_page)(void *ctx, FILE *page);
	void *ctx;
	double threshold;         /* percent: functions with less have no page */
	size_t top;               /* only so many functions; 0: all */
	const char *const *words; /* the command line, ends with NULL */
};

/* Writes them all.  0, -ENOMEM, or what open_page and close_page return. */
int annotation_write_html(const struct annotation *a,
			  const struct annotation_pages *pages);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* html.h - writes an annotation as HTML pages that a browser opens from files: an index sorted
 * by samples, a page for each source file and for each function's instructions, with links
 * between lines.
 * Layer: present.  The pages need no server and no network.  All source text and names are
 * displayed as text.  A policy in each page (Content-Security-Policy) allows only the script
 * that is part of this program, src/present/pages/. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct annotation;
struct annotation_source;
struct code;

/* The sources of the shown data, and the destination of the pages. */
struct annotation_pages {
	/* Returns the code of an image of the profile, valid until the next call, or NULL if the
	 * binary is not found. */
	struct code *(*code_of)(void *ctx, uint32_t image);
	/* Opens the source of a file; the caller closes its text.  `again`: it was requested
	 * before, so do not repeat warnings.  Returns 0 or -ENOMEM. */
	int (*open_source)(void *ctx, size_t file, bool again,
			   struct annotation_source *ret_source);
	/* Returns true if the file gets a page. */
	bool (*wants_file)(void *ctx, size_t file);
	/* Open and close a page at a path such as "source/x.html".  They return 0 or a negative
	 * errno. */
	int (*open_page)(void *ctx, const char *path, FILE **ret_page);
	int (*close_page)(void *ctx, FILE *page);
	void *ctx;
	double threshold;         /* percent: functions with less have no page */
	size_t top;               /* only this many functions; 0: all */
	const char *const *words; /* the command line, ends with NULL */
};

/* Writes all pages.  Returns 0, -ENOMEM, or an error of open_page or close_page. */
int annotation_write_html(const struct annotation *a,
			  const struct annotation_pages *pages);

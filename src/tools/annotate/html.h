/* SPDX-License-Identifier: GPL-2.0-or-later */
/* html.h - the folder that `opannotate --html` makes: whole, or not at all.
 * Layer: tools.
 *
 * Pages are written to a folder beside it, which becomes it when all are there and goes with this
 * process, whatever ends it, when they are not. */
#pragma once
#include <stdio.h>

struct annotate_html;
struct err;

/* Begins the folder `dir`, which must not be there, or be empty and no link.  To be called before
 * there are threads.  0 or a negative errno with a line; annotate_html_free() it. */
int annotate_html_new(const char *dir, struct annotate_html **ret_html,
		      struct err *err);
/* A new file in it: for struct annotation_pages, `ctx` is a struct annotate_html.  0, or a
 * negative errno with a line in its `err`. */
int annotate_html_open_page(void *ctx, const char *path, FILE **ret_page);
int annotate_html_close_page(void *ctx, FILE *page);
/* Not every user can read what a page shows: that page, all after it, and the directory are for their owner alone. */
void annotate_html_private(struct annotate_html *h);
/* All pages are there: it gets its name. */
int annotate_html_finish(struct annotate_html *h);
void annotate_html_free(struct annotate_html *h); /* NULL is fine */

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* html.h - writes the directory of `opannotate --html`, completely or not at all.
 * Layer: tools. Pages are written to a temporary directory next to it, which is renamed when
 * all pages are complete. Otherwise it is removed when this process ends, even if it is killed. */
#pragma once
#include <stdio.h>

struct annotate_html;
struct err;

/* Starts the directory `dir`, which must not exist, or must be empty and not a link.  Call before
 * starting threads.  Returns 0 or a negative errno with a message in *err; release with
 * annotate_html_free(). */
int annotate_html_new(const char *dir, struct annotate_html **ret_html,
		      struct err *err);
/* Opens a new page, for struct annotation_pages; `ctx` is a struct annotate_html.  Returns 0, or
 * a negative errno with a message in its `err`. */
int annotate_html_open_page(void *ctx, const char *path, FILE **ret_page);
int annotate_html_close_page(void *ctx, FILE *page);
/* Restricts the current page, all later pages and the directory to the owner, because not every
 * user can read the data. */
void annotate_html_private(struct annotate_html *h);
/* Call when all pages are complete: renames the directory. Returns 0 or a negative errno with a
 * message in *err. */
int annotate_html_finish(struct annotate_html *h);
void annotate_html_free(struct annotate_html *h); /* NULL is allowed */

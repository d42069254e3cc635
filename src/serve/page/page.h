/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page.h - the page of `oprofile view`: answers requests of the page from a view model, and starts
 * recordings at its request.
 * Layer: serve.  docs/view-api.md describes the requests. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "view/model.h"

struct err;
struct location_options;

struct page_options {
	const char *session_dir; /* NULL: the default */
	/* For each recording, the arguments that select it, ending with a NULL. If sides[0] is
	 * NULL, there is no recording yet. */
	char *const *sides[VIEW_SIDES];
	const char *titles[VIEW_SIDES]; /* shown names of the recordings; can be NULL */
	bool force;                     /* read recordings of other users */
	const struct location_options *locations;
	char *const *command; /* recorded at the start; NULL: none */
	const char
		*callgraph; /* for `command`: the argument of --callgraph; NULL: none */
	const char *fragment; /* of the address: the tab that is shown first, or "" */
	uint64_t port;        /* 0: any free one */
	uint64_t timeout_ns;  /* end if there is no request for this time; 0: never */
	bool no_browser;
	/* Print the address, a message, and the progress of reading. */
	void (*show_address)(const char *url);
	void (*say)(const char *text);
	void (*progress)(void *ctx, uint64_t done, uint64_t total);
};

/* Serves the page until a signal or the timeout ends it.
 * Returns 0, or a negative errno with a message in *err. */
int page_run(const struct page_options *options, struct err *err);
/* Writes the page with its data to `out`: a file that needs no server.  Sets *ret_private if some
 * input is not readable for every user, and the size in *ret_bytes.  Returns 0, or a negative errno
 * with a message in *err. */
int page_export(const struct page_options *options, FILE *out, bool *ret_private,
		uint64_t *ret_bytes, struct err *err);

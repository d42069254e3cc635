/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page_files.h - the files of the page, embedded into the program.
 * Read-only. build-page generates page_files.c. */
#pragma once
#include <stddef.h>

struct page_file {
	const char *name;
	const char *type; /* of its content, for HTTP */
	const unsigned char *bytes;
	size_t size;
};

/* Ends with a file without a name. It contains nothing else if the page was not built. An exported
 * page is "offline-head", the data (gzip, base64), "offline-tail". */
extern const struct page_file page_files[];

/* Returns NULL if there is no file of this name. */
const struct page_file *page_file_find(const char *name);

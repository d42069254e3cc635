/* SPDX-License-Identifier: GPL-2.0-or-later */
/* places.h - where binaries are looked for, from the options --root, --image-path, --vmlinux,
 * --debuginfod-timeout and from the environment.
 * Layer: recordings. */
#pragma once
#include <stdbool.h>

struct err;
struct naming_places;
struct naming_trace;

/* `image_path`: folders separated by commas.  `archive`: the folder of one, below which all
 * is then looked for, the image path too.  Each of them may be NULL.  0, or a negative errno
 * with a line for the user. */
struct places_options {
	const char *root;
	const char *image_path;
	const char *vmlinux;
	const char *guest_kallsyms;
	const char *guest_vmlinux;
	const char *archive;
	const char *debuginfod_timeout;
	const struct naming_trace *trace;
	bool no_cache; /* neither read nor write unwind tables in the user's cache */
};

int places_make(const struct places_options *from, struct naming_places **ret_places,
		struct err *err);

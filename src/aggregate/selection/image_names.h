/* SPDX-License-Identifier: GPL-2.0-or-later */
/* image_names.h - the names of images in OProfile's layouts and in exports.
 * Layer: aggregate. */
#pragma once
#include <stdbool.h>

#include "base/buf.h"
#include "format/session/dict.h"

enum name_style {
	NAMES_OPROFILE, /* /no-vmlinux, /ext4, anon (tgid:1 range:0x1000-0x2000) */
	NAMES_PERF,     /* [kernel.kallsyms], [ext4], [JIT] tid 1 */
	NAMES_COUNT
};

/* Appends the full name and a NUL.  `vmlinux` ("" if none was given) is the file that represents
 * the kernel in OProfile's layouts. */
void image_name_put(struct buf *out, const struct dict *d, const struct image *image,
		    enum name_style style, const char *vmlinux);
/* Returns the kernel's name for when no kernel image is available. */
const char *image_name_kernel(enum name_style style, const char *vmlinux);
/* Returns true if perf treats memory of this name as a file and shows file offsets: memfd. */
bool image_name_is_file(const char *name);
/* Returns the part after the last slash: OProfile's name without --long-filenames. */
const char *image_name_short(const char *name);
/* Returns true for a copy of a file's code in anonymous memory. */
bool image_is_remapped(const struct dict *d, const struct image *image);
/* Returns true for the kernel or a module. */
bool image_is_kernel(const struct image *image);
/* Returns the CPU mode as perf marks symbols: [k] kernel, [.] user, [g] guest kernel, [u] guest
 * user, [H] hypervisor or unknown. */
const char *image_origin(const struct image *image);

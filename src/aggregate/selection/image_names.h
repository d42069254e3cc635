/* image_names.h - what an image is called: in OProfile's layouts and in exports.
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

/* Appends the full name and a NUL.  `vmlinux` ("" if none was given) is the file that
 * stands for the kernel in OProfile's layouts. */
void image_name_put(struct buf *out, const struct dict *d, const struct image *image,
		    enum name_style style, const char *vmlinux);
/* What stands in for the kernel itself where no image of it is at hand. */
const char *image_name_kernel(enum name_style style, const char *vmlinux);
/* Whether perf takes memory of this name for a file's, whose offsets it shows: memfd. */
bool image_name_is_file(const char *name);
/* The part behind the last slash: OProfile's name without --long-filenames. */
const char *image_name_short(const char *name);
/* The kernel or a module. */
bool image_is_kernel(const struct image *image);
/* The mode that the processor was in, as perf marks symbols: [k] kernel, [.] user space, [g]
 * and [u] the same of a guest, [H] hypervisor or unknown. */
const char *image_origin(const struct image *image);

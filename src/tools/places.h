/* places.h - where binaries are looked for, from the options --root, --image-path, --vmlinux.
 * Layer: tools. */
#pragma once

struct err;
struct naming_places;

/* `image_path`: folders separated by commas.  Each of the options may be NULL.  0, or a
 * negative errno with a line for the user. */
int places_make(const char *root, const char *image_path, const char *vmlinux,
		struct naming_places **ret_places, struct err *err);

/* unpacked.h - opens a file that may be packed with xz, zstd or gzip, as kernel modules are.
 * Layer: resolve. */
#pragma once
#include <stddef.h>

struct buf;

enum {
	UNPACKED_MAX_BYTES = 256 << 20, /* unpacked; the largest modules have 50 MB */
	UNPACKED_PACKED_MAX = 64 << 20,
	UNPACKED_RATIO_MAX = 1000 /* binaries and text pack to a fifth; more is a lie */
};

/* Like elf_open_regular(); of a packed file the descriptor is of its content, in memory.
 * Further errors: -EBADMSG, -EFBIG, -ENOMEM, -EOPNOTSUPP (built without liblzma). */
int unpacked_open(const char *path);
/* Appends what a packed file holds, at most UNPACKED_MAX_BYTES; errors as above. */
int unpacked_bytes(const struct buf *packed, struct buf *out);
/* Appends what zstd frames hold.  0; -EBADMSG: they are cut short or damaged, and `out` has
 * what came before that; -EFBIG: more than `max` bytes; -ENOMEM. */
int unpacked_zstd(const struct buf *packed, size_t max, struct buf *out);

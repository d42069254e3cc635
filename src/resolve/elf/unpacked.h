/* unpacked.h - opens a file that may be packed with xz, zstd or gzip, as kernel modules are.
 * Layer: resolve. */
#pragma once
#include <stddef.h>

struct buf;

enum {
	UNPACKED_MAX_BYTES = 256 << 20, /* unpacked; the largest modules have 50 MB */
	UNPACKED_PACKED_MAX = 64 << 20,
	/* Besides this much, times the packed size.  Binaries and text pack to a fifth, repetitive text to a
	 * fiftieth; zeros to a thousandth and less. */
	UNPACKED_FREE_BYTES = 16 << 20,
	UNPACKED_RATIO_MAX = 100
};

/* How many bytes `packed` bytes may unpack to, at most `max`: for all that unpacks in memory. */
size_t unpacked_limit(size_t packed, size_t max);

/* Like elf_open_regular(); of a packed file the descriptor is of its content, in memory, about which
 * trust_is_exclusive() says the same as about the packed file.
 * Further errors: -EBADMSG, -EFBIG, -ENOMEM, -EOPNOTSUPP (built without liblzma). */
int unpacked_open(const char *path);
/* Appends what a packed file holds, at most unpacked_limit(); errors as above. */
int unpacked_bytes(const struct buf *packed, struct buf *out);
/* Appends what zstd frames hold.  0; -EBADMSG: they are cut short or damaged, and `out` has
 * what came before that; -EFBIG: more than unpacked_limit(), with `max`; -ENOMEM. */
int unpacked_zstd(const struct buf *packed, size_t max, struct buf *out);

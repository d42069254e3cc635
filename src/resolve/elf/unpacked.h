/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unpacked.h - opens a file that may be compressed with xz, zstd or gzip, such as a kernel
 * module.
 * Layer: resolve. */
#pragma once
#include <stddef.h>

struct buf;

enum {
	/* Decompressed; the largest modules have 50 MB. */
	UNPACKED_MAX_BYTES = 256 << 20,
	UNPACKED_PACKED_MAX = 64 << 20,
	/* Limit of the decompressed size: this many bytes plus UNPACKED_RATIO_MAX times the
	 * compressed size. Binaries and text compress to a fifth, repetitive text to a
	 * fiftieth, zeros to less than a thousandth. */
	UNPACKED_FREE_BYTES = 16 << 20,
	UNPACKED_RATIO_MAX = 100
};

/* Returns how many bytes `packed` compressed bytes may decompress to, at most `max`. For all
 * decompression in memory. */
size_t unpacked_limit(size_t packed, size_t max);

/* Like elf_open_regular(). For a compressed file, returns a descriptor of its content, which is
 * in memory; trust_is_exclusive() returns the same for it as for the compressed file.
 * Further errors: -EBADMSG, -EFBIG, -ENOMEM, -EOPNOTSUPP (built without liblzma). */
int unpacked_open(const char *path);
/* Appends the content of a compressed file, at most unpacked_limit() bytes. Returns 0 or an error
 * of unpacked_open(). */
int unpacked_bytes(const struct buf *packed, struct buf *out);
/* Appends the content of zstd frames. Returns 0; -EBADMSG if they are truncated or damaged,
 * after appending the content before the damage; -EFBIG if it exceeds unpacked_limit() for
 * `max`; or -ENOMEM. */
int unpacked_zstd(const struct buf *packed, size_t max, struct buf *out);

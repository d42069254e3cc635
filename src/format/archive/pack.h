/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pack.h - streams compressed with zstd, with bzip2, or not at all. Those of gzip and xz are
 * only decompressed.
 * Layer: format.  A packer can use its own threads, but only the caller's thread writes to the
 * file. Sources of the formats: RFC 8878; bzip2's manual (streams can follow each other). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct packer;
struct unpacker;

enum packing {
	PACKING_NONE,
	PACKING_ZSTD,
	PACKING_BZIP2,
	PACKING_GZIP,
	PACKING_XZ,
	PACKING_COUNT
};

/* Detects the packing by the suffix of a file name: ".bz2", ".tbz2", ".zst", ".tzst",
 * ".oparchive". */
enum packing packing_of_name(const char *name);
/* Detects the packing by the first bytes of a file. */
enum packing packing_of_bytes(const void *bytes, size_t len);
/* Returns the name of the program that writes it: "gzip". */
const char *packing_name(enum packing packing);
/* Returns whether packers exist: false if the library was missing when this program was built. */
bool packing_available(enum packing packing);

/* Creates a packer that writes to `fd`, which the caller still has to close. Returns 0,
 * -EOPNOTSUPP (built without the library) or -ENOMEM. */
int packer_new(int fd, enum packing packing, struct packer **ret_packer);
/* Both return 0 or a negative errno. */
int packer_put(struct packer *p, const void *bytes, size_t len);
int packer_finish(struct packer *p);
void packer_free(struct packer *p); /* accepts NULL */

struct pack_span {
	uint8_t *at;
	size_t size;
	size_t pos; /* bytes consumed or filled so far */
};

/* Returns 0, -EOPNOTSUPP (built without the library) or -ENOMEM. */
int unpacker_new(enum packing packing, struct unpacker **ret_unpacker);
/* Consumes bytes of `in`, which must not be empty, and adds bytes to `out`, until one of them
 * is used up. Returns 0, -EBADMSG with a message in *err, or -ENOMEM. */
int unpacker_step(struct unpacker *u, struct pack_span *in, struct pack_span *out,
		  struct err *err);
/* Returns whether the input can end here: false within a compressed stream. No step may follow. */
bool unpacker_is_whole(struct unpacker *u);
void unpacker_free(struct unpacker *u); /* accepts NULL */

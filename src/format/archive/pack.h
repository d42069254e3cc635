/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pack.h - compresses streams with zstd or bzip2, or leaves them uncompressed; decompresses these
 * and also gzip and xz.
 * Layer: format. A packer can start threads, but only the caller's thread writes to the file.
 * Sources of the formats: RFC 8878; bzip2's manual (streams can follow each other). */
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

/* Returns the packing for the suffix of a file name: ".bz2", ".tbz2", ".zst", ".tzst" or
 * ".oparchive"; PACKING_NONE for any other name. */
enum packing packing_of_name(const char *name);
/* Detects the packing by the first bytes of a file. */
enum packing packing_of_bytes(const void *bytes, size_t len);
/* Returns the name of the program for this packing, such as "gzip". */
const char *packing_name(enum packing packing);
/* Returns whether this program can use the packing; false if the library was missing when it was
 * built. */
bool packing_available(enum packing packing);

/* Creates a packer that writes to `fd`; the caller closes `fd` later. Returns 0, -EOPNOTSUPP
 * (built without the library) or -ENOMEM. */
int packer_new(int fd, enum packing packing, struct packer **ret_packer);
/* packer_put() compresses bytes; packer_finish() writes all that remains. Both return 0 or a
 * negative errno. */
int packer_put(struct packer *p, const void *bytes, size_t len);
int packer_finish(struct packer *p);
void packer_free(struct packer *p); /* accepts NULL */

struct pack_span {
	uint8_t *at;
	size_t size;
	size_t pos; /* bytes consumed or filled so far */
};

/* Creates an unpacker. Returns 0, -EOPNOTSUPP (built without the library) or -ENOMEM. */
int unpacker_new(enum packing packing, struct unpacker **ret_unpacker);
/* Consumes bytes of `in`, which must not be empty, and adds bytes to `out`, until one of them
 * is used up. Returns 0, -EBADMSG with a message in *err, or -ENOMEM. */
int unpacker_step(struct unpacker *u, struct pack_span *in, struct pack_span *out,
		  struct err *err);
/* Call after the last step: returns whether the input is complete, that is, does not end within a
 * compressed stream. */
bool unpacker_is_whole(struct unpacker *u);
void unpacker_free(struct unpacker *u); /* accepts NULL */

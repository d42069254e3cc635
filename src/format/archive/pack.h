/* pack.h - a stream packed with zstd, with bzip2, or not at all.
 * Layer: format.  A packer may use threads of its own; the caller's is the only one that
 * writes.  Sources of the formats: RFC 8878; bzip2's manual (streams may follow each other). */
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
	PACKING_COUNT
};

/* What the end of a file's name says: ".bz2", ".tbz2", ".zst", ".tzst", ".oparchive". */
enum packing packing_of_name(const char *name);
/* What the first bytes of a file say. */
enum packing packing_of_bytes(const void *bytes, size_t len);
/* False in a build without the library. */
bool packing_available(enum packing packing);

/* Writes to `fd`, which stays the caller's.  0, -EOPNOTSUPP (a build without the library) or
 * -ENOMEM. */
int packer_new(int fd, enum packing packing, struct packer **ret_packer);
/* 0 or a negative errno. */
int packer_put(struct packer *p, const void *bytes, size_t len);
int packer_finish(struct packer *p);
void packer_free(struct packer *p); /* NULL is fine */

struct pack_span {
	uint8_t *at;
	size_t size;
	size_t pos; /* taken, or filled, so far */
};

int unpacker_new(enum packing packing, struct unpacker **ret_unpacker);
/* Takes from `in`, which is not empty, and puts into `out`; either may be used up.  0,
 * -EBADMSG with a line, or -ENOMEM. */
int unpacker_step(struct unpacker *u, struct pack_span *in, struct pack_span *out,
		  struct err *err);
void unpacker_free(struct unpacker *u); /* NULL is fine */

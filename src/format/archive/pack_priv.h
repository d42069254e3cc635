/* pack_priv.h - what a kind of packing is made of: pack.c has a row for each.
 * Layer: format, for pack*.c alone.  Functions as their namesakes of pack.h. */
#pragma once
#include "format/archive/pack.h"

struct pack_ops {
	int (*pack_new)(int fd, void **ret_state);
	int (*put)(void *state, const void *bytes, size_t len);
	int (*finish)(void *state);
	void (*pack_free)(void *state);
	int (*unpack_new)(void **ret_state);
	int (*step)(void *state, struct pack_span *in, struct pack_span *out,
		    struct err *err);
	void (*unpack_free)(void *state);
};

extern const struct pack_ops pack_plain;
extern const struct pack_ops pack_zstd;
extern const struct pack_ops
	pack_bzip2; /* without functions in a build without libbz2 */

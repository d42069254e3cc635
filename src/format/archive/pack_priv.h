/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pack_priv.h - the operations of a compression format; pack.c has a table of them.
 * Layer: format, for pack*.c only.  The functions work like those of the same name in pack.h. */
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
	bool (*is_whole)(void *state);
	void (*unpack_free)(void *state);
};

extern const struct pack_ops pack_plain;
extern const struct pack_ops pack_zstd;
extern const struct pack_ops pack_bzip2; /* all NULL in a build without libbz2 */
/* These only unpack. */
extern const struct pack_ops pack_gzip;
extern const struct pack_ops pack_xz; /* all NULL in a build without liblzma */

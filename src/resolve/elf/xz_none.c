/* SPDX-License-Identifier: GPL-2.0-or-later */
/* xz_none.c - replaces xz_lzma.c in a build without liblzma. */
#include <errno.h>

#include "resolve/elf/xz.h"

int xz_unpack(const void *bytes, size_t len, size_t max, struct buf *out)
{
	(void)bytes;
	(void)len;
	(void)max;
	(void)out;
	return -EOPNOTSUPP;
}

const char *xz_version(void)
{
	return NULL;
}

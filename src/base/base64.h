/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base64.h - encodes bytes as text (RFC 4648, section 4).
 * Layer: base. */
#pragma once
#include <stddef.h>

struct buf;

/* Appends the encoded bytes in one line, with padding. */
void base64_put(struct buf *out, const void *bytes, size_t len);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* csv.h - writes CSV fields (RFC 4180).
 * Layer: present. */
#pragma once
#include <stddef.h>

struct buf;

/* Appends a field, with quotes if it contains a comma or a quote.  Replaces bytes that are not
 * UTF-8 with U+FFFD, and control characters with \n, \t or \xNN. */
void csv_put_field(struct buf *out, const char *text, size_t len);

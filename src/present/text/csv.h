/* csv.h - fields of RFC 4180.
 * Layer: present. */
#pragma once
#include <stddef.h>

struct buf;

/* Appends a field, quoted where it has a comma or a quote in it; bytes that are not UTF-8 become
 * U+FFFD, control characters \n, \t or \xNN. */
void csv_put_field(struct buf *out, const char *text, size_t len);

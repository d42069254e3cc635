/* csv.h - fields of RFC 4180.
 * Layer: present. */
#pragma once
#include <stddef.h>

struct buf;

/* Appends a field, quoted where it has a comma, a quote or a line end in it; bytes
 * that are no UTF-8 become U+FFFD. */
void csv_put_field(struct buf *out, const char *text, size_t len);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* html_text.h - writes arbitrary text into HTML pages so that it is displayed literally.
 * Layer: present.  The caller checks `out` with ferror(). */
#pragma once
#include <stddef.h>
#include <stdio.h>

/* Writes a text as HTML text, which is also safe in a quoted attribute.  Escapes markup;
 * replaces bytes that are not UTF-8 with U+FFFD, control characters except tabs with their
 * pictures (U+2400 ...), and bidirectional control characters with their code point, [U+NNNN]. */
void html_put_len(FILE *out, const char *text, size_t len);
void html_put(FILE *out, const char *text);

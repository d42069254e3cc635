/* html_text.h - text in pages: whatever it is, it is only shown.
 * Layer: present.  Errors of `out` are found by ferror(). */
#pragma once
#include <stddef.h>
#include <stdio.h>

/* Writes a text so that it is text in HTML, also between the quotes of an attribute: markup is
 * escaped, bytes that are no UTF-8 become U+FFFD, control characters but tabs their pictures
 * (U+2400 ...), and what would change the order of characters on the screen its number. */
void html_put_len(FILE *out, const char *text, size_t len);
void html_put(FILE *out, const char *text);

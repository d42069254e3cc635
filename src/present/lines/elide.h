/* elide.h - names made to fit: what tells least goes, in the middle.
 * Layer: present. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct buf;

/* Appends `text` (UTF-8 without control characters: screen_put_safe()) in at most `columns`
 * columns, and returns how many it took.  What is too long loses, in this order:
 *   a path:      folders before the last part: "/usr/lib/.../libc.so.6"
 *   C++, Rust:   what is in brackets, the innermost first: "std::vector<...>::push_back(...)"
 *   everything:  its middle.
 * The dots are one character where the terminal can show it (`utf8`), else three. */
size_t elide_put(struct buf *out, const char *text, size_t len, size_t columns,
		 bool utf8);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* elide.h - shortens names to fit a column by removing the least useful middle section.
 * Layer: present. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct buf;

/* Appends `text` to `out` in at most `columns` columns, and returns the number of columns used.
 * `text` is UTF-8 without control characters (see screen_make_safe()).  A text that is too long
 * is shortened in this order:
 *   a path:      directories before the last component: "/usr/lib/.../libc.so.6"
 *   C++, Rust:   contents of brackets, innermost first: "std::vector<...>::push_back(...)"
 *   any text:    its middle.
 * The ellipsis is one character if the terminal can show it (`utf8`), otherwise three dots. */
size_t elide_put(struct buf *out, const char *text, size_t len, size_t columns,
		 bool utf8);

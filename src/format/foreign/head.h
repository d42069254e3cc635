/* SPDX-License-Identifier: GPL-2.0-or-later */
/* head.h - queries on the first bytes of a file, for recognisers (foreign.h).
 * Layer: format, private to it. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct foreign_head;
struct foreign_word;

/* Returns the head of a file. `bytes` are its first FOREIGN_HEAD_BYTES + 1 bytes or, if it is
 * shorter, all of it. */
struct foreign_head foreign_head_of(const char *bytes, size_t len);

/* Returns the bytes of the head, borrowed, without a byte order mark and white space at its
 * start. */
struct foreign_word foreign_head_text(const struct foreign_head *head);
/* Returns true if the first line that is neither empty nor a comment ("#") begins with `text`. */
bool foreign_head_has_first(const struct foreign_head *head, const char *text);
/* Returns true if a line begins with `text`. */
bool foreign_head_has_line(const struct foreign_head *head, const char *text);
/* Returns true if the head contains "key": of a JSON object, at any depth. */
bool foreign_head_has_key(const struct foreign_head *head, const char *key);

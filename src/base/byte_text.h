/* SPDX-License-Identifier: GPL-2.0-or-later */
/* byte_text.h - numbers of bytes for people.
 * Layer: base. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* "12.5 MB" in at most `room` - 1 bytes: powers of 1000. */
void byte_text_put(char *out, size_t room, uint64_t bytes);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* byte_text.h - formats byte counts for people.
 * Layer: base. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Formats "12.5 MB" (powers of 1000) in at most `room` - 1 characters. */
void byte_text_put(char *out, size_t room, uint64_t bytes);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fill.h - completes a partial index in a separate low-priority process, which continues after
 * the command has ended.
 * Layer: tools. */
#pragma once

/* Starts `oprofile cache --build --background BINARY`, unless $OPROFILE_CACHE_FILL is "no".
 * Ignores failures: the next command then reads the units that it needs from the binary. */
void cache_fill_start(const char *binary);
/* Makes this process a background process that fills indexes: lowest priority, and a lock on the
 * index directory `dir`. Returns 0; -EBUSY if another one already works in the directory; or
 * another negative errno. */
int cache_fill_become(const char *dir);

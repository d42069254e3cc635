/* SPDX-License-Identifier: GPL-2.0-or-later */
/* behind.h - index files are written when the command has ended, by a process that nobody
 * waits for.
 * Layer: tools. */
#pragma once

struct line_later;

/* Has what is left there written, and frees it.  At once with --verbose, which says how that
 * went, and where no process can be made. */
void cache_write_behind(struct line_later *later);

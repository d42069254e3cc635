/* SPDX-License-Identifier: GPL-2.0-or-later */
/* background.h - writes index files after the command has ended, in a background process.
 * Layer: tools. */
#pragma once

struct line_later;

/* Starts writing the data of `later`, and frees it.  Writes it at once with --verbose, which
 * reports the result, or if fork fails. */
void cache_write_in_background(struct line_later *later);

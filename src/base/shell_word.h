/* SPDX-License-Identifier: GPL-2.0-or-later */
/* shell_word.h - quotes arguments of command lines that users copy into a shell.
 * Layer: base. */
#pragma once

struct buf;

/* Appends one argument, in quotes if it has characters with a meaning for the shell. */
void shell_word_put(struct buf *out, const char *word);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mistaken_word.h - words of a command line that were meant to name a recording, and became
 * names of binaries because they name none.
 * Layer: tools. */
#pragma once
#include <stdbool.h>

struct report_sources;
struct spec;

/* After a command that ended with `code`, before its line: if nothing was found, says in a line
 * of the first such word what is wrong with it.  Words that name a program are such only
 * where there was no session to look in. */
void mistaken_word_say(const struct report_sources *sources, const struct spec *spec,
		       int code);

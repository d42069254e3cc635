/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mistaken_word.h - detects arguments that were meant to name a recording, but were taken as
 * names of binaries because no such recording exists.
 * Layer: tools. */
#pragma once
#include <stdbool.h>

struct report_sources;
struct spec;

/* Call after a command ended with `code`, before its own message.  If nothing was found, prints
 * what is wrong with the first such argument.  An argument that names a program only counts if no
 * session was found. */
void mistaken_word_say(const struct report_sources *sources, const struct spec *spec,
		       int code);

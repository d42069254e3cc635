/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mistaken_word.h - detects arguments that probably should name a recording, but were taken as
 * names of binaries because no such recording exists.
 * Layer: tools. */
#pragma once
#include <stdbool.h>

struct report_sources;
struct spec;

/* Call after reading recordings failed with `code`, before printing the error. If nothing was
 * found, explains the first argument that probably should name a recording. The name of a program
 * counts as such an argument only if no session was found. */
void mistaken_word_say(const struct report_sources *sources, const struct spec *spec,
		       int code);

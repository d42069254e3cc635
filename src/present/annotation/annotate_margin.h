/* SPDX-License-Identifier: GPL-2.0-or-later */
/* annotate_margin.h - the left margin of annotated listings: count and percent for each column.
 * Layer: present, for write_annotation.c and write_assembly.c. */
#pragma once
#include <stdint.h>
#include <stdio.h>

struct annotation;
struct screen;

/* Returns the width of margin_put_counts() in characters. */
int margin_columns(const struct annotation *a);
/* Writes "   950 92.3226" for each column, without separators; then the ratios. */
void margin_put_counts(FILE *out, const struct annotation *a, const uint64_t *counts);
/* Writes the counts, or blanks for NULL, and the colon.  Colours large percentages if the screen
 * has colours. */
void margin_put(FILE *out, const struct annotation *a, const struct screen *screen,
		const uint64_t *counts);
/* Writes the line that replaces omitted lines. */
void margin_put_gap(FILE *out, const struct annotation *a);

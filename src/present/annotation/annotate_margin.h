/* annotate_margin.h - what stands in front of the lines of annotated listings: count and percent
 * of each column.
 * Layer: present, for write_annotation.c and write_assembly.c. */
#pragma once
#include <stdint.h>
#include <stdio.h>

struct annotation;
struct screen;

/* How many columns of the screen margin_put_counts() takes. */
int margin_columns(const struct annotation *a);
/* "   950 92.3226", for each column, without anything between; then the ratios. */
void margin_put_counts(FILE *out, const struct annotation *a, const uint64_t *counts);
/* The same, or blanks for NULL, up to the colon; large shares in colour where the screen has
 * any. */
void margin_put(FILE *out, const struct annotation *a, const struct screen *screen,
		const uint64_t *counts);
/* The line that stands for those left out. */
void margin_put_gap(FILE *out, const struct annotation *a);

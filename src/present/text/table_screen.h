/* SPDX-License-Identifier: GPL-2.0-or-later */
/* table_screen.h - terminal output for text_table.h: fits the columns to the screen, shortens
 * and escapes names, and adds colours.
 * Layer: present, private to text_table.c. */
#pragma once
#include <stdbool.h>

struct chosen;
struct column_cell;
struct text_table;

/* Returns true if cells must be written with table_screen_put(). */
bool table_screen_wanted(const struct text_table *t);
/* Sets the widths of the chosen columns to what the lines need and the screen allows.  Returns 0
 * or -ENOMEM. */
int table_screen_fit(struct text_table *t);
/* Appends a cell to the current line, padded unless it is the last one. */
void table_screen_put(struct text_table *t, const struct chosen *c,
		      const struct column_cell *cell, bool last);
/* Appends a title, padded like a cell. */
void table_screen_title(struct text_table *t, const struct chosen *c, bool last);

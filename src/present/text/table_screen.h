/* table_screen.h - what text_table.h does differently on a terminal: columns that fit, names
 * that are shortened and command nothing, colours.
 * Layer: present, private to text_table.c. */
#pragma once
#include <stdbool.h>

struct chosen;
struct column_cell;
struct text_table;

/* Whether cells have to go through table_screen_put(). */
bool table_screen_wanted(const struct text_table *t);
/* Sets the widths of the chosen columns to what the lines need and the screen allows.  0 or
 * -ENOMEM. */
int table_screen_fit(struct text_table *t);
/* Appends one cell to the line in the making, padded unless it is the last. */
void table_screen_put(struct text_table *t, const struct chosen *c,
		      const struct column_cell *cell, bool last);
/* The same for a title. */
void table_screen_title(struct text_table *t, const struct chosen *c, bool last);

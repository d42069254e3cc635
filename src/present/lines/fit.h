/* fit.h - how wide the columns of a table are on a terminal.
 * Layer: present.  Pure arithmetic. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct fit_column {
	unsigned int natural; /* columns of its widest cell or its title */
	unsigned int usual;   /* of the layout in files, with the blank behind it */
	unsigned int
		weight; /* share of the room if names must give way; 0: a number, which
			       * does not */
	unsigned int width; /* out: with the blank behind it but for the last column */
};

enum {
	FIT_LEAST = 7 /* columns of a name; where even that is too much, lines wrap */
};

/* Fills the widths so that a line takes at most `width` columns: the usual widths if they
 * are wide enough and fit, else nearer to what is in the columns, else the names give way,
 * the longest first. */
void fit_columns(struct fit_column *columns, size_t nr, unsigned int width);

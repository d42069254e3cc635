/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fit.h - computes the widths of a table's columns on a terminal.
 * Layer: present.  Pure arithmetic. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct fit_column {
	unsigned int natural; /* width of its widest cell or its title */
	unsigned int usual;   /* width in files, including the blank after it */
	/* Share of the space if names must be shortened.  0: a number, which is never shortened. */
	unsigned int weight;
	/* Output: the column's width, with one blank after it except in the last column. */
	unsigned int width;
};

enum {
	/* Minimum columns of a name; lines wrap if even that is too wide. */
	FIT_LEAST = 7
};

/* Sets the widths so that a line needs at most `width` columns.  Uses the usual widths if they
 * are large enough and fit; otherwise moves towards the width of the contents; otherwise
 * shortens the names, longest first. */
void fit_columns(struct fit_column *columns, size_t nr, unsigned int width);

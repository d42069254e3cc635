/* ratio.h - --ratio A/B: how often one event happened for each of another, as a column.
 * Layer: present. */
#pragma once
#include <stddef.h>

struct column_cell;
struct buf;
struct err;
struct lines;
struct profile;

/* Columns of counts: periods of the one by periods of the other. */
struct ratio {
	size_t above;
	size_t below;
};

/* 0, or -ENOENT with a line that names the events there are: `text` is not NAME/NAME (with
 * :0xMASK behind a name where several have it) of events of the profile. */
int ratio_check(const struct profile *p, const char *text, struct err *err);
/* The columns that `text` means.  0, or -ENOENT: the columns are not of events. */
int ratio_find(const struct profile *p, const struct lines *lines, const char *text,
	       struct ratio *ret_ratio);
/* The quotient with four digits; "-" where there is nothing to divide by. */
void ratio_print(struct buf *out, const struct column_cell *cell);

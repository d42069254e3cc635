/* ratio.h - --ratio A/B: how often one event happened for each of another, as a column.
 * Layer: present. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct column_cell;
struct buf;
struct err;
struct report_lines;
struct profile;

/* Columns of counts: periods of the one by periods of the other. */
struct ratio {
	size_t above;
	size_t below;
};

/* 0, or -ENOENT with a line that names the events there are: `text` is not NAME/NAME (with
 * :0xMASK behind a name where several have it) of events of the profile. */
int ratio_check(const struct profile *p, const char *text, struct err *err);
/* The same of several. */
int ratios_check(const struct profile *p, const char *const *texts, size_t nr,
		 struct err *err);
/* The columns that `text` means.  0, or -ENOENT: the columns are not of events. */
int ratio_find(const struct profile *p, const struct report_lines *lines,
	       const char *text, struct ratio *ret_ratio);
/* The quotient with four digits; "-" where there is nothing to divide by. */
void ratio_print(struct buf *out, const struct column_cell *cell);

/* The same for tables of a row an event: what each group has of the two. */
struct ratio_groups {
	size_t nr_ratios;
	uint64_t *periods; /* group, ratio, above and below */
};
/* `texts` are those that ratio_check() found good.  0, -ENOENT or -ENOMEM. */
int ratio_groups_make(const struct profile *p, const char *const *texts, size_t nr,
		      struct ratio_groups *ret_groups);
void ratio_groups_done(struct ratio_groups *g);
/* The quotient of a ratio, as digits; nothing where there is nothing to divide by. */
void ratio_group_put(const struct ratio_groups *g, uint32_t group, size_t ratio,
		     struct buf *out);

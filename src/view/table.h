/* SPDX-License-Identifier: GPL-2.0-or-later */
/* table.h - tables of the selected samples, grouped by keys.
 * Layer: view. */
#pragma once
#include <stdint.h>

#include "aggregate/selection/keys.h"
#include "view/selection.h"

enum view_table_order {
	VIEW_BY_SELF,
	VIEW_BY_TOTAL,
	VIEW_BY_NAME,
	VIEW_BY_DELTA /* largest change of the share of samples */
};

struct view_row {
	uint64_t values
		[KEY_ID_COUNT]; /* by key; view_table_text() returns their texts */
	uint64_t self;
	uint64_t total; /* samples that have a function of the row on their stack */
	uint64_t side_self[VIEW_SIDES];
	uint64_t side_total[VIEW_SIDES];
	uint32_t
		function; /* if the keys include symbol and image; otherwise VIEW_NONE */
};

struct view_table {
	struct key_list keys;
	const struct view_data *data;
	VEC(struct view_row) rows;
	uint64_t samples[VIEW_SIDES]; /* of the whole selection */
};

/* Makes the rows of the selected samples, grouped by `keys`. Returns 0, -EINVAL (a key that the
 * model does not have) or -ENOMEM, with a message in *err; call view_table_done() in any case. */
int view_table_make(struct view_table *t, const struct view_selection *s,
		    const char *keys, struct err *err);
void view_table_sort(struct view_table *t, enum view_table_order order);
void view_table_done(struct view_table *t);
enum {
	VIEW_VALUE_ROOM = 32
};
/* Returns the text of a value; a number is written to `room`. */
const char *view_table_text(const struct view_table *t, const struct view_row *row,
			    size_t key, char room[VIEW_VALUE_ROOM]);

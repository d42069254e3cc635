/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/lines/branches.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "present/lines/screen.h"

static int branches_note(struct branches *b, const struct branch_row *row)
{
	const size_t room = 2 * (size_t)row->level + 16;

	if (row->level >= b->nr) {
		bool *more = realloc(b->more, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		b->more = more;
		b->nr = room;
	}
	if (!row->chained)
		b->more[row->level] = !row->is_last;
	return 0;
}

int branches_put(struct branches *b, struct buf *out, const struct branch_row *row,
		 const struct screen *screen)
{
	const bool utf8 = screen->is_terminal && screen->utf8;

	if (branches_note(b, row))
		return -ENOMEM;
	for (uint32_t i = 1; i <= row->level; i++) {
		const bool here = i == row->level && !row->chained;
		const char *text = !here ? b->more[i] ? utf8 ? "│ " : "| " : "  "
				   : b->more[i] ? utf8 ? "├─" : "|-"
				   : utf8       ? "└─"
						: "`-";

		buf_put(out, text, strlen(text));
	}
	return 0;
}

void branches_done(struct branches *b)
{
	free(b->more);
	*b = (struct branches){ 0 };
}

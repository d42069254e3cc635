/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/shared_tables.h"

#include <string.h>

#include "resolve/unwind/table.h"

/* Returns whether both images are the same file in the same state. Compares more than the
 * build-id, because any user can write a file with any build-id. */
static bool shared_tables_is_same_file(const struct image *a, const struct image *b)
{
	return a->dev == b->dev && a->inode == b->inode &&
	       a->inode_gen == b->inode_gen && a->mtime_ns == b->mtime_ns &&
	       a->file_bytes == b->file_bytes && a->build_id.len == b->build_id.len &&
	       !memcmp(a->build_id.bytes, b->build_id.bytes, a->build_id.len);
}

static bool shared_tables_is_known(const struct image *image)
{
	return image->kind == IMAGE_FILE && image->inode && image->mtime_ns;
}

void shared_tables_keep(struct shared_tables *s, const struct image *image,
			struct unwind_table *table, uint32_t user)
{
	const struct shared_table kept = { .image = *image,
					   .table = table,
					   .user = user };

	if (!table)
		return;
	if (shared_tables_is_known(image) && vec_push(&s->kept, kept))
		s->kept_bytes += unwind_table_bytes(table);
	else
		unwind_table_free(table);
}

struct unwind_table *shared_tables_take(struct shared_tables *s,
					const struct image *image, uint32_t *ret_user)
{
	if (!shared_tables_is_known(image))
		return NULL;
	for (size_t i = 0; i < s->kept.nr; i++) {
		struct unwind_table *table = s->kept.at[i].table;

		if (!shared_tables_is_same_file(&s->kept.at[i].image, image))
			continue;
		*ret_user = s->kept.at[i].user;
		s->kept.at[i] = s->kept.at[--s->kept.nr];
		s->kept_bytes -= unwind_table_bytes(table);
		return table;
	}
	return NULL;
}

void shared_tables_forget(struct shared_tables *s)
{
	for (size_t i = 0; i < s->kept.nr; i++)
		unwind_table_free(s->kept.at[i].table);
	vec_done(&s->kept);
	s->kept_bytes = 0;
}

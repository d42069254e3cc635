/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/elf_note.h"

#include <errno.h>
#include <string.h>

#include "base/cursor.h"

enum {
	NOTE_GNU_BUILD_ID = 3 /* NT_GNU_BUILD_ID of <elf.h> */
};

struct elf_note_walk elf_note_walk_of(const void *notes, size_t len, bool swap)
{
	return (struct elf_note_walk){ .data = notes, .len = len, .swap = swap };
}

/* Skips the padding of a note, which the last one can lack. */
static void skip_padding(struct cursor *c)
{
	size_t pad = -c->pos & 3;
	size_t left = cursor_left(c);

	(void)cursor_take(c, pad < left ? pad : left);
}

int elf_note_next(struct elf_note_walk *w, struct elf_note *ret_note)
{
	struct cursor c = cursor_of(w->data, w->len, w->swap);
	struct elf_note note;

	c.pos = w->pos;
	if (!cursor_left(&c))
		return 1;
	note.name_len = cursor_u32(&c);
	note.desc_len = cursor_u32(&c);
	note.type = cursor_u32(&c);
	note.name = cursor_take(&c, note.name_len);
	if (!c.failed)
		skip_padding(&c);
	note.desc = cursor_take(&c, note.desc_len);
	if (c.failed)
		return -EBADMSG;
	skip_padding(&c);
	w->pos = c.pos;
	*ret_note = note;
	return 0;
}

int elf_note_build_id(const void *notes, size_t len, bool swap, const uint8_t **ret_id,
		      size_t *ret_len)
{
	struct elf_note_walk w = elf_note_walk_of(notes, len, swap);
	struct elf_note note;
	int r;

	while ((r = elf_note_next(&w, &note)) == 0) {
		if (note.type != NOTE_GNU_BUILD_ID || note.name_len != sizeof("GNU") ||
		    memcmp(note.name, "GNU", sizeof("GNU")) != 0 || !note.desc_len)
			continue;
		*ret_id = note.desc;
		*ret_len = note.desc_len;
		return 0;
	}
	return r < 0 ? r : -ENODATA;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "aggregate/profile/blocks.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/groups.h"
#include "aggregate/profile/profile.h"

enum {
	BLOCKS = 100,               /* of recordings of known length */
	BLOCKS_MAX = 200,           /* more are merged */
	WIDTH_MIN_NS = 1000 * 1000, /* of a block */
	WIDTH_UNKNOWN_NS = 100 * 1000 * 1000
};

uint64_t block_width_ns(uint64_t length_ns)
{
	if (!length_ns)
		return WIDTH_UNKNOWN_NS;
	return length_ns / BLOCKS > WIDTH_MIN_NS ? length_ns / BLOCKS : WIDTH_MIN_NS;
}

uint64_t block_merged_width_ns(uint64_t width_ns, uint64_t span_ns)
{
	while (span_ns / width_ns >= BLOCKS_MAX)
		width_ns *= 2;
	return width_ns;
}

/* The times of a session's samples. */
struct folded_session {
	uint64_t session; /* string */
	uint64_t first_ns, last_ns;
	uint32_t first_block;
};

struct folding {
	struct profile *p;
	size_t nr_keys, session_key, time_key;
	VEC(struct folded_session) sessions;
	uint64_t width_ns;
	/* The groups and rows that are divided into blocks. */
	struct profile_group *groups;
	struct profile_row *rows;
	size_t nr_rows;
	uint32_t *
		who_of; /* by tuple: the same without the keys of blocks, or DICT_NONE */
	size_t nr_tuples;
};

static uint64_t folding_value(const struct folding *f, const struct profile_row *row,
			      size_t key)
{
	const struct key_slot slot = f->p->key_slots[key];
	const struct tuples *t = &f->p->tuples[slot.side];

	return t->values
		.at[f->groups[row->group].tuple[slot.side] * t->width + slot.at];
}

/* Returns the session of a row, or NULL if memory is short.  There are few sessions. */
static struct folded_session *find_session(struct folding *f,
					   const struct profile_row *row)
{
	const uint64_t session = folding_value(f, row, f->session_key);
	struct folded_session new = { .session = session, .first_ns = UINT64_MAX };

	for (size_t i = f->sessions.nr; i-- > 0;)
		if (f->sessions.at[i].session == session)
			return &f->sessions.at[i];
	return vec_push(&f->sessions, new) ? &f->sessions.at[f->sessions.nr - 1] : NULL;
}

static int find_spans(struct folding *f)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < f->nr_rows; i++) {
		const uint64_t t = folding_value(f, &f->rows[i], f->time_key);
		struct folded_session *s = find_session(f, &f->rows[i]);

		if (!s)
			return -ENOMEM;
		s->first_ns = t < s->first_ns ? t : s->first_ns;
		s->last_ns = t > s->last_ns ? t : s->last_ns;
	}
	for (size_t i = 0; i < f->sessions.nr; i++)
		sum += f->sessions.at[i].last_ns - f->sessions.at[i].first_ns;
	f->width_ns = block_merged_width_ns(f->width_ns, sum);
	for (size_t i = 0; i < f->sessions.nr; i++) {
		struct folded_session *s = &f->sessions.at[i];

		s->first_block = f->p->nr_blocks;
		f->p->nr_blocks +=
			(uint32_t)((s->last_ns - s->first_ns) / f->width_ns) + 1;
	}
	return 0;
}

/* Returns the tuple without the keys of blocks; DICT_NONE if memory is short. */
static uint32_t who_without_block(struct folding *f, uint32_t who)
{
	struct profile *p = f->p;
	const struct tuples *t = &p->tuples[GROUP_WHO];
	uint64_t values[KEY_ID_COUNT];

	if (f->who_of[who] != DICT_NONE)
		return f->who_of[who];
	memcpy(values, &t->values.at[who * t->width], t->width * sizeof(*values));
	for (size_t k = f->nr_keys; k < p->nr_keys; k++)
		values[p->key_slots[k].at] = 0;
	f->who_of[who] = groups_tuple(p, GROUP_WHO, values);
	return f->who_of[who];
}

static int fold_row(struct folding *f, const struct profile_row *from)
{
	struct profile *p = f->p;
	const uint32_t *tuple = f->groups[from->group].tuple;
	const struct folded_session *s = find_session(f, from);
	const uint64_t time = folding_value(f, from, f->time_key);
	struct block_cell cell = {
		.row = groups_row_of(p, who_without_block(f, tuple[GROUP_WHO]),
				     tuple[GROUP_WHERE], from->event),
		.samples = from->samples,
	};

	if (cell.row == DICT_NONE || !s)
		return -ENOMEM;
	cell.block = s->first_block + (uint32_t)((time - s->first_ns) / f->width_ns);
	p->rows.at[cell.row].samples += from->samples;
	p->rows.at[cell.row].period += from->period;
	return vec_push(&p->block_cells, cell) ? 0 : -ENOMEM;
}

/* Moves the groups and rows out of the profile. */
static int begin_folding(struct folding *f)
{
	struct profile *p = f->p;

	f->nr_tuples = p->tuples[GROUP_WHO].nr;
	f->who_of = malloc((f->nr_tuples + 1) * sizeof(*f->who_of));
	if (!f->who_of)
		return -ENOMEM;
	memset(f->who_of, 0xff,
	       (f->nr_tuples + 1) * sizeof(*f->who_of)); /* DICT_NONE */
	f->groups = p->groups.at;
	f->rows = p->rows.at;
	f->nr_rows = p->rows.nr;
	p->groups.at = NULL;
	p->rows.at = NULL;
	groups_clear(p);
	return 0;
}

int profile_fold_blocks(struct profile *p, size_t nr_keys)
{
	const struct key_list *keys = p->options.keys;
	struct folding f = {
		.p = p,
		.nr_keys = nr_keys,
		.session_key = (size_t)keys_find(keys, KEY_SESSION),
		.time_key = (size_t)keys_find(keys, KEY_TIME),
	};
	int r = begin_folding(&f);

	f.width_ns = keys->keys.at[f.time_key].width_ns;
	if (!r)
		r = find_spans(&f);
	for (size_t i = 0; !r && i < f.nr_rows; i++)
		r = fold_row(&f, &f.rows[i]);
	p->nr_keys = nr_keys;
	vec_free_raw(f.groups);
	vec_free_raw(f.rows);
	free(f.who_of);
	vec_done(&f.sessions);
	return r;
}

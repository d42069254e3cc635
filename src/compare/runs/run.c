/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/runs/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/blocks.h"
#include "aggregate/profile/profile.h"
#include "base/buf.h"
#include "base/err.h"
#include "compare/names.h"
#include "compare/runs/run_priv.h"

static const double ns_per_s = 1e9;

static int run_no_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "out of memory");
}

static uint32_t find_event(const struct profile *p, const char *name)
{
	for (uint32_t i = 0; i < p->events.nr; i++) {
		if (p->events.at[i].samples && !strcmp(profile_event_name(p, i), name))
			return i;
	}
	return DICT_NONE;
}

/* Chooses the event to compare: the only one with samples, apart from the event that is the
 * denominator. Fails if there is not exactly one. */
static int run_choose_events(struct run_making *m, struct err *err)
{
	const struct profile *p = m->from->profile;
	size_t nr = 0;

	m->per_event = DICT_NONE;
	if (m->from->per == RUN_PER_EVENT) {
		m->per_event = find_event(p, m->from->per_event);
		if (m->per_event == DICT_NONE)
			return err_set(err, -EINVAL,
				       "--per %s: there are no samples of this event",
				       m->from->per_event);
	}
	for (uint32_t i = 0; i < p->events.nr; i++) {
		if (!p->events.at[i].samples || i == m->per_event)
			continue;
		if (!nr++)
			m->event = i;
	}
	if (nr == 1)
		return 0;
	if (!nr)
		return err_set(err, -EINVAL, "no other event than %s has samples",
			       m->from->per_event);
	return err_set(
		err, -EINVAL,
		"%zu events have samples, and only one can be compared: select one, for example event:%s",
		nr, profile_event_name(p, m->event));
}

static void run_find_span(struct run_making *m)
{
	const struct profile *p = m->from->profile;

	m->first_ns = UINT64_MAX;
	for (size_t i = 0; i < p->rows.nr; i++) {
		const uint64_t t =
			profile_value(p, p->rows.at[i].group, (size_t)m->time_key);

		m->first_ns = t < m->first_ns ? t : m->first_ns;
		m->last_ns = t > m->last_ns ? t : m->last_ns;
	}
	/* If the length was unknown and there are too many blocks, merge them. */
	m->width_ns = block_merged_width_ns(m->width_ns, m->last_ns - m->first_ns);
}

uint32_t run_add_text(const struct run_making *m, const char *text, size_t len)
{
	return strtab_add_len(&m->from->to->strings, text, len);
}

static const struct profile_image *run_find_image(const struct profile *p,
						  const char *name)
{
	for (size_t i = 0; i < p->images.nr; i++) {
		if (!strcmp(strtab_get(&p->strings, p->images.at[i].name), name))
			return &p->images.at[i];
	}
	return NULL;
}

uint32_t run_add_image(struct run_making *m, uint64_t number, const char *name)
{
	const struct profile_image *from;
	struct run_image image = { 0 };
	bool is_new;
	struct map_slot *slot = map_at(&m->image_by, number, 0, &is_new);

	if (!slot)
		return DICT_NONE;
	if (!is_new)
		return slot->value_plus_1 - 1;
	image.name = run_add_text(m, name, strlen(name));
	from = run_find_image(m->from->profile, name);
	if (from)
		image.build_id = from->build_id;
	slot->value_plus_1 = (uint32_t)m->run->images.nr + 1;
	if (image.name == STRTAB_FAILED || !vec_push(&m->run->images, image))
		return DICT_NONE;
	return (uint32_t)m->run->images.nr - 1;
}

/* Returns the index of the row's image in the run, or DICT_NONE if memory is short. */
static uint32_t run_image_of(struct run_making *m, const struct profile_row *row)
{
	const size_t key = (size_t)m->image_key;

	return run_add_image(m, profile_value(m->from->profile, row->group, key),
			     profile_text(m->from->profile, row->group, key));
}

/* Returns the number of the text "FILE:LINE" of a group, without the directory. */
static uint32_t run_line_text(struct run_making *m, uint32_t group)
{
	const char *text = profile_text(m->from->profile, group, (size_t)m->line_key);
	const char *slash = strrchr(text, '/');

	text = slash ? slash + 1 : text;
	return run_add_text(m, text, strlen(text));
}

/* Returns the number of the text of a stack: its functions without suffixes of compilers. */
static uint32_t run_stack_text(struct run_making *m, uint32_t group)
{
	const char *text = profile_text(m->from->profile, group, (size_t)m->stack_key);
	char *copy = strdup(text);
	struct buf stable = { 0 };
	uint32_t number = STRTAB_FAILED;

	for (char *at = copy; at;) {
		char *end = strchr(at, ';');

		if (end)
			*end++ = '\0';
		buf_put(&stable, at, name_stable_len(at));
		if (end)
			buf_put_u8(&stable, ';');
		at = end;
	}
	if (copy && !stable.failed)
		number = run_add_text(m, (const char *)stable.data, stable.len);
	buf_done(&stable);
	free(copy);
	return number;
}

/* Sets the names of a new item. Returns false if memory runs out. */
static bool run_name_item(struct run_making *m, uint32_t group, struct run_item *item)
{
	const char *symbol =
		profile_text(m->from->profile, group, (size_t)m->symbol_key);
	const uint32_t name = run_add_text(m, symbol, name_stable_len(symbol));

	item->name = m->stack_key < 0 ? name : run_stack_text(m, group);
	item->line = m->line_key < 0 ? 0 : run_line_text(m, group);
	item->function = name_is_function(symbol) ? name : 0;
	return name != STRTAB_FAILED && item->name != STRTAB_FAILED &&
	       item->line != STRTAB_FAILED;
}

/* Returns the index of the row's item in the run, or DICT_NONE if memory is short. */
static uint32_t run_add_item(struct run_making *m, const struct profile_row *row)
{
	const struct profile *p = m->from->profile;
	uint32_t *known = &m->item_of[p->groups.at[row->group].tuple[GROUP_WHERE]];
	struct run_item item = { 0 };

	if (*known != DICT_NONE)
		return *known;
	item.image = run_image_of(m, row);
	if (item.image == DICT_NONE || !run_name_item(m, row->group, &item) ||
	    !vec_push(&m->run->items, item))
		return DICT_NONE;
	*known = (uint32_t)m->run->items.nr - 1;
	return *known;
}

/* Returns the value of run_cell.item for a row: its node in a tree, otherwise its item. Stores its
 * item in *ret_item. Returns DICT_NONE if memory is short. */
static uint32_t run_cell_item(struct run_making *m, const struct profile_row *row,
			      uint32_t *ret_item)
{
	const struct profile *p = m->from->profile;
	uint64_t node;

	if (!m->node_of) {
		*ret_item = run_add_item(m, row);
		return *ret_item;
	}
	node = profile_value(p, row->group, (size_t)m->stack_key);
	node = m->node_of[node < p->calls.nodes.nr ? node : CALL_ROOT];
	*ret_item = m->run->nodes.at[node].item;
	return (uint32_t)node;
}

static int run_add_row(struct run_making *m, const struct profile_row *row,
		       struct err *err)
{
	struct compare_run *run = m->run;
	const uint64_t time =
		profile_value(m->from->profile, row->group, (size_t)m->time_key);
	struct run_cell cell = { .block =
					 (uint32_t)((time - m->first_ns) / m->width_ns),
				 .count = (double)row->samples };
	uint32_t item;

	if (row->event == m->per_event)
		run->blocks.at[cell.block] += (double)row->period;
	if (row->event != m->event || !row->samples)
		return 0;
	cell.item = run_cell_item(m, row, &item);
	if (cell.item == DICT_NONE || !vec_push(&run->cells, cell))
		return run_no_memory(err);
	run->items.at[item].samples += cell.count;
	run->images.at[run->items.at[item].image].samples += cell.count;
	run->samples += cell.count;
	if (m->from->per == RUN_PER_TOTAL)
		run->blocks.at[cell.block] += cell.count;
	return 0;
}

/* Sets the denominators that do not depend on rows. */
static void run_fill_blocks(struct run_making *m)
{
	struct compare_run *run = m->run;
	const uint64_t length = m->from->length_ns;
	const double seconds =
		(double)(length ? length : run->blocks.nr * m->width_ns) / ns_per_s;
	const double whole = m->from->per == RUN_PER_WALL   ? seconds
			     : m->from->per == RUN_PER_WORK ? m->from->work
							    : 0;

	for (size_t i = 0; whole > 0 && i < run->blocks.nr; i++)
		run->blocks.at[i] = whole / (double)run->blocks.nr;
}

static int run_check_denominator(const struct run_making *m, struct err *err)
{
	double sum = 0;

	for (size_t i = 0; i < m->run->blocks.nr; i++)
		sum += m->run->blocks.at[i];
	if (sum > 0)
		return 0;
	return err_set(err, -EINVAL, "the counts of event %s are 0",
		       m->from->per_event ? m->from->per_event : "");
}

/* Allocates m->item_of, with DICT_NONE for all items. */
static int run_begin_items(struct run_making *m)
{
	const size_t bytes =
		(m->from->profile->tuples[GROUP_WHERE].nr + 1) * sizeof(*m->item_of);

	m->item_of = malloc(bytes);
	if (!m->item_of)
		return -ENOMEM;
	memset(m->item_of, 0xff, bytes); /* DICT_NONE */
	return 0;
}

static int run_fill(struct run_making *m, struct err *err)
{
	const struct profile *p = m->from->profile;
	int r = run_begin_items(m);

	if (r)
		return run_no_memory(err);

	for (uint64_t i = 0; i <= (m->last_ns - m->first_ns) / m->width_ns; i++)
		if (!vec_push(&m->run->blocks, 0.0))
			return run_no_memory(err);
	if (m->from->to->options.is_tree && run_add_tree(m))
		return run_no_memory(err);
	if (!vec_reserve(&m->run->cells, p->rows.nr))
		return run_no_memory(err);
	for (size_t i = 0; !r && i < p->rows.nr; i++)
		r = run_add_row(m, &p->rows.at[i], err);
	run_fill_blocks(m);
	return r ? r : run_check_denominator(m, err);
}

static int run_add_facts(struct run_making *m, struct err *err)
{
	const struct profile *p = m->from->profile;
	const struct profile_event *e = &p->events.at[m->event];
	const char *name = profile_event_name(p, m->event);

	m->run->facts.event = run_add_text(m, name, strlen(name));
	m->run->facts.hz = profile_event_hz(e);
	m->run->facts.count = e->count;
	return m->run->facts.event == STRTAB_FAILED ? run_no_memory(err) : 0;
}

static int run_make(struct run_making *m, struct err *err)
{
	int r = run_choose_events(m, err);

	if (r)
		return r;
	run_find_span(m);
	if (m->from->per == RUN_PER_WALL && m->first_ns == m->last_ns)
		return err_set(err, -EINVAL, "--per wall: the samples have no times");
	m->run = comparison_add_run(m->from->to, m->from->side, m->from->name);
	if (!m->run)
		return run_no_memory(err);
	r = run_fill(m, err);
	return r ? r : run_add_facts(m, err);
}

int run_add_profile(const struct run_source *source, struct compare_run **ret_run,
		    struct err *err)
{
	const struct key_list *keys = source->profile->options.keys;
	struct run_making m = {
		.from = source,
		.width_ns = source->width_ns,
		.image_key = keys_find(keys, KEY_IMAGE),
		.symbol_key = keys_find(keys, KEY_SYMBOL),
		.line_key = keys_find(keys, KEY_LINE),
		.stack_key = keys_find(keys, KEY_STACK),
		.time_key = keys_find(keys, KEY_TIME),
	};
	int r = run_make(&m, err);

	free(m.item_of);
	map_done(&m.image_by);
	free(m.item_of_function);
	free(m.node_of);
	if (!r)
		*ret_run = m.run;
	return r;
}

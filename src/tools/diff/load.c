/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/diff/load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/blocks.h"
#include "base/buf.h"
#include "base/containers/map.h"
#include "base/err.h"
#include "compare/names.h"
#include "recordings/outline.h"
#include "recordings/series.h"
#include "tools/diff/options.h"
#include "tools/diff/sides.h"
#include "tools/report/plan.h"
#include "tools/report/read.h"

static const double ns_per_s = 1e9;

/* A recording while it is read. */
struct loading {
	struct diff_load *load;
	enum compare_side side;
	const char *name;
	struct report_plan plan;
	struct report_read read;
	struct recording_outline outline;
	/* Times of the first and last sample. Blocks are counted from the first one. */
	uint64_t first_ns, last_ns;
	uint64_t width_ns;
	uint32_t event;     /* the event that is compared */
	uint32_t per_event; /* the event that is the denominator; DICT_NONE: none */
	int image_key, symbol_key, line_key, stack_key, time_key;
	/* (image, function and line of the profile) -> index of the item. */
	struct map item_by;
	struct map image_by;
	struct compare_run *run;
};

static int load_no_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "out of memory");
}

/* Makes the arguments for a report of one recording. Copies the strings, because
 * report_plan_make() requires non-const ones. */
static int words_of(const struct loading *l, char ***ret_words, struct err *err)
{
	const struct sorted_sides *sides = l->load->sides;
	char **words = calloc(sides->spec.nr + 2, sizeof(*words));
	bool failed = !words;

	for (size_t i = 0; !failed && i <= sides->spec.nr; i++) {
		words[i] = strdup(i ? sides->spec.at[i - 1] : l->name);
		failed = !words[i];
	}
	*ret_words = words;
	return failed ? load_no_memory(err) : 0;
}

static void words_free(char **words)
{
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}

/* Reads the times of the first and last sample if that is possible without reading all samples,
 * and chooses the duration of a block. */
static int read_outline(struct loading *l, struct err *err)
{
	const struct report_sources *sources = &l->plan.sources;
	int r = 0;

	if (sources->sessions.nr == 1)
		r = recording_outline_read(&sources->sessions.at[0], &l->outline, err);
	l->width_ns = block_width_ns(l->outline.last_ns - l->outline.first_ns);
	return r;
}

static const char *keys_of(const char *by)
{
	if (by && (!strcmp(by, "line") || !strcmp(by, "srcline")))
		return "image,symbol,line,time:1s";
	if (by && !strcmp(by, "stack"))
		return "image,symbol,stack,time:1s";
	return "image,symbol,time:1s";
}

static int load_make_plan(struct loading *l, struct err *err)
{
	const struct diff_options *options = l->load->options;
	struct report_options *to = &l->plan.options;
	char **words;
	int r = words_of(l, &words, err);

	*to = options->report;
	/* Request CSV, whose keys are plain, without marks. */
	to->csv = true;
	to->json = false;
	to->by = keys_of(options->by);
	to->threshold = NULL;
	if (!r)
		r = report_plan_make(&l->plan, words, err);
	words_free(words);
	if (!r)
		r = read_outline(l, err);
	if (r)
		return r;
	/* The intervals are computed from numbers of samples. */
	l->plan.profile.values = false;
	l->image_key = keys_find(&l->plan.keys, KEY_IMAGE);
	l->symbol_key = keys_find(&l->plan.keys, KEY_SYMBOL);
	l->line_key = keys_find(&l->plan.keys, KEY_LINE);
	l->stack_key = keys_find(&l->plan.keys, KEY_STACK);
	l->time_key = keys_find(&l->plan.keys, KEY_TIME);
	l->plan.keys.keys.at[l->time_key].width_ns = l->width_ns;
	return 0;
}

static uint32_t find_event(const struct profile *p, const char *name)
{
	for (uint32_t i = 0; i < p->events.nr; i++) {
		if (p->events.at[i].samples && !strcmp(profile_event_name(p, i), name))
			return i;
	}
	return DICT_NONE;
}

/* Chooses the event to compare: the only one, or the only one in addition to the denominator. */
static int choose_events(struct loading *l, struct err *err)
{
	const struct profile *p = &l->read.profile;
	size_t nr = 0;

	l->per_event = DICT_NONE;
	if (l->load->per == DIFF_PER_EVENT) {
		l->per_event = find_event(p, l->load->per_event);
		if (l->per_event == DICT_NONE)
			return err_set(err, -EINVAL,
				       "--per %s: there are no samples of this event",
				       l->load->per_event);
	}
	for (uint32_t i = 0; i < p->events.nr; i++) {
		if (!p->events.at[i].samples || i == l->per_event)
			continue;
		if (!nr++)
			l->event = i;
	}
	if (nr == 1)
		return 0;
	if (!nr)
		return err_set(err, -EINVAL, "no other event than %s has samples",
			       l->load->per_event);
	return err_set(
		err, -EINVAL,
		"%zu events have samples, and only one can be compared: select one, for example event:%s",
		nr, profile_event_name(p, l->event));
}

static void find_span(struct loading *l)
{
	const struct profile *p = &l->read.profile;

	l->first_ns = UINT64_MAX;
	for (size_t i = 0; i < p->rows.nr; i++) {
		const uint64_t t =
			profile_value(p, p->rows.at[i].group, (size_t)l->time_key);

		l->first_ns = t < l->first_ns ? t : l->first_ns;
		l->last_ns = t > l->last_ns ? t : l->last_ns;
	}
	/* If the length was unknown and there are too many blocks, merge them. */
	l->width_ns = block_merged_width_ns(l->width_ns, l->last_ns - l->first_ns);
}

/* Adds the first `len` bytes of a text to the strings of the comparison. Returns its number, or
 * STRTAB_FAILED. */
static uint32_t load_text(const struct loading *l, const char *text, size_t len)
{
	return strtab_add_len(&l->load->to->strings, text, len);
}

static const struct profile_image *load_find_image(const struct profile *p,
						   const char *name)
{
	for (size_t i = 0; i < p->images.nr; i++) {
		if (!strcmp(strtab_get(&p->strings, p->images.at[i].name), name))
			return &p->images.at[i];
	}
	return NULL;
}

/* Returns the index of the row's image in the run, or DICT_NONE if memory is short. */
static uint32_t load_image(struct loading *l, const struct profile_row *row)
{
	struct profile *p = &l->read.profile;
	const size_t key = (size_t)l->image_key;
	const char *name = profile_text(p, row->group, key);
	const struct profile_image *from;
	struct run_image image = { 0 };
	bool is_new;
	struct map_slot *slot =
		map_at(&l->image_by, profile_value(p, row->group, key), 0, &is_new);

	if (!slot)
		return DICT_NONE;
	if (!is_new)
		return slot->value_plus_1 - 1;
	image.name = load_text(l, name, strlen(name));
	from = load_find_image(p, name);
	if (from)
		image.build_id = from->build_id;
	slot->value_plus_1 = (uint32_t)l->run->images.nr + 1;
	if (image.name == STRTAB_FAILED || !vec_push(&l->run->images, image))
		return DICT_NONE;
	return (uint32_t)l->run->images.nr - 1;
}

/* Returns the number of the text "FILE:LINE" of a group, without the directory. */
static uint32_t load_line_text(struct loading *l, uint32_t group)
{
	const char *text = profile_text(&l->read.profile, group, (size_t)l->line_key);
	const char *slash = strrchr(text, '/');

	text = slash ? slash + 1 : text;
	return load_text(l, text, strlen(text));
}

/* Returns the number of the text of a stack: its functions without suffixes of compilers. */
static uint32_t load_stack_text(struct loading *l, uint32_t group)
{
	const char *text = profile_text(&l->read.profile, group, (size_t)l->stack_key);
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
		number = load_text(l, (const char *)stable.data, stable.len);
	buf_done(&stable);
	free(copy);
	return number;
}

/* Sets the names of a new item. */
static bool name_item(struct loading *l, uint32_t group, struct run_item *item)
{
	const char *symbol =
		profile_text(&l->read.profile, group, (size_t)l->symbol_key);
	const uint32_t name = load_text(l, symbol, name_stable_len(symbol));

	item->name = l->stack_key < 0 ? name : load_stack_text(l, group);
	item->line = l->line_key < 0 ? 0 : load_line_text(l, group);
	item->function = name_is_function(symbol) ? name : 0;
	return name != STRTAB_FAILED && item->name != STRTAB_FAILED &&
	       item->line != STRTAB_FAILED;
}

/* Returns the index of the row's item in the run, or DICT_NONE if memory is short. */
static uint32_t load_item(struct loading *l, const struct profile_row *row)
{
	struct profile *p = &l->read.profile;
	struct run_item item = { .image = load_image(l, row) };
	const int detail = l->stack_key < 0 ? l->line_key : l->stack_key;
	const uint64_t value =
		detail < 0 ? 0 : profile_value(p, row->group, (size_t)detail);
	const uint64_t symbol = profile_value(p, row->group, (size_t)l->symbol_key);
	bool is_new;
	struct map_slot *slot;

	if (item.image == DICT_NONE)
		return DICT_NONE;
	slot = map_at(&l->item_by, (uint64_t)item.image << 32 | value, symbol, &is_new);
	if (!slot)
		return DICT_NONE;
	if (!is_new)
		return slot->value_plus_1 - 1;
	slot->value_plus_1 = (uint32_t)l->run->items.nr + 1;
	if (!name_item(l, row->group, &item) || !vec_push(&l->run->items, item))
		return DICT_NONE;
	return (uint32_t)l->run->items.nr - 1;
}

static int load_row(struct loading *l, const struct profile_row *row, struct err *err)
{
	struct compare_run *run = l->run;
	const uint64_t time =
		profile_value(&l->read.profile, row->group, (size_t)l->time_key);
	struct run_cell cell = { .block =
					 (uint32_t)((time - l->first_ns) / l->width_ns),
				 .count = (double)row->samples };

	if (row->event == l->per_event)
		run->blocks.at[cell.block] += (double)row->period;
	if (row->event != l->event || !row->samples)
		return 0;
	cell.item = load_item(l, row);
	if (cell.item == DICT_NONE || !vec_push(&run->cells, cell))
		return load_no_memory(err);
	run->items.at[cell.item].samples += cell.count;
	run->images.at[run->items.at[cell.item].image].samples += cell.count;
	run->samples += cell.count;
	if (l->load->per == DIFF_PER_TOTAL)
		run->blocks.at[cell.block] += cell.count;
	return 0;
}

/* Sets the denominators that do not depend on rows. */
static void fill_blocks(struct loading *l)
{
	struct compare_run *run = l->run;
	const uint64_t known = l->outline.last_ns - l->outline.first_ns;
	const double seconds =
		(double)(known ? known : run->blocks.nr * l->width_ns) / ns_per_s;
	const double whole = l->load->per == DIFF_PER_WALL   ? seconds
			     : l->load->per == DIFF_PER_WORK ? l->load->work[l->side]
							     : 0;

	for (size_t i = 0; whole > 0 && i < run->blocks.nr; i++)
		run->blocks.at[i] = whole / (double)run->blocks.nr;
}

static int check_denominator(const struct loading *l, struct err *err)
{
	double sum = 0;

	for (size_t i = 0; i < l->run->blocks.nr; i++)
		sum += l->run->blocks.at[i];
	if (sum > 0)
		return 0;
	return err_set(err, -EINVAL, "the counts of event %s are 0",
		       l->load->per_event ? l->load->per_event : "");
}

static int load_profile(struct loading *l, struct err *err)
{
	const struct profile *p = &l->read.profile;
	int r = choose_events(l, err);

	if (r)
		return r;
	find_span(l);
	if (l->load->per == DIFF_PER_WALL && l->first_ns == l->last_ns)
		return err_set(err, -EINVAL, "--per wall: the samples have no times");
	l->run = comparison_add_run(l->load->to, l->side, l->name);
	if (!l->run)
		return load_no_memory(err);
	for (uint64_t i = 0; i <= (l->last_ns - l->first_ns) / l->width_ns; i++)
		if (!vec_push(&l->run->blocks, 0.0))
			return load_no_memory(err);
	for (size_t i = 0; !r && i < p->rows.nr; i++)
		r = load_row(l, &p->rows.at[i], err);
	fill_blocks(l);
	return r ? r : check_denominator(l, err);
}

static uint32_t copy_fact(const struct loading *l, const char *text)
{
	return text ? load_text(l, text, strlen(text)) : 0;
}

static int load_facts(struct loading *l, struct err *err)
{
	const struct profile *p = &l->read.profile;
	const struct profile_event *e = &p->events.at[l->event];
	const struct run_facts facts = {
		.hostname = copy_fact(l, l->outline.hostname),
		.os_release = copy_fact(l, l->outline.os_release),
		.cpu_desc = copy_fact(l, l->outline.cpu_desc),
		.event = copy_fact(l, profile_event_name(p, l->event)),
		.hz = profile_event_hz(e),
		.count = e->count,
		.start_ns = recording_start_ns(report_source_archive(l->name),
					       &l->plan.sources, &l->outline),
	};

	if (facts.hostname == STRTAB_FAILED || facts.os_release == STRTAB_FAILED ||
	    facts.cpu_desc == STRTAB_FAILED || facts.event == STRTAB_FAILED)
		return load_no_memory(err);
	l->run->facts = facts;
	return 0;
}

/* Frees a plan, but not the lists of its options, which belong to the options of the command. */
static void load_plan_done(struct report_plan *plan)
{
	struct report_options *o = &plan->options;

	o->sort = o->ratios = o->merge = (struct word_list){ 0 };
	o->exclude_symbols = o->include_symbols = (struct word_list){ 0 };
	report_plan_done(plan);
}

static int load_run(struct diff_load *load, enum compare_side side, const char *name,
		    struct err *err)
{
	struct loading l = { .load = load, .side = side, .name = name };
	int r = load_make_plan(&l, err);

	if (!r)
		r = report_read_all(&l.read, &l.plan, err);
	report_progress_end();
	load->incomplete |= report_warn_of_damage(&l.read);
	if (!r) {
		report_warn_of_losses(&l.read);
		load->is_private |= report_read_is_private(&l.read, &l.plan);
		r = load_profile(&l, err);
	}
	if (!r)
		r = load_facts(&l, err);
	map_done(&l.item_by);
	map_done(&l.image_by);
	recording_outline_done(&l.outline);
	profile_done(&l.read.profile);
	load_plan_done(&l.plan);
	return r ? err_prefix(err, "'%s'", name) : 0;
}

int diff_load_all(struct diff_load *load, struct err *err)
{
	const struct sorted_sides *sides = load->sides;
	int r = 0;

	for (enum compare_side side = 0; side < COMPARE_SIDES; side++)
		for (size_t i = 0; !r && i < sides->runs[side].nr; i++)
			r = load_run(load, side, sides->runs[side].at[i], err);
	return r;
}

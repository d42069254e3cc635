/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "aggregate/profile/profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/groups.h"
#include "resolve/symbols/demangle.h"
#include "resolve/symbols/name_patterns.h"

int profile_init(struct profile *p, const struct profile_options *options)
{
	const struct spec *spec = options->spec;

	*p = (struct profile){ .options = *options };
	if (strtab_init(&p->strings))
		return -ENOMEM;
	p->options.calls |= options->call_graph;
	/* An entry of a timeline holds 32 bits. */
	p->options.values &= !options->timeline;
	p->nr_keys = options->keys->keys.nr;
	groups_init(p);
	for (size_t i = 0; i < p->nr_keys; i++)
		p->needs |= options->keys->keys.at[i].row->needs;
	if (p->options.calls)
		p->needs |= NEED_IMAGE | NEED_FUNCTION | NEED_STACK;
	if (spec && spec_has_images(spec))
		p->needs |= NEED_APP | NEED_IMAGE;
	if (spec && spec_has_cgroups(spec))
		p->needs |= NEED_CGROUP;
	if (options->quality)
		p->needs |= NEED_IMAGE | NEED_FUNCTION | NEED_QUALITY;
	if (symbol_filter_filters(options->symbols, spec))
		p->needs |= NEED_IMAGE | NEED_FUNCTION;
	/* Without applications, threads are not needed. */
	if (options->merge_images && !(spec && spec_has_images(spec)))
		p->needs &= ~(unsigned int)NEED_APP;
	if (options->exclude_dependent)
		p->needs |= NEED_APP | NEED_IMAGE;
	p->input.totals.finished = true;
	p->input.totals.target_status = -1;
	return 0;
}

static void profile_image_done(struct profile_image *image)
{
	free(image->sections);
	free(image->bytes);
}

void profile_done(struct profile *p)
{
	strtab_done(&p->strings);
	vec_done(&p->events);
	for (size_t i = 0; i < p->images.nr; i++)
		profile_image_done(&p->images.at[i]);
	vec_done(&p->images);
	vec_done(&p->functions);
	groups_done(p);
	vec_done(&p->block_cells);
	timeline_done(&p->timeline);
	map_done(&p->image_by);
	map_done(&p->function_by);
	call_tree_done(&p->calls);
	call_graph_done(&p->graph);
	vec_done(&p->tuple_of_function);
	buf_done(&p->call_texts[0]);
	buf_done(&p->call_texts[1]);
	vec_done(&p->path);
	*p = (struct profile){ 0 };
}

char *profile_name_to_show(const struct profile *p, const char *raw)
{
	char *full = p->options.raw_names ? NULL : demangle(raw);
	char *shorter = NULL;

	if (full && p->options.patterns)
		shorter = name_patterns_apply(p->options.patterns, full);
	if (!shorter)
		return full;
	free(full);
	return shorter;
}

/* Returns "name (inlined)", malloc'd; NULL if memory is short. */
static char *profile_inlined_name(const struct profile *p, const char *raw)
{
	char *full = profile_name_to_show(p, raw);
	char *marked;

	if (asprintf(&marked, "%s (inlined)", full ? full : raw) < 0)
		marked = NULL;
	free(full);
	return marked;
}

const char *profile_function_name(struct profile *p, uint32_t function)
{
	struct profile_function *f = &p->functions.at[function];
	const char *raw = strtab_get(&p->strings, f->raw);
	char *shown;

	if (f->shown != DICT_NONE)
		return strtab_get(&p->strings, f->shown);
	shown = f->kind == FUNCTION_NAMED     ? profile_name_to_show(p, raw)
		: f->kind == FUNCTION_INLINED ? profile_inlined_name(p, raw)
					      : NULL;
	f->shown = shown ? strtab_add(&p->strings, shown) : f->raw;
	free(shown);
	return f->shown == STRTAB_FAILED ? NULL : strtab_get(&p->strings, f->shown);
}

static bool numbers_functions(const struct profile *p, size_t key)
{
	return p->options.functions_apart &&
	       p->options.keys->keys.at[key].row->id == KEY_SYMBOL;
}

size_t profile_nr_values(const struct profile *p, size_t key)
{
	if (p->options.keys->keys.at[key].row->kind != KEY_TEXT)
		return 0;
	if (p->options.keys->keys.at[key].row->id == KEY_STACK)
		return p->calls.nodes.nr;
	return numbers_functions(p, key) ? p->functions.nr : p->strings.strings.nr;
}

const char *profile_text(struct profile *p, uint32_t group, size_t key)
{
	uint64_t value = profile_value(p, group, key);
	const char *text;

	if (p->options.keys->keys.at[key].row->id == KEY_STACK)
		return call_tree_text(p, (uint32_t)value);
	if (!numbers_functions(p, key))
		return strtab_get(&p->strings, (uint32_t)value);
	text = profile_function_name(p, (uint32_t)value);
	return text ? text : "";
}

const char *profile_event_name(const struct profile *p, uint32_t event)
{
	return strtab_get(&p->strings, p->events.at[event].name);
}

uint64_t profile_event_hz(const struct profile_event *e)
{
	return e->most_hz ? e->most_hz : e->frequency_hz;
}

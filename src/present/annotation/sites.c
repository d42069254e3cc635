/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sites.c - finds the sites at which functions were inlined. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "present/annotation/priv.h"
#include "resolve/code/code.h"

enum {
	FRAMES_MAX = 32
};

struct address {
	uint32_t image;
	uint32_t group;
	uint64_t address;
};

struct finding {
	struct making *m;
	VEC(struct address) addresses;
	struct map site_by; /* (file, line), (name, is_sum) -> site */
	struct line_frame frames[FRAMES_MAX];
	/* Sites of the current address: a function inlined into itself counts once. */
	uint32_t seen[2 * FRAMES_MAX];
	size_t nr_seen;
};

static int compare_addresses(const void *x, const void *y)
{
	const struct address *a = x, *b = y;

	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

static int annotation_sites_collect(struct finding *f)
{
	const struct annotation *a = f->m->a;
	int key = keys_find(a->p->options.keys, KEY_ADDRESS);

	for (size_t i = 0; key >= 0 && i < a->groups.all.nr; i++) {
		uint32_t group = a->groups.all.at[i].group;
		uint64_t function = profile_value(a->p, group, f->m->symbol_key);
		struct address made = { .group = (uint32_t)i };

		if (function >= a->p->functions.nr ||
		    (f->m->top && !f->m->top[function]))
			continue;
		made.image = a->p->functions.at[function].image;
		made.address = profile_value(a->p, group, (size_t)key);
		if (!vec_push(&f->addresses, made))
			return -ENOMEM;
	}
	if (f->addresses.nr)
		qsort(f->addresses.at, f->addresses.nr, sizeof(*f->addresses.at),
		      compare_addresses);
	return 0;
}

static struct annotated_site *site_of(struct finding *f,
				      const struct annotated_site *site)
{
	struct annotation *a = f->m->a;
	struct annotated_site made = *site;
	struct map_slot *slot;
	bool is_new;

	slot = map_at(&f->site_by, (uint64_t)site->file << 32 | site->line,
		      (uint64_t)site->name << 1 | site->is_sum, &is_new);
	if (!slot)
		return NULL;
	if (is_new) {
		if (!vec_grow(&a->all_sites))
			return NULL;
		made.counts = calloc(a->nr_counts + 1, sizeof(*made.counts));
		a->all_sites.at[a->all_sites.nr] = made;
		if (!made.counts)
			return NULL;
		a->all_sites.nr++;
		slot->value_plus_1 = (uint32_t)a->all_sites.nr;
	}
	return &a->all_sites.at[slot->value_plus_1 - 1];
}

static int annotation_sites_add_site(struct finding *f, const char *file, uint32_t line,
				     uint32_t name, bool is_sum, const uint64_t *counts)
{
	struct annotated_site site = { .line = line, .name = name, .is_sum = is_sum };
	const struct annotation *a = f->m->a;
	struct annotated_site *found;
	uint32_t number;

	if (!file || !line)
		return 0;
	site.file = annotation_file(f->m, file, strlen(file));
	found = site.file == NONE ? NULL : site_of(f, &site);
	if (!found)
		return -ENOMEM;
	number = (uint32_t)(found - a->all_sites.at);
	for (size_t i = 0; i < f->nr_seen; i++)
		if (f->seen[i] == number)
			return 0;
	f->seen[f->nr_seen++] = number;
	for (size_t c = 0; c < a->nr_counts; c++)
		found->counts[c] += counts[c];
	return 0;
}

static uint32_t annotation_sites_name_of(struct finding *f,
					 const struct line_frame *frame)
{
	struct profile *p = f->m->a->p;
	const char *raw = frame->name ? frame->name : "(no name)";
	char *shown = frame->linkage ? profile_name_to_show(p, raw) : NULL;
	uint32_t name = strtab_add(&p->strings, shown ? shown : raw);

	free(shown);
	return name;
}

static int take_address(struct finding *f, struct code *code, const struct address *at)
{
	const uint64_t *counts = f->m->a->groups.all.at[at->group].counts;
	size_t nr = code_frames(code, at->address, f->frames, FRAMES_MAX);
	int r = 0;

	f->nr_seen = 0;
	for (size_t i = 0; !r && i + 1 < nr && f->frames[i].inlined; i++) {
		const struct line_frame *frame = &f->frames[i];
		uint32_t name = annotation_sites_name_of(f, frame);

		if (name == STRTAB_FAILED)
			return -ENOMEM;
		r = annotation_sites_add_site(f, frame[1].file, frame[1].line, name,
					      false, counts);
		if (!r)
			r = annotation_sites_add_site(f, frame->decl_file,
						      frame->decl_line, name, true,
						      counts);
	}
	return r;
}

/* Processes the addresses of an image from `from` on; *ret_end is the index after the last one. */
static int take_image(struct finding *f, const struct annotation_options *options,
		      size_t from, size_t *ret_end)
{
	uint32_t image = f->addresses.at[from].image;
	struct code *code = options->code_of(options->ctx, image);
	size_t end = from;
	uint64_t *all;
	int r = 0;

	while (end < f->addresses.nr && f->addresses.at[end].image == image)
		end++;
	*ret_end = end;
	if (!code)
		return 0;
	all = malloc((end - from) * sizeof(*all));
	if (!all)
		return -ENOMEM;
	for (size_t i = from; i < end; i++)
		all[i - from] = f->addresses.at[i].address;
	code_prepare_lines(code, all, end - from);
	free(all);
	for (size_t i = from; !r && i < end; i++)
		r = take_address(f, code, &f->addresses.at[i]);
	return r;
}

static int compare_sites(const void *x, const void *y, void *ctx)
{
	const struct annotated_site *a = x, *b = y;
	const struct annotation *of = ctx;

	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	for (size_t c = 0; c < of->nr_counts; c++)
		if (a->counts[c] != b->counts[c])
			return a->counts[c] > b->counts[c] ? -1 : 1;
	if (a->is_sum != b->is_sum)
		return a->is_sum ? -1 : 1;
	return strcmp(strtab_get(&of->p->strings, a->name),
		      strtab_get(&of->p->strings, b->name));
}

int annotation_make_sites(struct making *m, const struct annotation_options *options)
{
	struct annotation *a = m->a;
	struct finding f = { .m = m };
	int r = annotation_sites_collect(&f);

	for (size_t i = 0; !r && i < f.addresses.nr;)
		r = take_image(&f, options, i, &i);
	map_done(&f.site_by);
	vec_done(&f.addresses);
	if (r || !a->all_sites.nr)
		return r;
	qsort_r(a->all_sites.at, a->all_sites.nr, sizeof(*a->all_sites.at),
		compare_sites, a);
	for (size_t i = 0; i < a->all_sites.nr; i++) {
		struct annotated_file *file = &a->files.at[a->all_sites.at[i].file];

		if (!file->nr_sites++)
			file->sites = &a->all_sites.at[i];
	}
	return 0;
}

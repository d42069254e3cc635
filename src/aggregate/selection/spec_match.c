/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spec_match.c - matches events, threads, images and so on against a profile specification. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/selection/spec.h"
#include "base/array.h"
#include "format/session/session.h"

enum {
	BIT_ANY = 1 << SPEC_ANY_IMAGE,
	BIT_IMAGE = 1 << SPEC_IMAGE,
	BIT_EXCLUDE = 1 << SPEC_IMAGE_EXCLUDE,
	BIT_LIB = 1 << SPEC_LIB_IMAGE,
	BIT_LIB_EXCLUDE = 1 << SPEC_LIB_IMAGE_EXCLUDE,
	BIT_KERNEL = 1 << SPEC_COUNT,
	NR_IMAGE_TAGS = SPEC_LIB_IMAGE_EXCLUDE + 1
};

/* Returns true for a pattern entirely in brackets: a name such as [vdso], not a character set. */
static bool is_bracketed(const char *pattern)
{
	return pattern[0] == '[' &&
	       strchr(pattern, ']') == pattern + strlen(pattern) - 1;
}

static bool spec_match_matches(const char *pattern, const char *name)
{
	return !strcmp(pattern, name) ||
	       (!is_bracketed(pattern) && !fnmatch(pattern, name, 0));
}

static bool list_wants(const struct spec_list *list, const char *name)
{
	for (size_t i = 0; i < list->values.nr; i++) {
		if (spec_match_matches(list->values.at[i], name))
			return true;
	}
	return !list->values.nr;
}

static bool list_wants_number(const struct spec_list *list, uint64_t number)
{
	for (size_t i = 0; i < list->numbers.nr; i++) {
		if (list->numbers.at[i] == number)
			return true;
	}
	return !list->numbers.nr;
}

unsigned int spec_columns(const struct spec *spec)
{
	const struct spec_list *lists = spec->lists;
	unsigned int columns = 0;

	if (lists[SPEC_COMM].values.nr || lists[SPEC_TGID].values.nr ||
	    lists[SPEC_TID].values.nr || lists[SPEC_CGROUP].values.nr)
		columns |= COLUMN_THREAD;
	if (lists[SPEC_CPU].values.nr)
		columns |= COLUMN_CPU;
	if (lists[SPEC_TIME].values.nr)
		columns |= COLUMN_TIME;
	if (spec_has_symbols(spec))
		columns |= COLUMN_STACK;
	if (spec_has_images(spec))
		columns |= COLUMN_THREAD | COLUMN_STACK;
	return columns;
}

/* Cuts the modifiers off an event's name: "cycles:pp", "cpu/cycles/u" - the letters of
 * perf-list(1).  Returns false if it has none. */
static bool spec_match_cut_modifiers(char *name)
{
	static const char letters[] = "ukhIGHpPSDeWbR";
	size_t len = strlen(name);
	size_t end = len;

	while (end && strchr(letters, name[end - 1]))
		end--;
	if (end == len || end < 2 || (name[end - 1] != ':' && name[end - 1] != '/'))
		return false;
	end -= name[end - 1] == ':';
	name[end] = '\0';
	return true;
}

/* Returns the text between the slashes of "cpu_core/cycles:ppp/", or NULL. */
static char *inside_pmu(char *name)
{
	char *slash = strchr(name, '/');
	size_t len = strlen(name);

	if (!slash || slash == name || name[len - 1] != '/' || slash == name + len - 1)
		return NULL;
	name[len - 1] = '\0';
	return slash + 1;
}

/* Returns whether a list contains an event: by its full name, and by its name without modifiers,
 * without its PMU, and without both. */
static bool list_wants_event(const struct spec_list *list, const char *name)
{
	char *copy, *event;
	bool wanted = list_wants(list, name);

	if (wanted)
		return true;
	copy = strdup(name);
	if (!copy)
		return false;
	wanted = spec_match_cut_modifiers(copy) && list_wants(list, copy);
	event = inside_pmu(copy);
	if (!wanted && event)
		wanted = list_wants(list, event) ||
			 (spec_match_cut_modifiers(event) && list_wants(list, event));
	free(copy);
	return wanted;
}

bool spec_wants_event(const struct spec *spec, const char *name, uint64_t count,
		      uint64_t unit_mask)
{
	return list_wants_event(&spec->lists[SPEC_EVENT], name) &&
	       list_wants_number(&spec->lists[SPEC_EVENT_COUNT], count) &&
	       list_wants_number(&spec->lists[SPEC_UNIT_MASK], unit_mask);
}

bool spec_wants_thread(const struct spec *spec, int32_t tgid, int32_t tid,
		       const char *comm)
{
	return list_wants_number(&spec->lists[SPEC_TGID], (uint64_t)(int64_t)tgid) &&
	       list_wants_number(&spec->lists[SPEC_TID], (uint64_t)(int64_t)tid) &&
	       list_wants(&spec->lists[SPEC_COMM], comm);
}

bool spec_has_cgroups(const struct spec *spec)
{
	return spec->lists[SPEC_CGROUP].values.nr;
}

bool spec_wants_cgroup(const struct spec *spec, const char *path)
{
	return list_wants(&spec->lists[SPEC_CGROUP], path);
}

bool spec_wants_cpu(const struct spec *spec, int64_t cpu)
{
	return list_wants_number(&spec->lists[SPEC_CPU], (uint64_t)cpu);
}

bool spec_wants_session(const struct spec *spec, const char *name)
{
	const struct spec_list *exclude = &spec->lists[SPEC_SESSION_EXCLUDE];

	return !exclude->values.nr || !list_wants(exclude, name);
}

bool spec_has_symbols(const struct spec *spec)
{
	return spec->lists[SPEC_SYMBOL].values.nr ||
	       spec->lists[SPEC_SYMBOL_EXCLUDE].values.nr;
}

bool spec_has_symbol(const struct spec *spec, enum spec_tag tag, const char *raw,
		     const char *shown)
{
	const struct spec_list *list = &spec->lists[tag];

	return list->values.nr &&
	       (list_wants(list, raw) || (shown && list_wants(list, shown)));
}

bool spec_wants_symbol(const struct spec *spec, const char *raw, const char *shown)
{
	return (!spec->lists[SPEC_SYMBOL].values.nr ||
		spec_has_symbol(spec, SPEC_SYMBOL, raw, shown)) &&
	       !spec_has_symbol(spec, SPEC_SYMBOL_EXCLUDE, raw, shown);
}

bool spec_has_shares(const struct spec *spec)
{
	for (size_t i = 0; i < spec->spans.nr; i++) {
		if (spec_span_has_shares(&spec->spans.at[i]))
			return true;
	}
	return false;
}

static unsigned int given_images(const struct spec *spec)
{
	unsigned int given = 0;

	for (unsigned int tag = 0; tag < NR_IMAGE_TAGS; tag++) {
		if (spec->lists[tag].values.nr)
			given |= 1u << tag;
	}
	return given;
}

bool spec_has_images(const struct spec *spec)
{
	return given_images(spec) != 0;
}

/* Returns whether a pattern matches a path. A pattern without a slash also matches the last
 * component of a path. */
static bool image_matches(const char *pattern, const struct image_names *image)
{
	bool bare = !strchr(pattern, '/');

	for (size_t i = 0; i < COUNT_OF(image->names); i++) {
		const char *name = image->names[i];
		const char *base;

		if (!name)
			continue;
		if (spec_match_matches(pattern, name))
			return true;
		base = strrchr(name, '/');
		if (bare && base && spec_match_matches(pattern, base + 1))
			return true;
	}
	return false;
}

unsigned int spec_image_bits(const struct spec *spec, const struct image_names *image)
{
	unsigned int bits = image->kernel ? BIT_KERNEL : 0;

	for (unsigned int tag = 0; tag < NR_IMAGE_TAGS; tag++) {
		const struct spec_list *list = &spec->lists[tag];

		for (size_t i = 0; i < list->values.nr; i++) {
			if (image_matches(list->values.at[i], image)) {
				bits |= 1u << tag;
				break;
			}
		}
	}
	return bits;
}

bool spec_wants_image(const struct spec *spec, unsigned int app, unsigned int image,
		      bool *ret_top)
{
	unsigned int given = given_images(spec);
	bool kernel = image & BIT_KERNEL;
	/* Tags that match in either role: bare arguments for all images, image: for kernel and
	 * modules. */
	unsigned int either = image & (kernel ? BIT_ANY | BIT_IMAGE : BIT_ANY);

	*ret_top = false;
	if ((app | image) & BIT_EXCLUDE || image & BIT_LIB_EXCLUDE)
		return false;
	if (given & BIT_LIB & ~image)
		return false;
	if (given & (BIT_ANY | BIT_IMAGE) & ~(app | either))
		return false;
	*ret_top = kernel && either;
	return true;
}

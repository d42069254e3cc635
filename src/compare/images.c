/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/images.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/containers/map.h"
#include "compare/comparison.h"

/* Images with a smaller share of the samples are not compared by their functions. */
static const double least_share = 0.005;
/* Two images match if functions of the same names have at least this share of their samples. */
static const double least_overlap = 0.5;

/* An image of the comparison while runs are matched, described as in the first run that has it. */
struct known_image {
	const struct compare_run *run;
	const struct run_image *image;
	size_t taken_by; /* number of the last run with an image that matched it */
};

struct matching {
	struct comparison *c;
	VEC(struct known_image) known;
	size_t run; /* number of the current run */
};

static const char *images_file_name(const struct comparison *c,
				    const struct run_image *image)
{
	const char *path = strtab_get(&c->strings, image->name);
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Returns whether two names differ only in digits, dots, dashes and underscores: versions. */
static bool is_same_stem(const char *a, const char *b)
{
	for (;; a++, b++) {
		a += strspn(a, "0123456789.-_");
		b += strspn(b, "0123456789.-_");
		if (*a != *b)
			return false;
		if (!*a)
			return true;
	}
}

typedef bool images_rule(const struct matching *m, const struct run_image *a,
			 const struct run_image *b);

static bool is_same_path(const struct matching *m, const struct run_image *a,
			 const struct run_image *b)
{
	(void)m;
	return a->name == b->name;
}

static bool is_same_build(const struct matching *m, const struct run_image *a,
			  const struct run_image *b)
{
	(void)m;
	return a->build_id.len && a->build_id.len == b->build_id.len &&
	       !memcmp(a->build_id.bytes, b->build_id.bytes, a->build_id.len);
}

static bool is_same_file_name(const struct matching *m, const struct run_image *a,
			      const struct run_image *b)
{
	return !strcmp(images_file_name(m->c, a), images_file_name(m->c, b));
}

static bool is_same_without_version(const struct matching *m, const struct run_image *a,
				    const struct run_image *b)
{
	return is_same_stem(images_file_name(m->c, a), images_file_name(m->c, b));
}

static bool image_is_free(const struct matching *m, const struct known_image *k)
{
	return k->taken_by != m->run;
}

static bool image_is_open(const struct run_image *image)
{
	return image->same == DICT_NONE;
}

/* Returns the known image that matches by the rule. Returns NULL if none matches, if several known
 * images match, or if it also matches another image of the run. */
static struct known_image *find_only(const struct matching *m,
				     const struct compare_run *run,
				     const struct run_image *image, images_rule *rule)
{
	struct known_image *found = NULL;

	for (size_t i = 0; i < m->known.nr; i++) {
		struct known_image *k = &m->known.at[i];

		if (!image_is_free(m, k) || !rule(m, k->image, image))
			continue;
		if (found)
			return NULL;
		found = k;
	}
	for (size_t i = 0; found && i < run->images.nr; i++) {
		const struct run_image *other = &run->images.at[i];

		if (other != image && image_is_open(other) &&
		    rule(m, found->image, other))
			return NULL;
	}
	return found;
}

static void images_take(struct matching *m, struct known_image *k,
			struct run_image *image)
{
	image->same = (uint32_t)(k - m->known.at);
	k->taken_by = m->run;
}

static void match_by_rule(struct matching *m, struct compare_run *run,
			  images_rule *rule)
{
	for (size_t i = 0; i < run->images.nr; i++) {
		struct run_image *image = &run->images.at[i];
		struct known_image *k =
			image_is_open(image) ? find_only(m, run, image, rule) : NULL;

		if (k)
			images_take(m, k, image);
	}
}

/* Sets *ret_overlap to the share of samples of two images that are in functions of the same
 * names.  Returns 0 or -ENOMEM. */
static int find_overlap(const struct known_image *known, const struct compare_run *run,
			const struct run_image *image, double *ret_overlap)
{
	const size_t a = (size_t)(known->image - known->run->images.at);
	const size_t b = (size_t)(image - run->images.at);
	struct map by_name = { 0 };
	double overlap = 0;
	int r = 0;

	for (size_t i = 0; !r && i < known->run->items.nr; i++) {
		const struct run_item *item = &known->run->items.at[i];

		if (item->image == a && item->function)
			r = map_set(&by_name, item->function, 0, (uint32_t)i);
	}
	for (size_t i = 0; !r && i < run->items.nr; i++) {
		const struct run_item *item = &run->items.at[i];
		uint32_t at = item->image == b ? map_get(&by_name, item->function, 0)
					       : MAP_NONE;

		if (at != MAP_NONE)
			overlap += fmin(item->samples / image->samples,
					known->run->items.at[at].samples /
						known->image->samples);
	}
	map_done(&by_name);
	if (!r)
		*ret_overlap = overlap;
	return r;
}

static bool image_is_large(const struct compare_run *run, const struct run_image *image)
{
	return image->samples > least_share * run->samples;
}

static int match_by_functions(struct matching *m, struct compare_run *run)
{
	for (size_t i = 0; i < run->images.nr; i++) {
		struct run_image *image = &run->images.at[i];
		struct known_image *best = NULL;
		double most = least_overlap;

		if (!image_is_open(image) || !image_is_large(run, image))
			continue;
		for (size_t j = 0; j < m->known.nr; j++) {
			struct known_image *k = &m->known.at[j];
			double overlap;
			int r;

			if (!image_is_free(m, k) || !image_is_large(k->run, k->image))
				continue;
			r = find_overlap(k, run, image, &overlap);
			if (r)
				return r;
			if (overlap >= most) {
				most = overlap;
				best = k;
			}
		}
		if (best)
			images_take(m, best, image);
	}
	return 0;
}

/* Adds the images of a run that match no known image. */
static int images_add_others(struct matching *m, struct compare_run *run)
{
	for (size_t i = 0; i < run->images.nr; i++) {
		struct run_image *image = &run->images.at[i];
		struct known_image k = { run, image, m->run };

		if (!image_is_open(image))
			continue;
		image->same = (uint32_t)m->known.nr;
		if (!vec_push(&m->known, k))
			return -ENOMEM;
	}
	return 0;
}

static int match_run(struct matching *m, struct compare_run *run)
{
	static images_rule *const rules[] = { is_same_path, is_same_build,
					      is_same_file_name,
					      is_same_without_version };
	int r;

	for (size_t i = 0; i < run->images.nr; i++)
		run->images.at[i].same = DICT_NONE;
	for (size_t i = 0; i < COUNT_OF(rules); i++)
		match_by_rule(m, run, rules[i]);
	r = match_by_functions(m, run);
	return r ? r : images_add_others(m, run);
}

/* Stores the names of all images: on each side, the name in the first run that has the image. */
static int set_names(const struct matching *m)
{
	struct comparison *c = m->c;

	for (size_t i = 0; i < m->known.nr; i++)
		if (!vec_push(&c->images, (struct compare_image){ 0 }))
			return -ENOMEM;
	for (size_t r = c->runs.nr; r-- > 0;) {
		const struct compare_run *run = &c->runs.at[r];

		for (size_t i = 0; i < run->images.nr; i++) {
			const struct run_image *image = &run->images.at[i];

			c->images.at[image->same].names[run->side] = image->name;
		}
	}
	return 0;
}

int images_match(struct comparison *c)
{
	struct matching m = { .c = c };
	int r = 0;

	for (size_t i = 0; !r && i < c->runs.nr; i++) {
		m.run = i + 1;
		r = match_run(&m, &c->runs.at[i]);
	}
	if (!r)
		r = set_names(&m);
	vec_done(&m.known);
	return r;
}

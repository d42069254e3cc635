/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match.c - gives the same name to the same image in both recordings of a comparison. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "aggregate/selection/image_names.h"
#include "compare/comparison.h"
#include "compare/images.h"
#include "compare/names.h"
#include "view/build.h"

/* Adds the name of an image as opreport --by shows it: a profile has the names of OProfile's
 * layouts, such as /no-vmlinux and /ext4. */
static uint32_t match_add_name(struct strtab *to, const struct profile *p,
			       const struct profile_image *image)
{
	const char *name = strtab_get(&p->strings, image->name);
	uint32_t number;
	char *module;

	if (image->kind == IMAGE_KERNEL)
		return strtab_add(to, image_name_kernel(NAMES_PERF, ""));
	if (image->kind != IMAGE_MODULE || *name != '/')
		return strtab_add(to, name);
	if (asprintf(&module, "[%s]", name + 1) < 0)
		return STRTAB_FAILED;
	number = strtab_add(to, module);
	free(module);
	return number;
}

/* Copies images and functions of a side. Each function counts as one sample. */
static int match_add_run(struct comparison *c, struct view_build *b, size_t side)
{
	struct profile *p = b->profiles[side];
	struct compare_run *run = comparison_add_run(c, (enum compare_side)side, "");

	if (!run)
		return -ENOMEM;
	for (size_t i = 0; i < p->images.nr; i++) {
		const struct profile_image *from = &p->images.at[i];
		struct run_image image = {
			.name = match_add_name(&c->strings, p, from),
			.build_id = from->build_id,
		};

		if (image.name == STRTAB_FAILED || !vec_push(&run->images, image))
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < p->functions.nr; i++) {
		const char *name = profile_function_name(p, i);
		struct run_item item = { .image = p->functions.at[i].image,
					 .samples = 1 };

		if (!name)
			return -ENOMEM;
		item.name = strtab_add_len(&c->strings, name, name_stable_len(name));
		item.function = name_is_function(name) ? item.name : 0;
		if (item.name == STRTAB_FAILED || !vec_push(&run->items, item))
			return -ENOMEM;
		run->images.at[item.image].samples++;
		run->samples++;
	}
	return 0;
}

/* Sets b->image_of: the name on the new side or, if the image is only in the base, on that side. */
static int match_name_images(const struct comparison *c, struct view_build *b)
{
	for (size_t side = 0; side < b->nr_sides; side++) {
		const struct compare_run *run = &c->runs.at[side];

		for (size_t i = 0; i < run->images.nr; i++) {
			const uint32_t *names =
				c->images.at[run->images.at[i].same].names;
			const char *name = strtab_get(&c->strings, names[SIDE_NEW]);

			if (!*name)
				name = strtab_get(&c->strings, names[SIDE_BASE]);
			b->image_of[side][i] = strtab_add(&b->to->strings, name);
			if (b->image_of[side][i] == STRTAB_FAILED)
				return -ENOMEM;
		}
	}
	return 0;
}

static int match_both(struct view_build *b)
{
	const struct comparison_options options = { .confidence = 0.95 };
	struct comparison c;
	int r = comparison_init(&c, &options);

	for (size_t side = 0; !r && side < b->nr_sides; side++)
		r = match_add_run(&c, b, side);
	if (!r)
		r = images_match(&c);
	if (!r)
		r = match_name_images(&c, b);
	comparison_done(&c);
	return r;
}

int view_build_match_images(struct view_build *b)
{
	for (size_t side = 0; side < b->nr_sides; side++) {
		const struct profile *p = b->profiles[side];

		b->image_of[side] = calloc(p->images.nr + 1, sizeof(uint32_t));
		if (!b->image_of[side])
			return -ENOMEM;
	}
	if (b->nr_sides > 1)
		return match_both(b);
	for (size_t i = 0; i < b->profiles[0]->images.nr; i++) {
		const struct profile *p = b->profiles[0];

		b->image_of[0][i] =
			match_add_name(&b->to->strings, p, &p->images.at[i]);
		if (b->image_of[0][i] == STRTAB_FAILED)
			return -ENOMEM;
	}
	return 0;
}

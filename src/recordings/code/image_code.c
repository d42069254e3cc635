/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recordings/code/image_code.h"

#include <errno.h>
#include <stdlib.h>

#include "aggregate/profile/profile.h"
#include "base/err.h"
#include "resolve/code/code.h"

void image_code_init(struct image_code *c, const struct profile *profile,
		     const struct lines_options *lines, image_code_warn *warn)
{
	*c = (struct image_code){ .profile = profile,
				  .image = UINT32_MAX,
				  .warn = warn };
	c->with_lines = lines != NULL;
	if (lines)
		c->lines = *lines;
}

void image_code_done(struct image_code *c)
{
	code_close(c->open);
	c->open = NULL;
	c->image = UINT32_MAX;
}

static int image_code_open_image(struct image_code *c,
				 const struct profile_image *image, struct err *err)
{
	const struct profile *p = c->profile;
	struct code_where where = {
		.path = strtab_get(&p->strings, image->binary),
		.debug_path = strtab_get(&p->strings, image->debug),
		.symbols_path = strtab_get(&p->strings, image->from),
		.shift = image->shift,
		.nr_sections = image->nr_sections,
		.is_jitdump = image->kind == IMAGE_JIT,
		.bytes = image->bytes,
		.nr_bytes = image->nr_bytes,
		.start = image->start,
		.machine = strtab_get(&p->strings, image->machine),
		.lines = c->with_lines ? &c->lines : NULL,
	};
	struct section_address *sections =
		calloc(image->nr_sections + 1, sizeof(*sections));
	int r;

	if (!sections)
		return err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < image->nr_sections; i++)
		sections[i] =
			(struct section_address){ strtab_get(&p->strings,
							     image->sections[i].name),
						  image->sections[i].address };
	where.sections = sections;
	r = code_open(&where, &c->open, err);
	free(sections);
	return r;
}

struct code *image_code_of(void *ctx, uint32_t image)
{
	struct image_code *c = ctx;
	const struct profile_image *at = &c->profile->images.at[image];
	struct err err = { 0 };

	if (c->image == image)
		return c->open;
	image_code_done(c);
	c->image = image;
	if (!at->binary && !at->bytes)
		err_set(&err, -ENOENT, "'%s': binary not found; showing addresses only",
			strtab_get(&c->profile->strings, at->name));
	else
		(void)image_code_open_image(c, at, &err);
	if (err.code && c->warn)
		c->warn("%s", err.text);
	return c->open;
}

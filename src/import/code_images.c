/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "import/code_images.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "resolve/elf/file.h"
#include "resolve/find/binary.h"

enum {
	PAGE = 4096 /* segments begin at a page in memory */
};

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Converts hexadecimal digits to a build-id. Returns an empty one for other texts, such as the
 * build-id of a Go program. */
static struct build_id code_images_build_id(const char *hex)
{
	struct build_id id = { 0 };
	size_t len = strlen(hex);

	if (len % 2 || len > 2 * (size_t)BUILD_ID_MAX)
		return id;
	for (size_t i = 0; i < len; i += 2) {
		int high = hex_digit(hex[i]);
		int low = hex_digit(hex[i + 1]);

		if (high < 0 || low < 0)
			return (struct build_id){ 0 };
		id.bytes[i / 2] = (uint8_t)(high << 4 | low);
	}
	id.len = (uint8_t)(len / 2);
	return id;
}

/* Returns the image of a binary, which is added if it is new; NULL if memory is short. */
static struct code_image *code_images_find(struct code_images *c,
					   const struct code_images_position *at)
{
	uint32_t name = dict_string(c->dict, at->image);
	uint32_t id = dict_string(c->dict, at->build_id);
	struct code_image made = { .image = DICT_NONE };
	uint32_t number;

	if (name == DICT_NONE || id == DICT_NONE)
		return NULL;
	number = map_get(&c->image_by, name, id);
	if (number != MAP_NONE)
		return &c->images.at[number];
	made.found = (struct image){ .name = name,
				     .kind = IMAGE_FILE,
				     .build_id = code_images_build_id(at->build_id),
				     .ref_name = dict_string(c->dict, "") };
	number = (uint32_t)c->images.nr;
	if (made.found.ref_name == DICT_NONE || !vec_push(&c->images, made) ||
	    map_set(&c->image_by, name, id, number))
		return NULL;
	return &c->images.at[number];
}

static int code_images_add_segments(struct code_image *image, int fd)
{
	struct elf_file f;
	int r = elf_file_init_fd(&f, fd, NULL);

	if (r)
		return r == -ENOMEM ? r : 0;
	for (size_t i = 0; !r && i < f.segments.nr; i++) {
		const struct elf_segment *s = &f.segments.at[i];
		const struct code_segment made = { s->vaddr, s->file_bytes, s->offset };

		if (s->type == PT_LOAD && !vec_push(&image->segments, made))
			r = -ENOMEM;
	}
	elf_file_done(&f);
	return r;
}

/* Searches the binary at its path and reads its segments. Does not search without a build-id,
 * because the file at the path could be another one. */
static int code_images_search(struct code_images *c, struct code_image *image)
{
	const struct binary_locations locations = { .stage = BINARY_HERE,
						    .session_dir = "",
						    .root = "",
						    .foreign = true,
						    .host_unknown = true };
	struct binary b;
	int r;

	image->searched = true;
	if (!image->found.build_id.len)
		return 0;
	r = binary_find(&locations, &image->found, dict_str(c->dict, image->found.name),
			&b);
	if (r)
		return r;
	if (b.fd >= 0)
		r = code_images_add_segments(image, b.fd);
	binary_close(&b);
	return r;
}

/* Converts an address that is relative to the page of the first segment to an offset in the
 * file. Returns false if no segment contains the address. */
static bool code_images_offset(const struct code_image *image, uint64_t address,
			       uint64_t *ret_offset)
{
	uint64_t base = image->segments.nr
				? image->segments.at[0].vaddr & ~(uint64_t)(PAGE - 1)
				: 0;

	for (size_t i = 0; i < image->segments.nr; i++) {
		const struct code_segment *s = &image->segments.at[i];

		if (address + base - s->vaddr >= s->bytes)
			continue;
		*ret_offset = address + base - s->vaddr + s->offset;
		return true;
	}
	return false;
}

int code_images_frame(struct code_images *c, const struct code_images_position *at,
		      uint32_t *ret_frame)
{
	struct code_image *image = code_images_find(c, at);
	uint64_t offset = at->value;
	int r = image ? 0 : -ENOMEM;

	if (!r && at->is_address && !image->searched)
		r = code_images_search(c, image);
	if (r)
		return r;
	*ret_frame = DICT_NONE;
	if (at->is_address && !code_images_offset(image, at->value, &offset))
		return 0;
	if (image->image == DICT_NONE)
		image->image = dict_image(c->dict, &image->found);
	if (image->image == DICT_NONE)
		return -ENOMEM;
	*ret_frame = dict_frame(c->dict, image->image, offset + at->is_call);
	return *ret_frame == DICT_NONE ? -ENOMEM : 0;
}

void code_images_done(struct code_images *c)
{
	for (size_t i = 0; i < c->images.nr; i++)
		vec_done(&c->images.at[i].segments);
	vec_done(&c->images);
	map_done(&c->image_by);
}

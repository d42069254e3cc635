/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "import/odb_images.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/containers/hash.h"
#include "base/err.h"
#include "base/files/faults.h"
#include "base/log.h"
#include "resolve/elf/file.h"

void odb_images_done(struct odb_images *images)
{
	for (size_t i = 0; i < images->placed.nr; i++)
		vec_done(&images->placed.at[i].ranges);
	vec_done(&images->placed);
	map_done(&images->placed_by);
}

static char *odb_images_path(const struct odb_images *images, const char *name)
{
	char *path;

	return asprintf(&path, "%s%s", images->root, name) < 0 ? NULL : path;
}

/* Returns the modification time for the image, by which reports verify the file. If the file has
 * another time than the sample file says, warns and returns 0, so that reports use it anyway, as
 * OProfile does. */
static uint64_t odb_images_mtime(const struct odb_images *images, const char *name,
				 uint64_t recorded_s)
{
	char *path = odb_images_path(images, name);
	struct stat st;
	bool found = path && !fault_stat(path, &st);
	/* A time of 0 is unknown, as for a callee, whose time is in another sample file. */
	bool same = found && (!recorded_s || (uint64_t)st.st_mtim.tv_sec == recorded_s);
	uint64_t ns = same ? clock_ns(st.st_mtim) : 0;

	if (found && !ns)
		log_say(LOG_WARNING,
			"the last modified time of the binary file %s does not match that of the sample file. "
			"Either this is the wrong binary or the binary has been modified since the sample file was created.",
			path);
	free(path);
	return found ? ns : recorded_s * NS_PER_S;
}

/* Opens the ELF file at `path` and reads its sections. Returns 0 or a negative errno. After 0, the
 * caller calls elf_file_done() and closes *ret_fd. */
static int odb_images_open(const char *path, struct elf_file *f, int *ret_fd)
{
	int fd = path ? elf_open_regular(path) : -ENOMEM;
	int r = fd < 0 ? fd : elf_file_init_fd(f, fd, NULL);

	if (!r) {
		r = elf_file_sections(f, NULL);
		if (r)
			elf_file_done(f);
	}
	if (r && fd >= 0)
		close(fd);
	*ret_fd = fd;
	return r;
}

/* Returns the offset of the code in the file of the kernel or a module: offsets in sample files
 * count from there. Returns 0 if there is no file; then there are also no symbols, so the value
 * does not matter. */
static uint64_t odb_images_text_offset(const struct odb_images *images,
				       const char *name)
{
	char *path = odb_images_path(images, name);
	const struct elf_section *text;
	uint64_t offset = 0;
	struct elf_file f;
	int fd;

	if (!odb_images_open(path, &f, &fd)) {
		text = elf_file_find_section(&f, ".text");
		offset = text ? text->offset : 0;
		elf_file_done(&f);
		close(fd);
	}
	free(path);
	return offset;
}

/* Reads the ranges of code in a file of opjitconv. Returns 0 or a negative errno. */
static int odb_images_read_ranges(const char *path, struct odb_placed *placed)
{
	struct elf_file f;
	int fd;
	int r = odb_images_open(path, &f, &fd);

	if (r)
		return r;
	for (size_t i = 0; !r && i < f.sections.nr; i++) {
		const struct elf_section *s = &f.sections.at[i];
		const struct odb_code_range range = { s->vaddr, s->vaddr + s->bytes,
						      s->offset };

		if (s->type == SHT_PROGBITS && s->flags & SHF_EXECINSTR &&
		    !vec_push(&placed->ranges, range))
			r = -ENOMEM;
	}
	elf_file_done(&f);
	close(fd);
	return r;
}

static uint32_t odb_images_add(struct odb_images *images, const char *name,
			       struct image *made)
{
	made->name = dict_string(images->dict, name);
	made->ref_name = dict_string(images->dict, "");
	return made->name == DICT_NONE || made->ref_name == DICT_NONE
		       ? DICT_NONE
		       : dict_image(images->dict, made);
}

/* Reports a file of opjitconv that exists, but has no code. `r` is the result of reading it. */
static void odb_images_report_jit(const char *path, int r)
{
	switch (r) {
	case -EIO:
	case -EACCES:
	case -EPERM:
	case -ELOOP:
	case -EMFILE:
	case -ENFILE:
		fault_unreadable(path, r);
		break;
	default:
		if (!err_is_absent(r))
			fault_damaged(
				path,
				"it is not an ELF file with code, so code of a JIT compiler has no names");
		break;
	}
}

/* Finds the file that opjitconv made of a JIT compiler's dump, and stores its image and its
 * ranges of code in *placed. Does nothing if there is no such file. Returns 0 or -ENOMEM. */
static int odb_images_find_jit(struct odb_images *images, const struct odb_image *image,
			       const struct odb_image_facts *facts,
			       struct odb_placed *placed)
{
	struct image made = { .kind = IMAGE_FILE };
	char *path;
	int r;

	if (!facts->memory_dir || strcmp(image->name, "anon") != 0)
		return 0;
	if (asprintf(&path, "%s/%d.jo", facts->memory_dir, image->pid) < 0)
		return -ENOMEM;
	r = odb_images_read_ranges(path, placed);
	if (r == -ENOMEM) {
		free(path);
		return r;
	}
	if (r || !placed->ranges.nr) {
		odb_images_report_jit(path, r);
		r = 0;
	} else {
		size_t skip = strlen(images->root);

		if (strncmp(path, images->root, skip) != 0)
			skip = 0;
		placed->jit_image = odb_images_add(images, path + skip, &made);
		r = placed->jit_image == DICT_NONE ? -ENOMEM : 0;
	}
	free(path);
	return r;
}

static int odb_images_make(struct odb_images *images, const struct odb_image *image,
			   const struct odb_image_facts *facts,
			   struct odb_placed *placed)
{
	struct image made = { .kind = IMAGE_FILE };
	const char *name = image->name;
	int r = 0;

	switch (image->kind) {
	case ODB_IMAGE_KERNEL:
		made.kind =
			strcmp(name, "no-vmlinux") != 0 ? IMAGE_MODULE : IMAGE_KERNEL;
		break;
	case ODB_IMAGE_ANON:
		made = (struct image){ .kind = IMAGE_ANON,
				       .pid = image->pid,
				       .start = image->start,
				       .end = image->end };
		placed->memory_start =
			facts->anon_start ? facts->anon_start : image->start;
		r = odb_images_find_jit(images, image, facts, placed);
		name = strcmp(name, "anon") != 0 ? name : "//anon";
		break;
	case ODB_IMAGE_FILE:
	default:
		if (!strcmp(name, ODB_KALLSYMS)) {
			made.kind = IMAGE_KERNEL;
			images->has_kallsyms = true;
			break;
		}
		made.mtime_ns = odb_images_mtime(images, name, facts->mtime_s);
		placed->bias =
			facts->is_kernel ? odb_images_text_offset(images, name) : 0;
		break;
	}
	placed->image = r ? DICT_NONE : odb_images_add(images, name, &made);
	return placed->image == DICT_NONE ? -ENOMEM : 0;
}

/* Returns a hash of everything that identifies an image: its name and its properties in the
 * header. */
static uint64_t odb_images_hash(const struct odb_image *image,
				const struct odb_image_facts *facts)
{
	uint64_t hash = hash_bytes(image->name, strlen(image->name), image->kind);

	hash = hash_pair(hash, hash_pair((uint64_t)image->pid, image->start));
	hash = hash_pair(hash, hash_pair(image->end, facts->mtime_s));
	return hash_pair(hash, hash_pair(facts->is_kernel, facts->anon_start));
}

uint32_t odb_images_place(struct odb_images *images, const struct odb_image *image,
			  const struct odb_image_facts *facts)
{
	struct odb_placed placed = { .jit_image = DICT_NONE };
	/* The two hashes together have 128 bits, so that different images do not collide. */
	uint64_t hash = odb_images_hash(image, facts);
	uint64_t other = hash_bytes(image->name, strlen(image->name), hash);
	uint32_t known = map_get(&images->placed_by, hash, other);

	if (known != MAP_NONE)
		return known;
	if (odb_images_make(images, image, facts, &placed) ||
	    !vec_push(&images->placed, placed)) {
		vec_done(&placed.ranges);
		return DICT_NONE;
	}
	known = (uint32_t)images->placed.nr - 1;
	return map_set(&images->placed_by, hash, other, known) ? DICT_NONE : known;
}

uint32_t odb_images_frame(struct odb_images *images, uint32_t placed, uint64_t offset)
{
	const struct odb_placed *p = &images->placed.at[placed];
	uint64_t address = p->memory_start + offset;

	for (size_t i = 0; p->jit_image != DICT_NONE && i < p->ranges.nr; i++) {
		const struct odb_code_range *range = &p->ranges.at[i];

		if (address >= range->start && address < range->end)
			return dict_frame(images->dict, p->jit_image,
					  address - range->start + range->file_offset);
	}
	return dict_frame(images->dict, p->image, offset + p->bias);
}

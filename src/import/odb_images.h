/* SPDX-License-Identifier: GPL-2.0-or-later */
/* odb_images.h - converts the images and offsets of OProfile's sample files to images of the dict
 * and offsets in them.
 * Layer: import. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "format/odb/sample_path.h"
#include "format/session/dict.h"

/* A range of addresses in a file with JIT-compiled code. */
struct odb_code_range {
	uint64_t start, end;
	uint64_t file_offset;
};

struct odb_placed {
	uint32_t image;
	uint64_t bias; /* offset in the image minus the offset in the sample file */
	/* For code of a JIT compiler, jit_image is the image of the file that opjitconv wrote,
	 * or DICT_NONE without such a file. `memory_start` is the start of the code's memory, and
	 * `ranges` are the ranges of code in the file, by their addresses. */
	uint32_t jit_image;
	uint64_t memory_start;
	VEC(struct odb_code_range) ranges;
};

struct odb_images {
	struct dict *dict; /* not owned */
	const char *root;  /* prefix of the binaries' paths; "": none */
	bool has_kallsyms; /* some image is /proc/kallsyms */
	/* (hash of the image, another hash of it) -> index of `placed` */
	struct map placed_by;
	VEC(struct odb_placed) placed;
};

/* The properties of an image in the header of a sample file. */
struct odb_image_facts {
	bool is_kernel;
	uint64_t mtime_s;
	uint64_t anon_start;
	/* Directory that can contain TGID.jo for anonymous memory. */
	const char *memory_dir;
};

#define ODB_KALLSYMS "/proc/kallsyms"

void odb_images_done(struct odb_images *images);
/* Finds or adds an image.  Returns its index in images->placed, or DICT_NONE if memory is short. */
uint32_t odb_images_place(struct odb_images *images, const struct odb_image *image,
			  const struct odb_image_facts *facts);
/* Returns the frame of the dict for an offset in a sample file of the image with index `placed`,
 * or DICT_NONE if memory is short. */
uint32_t odb_images_frame(struct odb_images *images, uint32_t placed, uint64_t offset);
/* Writes kallsyms.zst into a session, with addresses relative to the kernel's start, as in sample
 * files. Reads the symbols from the archive `root` or, if that is "", from this machine, unless it
 * was booted after `recorded_s` (seconds since 1970). Without symbols, nothing is written. Returns
 * 0 or a negative errno with a message. */
struct err;
int odb_kallsyms_save(const char *root, const char *session_dir, int64_t recorded_s,
		      struct err *err);

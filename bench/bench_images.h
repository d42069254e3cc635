/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bench_images.h - reads the functions of the libraries in which the generated samples are. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "format/session/dict.h"

struct bench_function {
	uint64_t file_off;
	uint64_t size; /* bytes, not 0 */
};

struct bench_image {
	const char *path; /* absolute, borrowed */
	struct build_id build_id;
	/* File offset of the executable segment, rounded down to a page. */
	uint64_t text_off;
	uint64_t text_len;
	struct bench_function *functions; /* in the order of the symbol table */
	size_t nr_functions;
	size_t nr_symbols; /* symbols in the table that the functions are from */
};

/* Reads an ELF library with libelf. Prints the reason and exits if that fails. The caller frees
 * the image with bench_image_done(). */
void bench_image_load(const char *path, struct bench_image *ret_image);
void bench_image_done(struct bench_image *image);

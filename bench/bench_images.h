/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bench_images.h - the functions of the libraries that the made-up samples fall into. */
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
	uint64_t text_off; /* of the executable segment in the file, page-aligned */
	uint64_t text_len;
	struct bench_function *functions; /* in the order of the symbol table */
	size_t nr_functions;
	size_t nr_symbols; /* of the table they are from */
};

/* Reads an ELF library with libelf.  Says what is wrong with it and exits. */
void bench_image_load(const char *path, struct bench_image *ret_image);
void bench_image_done(struct bench_image *image);

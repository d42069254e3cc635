/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unwind.h - unwind tables of images, whose binaries the symbolizer finds.
 * Layer: resolve. The rules for verifying files are those for symbols (resolve/find/binary.h). */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct naming;
struct naming_unwind;
struct unwind_table;

/* `n` must outlive the object. Returns 0 or -ENOMEM. */
int naming_unwind_new(struct naming *n, struct naming_unwind **ret_unwind);
void naming_unwind_free(struct naming_unwind *u); /* accepts NULL */
/* Returns the table of an image in the symbolizer's dict, loaded at the first call; NULL: none.
 * Valid until naming_unwind_free(). `unwind` is the naming_unwind, as required by
 * resolver_unwind. */
const struct unwind_table *naming_unwind_table(void *unwind, uint32_t image);
/* Reads code of an image, as required by resolver_unwind. Returns the number of bytes read. */
size_t naming_unwind_code(void *unwind, uint32_t image, uint64_t offset,
			  uint8_t *ret_bytes, size_t len);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unwind.h - unwind tables of images, where the naming finds their binaries.
 * Layer: resolve.  Rules of proof are those for symbols (resolve/find/binary.h). */
#pragma once
#include <stdint.h>

struct naming;
struct naming_unwind;
struct unwind_table;

/* `n` outlives it.  0 or -ENOMEM. */
int naming_unwind_new(struct naming *n, struct naming_unwind **ret_unwind);
void naming_unwind_free(struct naming_unwind *u); /* NULL is fine */
/* The table of an image of the naming's dict, made at the first call; NULL: it has none.  Good
 * until naming_unwind_free().  As resolver_unwind wants it: `unwind` is the naming_unwind. */
const struct unwind_table *naming_unwind_table(void *unwind, uint32_t image);

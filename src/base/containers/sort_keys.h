/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sort_keys.h - sorts things by a 64-bit address without moving them.
 * Layer: base.  Stable, and in time linear in their number. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct sort_key {
	uint64_t at;
	uint32_t index; /* of the thing */
};

/* *keys is malloc'd and may be replaced; it stays the caller's.  0 or -ENOMEM (the keys are
 * then as they were). */
int sort_keys(struct sort_key **keys, size_t nr);

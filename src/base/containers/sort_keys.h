/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sort_keys.h - sorts objects by a 64-bit address without moving them.
 * Layer: base.  Stable; runs in linear time. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct sort_key {
	uint64_t at;
	uint32_t index; /* the caller's index of the object with this key */
};

/* Sorts `nr` keys. *keys is malloc'd and owned by the caller; this can replace it by another
 * array. Returns 0, or -ENOMEM (the keys are then unchanged). */
int sort_keys(struct sort_key **keys, size_t nr);

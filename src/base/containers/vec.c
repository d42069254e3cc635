/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/containers/vec.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/containers/huge.h"

bool vec_grow_raw(void **data, size_t *cap, size_t need, size_t elem_bytes)
{
	size_t want = *cap ? *cap : 16;
	void *grown;

	while (want < need) {
		if (want > SIZE_MAX / 2)
			return false;
		want *= 2;
	}
	if (want > SIZE_MAX / elem_bytes)
		return false;
	want = huge_room(want * elem_bytes) / elem_bytes;
	grown = huge_realloc(*data, *cap * elem_bytes, want * elem_bytes);
	if (!grown)
		return false;
	*data = grown;
	*cap = want;
	return true;
}

void vec_free_raw(void *data)
{
	free(data);
}

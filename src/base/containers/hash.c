/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/containers/hash.h"

#include <xxhash.h>

uint64_t hash_bytes(const void *bytes, size_t len, uint64_t seed)
{
	return XXH3_64bits_withSeed(bytes, len, seed);
}

/* Returns the state of xxhash that `h` points to: struct hash_stream is only another name for
 * it. */
static XXH3_state_t *hash_state_of(struct hash_stream *h)
{
	return (XXH3_state_t *)h;
}

struct hash_stream *hash_stream_new(void)
{
	XXH3_state_t *state = XXH3_createState();

	if (state)
		XXH3_64bits_reset(state);
	return (struct hash_stream *)state;
}

void hash_stream_put(struct hash_stream *h, const void *bytes, size_t len)
{
	XXH3_64bits_update(hash_state_of(h), bytes, len);
}

uint64_t hash_stream_end(struct hash_stream *h)
{
	uint64_t hash = XXH3_64bits_digest(hash_state_of(h));

	XXH3_64bits_reset(hash_state_of(h));
	return hash;
}

void hash_stream_free(struct hash_stream *h)
{
	XXH3_freeState(hash_state_of(h));
}

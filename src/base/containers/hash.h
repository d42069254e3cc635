/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hash.h - hashes integers and bytes.
 * Layer: base. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Mixes the bits of a number: the finalizer of MurmurHash3. */
static inline uint64_t hash_u64(uint64_t v)
{
	v ^= v >> 33;
	v *= 0xff51afd7ed558ccdULL;
	v ^= v >> 33;
	v *= 0xc4ceb9fe1a85ec53ULL;
	v ^= v >> 33;
	return v;
}

static inline uint64_t hash_pair(uint64_t a, uint64_t b)
{
	return hash_u64(a * 0x9e3779b97f4a7c15ULL ^ hash_u64(b));
}

/* Hashes two integers in a fifth of the time of hash_u64(), for hash tables in memory. Combines
 * the halves of a 128-bit product, like wyhash; without a 128-bit type, uses hash_u64(). */
static inline uint64_t hash_quick(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
	__extension__ typedef unsigned __int128 product;
	product p = (product)(a ^ 0x9e3779b97f4a7c15ULL) * (b ^ 0xc4ceb9fe1a85ec53ULL);

	return (uint64_t)p ^ (uint64_t)(p >> 64);
#else
	return hash_pair(a, b);
#endif
}

/* Returns the 64-bit XXH3 hash of the bytes. */
uint64_t hash_bytes(const void *bytes, size_t len, uint64_t seed);
/* Computes the XXH3 hash of data that arrives in blocks; the result is that of `xxhsum -H3`.
 * hash_stream_new() returns NULL if memory is short. */
struct hash_stream;
struct hash_stream *hash_stream_new(void);
void hash_stream_put(struct hash_stream *h, const void *bytes, size_t len);
/* Returns the hash and resets the stream. */
uint64_t hash_stream_end(struct hash_stream *h);
void hash_stream_free(struct hash_stream *h); /* accepts NULL */

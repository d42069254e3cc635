/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hash.h - mixing of integers and hashing of bytes.
 * Layer: base. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* A good mixer of 64 bits (the finaliser of MurmurHash3). */
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

/* For tables in memory: a fifth of the work.  A product's halves added up, as wyhash mixes; where
 * there is no such product, what is above. */
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

/* XXH3, 64 bits. */
uint64_t hash_bytes(const void *bytes, size_t len, uint64_t seed);
/* The same XXH3, of bytes that come in pieces: `xxhsum -H3` prints it.  NULL: no memory. */
struct hash_stream;
struct hash_stream *hash_stream_new(void);
void hash_stream_put(struct hash_stream *h, const void *bytes, size_t len);
/* The hash, and the stream is new again. */
uint64_t hash_stream_end(struct hash_stream *h);
void hash_stream_free(struct hash_stream *h); /* NULL is fine */

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vec.h - growable arrays: `struct { T *at; size_t nr, cap; }`, declared by VEC(T).
 * Layer: base. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#define VEC(type)                                                                      \
	struct {                                                                       \
		type *at;                                                              \
		size_t nr;                                                             \
		size_t cap;                                                            \
	}

/* Makes room for one more element. Returns false if memory is short. Evaluates `v` several
 * times. */
#define vec_grow(v)                                                                    \
	((v)->nr < (v)->cap ||                                                         \
	 vec_grow_raw((void **)&(v)->at, &(v)->cap, (v)->nr + 1, sizeof(*(v)->at)))
/* Makes room for `n` elements in total. */
#define vec_reserve(v, n)                                                              \
	((n) <= (v)->cap ||                                                            \
	 vec_grow_raw((void **)&(v)->at, &(v)->cap, (n), sizeof(*(v)->at)))
/* Appends a value. Returns false and appends nothing if memory is short. */
#define vec_push(v, ...) (vec_grow(v) && ((v)->at[(v)->nr++] = (__VA_ARGS__), true))
#define vec_done(v)                                                                    \
	do {                                                                           \
		vec_free_raw((v)->at);                                                 \
		(v)->at = NULL;                                                        \
		(v)->nr = (v)->cap = 0;                                                \
	} while (0)

/* Only the macros call this. */
bool vec_grow_raw(void **data, size_t *cap, size_t need, size_t elem_bytes);
void vec_free_raw(void *data);

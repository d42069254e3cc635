/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jfr_types.h - the types that a chunk of a Java Flight Recording describes, and a walk through
 * a value of such a type.
 * Layer: format, private to jfr.c. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "base/cursor.h"
#include "format/foreign/foreign.h"

enum {
	JFR_DEPTH_MAX = 16,
	JFR_STEPS_PER_BYTE = 16
};

/* The fields that jfr.c uses; JFR_OTHER: any other field. */
enum jfr_field_name {
	JFR_JAVA_NAME,
	JFR_METHOD,
	JFR_NAME,
	JFR_OS_NAME,
	JFR_OS_THREAD_ID,
	JFR_SAMPLED_THREAD,
	JFR_SAMPLES,
	JFR_STACK_TRACE,
	JFR_START_TIME,
	JFR_STRING,
	JFR_TRUNCATED,
	JFR_TYPE,
	JFR_OTHER
};

enum jfr_primitive {
	JFR_STRUCT,
	JFR_BYTE,
	JFR_VARINT,
	JFR_4_BYTES,
	JFR_8_BYTES,
	JFR_TEXT
};

struct jfr_field {
	enum jfr_field_name name;
	uint64_t type;
	bool is_pool; /* the value is a key of the constant pool of `type` */
	bool is_array;
};

struct jfr_type {
	uint64_t id;
	struct foreign_word name; /* borrowed from jfr_types.names */
	enum jfr_primitive primitive;
	size_t first_field, nr_fields;
};

struct jfr_types {
	VEC(struct jfr_type) types;
	VEC(struct jfr_field) fields;
	struct map type_by; /* (id, 0): index of `types` */
	struct buf names;
	struct buf text; /* scratch space for a text in another encoding */
	/* How many more steps the walks of this chunk may take. The limit is needed because
	 * values of hostile types can be empty, so the input does not limit the steps. */
	uint64_t steps;
	bool no_memory;
};

/* Reads a number of up to 9 bytes, lowest bits first: 7 bits per byte, and 8 in the ninth. */
uint64_t jfr_varint(struct cursor *c);
/* Reads the types of a chunk from its metadata event.  Sets c->failed if the event is malformed,
 * and t->no_memory if memory is short. */
void jfr_types_read(struct jfr_types *t, struct cursor *c);
/* Return the type with this id or name, borrowed until jfr_types_clear(), or NULL if it is
 * unknown. */
const struct jfr_type *jfr_types_find(const struct jfr_types *t, uint64_t id);
const struct jfr_type *jfr_types_named(const struct jfr_types *t, const char *name);
/* Removes all types; call it before reading those of the next chunk. */
void jfr_types_clear(struct jfr_types *t);
void jfr_types_done(struct jfr_types *t);

/* Receives the fields of a value in order, including those of nested values. `text` is empty for
 * numbers, and valid until the next call. `number` is 0 for texts, and for numbers of a fixed size
 * above one byte. */
typedef void (*jfr_fn)(void *ctx, enum jfr_field_name field, uint64_t number,
		       struct foreign_word text);
/* Reads a value of `type` at `c`, and calls `fn` for each of its fields.  Sets c->failed if the
 * value is malformed, and t->no_memory if memory is short. */
void jfr_walk(struct jfr_types *t, struct cursor *c, const struct jfr_type *type,
	      jfr_fn fn, void *ctx);

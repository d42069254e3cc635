/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/foreign/jfr_types.h"

#include <string.h>

#include "base/array.h"

/* How a text is stored. */
enum jfr_encoding {
	JFR_TEXT_NULL,
	JFR_TEXT_EMPTY,
	JFR_TEXT_POOL, /* a number that refers to the pool of strings */
	JFR_TEXT_UTF8,
	JFR_TEXT_CHARS,
	JFR_TEXT_LATIN1
};

enum {
	VARINT_BYTES = 9
};

/* The metadata: a tree of elements with attributes, whose texts are numbers in a list of
 * strings. */
struct jfr_metadata {
	struct jfr_types *types;
	struct cursor *in;
	VEC(size_t) ends; /* end offset of each string in types->names */
};

uint64_t jfr_varint(struct cursor *c)
{
	uint64_t v = 0;

	for (unsigned int i = 0; i < VARINT_BYTES; i++) {
		const uint8_t byte = cursor_u8(c);

		if (i == VARINT_BYTES - 1)
			return v | (uint64_t)byte << (7 * i);
		v |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (!(byte & 0x80))
			break;
	}
	return v;
}

/* ---- texts ---- */

static void jfr_put_char(struct buf *b, uint32_t c)
{
	if (c < 0x80) {
		buf_put_u8(b, (uint8_t)c);
	} else if (c < 0x800) {
		buf_put_u8(b, (uint8_t)(0xc0 | c >> 6));
		buf_put_u8(b, (uint8_t)(0x80 | (c & 0x3f)));
	} else {
		buf_put_u8(b, (uint8_t)(0xe0 | (c >> 12 & 0xf)));
		buf_put_u8(b, (uint8_t)(0x80 | (c >> 6 & 0x3f)));
		buf_put_u8(b, (uint8_t)(0x80 | (c & 0x3f)));
	}
}

/* Reads a text and returns it in UTF-8, borrowed from the input or, if it was converted, from
 * `scratch`. Returns an empty text for a reference to the pool of strings. */
static struct foreign_word jfr_read_text(struct cursor *c, struct buf *scratch)
{
	const uint8_t encoding = cursor_u8(c);
	uint64_t len = 0;
	const uint8_t *bytes;

	if (encoding == JFR_TEXT_POOL)
		(void)jfr_varint(c);
	else if (encoding > JFR_TEXT_LATIN1)
		c->failed = true;
	if (encoding < JFR_TEXT_UTF8 || c->failed)
		return (struct foreign_word){ "", 0 };
	len = jfr_varint(c);
	if (len > cursor_left(c)) {
		c->failed = true;
		return (struct foreign_word){ "", 0 };
	}
	buf_clear(scratch);
	if (encoding == JFR_TEXT_CHARS) {
		for (uint64_t i = 0; i < len && !c->failed; i++)
			jfr_put_char(scratch, (uint32_t)jfr_varint(c) & 0xffff);
		return (struct foreign_word){ (const char *)scratch->data,
					      scratch->len };
	}
	bytes = cursor_take(c, (size_t)len);
	if (encoding == JFR_TEXT_UTF8 || !bytes)
		return (struct foreign_word){ (const char *)bytes, bytes ? len : 0 };
	for (uint64_t i = 0; i < len; i++)
		jfr_put_char(scratch, bytes[i]);
	return (struct foreign_word){ (const char *)scratch->data, scratch->len };
}

/* ---- the metadata ---- */

static bool jfr_is_text(struct foreign_word w, const char *text)
{
	return w.len == strlen(text) && !memcmp(w.at, text, w.len);
}

static struct foreign_word jfr_metadata_text(const struct jfr_metadata *m)
{
	const uint64_t number = jfr_varint(m->in);
	size_t start;

	if (number >= m->ends.nr)
		return (struct foreign_word){ "", 0 };
	start = number ? m->ends.at[number - 1] : 0;
	if (start == m->ends.at[number])
		return (struct foreign_word){ "", 0 };
	return (struct foreign_word){ (const char *)m->types->names.data + start,
				      m->ends.at[number] - start };
}

static enum jfr_primitive jfr_primitive_of(struct foreign_word name)
{
	static const struct {
		const char *name;
		enum jfr_primitive primitive;
	} primitives[] = {
		{ "boolean", JFR_BYTE },
		{ "byte", JFR_BYTE },
		{ "short", JFR_VARINT },
		{ "char", JFR_VARINT },
		{ "int", JFR_VARINT },
		{ "long", JFR_VARINT },
		{ "float", JFR_4_BYTES },
		{ "double", JFR_8_BYTES },
		{ "java.lang.String", JFR_TEXT },
	};

	for (size_t i = 0; i < COUNT_OF(primitives); i++)
		if (jfr_is_text(name, primitives[i].name))
			return primitives[i].primitive;
	return JFR_STRUCT;
}

static enum jfr_field_name jfr_field_named(struct foreign_word name)
{
	static const char *const names[] = {
		[JFR_JAVA_NAME] = "javaName",
		[JFR_METHOD] = "method",
		[JFR_NAME] = "name",
		[JFR_OS_NAME] = "osName",
		[JFR_OS_THREAD_ID] = "osThreadId",
		[JFR_SAMPLED_THREAD] = "sampledThread",
		[JFR_SAMPLES] = "samples",
		[JFR_STACK_TRACE] = "stackTrace",
		[JFR_START_TIME] = "startTime",
		[JFR_STRING] = "string",
		[JFR_TRUNCATED] = "truncated",
		[JFR_TYPE] = "type",
	};

	for (size_t i = 0; i < COUNT_OF(names); i++)
		if (jfr_is_text(name, names[i]))
			return (enum jfr_field_name)i;
	return JFR_OTHER;
}

static void jfr_metadata_add_type(struct jfr_metadata *m, struct jfr_type type)
{
	struct jfr_types *t = m->types;

	type.primitive = jfr_primitive_of(type.name);
	type.first_field = t->fields.nr;
	if (!vec_push(&t->types, type) ||
	    map_set(&t->type_by, type.id, 0, (uint32_t)t->types.nr - 1))
		t->no_memory = true;
}

static void jfr_metadata_add_field(struct jfr_metadata *m, struct jfr_field field)
{
	struct jfr_types *t = m->types;

	if (!t->types.nr)
		return;
	if (vec_push(&t->fields, field))
		t->types.at[t->types.nr - 1].nr_fields++;
	else
		t->no_memory = true;
}

/* Reads a node with its attributes and adds a type or a field.  Returns the number of its
 * children. */
static uint64_t jfr_metadata_read_node(struct jfr_metadata *m)
{
	const struct foreign_word kind = jfr_metadata_text(m);
	struct jfr_type type = { 0 };
	struct jfr_field field = { .name = JFR_OTHER };

	for (uint64_t nr = jfr_varint(m->in); nr && !m->in->failed; nr--) {
		const struct foreign_word key = jfr_metadata_text(m);
		const struct foreign_word value = jfr_metadata_text(m);
		uint64_t number = 0;

		(void)foreign_number(value, &number);
		if (jfr_is_text(key, "id")) {
			type.id = number;
		} else if (jfr_is_text(key, "name")) {
			type.name = value;
			field.name = jfr_field_named(value);
		} else if (jfr_is_text(key, "class")) {
			field.type = number;
		} else if (jfr_is_text(key, "constantPool")) {
			field.is_pool = jfr_is_text(value, "true");
		} else if (jfr_is_text(key, "dimension")) {
			field.is_array = number;
		}
	}
	if (jfr_is_text(kind, "class"))
		jfr_metadata_add_type(m, type);
	else if (jfr_is_text(kind, "field"))
		jfr_metadata_add_field(m, field);
	return jfr_varint(m->in);
}

/* Reads all nodes of the tree in the order of the file. Their parents are not tracked, because the
 * kind of a node shows its meaning. */
static void jfr_metadata_read_nodes(struct jfr_metadata *m)
{
	uint64_t left = 1;

	while (left && !m->in->failed && !m->types->no_memory) {
		const uint64_t children = jfr_metadata_read_node(m);

		left--;
		if (children > cursor_left(m->in))
			m->in->failed = true;
		left += children;
	}
}

void jfr_types_read(struct jfr_types *t, struct cursor *c)
{
	struct jfr_metadata m = { .types = t, .in = c };
	uint64_t nr;

	t->steps = JFR_STEPS_PER_BYTE * c->len;
	for (int i = 0; i < 3; i++) /* start, duration, id */
		(void)jfr_varint(c);
	nr = jfr_varint(c);
	for (uint64_t i = 0; i < nr && !c->failed && !t->no_memory; i++) {
		const struct foreign_word text = jfr_read_text(c, &t->text);

		buf_put(&t->names, text.at, text.len);
		if (!vec_push(&m.ends, t->names.len))
			t->no_memory = true;
		t->no_memory |= t->text.failed || t->names.failed;
	}
	if (!t->no_memory)
		jfr_metadata_read_nodes(&m);
	vec_done(&m.ends);
}

const struct jfr_type *jfr_types_find(const struct jfr_types *t, uint64_t id)
{
	const uint32_t at = map_get(&t->type_by, id, 0);

	return at == MAP_NONE ? NULL : &t->types.at[at];
}

const struct jfr_type *jfr_types_named(const struct jfr_types *t, const char *name)
{
	for (size_t i = 0; i < t->types.nr; i++)
		if (jfr_is_text(t->types.at[i].name, name))
			return &t->types.at[i];
	return NULL;
}

void jfr_types_clear(struct jfr_types *t)
{
	map_done(&t->type_by);
	buf_clear(&t->names);
	t->types.nr = t->fields.nr = 0;
}

void jfr_types_done(struct jfr_types *t)
{
	vec_done(&t->types);
	vec_done(&t->fields);
	map_done(&t->type_by);
	buf_done(&t->text);
	buf_done(&t->names);
}

/* ---- values ---- */

struct jfr_walk_state {
	struct jfr_types *types;
	struct cursor *in;
	jfr_fn fn;
	void *ctx;
	unsigned int depth;
};

static void jfr_walk_fields(struct jfr_walk_state *w, const struct jfr_type *type);

static void jfr_walk_value(struct jfr_walk_state *w, enum jfr_field_name name,
			   const struct jfr_type *type)
{
	struct foreign_word text = { "", 0 };
	uint64_t number = 0;

	switch (type->primitive) {
	case JFR_STRUCT:
		jfr_walk_fields(w, type);
		return;
	case JFR_BYTE:
		number = cursor_u8(w->in);
		break;
	case JFR_VARINT:
		number = jfr_varint(w->in);
		break;
	case JFR_4_BYTES:
		(void)cursor_take(w->in, 4);
		break;
	case JFR_8_BYTES:
		(void)cursor_take(w->in, 8);
		break;
	case JFR_TEXT:
		text = jfr_read_text(w->in, &w->types->text);
		break;
	}
	if (!w->in->failed)
		w->fn(w->ctx, name, number, text);
}

static void jfr_walk_field(struct jfr_walk_state *w, const struct jfr_field *f)
{
	static const struct jfr_type in_pool = { .primitive = JFR_VARINT };
	const struct jfr_type *type =
		f->is_pool ? &in_pool : jfr_types_find(w->types, f->type);
	uint64_t nr = f->is_array ? jfr_varint(w->in) : 1;

	if (!type || nr > cursor_left(w->in) + 1)
		w->in->failed = true;
	for (; nr && !w->in->failed; nr--) {
		if (w->types->steps) {
			w->types->steps--;
			jfr_walk_value(w, f->name, type);
		} else {
			w->in->failed = true;
		}
	}
}

static void jfr_walk_fields(struct jfr_walk_state *w, const struct jfr_type *type)
{
	if (++w->depth > JFR_DEPTH_MAX)
		w->in->failed = true;
	for (size_t i = 0; i < type->nr_fields && !w->in->failed; i++)
		jfr_walk_field(w, &w->types->fields.at[type->first_field + i]);
	w->depth--;
}

void jfr_walk(struct jfr_types *t, struct cursor *c, const struct jfr_type *type,
	      jfr_fn fn, void *ctx)
{
	struct jfr_walk_state w = { t, c, fn, ctx, 0 };

	if (type->primitive == JFR_STRUCT)
		jfr_walk_fields(&w, type);
	else
		jfr_walk_value(&w, JFR_STRING, type);
	t->no_memory |= t->text.failed;
}

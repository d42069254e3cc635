/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jfr.c - execution samples of Java Flight Recordings, as the JDK and async-profiler write them.
 * A recording is a list of chunks.  Each has a head (all numbers big-endian, unlike the rest):
 *
 *     0 "FLR\0", 4 major and minor version (2 bytes each), 8 size of the chunk, 16 offset of its
 *     last constant pools, 24 offset of its metadata, 32 start (ns since 1970), 40 duration,
 *     48 start (ticks), 56 ticks per second, 64 features (1: numbers are varints)
 *
 * followed by events: size, type, fields.  The metadata describe the types (jfr_types.h), and
 * the constant pools contain the values to which fields refer by number: stacks, methods,
 * classes, symbols, threads.  They usually follow the samples. */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/err.h"
#include "format/foreign/foreign.h"
#include "format/foreign/jfr_types.h"
#include "format/foreign/stack_tree.h"

enum {
	HEAD_BYTES = 68,
	MAJOR_VERSION = 2,
	TYPE_METADATA = 0,
	TYPE_POOLS = 1,
	FEATURE_VARINTS = 1
};

enum jfr_pool {
	JFR_SYMBOLS,
	JFR_CLASSES,
	JFR_METHODS,
	JFR_STACKS,
	JFR_THREADS,
	NR_JFR_POOLS
};

struct jfr_method {
	uint64_t class, name; /* keys */
};

struct jfr_thread {
	uint32_t os_name, java_name; /* numbers of names in the tree; 0: none */
	int64_t tid;
};

struct jfr_stack {
	size_t first, nr; /* range of `frames`, innermost first */
	bool truncated;
	uint32_t node; /* STACK_TREE_NONE: not yet resolved */
};

/* The fields of the value that is being read. */
struct jfr_value {
	uint64_t type, name, sampled_thread, stack_trace, start_time, samples;
	uint64_t os_thread_id;
	bool truncated;
	uint32_t text, os_name, java_name;
};

struct jfr_chunk {
	struct cursor in; /* begins at the chunk's first byte */
	uint64_t pools, metadata;
	uint64_t start_ns, start_ticks, ticks_a_second;
};

struct jfr_reader {
	struct stack_tree tree;
	struct jfr_types types;
	struct jfr_chunk chunk;
	/* For each pool, key -> index in an array below, or a name number for JFR_SYMBOLS. */
	struct map by[NR_JFR_POOLS];
	VEC(uint64_t) classes; /* keys of their names */
	VEC(struct jfr_method) methods;
	VEC(struct jfr_stack) stacks;
	VEC(uint64_t) frames; /* keys of methods */
	VEC(struct jfr_thread) threads;
	struct jfr_value value;
	uint64_t nr_chunks;
	bool no_memory;
	foreign_fn fn;
	void *ctx;
	struct foreign_info *info;
};

static const char *const jfr_pool_types[NR_JFR_POOLS] = {
	[JFR_SYMBOLS] = "jdk.types.Symbol", [JFR_CLASSES] = "java.lang.Class",
	[JFR_METHODS] = "jdk.types.Method", [JFR_STACKS] = "jdk.types.StackTrace",
	[JFR_THREADS] = "java.lang.Thread",
};

/* The events that are samples: of the JDK (in Java and in native code), of newer JDKs, and of
 * async-profiler. */
static const char *const jfr_sample_types[] = {
	"jdk.ExecutionSample",
	"jdk.NativeMethodSample",
	"jdk.CPUTimeSample",
	"profiler.WallClockSample",
};

/* ---- values ---- */

static uint32_t jfr_keep_text(struct jfr_reader *j, struct foreign_word text)
{
	const uint32_t name = stack_tree_name(&j->tree, text);

	j->no_memory |= name == STRTAB_FAILED;
	return name == STRTAB_FAILED ? 0 : name;
}

static void jfr_take_field(void *ctx, enum jfr_field_name field, uint64_t number,
			   struct foreign_word text)
{
	struct jfr_reader *j = ctx;
	struct jfr_value *v = &j->value;

	switch (field) {
	case JFR_METHOD:
		if (!vec_push(&j->frames, number))
			j->no_memory = true;
		break;
	case JFR_NAME:
		v->name = number;
		break;
	case JFR_TYPE:
		v->type = number;
		break;
	case JFR_STRING:
		v->text = jfr_keep_text(j, text);
		break;
	case JFR_OS_NAME:
		v->os_name = jfr_keep_text(j, text);
		break;
	case JFR_JAVA_NAME:
		v->java_name = jfr_keep_text(j, text);
		break;
	case JFR_OS_THREAD_ID:
		v->os_thread_id = number;
		break;
	case JFR_SAMPLED_THREAD:
		v->sampled_thread = number;
		break;
	case JFR_SAMPLES:
		v->samples = number;
		break;
	case JFR_STACK_TRACE:
		v->stack_trace = number;
		break;
	case JFR_START_TIME:
		v->start_time = number;
		break;
	case JFR_TRUNCATED:
		v->truncated = number;
		break;
	case JFR_OTHER:
		break;
	}
}

/* ---- constant pools ---- */

static void jfr_set(struct jfr_reader *j, enum jfr_pool pool, uint64_t key,
		    size_t value)
{
	if (map_set(&j->by[pool], key, 0, (uint32_t)value))
		j->no_memory = true;
}

/* Stores the value that was just read (j->value) under `key` of a pool. The frames of a stack
 * begin at index `first_frame`. */
static void jfr_store(struct jfr_reader *j, enum jfr_pool pool, uint64_t key,
		      size_t first_frame)
{
	const struct jfr_value *v = &j->value;
	const struct jfr_method method = { v->type, v->name };
	const struct jfr_stack stack = { first_frame, j->frames.nr - first_frame,
					 v->truncated, STACK_TREE_NONE };
	const struct jfr_thread thread = { v->os_name, v->java_name,
					   v->os_thread_id &&
							   v->os_thread_id <= INT32_MAX
						   ? (int64_t)v->os_thread_id
						   : -1 };
	bool fits = true;

	switch (pool) {
	case JFR_SYMBOLS:
		jfr_set(j, pool, key, v->text);
		return;
	case JFR_CLASSES:
		fits = vec_push(&j->classes, v->name);
		jfr_set(j, pool, key, j->classes.nr - fits);
		break;
	case JFR_METHODS:
		fits = vec_push(&j->methods, method);
		jfr_set(j, pool, key, j->methods.nr - fits);
		break;
	case JFR_STACKS:
		fits = vec_push(&j->stacks, stack);
		jfr_set(j, pool, key, j->stacks.nr - fits);
		break;
	case JFR_THREADS:
		fits = vec_push(&j->threads, thread);
		jfr_set(j, pool, key, j->threads.nr - fits);
		break;
	case NR_JFR_POOLS:
		break;
	}
	j->no_memory |= !fits;
}

static enum jfr_pool jfr_pool_of(const struct jfr_type *type)
{
	for (size_t i = 0; i < NR_JFR_POOLS; i++)
		if (type->name.len == strlen(jfr_pool_types[i]) &&
		    !memcmp(type->name.at, jfr_pool_types[i], type->name.len))
			return (enum jfr_pool)i;
	return NR_JFR_POOLS;
}

/* Reads the constant pool of one type. */
static void jfr_read_pool(struct jfr_reader *j, struct cursor *c)
{
	const struct jfr_type *type = jfr_types_find(&j->types, jfr_varint(c));
	const uint64_t nr = jfr_varint(c);
	const enum jfr_pool pool = type ? jfr_pool_of(type) : NR_JFR_POOLS;

	if (!type)
		c->failed = true;
	for (uint64_t i = 0; i < nr && !c->failed && !j->no_memory; i++) {
		const uint64_t key = jfr_varint(c);
		const size_t first_frame = j->frames.nr;

		j->value = (struct jfr_value){ 0 };
		jfr_walk(&j->types, c, type, jfr_take_field, j);
		if (!c->failed)
			jfr_store(j, pool, key, first_frame);
	}
}

/* Returns a cursor to the event at `offset` of the chunk, just after the size and type of the
 * event. If there is no such event, the cursor has `failed` set. */
static struct cursor jfr_event_at(const struct jfr_chunk *chunk, uint64_t offset,
				  uint64_t *ret_type)
{
	struct cursor c = chunk->in;
	uint64_t size;

	c.failed = offset > c.len;
	c.pos = c.failed ? c.len : (size_t)offset;
	size = jfr_varint(&c);
	if (size > c.len - offset)
		c.failed = true;
	if (!c.failed)
		c.len = (size_t)(offset + size);
	if (c.pos > c.len)
		c.failed = true;
	*ret_type = jfr_varint(&c);
	return c;
}

/* Reads all events that contain constant pools, from the last one backwards: each event stores
 * the distance to the previous one. */
static void jfr_read_pools(struct jfr_reader *j)
{
	uint64_t offset = j->chunk.pools;

	while (!j->no_memory) {
		uint64_t type;
		struct cursor c = jfr_event_at(&j->chunk, offset, &type);
		uint64_t back, nr;

		(void)jfr_varint(&c); /* start */
		(void)jfr_varint(&c); /* duration */
		back = -jfr_varint(&c);
		(void)cursor_u8(&c); /* why it was written */
		nr = jfr_varint(&c);
		if (type != TYPE_POOLS)
			c.failed = true;
		for (uint64_t i = 0; i < nr && !c.failed && !j->no_memory; i++)
			jfr_read_pool(j, &c);
		j->info->skipped += c.failed;
		if (c.failed || !back || back > offset)
			return;
		offset -= back;
	}
}

/* ---- samples ---- */

static struct foreign_word jfr_symbol(const struct jfr_reader *j, uint64_t key)
{
	const uint32_t name = map_get(&j->by[JFR_SYMBOLS], key, 0);

	return stack_tree_text(&j->tree, name == MAP_NONE ? 0 : name);
}

/* Appends the name of a method as in "java.lang.String.hashCode"; the file stores the class as
 * "java/lang/String". */
static void jfr_put_method(struct jfr_reader *j, uint64_t key, struct buf *name)
{
	const uint32_t at = map_get(&j->by[JFR_METHODS], key, 0);
	const struct jfr_method *m = at == MAP_NONE ? NULL : &j->methods.at[at];
	const uint32_t class = m ? map_get(&j->by[JFR_CLASSES], m->class, 0) : MAP_NONE;
	struct foreign_word text = { "", 0 };

	if (class != MAP_NONE)
		text = jfr_symbol(j, j->classes.at[class]);
	for (size_t i = 0; i < text.len; i++)
		buf_put_u8(name, text.at[i] == '/' ? '.' : (uint8_t)text.at[i]);
	if (text.len)
		buf_put_u8(name, '.');
	if (m)
		text = jfr_symbol(j, m->name);
	buf_put(name, text.at, text.len);
}

/* Adds the stack to the tree, from the outermost frame inwards, and stores its node in the stack.
 * Returns 0 or -ENOMEM. */
static int jfr_resolve(struct jfr_reader *j, struct jfr_stack *s)
{
	struct buf name = { 0 };
	uint32_t node = STACK_TREE_EMPTY;

	for (size_t i = s->nr; i-- > 0 && node != STACK_TREE_NONE;) {
		buf_clear(&name);
		jfr_put_method(j, j->frames.at[s->first + i], &name);
		node = stack_tree_child(
			&j->tree, node,
			stack_tree_frame(&j->tree,
					 jfr_keep_text(j,
						       (struct foreign_word){
							       (const char *)name.data,
							       name.len }),
					 0));
	}
	j->no_memory |= name.failed;
	buf_done(&name);
	s->node = node;
	return node == STACK_TREE_NONE || j->no_memory ? -ENOMEM : 0;
}

static uint64_t jfr_time_ns(const struct jfr_chunk *c, uint64_t ticks)
{
	const unsigned __int128 since =
		ticks > c->start_ticks ? ticks - c->start_ticks : 0;

	return c->start_ns + (uint64_t)(since * NS_PER_S / c->ticks_a_second);
}

static int jfr_give(struct jfr_reader *j, struct foreign_word event)
{
	const struct jfr_value *v = &j->value;
	const uint32_t stack = map_get(&j->by[JFR_STACKS], v->stack_trace, 0);
	const uint32_t at = map_get(&j->by[JFR_THREADS], v->sampled_thread, 0);
	const struct jfr_thread none = { .tid = -1 };
	const struct jfr_thread *t = at == MAP_NONE ? &none : &j->threads.at[at];
	struct foreign_sample s = { .event = event,
				    .pid = -1,
				    .tid = t->tid,
				    .cpu = -1,
				    .time_ns = jfr_time_ns(&j->chunk, v->start_time),
				    .count = v->samples ? v->samples : 1 };
	struct jfr_stack *found = stack == MAP_NONE ? NULL : &j->stacks.at[stack];
	int r = 0;

	s.comm = stack_tree_text(&j->tree, t->java_name ? t->java_name : t->os_name);
	if (!j->info->start_wall_ns || s.time_ns < j->info->start_wall_ns)
		j->info->start_wall_ns = s.time_ns;
	if (found && found->node == STACK_TREE_NONE)
		r = jfr_resolve(j, found);
	if (!r &&
	    !stack_tree_fill(&j->tree, found ? found->node : STACK_TREE_EMPTY, &s))
		r = -ENOMEM;
	s.truncated |= found && found->truncated;
	return r ? r : j->fn(j->ctx, &s);
}

static bool jfr_is_sample(const struct jfr_type *type)
{
	for (size_t i = 0; type && i < COUNT_OF(jfr_sample_types); i++)
		if (type->name.len == strlen(jfr_sample_types[i]) &&
		    !memcmp(type->name.at, jfr_sample_types[i], type->name.len))
			return true;
	return false;
}

static int jfr_read_events(struct jfr_reader *j)
{
	uint64_t offset = HEAD_BYTES;
	int r = 0;

	while (!r && offset < j->chunk.in.len) {
		uint64_t id;
		struct cursor c = jfr_event_at(&j->chunk, offset, &id);
		const struct jfr_type *type = jfr_types_find(&j->types, id);

		foreign_info_passed(j->info, j->chunk.in.data + offset);
		if (c.failed || c.len == offset) {
			j->info->skipped++;
			return 0;
		}
		offset = c.len;
		if (id == TYPE_METADATA || id == TYPE_POOLS || !jfr_is_sample(type))
			continue;
		j->value = (struct jfr_value){ 0 };
		jfr_walk(&j->types, &c, type, jfr_take_field, j);
		if (c.failed)
			j->info->skipped++;
		else
			r = jfr_give(j, type->name);
	}
	return j->no_memory ? -ENOMEM : r;
}

/* ---- chunks ---- */

static void jfr_clear(struct jfr_reader *j)
{
	for (size_t i = 0; i < NR_JFR_POOLS; i++)
		map_done(&j->by[i]);
	j->classes.nr = j->methods.nr = j->stacks.nr = j->frames.nr = j->threads.nr = 0;
	jfr_types_clear(&j->types);
}

static int jfr_read_chunk(struct jfr_reader *j)
{
	uint64_t type;
	struct cursor c = jfr_event_at(&j->chunk, j->chunk.metadata, &type);

	jfr_clear(j);
	if (!c.failed && type == TYPE_METADATA)
		jfr_types_read(&j->types, &c);
	else
		c.failed = true;
	if (j->types.no_memory)
		return -ENOMEM;
	if (c.failed) {
		j->info->skipped++;
		return 0;
	}
	j->types.steps = JFR_STEPS_PER_BYTE * j->chunk.in.len;
	jfr_read_pools(j);
	j->no_memory |= j->types.no_memory;
	return j->no_memory ? -ENOMEM : jfr_read_events(j);
}

/* Reads the head of the chunk that begins at `in`, whose size is in *ret_size. */
static int jfr_read_head(struct jfr_reader *j, struct cursor in, uint64_t *ret_size,
			 struct err *err)
{
	struct cursor c = in;
	const uint8_t *magic = cursor_take(&c, 4);
	uint16_t major, minor;

	if (!magic || memcmp(magic, "FLR", 4) != 0)
		return err_set(err, -EBADMSG, "no JFR chunk at byte %zu", in.pos);
	major = cursor_u16(&c);
	minor = cursor_u16(&c);
	*ret_size = cursor_u64(&c);
	j->chunk = (struct jfr_chunk){ .pools = cursor_u64(&c),
				       .metadata = cursor_u64(&c),
				       .start_ns = cursor_u64(&c) };
	(void)cursor_u64(&c); /* duration */
	j->chunk.start_ticks = cursor_u64(&c);
	j->chunk.ticks_a_second = cursor_u64(&c);
	if (!j->chunk.ticks_a_second)
		j->chunk.ticks_a_second = NS_PER_S;
	if (!(cursor_u32(&c) & FEATURE_VARINTS) || major != MAJOR_VERSION)
		return err_set(
			err, -EBADMSG,
			"a chunk has version %u.%u, but only version %d with compressed numbers is known",
			major, minor, MAJOR_VERSION);
	return 0;
}

static int jfr_read(struct jfr_reader *j, struct foreign_word text, struct err *err)
{
	struct cursor in =
		cursor_of(text.at, text.len, __BYTE_ORDER__ != __ORDER_BIG_ENDIAN__);
	int r = 0;

	while (!r && cursor_left(&in) >= HEAD_BYTES) {
		uint64_t size = 0;

		r = jfr_read_head(j, in, &size, err);
		/* Stop at an incomplete chunk: the metadata and pools with the names are at its
		 * end. */
		if (r || size < HEAD_BYTES || size > cursor_left(&in))
			break;
		j->chunk.in = cursor_of(in.data + in.pos, (size_t)size, in.swap);
		in.pos += (size_t)size;
		j->nr_chunks++;
		r = jfr_read_chunk(j);
	}
	j->info->cut = cursor_left(&in);
	if (!r && !j->nr_chunks)
		r = err_set(
			err, -EBADMSG,
			"it ends within its first chunk, or is still being recorded");
	return r;
}

int foreign_read_jfr(const void *bytes, size_t len, foreign_fn fn, void *ctx,
		     struct foreign_info *ret_info, struct err *err)
{
	struct jfr_reader j = { .fn = fn, .ctx = ctx, .info = ret_info };
	int r;

	foreign_info_begin(ret_info);
	r = stack_tree_init(&j.tree);
	if (!r)
		r = jfr_read(&j, (struct foreign_word){ bytes, len }, err);
	jfr_clear(&j);
	jfr_types_done(&j.types);
	stack_tree_done(&j.tree);
	vec_done(&j.classes);
	vec_done(&j.methods);
	vec_done(&j.stacks);
	vec_done(&j.frames);
	vec_done(&j.threads);
	return r == -ENOMEM ? err_set(err, r, "out of memory") : r;
}

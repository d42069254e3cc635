/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pprof.c - reads an uncompressed Profile message (github.com/google/pprof,
 * proto/profile.proto). A field is (number << 3 | type), followed by a varint, or by a length
 * and bytes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "base/cursor.h"
#include "base/err.h"
#include "format/foreign/foreign.h"
#include "format/foreign/protobuf.h"

enum {
	LINES_MAX = 1024 /* per location */
};

/* The needed fields of each message. Strings are indices into the string table. */
struct value_type {
	uint64_t type;
	uint64_t unit;
};

struct pprof_mapping {
	uint64_t start, limit; /* addresses */
	uint64_t offset;       /* offset in the file that is mapped at `start` */
	uint64_t file;         /* string, like the next one */
	uint64_t build_id;
};

struct function {
	uint64_t name;
	uint64_t system_name;
};

struct location {
	uint64_t mapping; /* id */
	uint64_t address;
	size_t first_line; /* index of its first entry in `lines` */
	size_t nr_lines;
};

struct foreign_pprof {
	VEC(struct foreign_word) strings;
	VEC(struct value_type) types;
	size_t nr_types; /* number of value types in the file; `types` has only the first ones */
	VEC(struct pprof_mapping) mappings; /* in file order */
	VEC(struct function) functions;
	VEC(struct location) locations;
	VEC(uint64_t) lines; /* function ids, innermost first */
	struct map mapping_by;
	struct map function_by;
	struct map location_by;
	VEC(struct foreign_frame) frames;
	VEC(uint64_t) ids; /* location ids of the current sample */
	VEC(uint64_t) values;
	foreign_fn fn;
	void *ctx;
	struct foreign_info *info;
	uint64_t comm_key, pid_key, tid_key, cpu_key, thread_key;
	uint64_t time_ns;
	struct value_type period_type;
	uint64_t period;
	uint64_t default_type; /* string; 0: none */
	bool no_memory;
};

/* Returns whether a field of a Profile has the type that profile.proto defines for its number. The
 * fields can be in any order. */
static bool fits_profile(const struct protobuf_field *f)
{
	static const uint32_t messages =
		1 << 1 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 6 | 1 << 11 | 1 << 13;

	return f->number && f->number < 16 &&
	       f->type ==
		       (messages >> f->number & 1 ? PROTOBUF_BYTES : PROTOBUF_VARINT);
}

bool foreign_is_pprof(const struct foreign_head *head)
{
	struct cursor c = cursor_le(head->bytes, head->len);
	bool has_type = false, has_other = false;
	struct protobuf_field f;

	while (protobuf_next_field(&c, &f)) {
		if (!fits_profile(&f))
			return false;
		/* A ValueType has one or two numbers and no string. */
		has_type |= f.number == 1 && f.bytes.len && f.bytes.len <= 24 &&
			    (f.bytes.data[0] == 8 || f.bytes.data[0] == 16);
		has_other |= f.number != 1;
	}
	return has_type && has_other;
}

/* ---- tables ---- */

static void foreign_pprof_remember(struct foreign_pprof *w, struct map *by, uint64_t id,
				   size_t nr)
{
	w->info->skipped += map_get(by, id, 0) != MAP_NONE;
	if (map_set(by, id, 0, (uint32_t)nr - 1))
		w->no_memory = true;
}

static struct value_type read_type(struct cursor c)
{
	struct value_type t = { 0 };
	struct protobuf_field f;

	while (protobuf_next_field(&c, &f)) {
		t.type = f.number == 1 ? f.value : t.type;
		t.unit = f.number == 2 ? f.value : t.unit;
	}
	return t;
}

static void take_period_type(struct foreign_pprof *w, struct cursor c)
{
	w->period_type = read_type(c);
}

static void foreign_pprof_take_type(struct foreign_pprof *w, struct cursor c)
{
	const struct value_type t = read_type(c);

	w->nr_types++;
	if (w->types.nr < 2 * FOREIGN_EVENTS_MAX && !vec_push(&w->types, t))
		w->no_memory = true;
}

static void take_mapping(struct foreign_pprof *w, struct cursor c)
{
	struct pprof_mapping m = { 0 };
	uint64_t id = 0;
	struct protobuf_field f;

	while (protobuf_next_field(&c, &f)) {
		id = f.number == 1 ? f.value : id;
		m.start = f.number == 2 ? f.value : m.start;
		m.limit = f.number == 3 ? f.value : m.limit;
		m.offset = f.number == 4 ? f.value : m.offset;
		m.file = f.number == 5 ? f.value : m.file;
		m.build_id = f.number == 6 ? f.value : m.build_id;
	}
	if (vec_push(&w->mappings, m))
		foreign_pprof_remember(w, &w->mapping_by, id, w->mappings.nr);
	else
		w->no_memory = true;
}

static void foreign_pprof_take_function(struct foreign_pprof *w, struct cursor c)
{
	struct function fn = { 0 };
	uint64_t id = 0;
	struct protobuf_field f;

	while (protobuf_next_field(&c, &f)) {
		id = f.number == 1 ? f.value : id;
		fn.name = f.number == 2 ? f.value : fn.name;
		fn.system_name = f.number == 3 ? f.value : fn.system_name;
	}
	if (vec_push(&w->functions, fn))
		foreign_pprof_remember(w, &w->function_by, id, w->functions.nr);
	else
		w->no_memory = true;
}

static uint64_t function_of_line(struct cursor c)
{
	uint64_t id = 0;
	struct protobuf_field f;

	while (protobuf_next_field(&c, &f))
		id = f.number == 1 ? f.value : id;
	return id;
}

static void take_location(struct foreign_pprof *w, struct cursor c)
{
	struct location l = { .first_line = w->lines.nr };
	uint64_t id = 0;
	struct protobuf_field f;

	while (protobuf_next_field(&c, &f)) {
		id = f.number == 1 ? f.value : id;
		l.mapping = f.number == 2 ? f.value : l.mapping;
		l.address = f.number == 3 ? f.value : l.address;
		if (f.number == 4 && f.type == PROTOBUF_BYTES &&
		    l.nr_lines < LINES_MAX) {
			if (!vec_push(&w->lines, function_of_line(f.bytes)))
				w->no_memory = true;
			l.nr_lines = w->lines.nr - l.first_line;
		}
	}
	if (vec_push(&w->locations, l))
		foreign_pprof_remember(w, &w->location_by, id, w->locations.nr);
	else
		w->no_memory = true;
}

static void foreign_pprof_take_string(struct foreign_pprof *w, struct cursor c)
{
	const struct foreign_word s = { (const char *)c.data, c.len };

	if (!vec_push(&w->strings, s))
		w->no_memory = true;
}

static struct foreign_word foreign_pprof_string_at(const struct foreign_pprof *w,
						   uint64_t number)
{
	return number < w->strings.nr ? w->strings.at[number]
				      : (struct foreign_word){ "", 0 };
}

/* Reads everything except the samples, which refer to strings and functions that can follow
 * them. */
static void foreign_pprof_take_tables(struct foreign_pprof *w, struct cursor c)
{
	static void (*const takers[])(struct foreign_pprof *, struct cursor) = {
		[1] = foreign_pprof_take_type,
		[3] = take_mapping,
		[4] = take_location,
		[5] = foreign_pprof_take_function,
		[6] = foreign_pprof_take_string,
		[11] = take_period_type,
	};
	struct protobuf_field f;

	while (!w->no_memory && protobuf_next_field(&c, &f)) {
		foreign_info_passed(w->info, f.bytes.data);
		if (f.type == PROTOBUF_BYTES && f.number < COUNT_OF(takers) &&
		    takers[f.number])
			takers[f.number](w, f.bytes);
		if (f.number == 9 && f.type == PROTOBUF_VARINT)
			w->time_ns = f.value;
		if (f.number == 12 && f.type == PROTOBUF_VARINT)
			w->period = f.value;
		if (f.number == 14 && f.type == PROTOBUF_VARINT)
			w->default_type = f.value;
	}
}

/* Returns the index of a string in the table, or UINT64_MAX, which no label uses as key. */
static uint64_t foreign_pprof_key_of(const struct foreign_pprof *w, const char *name)
{
	for (size_t i = 0; i < w->strings.nr; i++)
		if (w->strings.at[i].len == strlen(name) &&
		    !memcmp(w->strings.at[i].at, name, w->strings.at[i].len))
			return i;
	return UINT64_MAX;
}

/* ---- samples ---- */

/* A repeated number is one varint field per number, or a packed field with several. */
#define take_numbers(w, f, to)                                                         \
	do {                                                                           \
		struct cursor in_ = (f)->bytes;                                        \
		if ((f)->type == PROTOBUF_VARINT && !vec_push(to, (f)->value))         \
			(w)->no_memory = true;                                         \
		while ((f)->type == PROTOBUF_BYTES && cursor_left(&in_) &&             \
		       !in_.failed && !(w)->no_memory)                                 \
			(w)->no_memory = !vec_push(to, cursor_varint(&in_));           \
	} while (0)

static void take_label(const struct foreign_pprof *w, struct cursor c,
		       struct foreign_sample *s)
{
	uint64_t key = 0, text = 0, number = 0;
	struct protobuf_field f;

	while (protobuf_next_field(&c, &f)) {
		key = f.number == 1 ? f.value : key;
		text = f.number == 2 ? f.value : text;
		number = f.number == 3 ? f.value : number;
	}
	if (key == w->comm_key || (key == w->thread_key && text && !s->comm.len))
		s->comm = foreign_pprof_string_at(w, text);
	if (number > INT32_MAX)
		return;
	if (key == w->pid_key)
		s->pid = (int64_t)number;
	else if (key == w->tid_key)
		s->tid = (int64_t)number;
	else if (key == w->cpu_key)
		s->cpu = (int64_t)number;
}

static bool foreign_pprof_add_frame(struct foreign_pprof *w,
				    const struct foreign_frame *frame)
{
	if (w->frames.nr == FOREIGN_FRAMES_MAX)
		return false;
	if (!vec_push(&w->frames, *frame))
		w->no_memory = true;
	return true;
}

/* Sets the position of a location without functions, if a file is mapped there. */
static void foreign_pprof_set_position(const struct foreign_pprof *w,
				       const struct pprof_mapping *m, uint64_t address,
				       struct foreign_frame *frame)
{
	if (address < m->start || address >= m->limit || frame->image.len < 2 ||
	    frame->image.at[0] != '/' || frame->image.at[1] == '/')
		return;
	frame->kind = FOREIGN_FILE_OFFSET;
	frame->offset = address - m->start + m->offset;
	frame->build_id = foreign_pprof_string_at(w, m->build_id);
}

static struct foreign_word foreign_pprof_name_of(const struct foreign_pprof *w,
						 const struct function *f)
{
	const struct foreign_word name = foreign_pprof_string_at(w, f->system_name);

	w->info->skipped += f->system_name >= w->strings.nr || f->name >= w->strings.nr;
	return name.len ? name : foreign_pprof_string_at(w, f->name);
}

/* Appends the frames of a location. Returns false if the stack is too deep. */
static bool add_location(struct foreign_pprof *w, uint64_t id)
{
	uint32_t at = map_get(&w->location_by, id, 0);
	const struct location *l = at == MAP_NONE ? NULL : &w->locations.at[at];
	uint32_t mapping = l ? map_get(&w->mapping_by, l->mapping, 0) : MAP_NONE;
	const struct pprof_mapping *m =
		mapping == MAP_NONE ? NULL : &w->mappings.at[mapping];
	struct foreign_frame frame = { .name = { "", 0 }, .image = { "", 0 } };

	if (!l) {
		w->info->skipped++;
		return true;
	}
	if (m)
		frame.image = foreign_pprof_string_at(w, m->file);
	if (!l->nr_lines) {
		if (m)
			foreign_pprof_set_position(w, m, l->address, &frame);
		return foreign_pprof_add_frame(w, &frame);
	}
	for (size_t i = 0; i < l->nr_lines; i++) {
		uint32_t f =
			map_get(&w->function_by, w->lines.at[l->first_line + i], 0);

		frame.name = (struct foreign_word){ "", 0 };
		if (f != MAP_NONE)
			frame.name = foreign_pprof_name_of(w, &w->functions.at[f]);
		w->info->skipped += f == MAP_NONE && w->lines.at[l->first_line + i];
		if (!foreign_pprof_add_frame(w, &frame))
			return false;
	}
	return true;
}

static bool foreign_pprof_ends_with(struct foreign_word w, const char *end)
{
	size_t len = strlen(end);

	return w.len >= len && !memcmp(w.at + w.len - len, end, len);
}

static bool foreign_pprof_is_text(struct foreign_word w, const char *text)
{
	return w.len == strlen(text) && foreign_pprof_ends_with(w, text);
}

static bool foreign_pprof_is_count(const struct foreign_pprof *w, size_t i)
{
	return foreign_pprof_is_text(foreign_pprof_string_at(w, w->types.at[i].unit),
				     "count");
}

/* Returns whether value `i` is the number of samples for the next value, so that both belong to
 * one event: Go's CPU profiles have samples/count and cpu/nanoseconds, its heap profiles
 * alloc_objects/count and alloc_space/bytes. Treating them as two events would count the samples
 * twice. */
static bool is_count_of_next(const struct foreign_pprof *w, size_t i)
{
	struct foreign_word type = foreign_pprof_string_at(w, w->types.at[i].type);

	if (i + 1 >= w->types.nr || !foreign_pprof_is_count(w, i))
		return false;
	return !foreign_pprof_is_count(w, i + 1) ||
	       foreign_pprof_ends_with(type, "samples") ||
	       foreign_pprof_ends_with(type, "objects") ||
	       foreign_pprof_is_text(type, "contentions");
}

/* Returns whether value `i` is the profile's default and has no unit. Our export marks values in
 * this way if the number of samples means nothing. */
static bool is_default(const struct foreign_pprof *w, size_t i)
{
	return w->default_type && w->default_type == w->types.at[i].type &&
	       foreign_pprof_is_count(w, i);
}

/* Sets the weight of a sample from value `i`, for values without a number of samples, such as
 * nanoseconds. If the profile has the period of this value, derives the number of samples from it;
 * otherwise the value counts as one sample. */
static void foreign_pprof_set_weight(const struct foreign_pprof *w, size_t i,
				     struct foreign_sample *s)
{
	const struct value_type *t = &w->types.at[i];
	bool has_period = w->period > 1 && w->period_type.type == t->type &&
			  w->period_type.unit == t->unit;

	s->period = w->values.at[i];
	s->count = s->period > 0;
	s->value_only = !has_period;
	if (has_period && s->period >= w->period)
		s->count = s->period / w->period +
			   (s->period % w->period >= w->period - w->period / 2);
}

static int give_values(struct foreign_pprof *w, struct foreign_sample *s)
{
	int r = 0;

	if (w->values.nr != w->nr_types) {
		w->info->skipped++;
		return 0;
	}
	for (size_t i = 0; !r && i < w->types.nr; i++) {
		bool pair = is_count_of_next(w, i);

		s->period = pair ? w->values.at[i + 1] : 0;
		/* A value without a number of samples is one sample. */
		s->count = w->values.at[i] ? w->values.at[i] : s->period > 0;
		s->value_only = pair && is_default(w, i + 1);
		s->event = foreign_pprof_string_at(w, w->types.at[i + pair].type);
		if (!foreign_pprof_is_count(w, i))
			foreign_pprof_set_weight(w, i, s);
		i += pair;
		/* Skip negative values, which occur in differences of profiles. */
		if (s->count > INT64_MAX || s->period > INT64_MAX)
			w->info->skipped++;
		else if (s->count)
			r = w->fn(w->ctx, s);
	}
	return r;
}

static int foreign_pprof_take_sample(struct foreign_pprof *w, struct cursor c)
{
	struct foreign_sample s = { .pid = -1, .tid = -1, .cpu = -1 };
	struct protobuf_field f;

	w->ids.nr = w->values.nr = w->frames.nr = 0;
	while (protobuf_next_field(&c, &f) && !w->no_memory) {
		if (f.number == 1)
			take_numbers(w, &f, &w->ids);
		else if (f.number == 2)
			take_numbers(w, &f, &w->values);
		else if (f.number == 3 && f.type == PROTOBUF_BYTES)
			take_label(w, f.bytes, &s);
	}
	for (size_t i = 0; i < w->ids.nr && !s.truncated && !w->no_memory; i++)
		s.truncated = !add_location(w, w->ids.at[i]);
	if (w->no_memory)
		return -ENOMEM;
	if (s.tid < 0)
		s.tid = s.pid;
	s.nr_frames = w->frames.nr;
	if (s.nr_frames &&
	    foreign_pprof_is_text(w->frames.at[s.nr_frames - 1].name, "[truncated]")) {
		s.truncated = true;
		s.nr_frames--;
	}
	s.frames = w->frames.at;
	return give_values(w, &s);
}

static int foreign_pprof_take_samples(struct foreign_pprof *w, struct cursor c)
{
	struct protobuf_field f;
	int r = 0;

	while (!r && protobuf_next_field(&c, &f)) {
		foreign_info_passed(w->info, f.bytes.data);
		if (f.number == 2 && f.type == PROTOBUF_BYTES)
			r = foreign_pprof_take_sample(w, f.bytes);
	}
	w->info->skipped += c.failed;
	return r;
}

static void foreign_pprof_done(struct foreign_pprof *w)
{
	vec_done(&w->strings);
	vec_done(&w->types);
	vec_done(&w->mappings);
	vec_done(&w->functions);
	vec_done(&w->locations);
	vec_done(&w->lines);
	vec_done(&w->frames);
	vec_done(&w->ids);
	vec_done(&w->values);
	map_done(&w->mapping_by);
	map_done(&w->function_by);
	map_done(&w->location_by);
}

int foreign_read_pprof(const void *bytes, size_t len, foreign_fn fn, void *ctx,
		       struct foreign_info *ret_info, struct err *err)
{
	struct foreign_pprof w = { .fn = fn, .ctx = ctx, .info = ret_info };
	struct cursor c = cursor_le(bytes, len);
	int r = 0;

	foreign_info_begin(ret_info);
	foreign_pprof_take_tables(&w, c);
	w.comm_key = foreign_pprof_key_of(&w, "comm");
	w.thread_key = foreign_pprof_key_of(&w, "thread");
	w.pid_key = foreign_pprof_key_of(&w, "pid");
	w.tid_key = foreign_pprof_key_of(&w, "tid");
	w.cpu_key = foreign_pprof_key_of(&w, "cpu");
	if (w.mappings.nr)
		ret_info->main_image =
			foreign_pprof_string_at(&w, w.mappings.at[0].file);
	ret_info->start_wall_ns = w.time_ns;
	ret_info->period_event = foreign_pprof_string_at(&w, w.period_type.type);
	ret_info->period = w.period;
	if (w.no_memory)
		r = -ENOMEM;
	else if (!w.types.nr || !w.strings.nr)
		r = err_set(err, -EBADMSG, "not a pprof profile: it has no %s",
			    w.types.nr ? "strings" : "types of values");
	if (!r)
		r = foreign_pprof_take_samples(&w, c);
	foreign_pprof_done(&w);
	return r == -ENOMEM ? err_set(err, r, "out of memory") : r;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/session/dict_fields.h"

#include <string.h>

#include "base/array.h"

#define FIELD(type, name, how)                                                         \
	{                                                                              \
		.at = offsetof(type, name), .bytes = sizeof(((type *)NULL)->name),     \
		.code = (how)                                                          \
	}
#define FIELD_AFTER(type, name, earlier)                                               \
	{                                                                              \
		.at = offsetof(type, name), .bytes = sizeof(((type *)NULL)->name),     \
		.code = FIELD_AFTER_OTHER, .other = offsetof(type, earlier)            \
	}
#define FIELDS(array) .at = (array), .nr = COUNT_OF(array)

static const struct dict_field event_fields[] = {
	FIELD(struct event_desc, name, FIELD_PLAIN),
	FIELD(struct event_desc, about, FIELD_PLAIN),
	FIELD(struct event_desc, type, FIELD_PLAIN),
	FIELD(struct event_desc, flags, FIELD_PLAIN),
	FIELD(struct event_desc, config, FIELD_PLAIN),
	FIELD(struct event_desc, config1, FIELD_PLAIN),
	FIELD(struct event_desc, config2, FIELD_PLAIN),
	FIELD(struct event_desc, count, FIELD_PLAIN),
	FIELD(struct event_desc, frequency_hz, FIELD_PLAIN),
	FIELD(struct event_desc, unit_mask, FIELD_PLAIN),
	FIELD(struct event_desc, mask_about, FIELD_PLAIN),
};

static const struct dict_field image_fields[] = {
	FIELD(struct image, name, FIELD_AFTER_PREVIOUS),
	FIELD(struct image, kind, FIELD_PLAIN),
	FIELD(struct image, dev, FIELD_PLAIN),
	FIELD(struct image, inode, FIELD_AFTER_PREVIOUS),
	FIELD(struct image, inode_gen, FIELD_PLAIN),
	FIELD(struct image, mtime_ns, FIELD_AFTER_PREVIOUS),
	FIELD(struct image, file_bytes, FIELD_PLAIN),
	FIELD(struct image, start, FIELD_AFTER_PREVIOUS),
	FIELD(struct image, end, FIELD_AFTER_PREVIOUS),
	FIELD(struct image, pid, FIELD_AFTER_PREVIOUS),
	FIELD(struct image, ref_name, FIELD_PLAIN),
	FIELD(struct image, ref_address, FIELD_AFTER_PREVIOUS),
};

static const struct dict_field thread_fields[] = {
	FIELD(struct thread, pid, FIELD_AFTER_PREVIOUS),
	FIELD_AFTER(struct thread, tid, pid),
	FIELD_AFTER(struct thread, ns_pid, pid),
	FIELD_AFTER(struct thread, ns_tid, tid),
	FIELD(struct thread, comm, FIELD_PLAIN),
	FIELD(struct thread, app, FIELD_PLAIN),
	FIELD(struct thread, cgroup, FIELD_PLAIN),
	FIELD(struct thread, flags, FIELD_PLAIN),
	FIELD(struct thread, start_ns, FIELD_AFTER_PREVIOUS),
};

const struct dict_fields dict_fields[DICT_TABLE_COUNT] = {
	[DICT_EVENTS] = { sizeof(struct event_desc), FIELDS(event_fields) },
	[DICT_IMAGES] = { sizeof(struct image), FIELDS(image_fields) },
	[DICT_THREADS] = { sizeof(struct thread), FIELDS(thread_fields) },
};

_Static_assert(sizeof(enum image_kind) == 4, "a field has 4 or 8 bytes");

static uint64_t dict_fields_load(const uint8_t *at, size_t bytes)
{
	int32_t narrow;
	uint64_t wide;

	if (bytes == sizeof(narrow)) {
		memcpy(&narrow, at, sizeof(narrow));
		return (uint64_t)(int64_t)narrow;
	}
	memcpy(&wide, at, sizeof(wide));
	return wide;
}

static void dict_fields_store(uint8_t *at, size_t bytes, uint64_t v)
{
	uint32_t narrow = (uint32_t)v;

	if (bytes == sizeof(narrow))
		memcpy(at, &narrow, sizeof(narrow));
	else
		memcpy(at, &v, sizeof(v));
}

void dict_field_get(const struct dict_fields *f, const struct dict_field *field,
		    const void *entries, size_t nr, uint64_t *ret_values)
{
	const uint8_t *entry = entries;
	uint64_t previous = 0;

	for (size_t i = 0; i < nr; i++, entry += f->entry_bytes) {
		uint64_t v = dict_fields_load(entry + field->at, field->bytes);

		ret_values[i] = v;
		if (field->code == FIELD_AFTER_PREVIOUS)
			ret_values[i] -= previous;
		else if (field->code == FIELD_AFTER_OTHER)
			ret_values[i] -= dict_fields_load(entry + field->other, 4);
		previous = v;
	}
}

void dict_field_set(const struct dict_fields *f, const struct dict_field *field,
		    void *entries, size_t nr, const uint64_t *values)
{
	uint8_t *entry = entries;
	uint64_t previous = 0;

	for (size_t i = 0; i < nr; i++, entry += f->entry_bytes) {
		uint64_t v = values[i];

		if (field->code == FIELD_AFTER_PREVIOUS)
			v += previous;
		else if (field->code == FIELD_AFTER_OTHER)
			v += dict_fields_load(entry + field->other, 4);
		dict_fields_store(entry + field->at, field->bytes, v);
		previous = v;
	}
}

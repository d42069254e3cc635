/* SPDX-License-Identifier: GPL-2.0-or-later */
/* input_simpleperf.c - reads the symbol tables in recordings of Android's simpleperf. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "format/perfdata/input_priv.h"

/* Android's simpleperf: system/extras/simpleperf/record_file_format.h (FILE) and
 * record_file.proto (FILE2). */
enum {
	DSO_DEX_FILE = 3,

	/* Protocol buffers: the low bits of a field's key. */
	WIRE_VARINT = 0,
	WIRE_64 = 1,
	WIRE_BYTES = 2,
	WIRE_32 = 5
};

static struct perf_input_symbol_file *new_file(struct perf_input *in)
{
	struct perf_input_symbol_file *file;

	if (!vec_grow(&in->info.symbol_files))
		return NULL;
	file = &in->info.symbol_files.at[in->info.symbol_files.nr];
	*file = (struct perf_input_symbol_file){ .path = strdup("") };
	if (!file->path)
		return NULL;
	in->info.symbol_files.nr++;
	return file;
}

static struct perf_input_symbol *new_symbol(struct perf_input_symbol_file *file)
{
	struct perf_input_symbol *symbol;

	if (!vec_grow(&file->symbols))
		return NULL;
	symbol = &file->symbols.at[file->symbols.nr];
	*symbol = (struct perf_input_symbol){ .name = strdup("") };
	if (!symbol->name)
		return NULL;
	file->symbols.nr++;
	return symbol;
}

/* Reads a NUL-terminated string. */
static int perf_input_simpleperf_take_string(struct cursor *c, char **field)
{
	size_t left = cursor_left(c);
	const char *text = cursor_take(c, left);
	size_t len = left && text ? strnlen(text, left) : left;

	if (len == left) {
		c->failed = true;
		return -EBADMSG;
	}
	c->pos -= left - len - 1;
	return perf_text_set(field, text, len);
}

static int parse_symbols(struct cursor *c, struct perf_input_symbol_file *file)
{
	uint32_t nr = cursor_u32(c);

	for (uint32_t i = 0; i < nr; i++) {
		struct perf_input_symbol *symbol = new_symbol(file);
		int r;

		if (!symbol)
			return -ENOMEM;
		symbol->vaddr = cursor_u64(c);
		symbol->len = cursor_u32(c);
		r = perf_input_simpleperf_take_string(c, &symbol->name);
		if (r)
			return r;
	}
	return c->failed ? -EBADMSG : 0;
}

/* Parses an entry of FILE: path, type, lowest address, symbols, and fields that depend on the
 * type. */
static int perf_input_simpleperf_parse_file(struct perf_input *in, struct cursor *c)
{
	struct perf_input_symbol_file *file = new_file(in);
	int r;

	if (!file)
		return -ENOMEM;
	r = perf_input_simpleperf_take_string(c, &file->path);
	file->type = cursor_u32(c);
	file->min_vaddr = cursor_u64(c);
	if (r == 0)
		r = parse_symbols(c, file);
	if (r == 0 && file->type != DSO_DEX_FILE && cursor_left(c))
		file->min_vaddr_offset = cursor_u64(c);
	return r == 0 && c->failed ? -EBADMSG : r;
}

/* Parses a feature that consists of entries, each of which begins with its size. */
static int parse_entries(struct perf_input *in, struct cursor *payload,
			 int (*parse)(struct perf_input *in, struct cursor *c))
{
	while (cursor_left(payload)) {
		uint32_t len = cursor_u32(payload);
		const void *bytes = cursor_take(payload, len);
		struct cursor c;
		int r;

		if (!bytes)
			return -EBADMSG;
		c = cursor_of(bytes, len, payload->swap);
		r = parse(in, &c);
		if (r)
			return r;
	}
	return 0;
}

int perf_simpleperf_files(struct perf_input *in, struct cursor *payload)
{
	in->info.is_simpleperf = true;
	return parse_entries(in, payload, perf_input_simpleperf_parse_file);
}

/* One field of a protobuf message: its number, and its value or its bytes. */
struct perf_input_simpleperf_field {
	uint64_t number;
	uint64_t value;
	struct cursor bytes;
};

/* Reads the next field of a message. Returns 0, 1 at the end, or -EBADMSG. */
static int
perf_input_simpleperf_next_field(struct cursor *c,
				 struct perf_input_simpleperf_field *ret_field)
{
	struct perf_input_simpleperf_field f = { 0 };
	uint64_t key;

	if (!cursor_left(c))
		return 1;
	key = cursor_varint(c);
	f.number = key >> 3;
	switch (key & 7) {
	case WIRE_VARINT:
		f.value = cursor_varint(c);
		break;
	case WIRE_64:
		cursor_take(c, 8);
		break;
	case WIRE_32:
		cursor_take(c, 4);
		break;
	case WIRE_BYTES: {
		uint64_t len = cursor_varint(c);
		const void *at = cursor_take(c, len);

		f.bytes = cursor_le(at ? at : "", at ? len : 0);
		break;
	}
	default:
		c->failed = true;
	}
	if (c->failed)
		return -EBADMSG;
	*ret_field = f;
	return 0;
}

static int field_text(char **text, const struct perf_input_simpleperf_field *f)
{
	return perf_text_set(text, (const char *)f->bytes.data, f->bytes.len);
}

static int parse_symbol2(struct perf_input_symbol_file *file, struct cursor *c)
{
	struct perf_input_symbol *symbol = new_symbol(file);
	struct perf_input_simpleperf_field f;
	int r;

	if (!symbol)
		return -ENOMEM;
	while ((r = perf_input_simpleperf_next_field(c, &f)) == 0) {
		if (f.number == 1)
			symbol->vaddr = f.value;
		else if (f.number == 2)
			symbol->len = (uint32_t)f.value;
		else if (f.number == 3 && f.bytes.data)
			r = field_text(&symbol->name, &f);
		if (r)
			return r;
	}
	return r < 0 ? r : 0;
}

/* Parses message ElfFile { uint64 file_offset_of_min_vaddr = 1; } or KernelModule, which is
 * similar. */
static int parse_first_number(struct cursor *c, uint64_t *ret_value)
{
	struct perf_input_simpleperf_field f;
	int r;

	while ((r = perf_input_simpleperf_next_field(c, &f)) == 0) {
		if (f.number == 1)
			*ret_value = f.value;
	}
	return r < 0 ? r : 0;
}

static int parse_field2(struct perf_input_symbol_file *file,
			struct perf_input_simpleperf_field *f)
{
	switch (f->number) {
	case 1:
		return f->bytes.data ? field_text(&file->path, f) : 0;
	case 2:
		file->type = (uint32_t)f->value;
		return 0;
	case 3:
		file->min_vaddr = f->value;
		return 0;
	case 4:
		return parse_symbol2(file, &f->bytes);
	case 6:
	case 7:
		return parse_first_number(&f->bytes, &file->min_vaddr_offset);
	default:
		return 0;
	}
}

static int parse_file2(struct perf_input *in, struct cursor *c)
{
	struct perf_input_symbol_file *file = new_file(in);
	struct perf_input_simpleperf_field f;
	int r;

	if (!file)
		return -ENOMEM;
	while ((r = perf_input_simpleperf_next_field(c, &f)) == 0) {
		r = parse_field2(file, &f);
		if (r)
			return r;
	}
	return r < 0 ? r : 0;
}

int perf_simpleperf_files2(struct perf_input *in, struct cursor *payload)
{
	in->info.is_simpleperf = true;
	return parse_entries(in, payload, parse_file2);
}

/* Parses a line "NAME,TYPE,CONFIG", and names the events that have this type and config. */
static int name_events(struct perf_input *in, char *line)
{
	char *config_text = strrchr(line, ',');
	char *type_text;
	uint64_t type, config;

	if (!config_text)
		return -EBADMSG;
	*config_text++ = '\0';
	type_text = strrchr(line, ',');
	if (!type_text)
		return -EBADMSG;
	*type_text++ = '\0';
	if (!parse_u64(type_text, &type) || !parse_u64(config_text, &config))
		return -EBADMSG;
	for (size_t i = 0; i < in->info.events.nr; i++) {
		struct perf_input_event *event = &in->info.events.at[i];
		int r;

		if (event->attr.type != type || event->attr.config != config)
			continue;
		r = perf_text_set(&event->name, line, strlen(line));
		if (r)
			return r;
	}
	return 0;
}

static int parse_event_types(struct perf_input *in, const char *text)
{
	char *lines = strdup(text);
	char *rest = lines;
	char *line;
	int r = lines ? 0 : -ENOMEM;

	while (r == 0 && (line = strsep(&rest, "\n"))) {
		if (*line)
			r = name_events(in, line);
	}
	free(lines);
	return r;
}

/* Reads META_INFO. The payload alternates between keys and values, each with a NUL. */
int perf_simpleperf_meta(struct perf_input *in, struct cursor *payload)
{
	char *key = NULL;
	char *value = NULL;
	int r = 0;

	in->info.is_simpleperf = true;
	while (r == 0 && cursor_left(payload)) {
		r = perf_input_simpleperf_take_string(payload, &key);
		if (r == 0)
			r = perf_input_simpleperf_take_string(payload, &value);
		if (r)
			break;
		if (strcmp(key, "event_type_info") == 0)
			r = parse_event_types(in, value);
		else if (strcmp(key, "simpleperf_version") == 0 && !*in->info.version)
			r = perf_text_set(&in->info.version, value, strlen(value));
	}
	free(key);
	free(value);
	return r;
}

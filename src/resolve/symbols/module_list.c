/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/symbols/module_list.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "resolve/symbols/module_name.h"

enum {
	LINE_MAX_BYTES = 1 << 20,
	FIELD_NAME = 0,
	FIELD_ADDRESS,
	FIELD_SIZE,
	FIELD_BUILD_ID,
	FIELD_SECTIONS
};

static bool module_list_is_named(const char *line, size_t len, const char *module)
{
	const char *blank = len ? memchr(line, ' ', len) : NULL;

	return blank &&
	       module_name_equal(line, (size_t)(blank - line), module, strlen(module));
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Parses a build-id. Returns an empty one for "-" and for malformed text. */
static struct build_id take_build_id(const char *hex)
{
	struct build_id id = { 0 };
	size_t len = strlen(hex);

	if (len % 2 || len / 2 > BUILD_ID_MAX)
		return id;
	for (size_t i = 0; i < len; i += 2) {
		int high = hex_value(hex[i]);
		int low = hex_value(hex[i + 1]);

		if (high < 0 || low < 0)
			return (struct build_id){ 0 };
		id.bytes[i / 2] = (uint8_t)(high << 4 | low);
	}
	id.len = (uint8_t)(len / 2);
	return id;
}

static int module_list_take_section(struct module_line *line, char *word)
{
	char *equals = strchr(word, '=');
	struct section_address loaded = { .section = word };

	if (!equals || !parse_u64(equals + 1, &loaded.address) || !loaded.address)
		return 0;
	*equals = '\0';
	return vec_push(&line->sections, loaded) ? 0 : -ENOMEM;
}

static int module_list_take_line(struct module_line *line)
{
	unsigned int field = 0;
	char *save = NULL;
	int r = 0;

	for (char *word = strtok_r(line->text, " ", &save); word && !r;
	     word = strtok_r(NULL, " ", &save), field++) {
		if (field == FIELD_ADDRESS && !parse_u64(word, &line->address))
			r = -EBADMSG;
		else if (field == FIELD_BUILD_ID)
			line->build_id = take_build_id(word);
		else if (field >= FIELD_SECTIONS)
			r = module_list_take_section(line, word);
	}
	return r || field >= FIELD_SECTIONS ? r : -EBADMSG;
}

static int copy_line(const char *text, size_t len, struct module_line *ret_line)
{
	struct module_line line = { 0 };
	int r;

	if (len > LINE_MAX_BYTES)
		return -EBADMSG;
	line.text = strndup(text, len);
	if (!line.text)
		return -ENOMEM;
	r = module_list_take_line(&line);
	if (r)
		module_line_done(&line);
	else
		*ret_line = line;
	return r;
}

int module_line_find(const char *text, size_t len, const char *module, uint64_t address,
		     struct module_line *ret_line)
{
	struct module_line first = { 0 };
	int r, result = -ENODATA;

	for (size_t pos = 0; pos < len;) {
		const char *end = memchr(text + pos, '\n', len - pos);
		size_t line_len = end ? (size_t)(end - text) - pos : len - pos;
		struct module_line line;

		if (module_list_is_named(text + pos, line_len, module)) {
			r = copy_line(text + pos, line_len, &line);
			if (result && result != -ENOMEM)
				result = r;
			if (!r && (!first.text || line.address == address)) {
				module_line_done(&first);
				first = line;
			} else if (!r) {
				module_line_done(&line);
			}
			if (r == -ENOMEM || first.address == address)
				break;
		}
		pos += line_len + 1;
	}
	if (!result)
		*ret_line = first;
	return result;
}

void module_line_done(struct module_line *line)
{
	vec_done(&line->sections);
	free(line->text);
	line->text = NULL;
}

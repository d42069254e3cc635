#include "resolve/module_list.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"

enum {
	LINE_MAX_BYTES = 1 << 20,
	FIELD_NAME = 0,
	FIELD_ADDRESS,
	FIELD_SIZE,
	FIELD_BUILD_ID,
	FIELD_SECTIONS
};

static bool is_named(const char *line, size_t len, const char *module)
{
	size_t i;

	for (i = 0; i < len && module[i] && line[i] != ' '; i++) {
		if ((line[i] == '-' ? '_' : line[i]) !=
		    (module[i] == '-' ? '_' : module[i]))
			return false;
	}
	return !module[i] && i < len && line[i] == ' ';
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "-" and anything malformed is no build-id. */
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

static int take_section(struct module_line *line, char *word)
{
	char *equals = strchr(word, '=');
	struct symtab_place place = { .section = word };

	if (!equals || !parse_u64(equals + 1, &place.address) || !place.address)
		return 0;
	*equals = '\0';
	return vec_push(&line->places, place) ? 0 : -ENOMEM;
}

static int take_line(struct module_line *line)
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
			r = take_section(line, word);
	}
	return r || field >= FIELD_SECTIONS ? r : -EBADMSG;
}

int module_line_find(const char *text, size_t len, const char *module,
		     struct module_line *ret_line)
{
	struct module_line line = { 0 };
	int r;

	for (size_t pos = 0; pos < len;) {
		const char *end = memchr(text + pos, '\n', len - pos);
		size_t line_len = end ? (size_t)(end - text) - pos : len - pos;

		if (is_named(text + pos, line_len, module)) {
			if (line_len > LINE_MAX_BYTES)
				return -EBADMSG;
			line.text = strndup(text + pos, line_len);
			if (!line.text)
				return -ENOMEM;
			r = take_line(&line);
			if (r)
				module_line_done(&line);
			else
				*ret_line = line;
			return r;
		}
		pos += line_len + 1;
	}
	return -ENODATA;
}

void module_line_done(struct module_line *line)
{
	vec_done(&line->places);
	free(line->text);
	line->text = NULL;
}

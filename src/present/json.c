#include "present/json.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"

enum {
	LINES_DEPTH = 2
};

/* What has to stand before a value or a name. */
static void separate(struct json *j)
{
	if (j->after_name) {
		j->after_name = false;
		return;
	}
	/* Members and rows on lines of their own: for people, and for diff(1). */
	if (j->filled[j->depth])
		fputs(j->depth <= LINES_DEPTH ? ",\n" : ",", j->out);
	j->filled[j->depth] = true;
}

static void begin(struct json *j, char bracket)
{
	separate(j);
	fputc(bracket, j->out);
	assert(j->depth + 1 < JSON_MAX_DEPTH);
	j->filled[++j->depth] = false;
}

static void end(struct json *j, char bracket)
{
	assert(j->depth);
	j->depth--;
	fputc(bracket, j->out);
}

void json_begin_object(struct json *j)
{
	begin(j, '{');
}

void json_end_object(struct json *j)
{
	end(j, '}');
}

void json_begin_array(struct json *j)
{
	begin(j, '[');
}

void json_end_array(struct json *j)
{
	end(j, ']');
}

static void put_character(FILE *out, unsigned char c)
{
	if (c == '"' || c == '\\')
		fprintf(out, "\\%c", c);
	else if (c == '\n')
		fputs("\\n", out);
	else if (c == '\t')
		fputs("\\t", out);
	else if (c < 0x20 || c == 0x7f)
		fprintf(out, "\\u%04x", c);
	else
		fputc(c, out);
}

static void put_string(FILE *out, const char *text, size_t len)
{
	const unsigned char *s = (const unsigned char *)text;

	fputc('"', out);
	for (size_t i = 0; i < len;) {
		size_t step = utf8_next(s + i, len - i, NULL);

		if (step > 1)
			fwrite(s + i, 1, step, out);
		else if (step)
			put_character(out, s[i]);
		else
			fputs("\xef\xbf\xbd", out);
		i += step ? step : 1;
	}
	fputc('"', out);
}

void json_name(struct json *j, const char *name)
{
	separate(j);
	put_string(j->out, name, strlen(name));
	fputc(':', j->out);
	j->after_name = true;
}

void json_text_len(struct json *j, const char *text, size_t len)
{
	separate(j);
	put_string(j->out, text, len);
}

void json_text(struct json *j, const char *text)
{
	json_text_len(j, text, strlen(text));
}

void json_u64(struct json *j, uint64_t value)
{
	separate(j);
	fprintf(j->out, "%" PRIu64, value);
}

void json_number(struct json *j, const char *digits)
{
	separate(j);
	fputs(digits, j->out);
}

void json_bool(struct json *j, bool value)
{
	separate(j);
	fputs(value ? "true" : "false", j->out);
}

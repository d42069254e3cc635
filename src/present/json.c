#include "present/json.h"

#include <assert.h>
#include <string.h>

#include "base/digits.h"
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
		fputs_unlocked(j->depth <= LINES_DEPTH ? ",\n" : ",", j->out);
	j->filled[j->depth] = true;
}

static void begin(struct json *j, char bracket)
{
	separate(j);
	putc_unlocked(bracket, j->out);
	assert(j->depth + 1 < JSON_MAX_DEPTH);
	j->filled[++j->depth] = false;
}

static void end(struct json *j, char bracket)
{
	assert(j->depth);
	j->depth--;
	putc_unlocked(bracket, j->out);
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

/* How many bytes from here stand for themselves: nearly all of nearly every text. */
static size_t plain(const unsigned char *s, size_t len)
{
	size_t n = 0;

	while (n < len && s[n] >= 0x20 && s[n] < 0x7f && s[n] != '"' && s[n] != '\\')
		n++;
	return n;
}

static void put_string(FILE *out, const char *text, size_t len)
{
	const unsigned char *s = (const unsigned char *)text;

	putc_unlocked('"', out);
	for (size_t i = 0; i < len;) {
		size_t run = plain(s + i, len - i);
		size_t step;

		fwrite_unlocked(s + i, 1, run, out);
		i += run;
		if (i == len)
			break;
		step = utf8_next(s + i, len - i, NULL);
		if (step > 1)
			fwrite(s + i, 1, step, out);
		else if (step)
			put_character(out, s[i]);
		else
			fputs("\xef\xbf\xbd", out);
		i += step ? step : 1;
	}
	putc_unlocked('"', out);
}

void json_name(struct json *j, const char *name)
{
	separate(j);
	put_string(j->out, name, strlen(name));
	putc_unlocked(':', j->out);
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
	char digits[DIGITS_MAX];
	size_t nr = digits_of(digits, value);

	separate(j);
	fwrite_unlocked(digits + DIGITS_MAX - nr, 1, nr, j->out);
}

void json_number(struct json *j, const char *digits)
{
	separate(j);
	fputs_unlocked(digits, j->out);
}

void json_bool(struct json *j, bool value)
{
	separate(j);
	fputs(value ? "true" : "false", j->out);
}

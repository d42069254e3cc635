#include "present/screen.h"

#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"

/* tools/perf/util/color.h: MIN_RED, MIN_GREEN. */
static const double red_from = 5.0;
static const double green_from = 0.5;

static void put_escaped(struct buf *out, const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		char text[8];
		int used = bytes[i] == '\n' ? snprintf(text, sizeof(text), "\\n")
			   : bytes[i] == '\t'
				   ? snprintf(text, sizeof(text), "\\t")
				   : snprintf(text, sizeof(text), "\\x%02x", bytes[i]);

		buf_put(out, text, (size_t)used);
	}
}

/* The bytes in front that are shown as they are. */
static size_t safe_len(const uint8_t *s, size_t len, bool utf8)
{
	size_t i = 0;

	while (i < len) {
		uint32_t code = 0;
		size_t step;

		if (s[i] >= ' ' && s[i] < 0x7f) {
			i++;
			continue;
		}
		step = utf8_next(s + i, len - i, &code);
		if (!step || utf8_is_control(code) || (!utf8 && step > 1))
			break;
		i += step;
	}
	return i;
}

void screen_put_safe(struct buf *out, const char *text, size_t len, bool utf8)
{
	const uint8_t *s = (const uint8_t *)text;

	while (len) {
		size_t plain = safe_len(s, len, utf8);
		size_t step = 0;

		buf_put(out, s, plain);
		if (plain < len)
			step = utf8_next(s + plain, len - plain, NULL);
		if (plain < len && !step)
			step = 1;
		put_escaped(out, s + plain, step);
		s += plain + step;
		len -= plain + step;
	}
}

void screen_make_safe(struct buf *out, size_t from)
{
	struct buf raw = { 0 };
	size_t plain;

	if (out->failed || from >= out->len)
		return;
	plain = from + safe_len(out->data + from, out->len - from, true);
	if (plain == out->len)
		return;
	buf_put(&raw, out->data + plain, out->len - plain);
	out->len = plain;
	screen_put_safe(out, (const char *)raw.data, raw.failed ? 0 : raw.len, true);
	out->failed |= raw.failed;
	buf_done(&raw);
}

void screen_write_name(FILE *out, const char *name)
{
	size_t len = strlen(name);
	struct buf safe = { 0 };

	if (safe_len((const uint8_t *)name, len, true) == len) {
		fputs(name, out);
		return;
	}
	screen_put_safe(&safe, name, len, true);
	fwrite(safe.data, 1, safe.len, out);
	buf_done(&safe);
}

size_t screen_columns(const char *text, size_t len)
{
	size_t columns = 0;

	for (size_t i = 0; i < len;) {
		uint32_t code = 0;
		size_t step = utf8_next(text + i, len - i, &code);

		columns += step ? utf8_columns(code) : 1;
		i += step ? step : 1;
	}
	return columns;
}

const char *screen_share_colour(const struct screen *s, double percent)
{
	if (!s->colour || percent < green_from)
		return "";
	return percent < red_from ? SCREEN_GREEN : SCREEN_RED;
}

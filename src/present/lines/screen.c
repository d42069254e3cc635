/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/lines/screen.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/safe_text.h"
#include "base/utf8.h"

/* The limits from which on a percentage is red or green. perf has the same: MIN_RED and MIN_GREEN
 * of tools/perf/util/color.h. */
static const double red_from = 5.0;
static const double green_from = 0.5;

void screen_make_safe(struct buf *out, size_t from)
{
	struct buf raw = { 0 };
	size_t plain;

	if (out->failed || from >= out->len)
		return;
	plain = from + safe_text_len(out->data + from, out->len - from, true);
	if (plain == out->len)
		return;
	buf_put(&raw, out->data + plain, out->len - plain);
	out->len = plain;
	safe_text_put(out, (const char *)raw.data, raw.failed ? 0 : raw.len, true);
	out->failed |= raw.failed;
	buf_done(&raw);
}

void screen_print_line(FILE *out, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	screen_write_name(out, text ? text : "(out of memory)");
	fputc('\n', out);
	free(text);
}

void screen_write_name(FILE *out, const char *name)
{
	size_t len = strlen(name);
	struct buf safe = { 0 };

	if (safe_text_len(name, len, true) == len) {
		fputs(name, out);
		return;
	}
	safe_text_put(&safe, name, len, true);
	fwrite(safe.data, 1, safe.len, out);
	buf_done(&safe);
}

void screen_write_code(FILE *out, const char *text, size_t len)
{
	const char *end = text + len;
	struct buf safe = { 0 };

	while (text < end) {
		size_t plain = safe_text_len(text, (size_t)(end - text), true);

		fwrite(text, 1, plain, out);
		text += plain;
		if (text < end && *text == '\t') {
			putc(*text++, out);
		} else if (text < end) {
			size_t step = utf8_next(text, (size_t)(end - text), NULL);

			step = step ? step : 1;
			buf_clear(&safe);
			safe_text_put(&safe, text, step, true);
			fwrite(safe.data, 1, safe.len, out);
			text += step;
		}
	}
	buf_done(&safe);
}

void screen_write_masked(FILE *out, const char *name)
{
	size_t len = strlen(name);
	char *masked = safe_text_len(name, len, true) < len ? strdup(name) : NULL;

	if (masked)
		safe_text_mask(masked, len, '?');
	/* If memory is short, write only the part before the first unsafe byte. */
	fwrite(masked ? masked : name, 1, masked ? len : safe_text_len(name, len, true),
	       out);
	free(masked);
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

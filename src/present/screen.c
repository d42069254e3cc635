#include "present/screen.h"

#include <stdio.h>

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

void screen_put_safe(struct buf *out, const char *text, size_t len, bool utf8)
{
	const uint8_t *s = (const uint8_t *)text;
	size_t shown = 0; /* up to here it is written */

	for (size_t i = 0; i < len;) {
		uint32_t code = 0;
		size_t step = utf8_next(s + i, len - i, &code);

		if (step && !utf8_is_control(code) && (utf8 || step == 1)) {
			i += step;
			continue;
		}
		buf_put(out, s + shown, i - shown);
		put_escaped(out, s + i, step ? step : 1);
		i += step ? step : 1;
		shown = i;
	}
	buf_put(out, s + shown, len - shown);
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

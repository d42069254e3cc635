/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "aggregate/selection/spec_time.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/parse.h"

enum {
	TEXT_MAX = 40
};

static bool parse_share(const char *text, size_t len, double *ret_percent)
{
	char number[TEXT_MAX];

	if (len < 2 || len >= sizeof(number) || text[len - 1] != '%')
		return false;
	memcpy(number, text, len - 1);
	number[len - 1] = '\0';
	return parse_double(number, ret_percent) && *ret_percent <= 100;
}

static bool parse_time(const char *text, size_t len, uint64_t *ret_ns)
{
	char time[TEXT_MAX];

	if (len >= sizeof(time))
		return false;
	memcpy(time, text, len);
	time[len] = '\0';
	return parse_duration_ns(time, ret_ns);
}

/* Parses seconds since 1970, with a fraction of up to nine digits. Returns whether the text is
 * valid. */
static bool parse_wall(const char *text, size_t len, uint64_t *ret_ns)
{
	uint64_t seconds = 0, ns = 0, unit = NS_PER_S;
	size_t i = 0;

	for (; i < len && text[i] >= '0' && text[i] <= '9'; i++) {
		seconds = 10 * seconds + (uint64_t)(text[i] - '0');
		if (seconds > UINT64_MAX / 2 / NS_PER_S)
			return false;
	}
	if (!i)
		return false;
	if (i < len && text[i++] != '.')
		return false;
	for (; i < len && text[i] >= '0' && text[i] <= '9'; i++) {
		unit /= 10;
		ns += unit * (uint64_t)(text[i] - '0');
	}
	*ret_ns = seconds * NS_PER_S + ns;
	return i == len;
}

/* Parses one end of a span. An empty text is an open end. Returns whether the text is valid. */
static bool parse_moment(const char *text, size_t len, struct spec_moment *m)
{
	*m = (struct spec_moment){ .kind = MOMENT_OPEN };
	if (!len)
		return true;
	if (parse_share(text, len, &m->percent)) {
		m->kind = MOMENT_SHARE;
		return true;
	}
	m->kind = *text == '@' ? MOMENT_WALL : MOMENT_TIME;
	if (m->kind == MOMENT_WALL)
		return parse_wall(text + 1, len - 1, &m->ns);
	return parse_time(text, len, &m->ns);
}

/* Parses "10%/2", and "10%" as "10%/1", like tools/perf/util/time-utils.c. Returns whether the
 * text is valid. */
static bool parse_slice(const char *text, struct spec_span *span)
{
	size_t len = strcspn(text, "/");
	uint64_t number = 1;
	double width;

	if (!parse_share(text, len, &width) || width <= 0)
		return false;
	if (text[len] && !parse_u64_max(text + len + 1, 1000000, &number))
		return false;
	if (!number || (double)(number - 1) * width >= 100)
		return false;
	span->from = (struct spec_moment){ .kind = MOMENT_SHARE,
					   .percent = (double)(number - 1) * width };
	span->to = (struct spec_moment){ .kind = MOMENT_SHARE,
					 .percent = fmin(100, (double)number * width) };
	return true;
}

static bool ends_before_it_begins(const struct spec_span *s)
{
	if (s->from.kind != s->to.kind || s->from.kind == MOMENT_OPEN)
		return false;
	return s->from.kind == MOMENT_SHARE ? s->to.percent <= s->from.percent
					    : s->to.ns <= s->from.ns;
}

/* Parses both ends of a span. At most one end can be open. Returns whether the text is valid. */
static bool parse_ends(const char *text, const char *dash, struct spec_span *span)
{
	return strcmp(text, "-") != 0 &&
	       parse_moment(text, (size_t)(dash - text), &span->from) &&
	       parse_moment(dash + 1, strlen(dash + 1), &span->to) &&
	       !ends_before_it_begins(span);
}

bool spec_span_parse(const char *text, struct spec_span *ret_span)
{
	const char *dash = strchr(text, '-');
	struct spec_span span;

	if (!dash ? !parse_slice(text, &span) : !parse_ends(text, dash, &span))
		return false;
	*ret_span = span;
	return true;
}

bool spec_span_has_shares(const struct spec_span *span)
{
	return span->from.kind == MOMENT_SHARE || span->to.kind == MOMENT_SHARE;
}

bool spec_span_has_wall(const struct spec_span *span)
{
	return span->from.kind == MOMENT_WALL || span->to.kind == MOMENT_WALL;
}

static uint64_t add_up(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t moment_ns(const struct spec_moment *m, const struct session_span *s)
{
	double length =
		s->last_ns > s->first_ns ? (double)(s->last_ns - s->first_ns) : 0;

	if (m->kind == MOMENT_TIME)
		return m->ns ? add_up(s->start_ns, m->ns) : 0;
	if (m->kind == MOMENT_WALL) {
		/* Wall time when the clock was 0. */
		uint64_t since = s->wall_ns - s->wall_at_ns;

		return m->ns > since ? m->ns - since : 0;
	}
	if (m->percent >= 100)
		return add_up(s->last_ns, 1);
	return add_up(s->first_ns, (uint64_t)round(m->percent / 100 * length));
}

struct time_range spec_span_range(const struct spec_span *span,
				  const struct session_span *session)
{
	struct time_range range = { .from_ns = 0, .to_ns = UINT64_MAX };

	if (span->from.kind != MOMENT_OPEN)
		range.from_ns = moment_ns(&span->from, session);
	if (span->to.kind != MOMENT_OPEN)
		range.to_ns = moment_ns(&span->to, session);
	return range;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/report/when.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/parse.h"
#include "tools/report/options.h"

enum {
	TEXT_MAX = 64,
	DAY_SECONDS = 86400
};

/* Like parse_duration_ns(), but also accepts days, up to 36500. */
static bool parse_ago(const char *text, uint64_t *ret_ns)
{
	size_t len = strlen(text);
	char number[TEXT_MAX];
	double days;

	if (len < 2 || len >= sizeof(number) || text[len - 1] != 'd')
		return parse_duration_ns(text, ret_ns);
	snprintf(number, sizeof(number), "%.*s", (int)len - 1, text);
	if (!parse_double(number, &days) || days > 36500)
		return false;
	*ret_ns = (uint64_t)(days * DAY_SECONDS) * NS_PER_S;
	return true;
}

/* Parses a date, a time of today, or both, in the local time zone. Returns false if the text has
 * another form. */
static bool parse_calendar(const char *text, uint64_t now_ns, uint64_t *ret_ns)
{
	static const char *const forms[] = { "%Y-%m-%dT%H:%M:%S",
					     "%Y-%m-%dT%H:%M",
					     "%Y-%m-%d %H:%M:%S",
					     "%Y-%m-%d %H:%M",
					     "%Y-%m-%d",
					     "%H:%M:%S",
					     "%H:%M" };
	time_t now = (time_t)(now_ns / NS_PER_S);

	for (size_t i = 0; i < COUNT_OF(forms); i++) {
		struct tm tm;
		const char *end;
		time_t at;

		if (!localtime_r(&now, &tm))
			return false;
		tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
		end = strptime(text, forms[i], &tm);
		if (!end || *end)
			continue;
		tm.tm_isdst = -1;
		at = mktime(&tm);
		if (at < 0)
			return false;
		*ret_ns = (uint64_t)at * NS_PER_S;
		return true;
	}
	return false;
}

bool report_when_parse(const char *text, uint64_t now_ns, uint64_t *ret_ns)
{
	uint64_t ago;

	if (*text == '@') {
		double seconds;

		if (!parse_double(text + 1, &seconds) || seconds > 9e9)
			return false;
		*ret_ns = (uint64_t)(seconds * 1e9);
		return true;
	}
	if (parse_ago(text, &ago)) {
		*ret_ns = now_ns > ago ? now_ns - ago : 0;
		return true;
	}
	return parse_calendar(text, now_ns, ret_ns);
}

static int parse_option(const char *option, const char *text, uint64_t now_ns,
			uint64_t *ret_ns, struct err *err)
{
	if (report_when_parse(text, now_ns, ret_ns))
		return 0;
	return err_set(
		err, -EINVAL,
		"--%s: '%s' is not a time such as 10m, 14:30, 2026-11-22T14:30 or @SECONDS",
		option, text);
}

static int parse_between(const char *text, uint64_t now_ns, uint64_t *ret_from,
			 uint64_t *ret_to, struct err *err)
{
	const char *comma = strchr(text, ',');
	char first[TEXT_MAX];
	int r;

	if (!comma || (size_t)(comma - text) >= sizeof(first))
		return err_set(err, -EINVAL, "--between=%s: give two times, WHEN,WHEN",
			       text);
	snprintf(first, sizeof(first), "%.*s", (int)(comma - text), text);
	r = parse_option("between", first, now_ns, ret_from, err);
	if (!r)
		r = parse_option("between", comma + 1, now_ns, ret_to, err);
	if (!r && *ret_to <= *ret_from)
		r = err_set(err, -EINVAL,
			    "--between=%s: the second time is not after the first",
			    text);
	return r;
}

int report_when(const struct report_options *options, char **ret_spans, struct err *err)
{
	uint64_t now_ns, from = 0, to = 0;
	int r;

	*ret_spans = NULL;
	if (!options->since && !options->between)
		return 0;
	now_ns = clock_now_ns(CLOCK_REALTIME);
	if (options->since)
		r = parse_option("since", options->since, now_ns, &from, err);
	else
		r = parse_between(options->between, now_ns, &from, &to, err);
	if (r)
		return r;
	r = options->since
		    ? asprintf(ret_spans, "@%" PRIu64 ".%09" PRIu64 "-",
			       from / NS_PER_S, from % NS_PER_S)
		    : asprintf(ret_spans,
			       "@%" PRIu64 ".%09" PRIu64 "-@%" PRIu64 ".%09" PRIu64,
			       from / NS_PER_S, from % NS_PER_S, to / NS_PER_S,
			       to % NS_PER_S);
	if (r >= 0)
		return 0;
	*ret_spans = NULL;
	return err_set(err, -ENOMEM, "out of memory");
}

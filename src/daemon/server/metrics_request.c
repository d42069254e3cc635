/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/server/metrics_request.h"

#include <stdbool.h>
#include <string.h>

static const char path[] = "/metrics";

/* Returns the first line without its end, or NULL if it is incomplete.  Stores in *ret_whole if
 * an empty line follows. */
static const char *first_line(const char *bytes, size_t len, size_t *ret_len,
			      bool *ret_whole)
{
	const char *end = memchr(bytes, '\n', len);
	const char *at = end;

	*ret_whole = false;
	while (at && !*ret_whole) {
		size_t left = (size_t)(bytes + len - (at + 1));

		*ret_whole = (left && at[1] == '\n') ||
			     (left > 1 && at[1] == '\r' && at[2] == '\n');
		at = memchr(at + 1, '\n', left);
	}
	if (!end)
		return NULL;
	*ret_len = (size_t)(end - bytes);
	if (*ret_len && bytes[*ret_len - 1] == '\r')
		(*ret_len)--;
	return bytes;
}

/* Takes the word before the next space.  Returns its length, or 0 if it is empty or no space
 * follows. */
static size_t metrics_request_take_word(const char **at, size_t *left,
					const char **ret_word)
{
	const char *space = memchr(*at, ' ', *left);
	size_t len = space ? (size_t)(space - *at) : 0;

	*ret_word = *at;
	if (len) {
		*at += len + 1;
		*left -= len + 1;
	}
	return len;
}

static bool metrics_request_is_word(const char *word, size_t len, const char *text)
{
	return len == strlen(text) && !memcmp(word, text, len);
}

static bool is_version(const char *at, size_t len)
{
	return len == 8 && !memcmp(at, "HTTP/1.", 7) && at[7] >= '0' && at[7] <= '9';
}

static enum metrics_request metrics_request_parse_line(const char *at, size_t left)
{
	const char *method, *target;
	size_t method_len = metrics_request_take_word(&at, &left, &method);
	size_t target_len =
		method_len ? metrics_request_take_word(&at, &left, &target) : 0;
	const char *query;

	if (!target_len || !is_version(at, left))
		return METRICS_BAD;
	if (!metrics_request_is_word(method, method_len, "GET") &&
	    !metrics_request_is_word(method, method_len, "HEAD"))
		return METRICS_OTHER_METHOD;
	query = memchr(target, '?', target_len);
	if (!metrics_request_is_word(
		    target, query ? (size_t)(query - target) : target_len, path))
		return METRICS_OTHER_PATH;
	return *method == 'G' ? METRICS_GET : METRICS_HEAD;
}

enum metrics_request metrics_request_parse(const char *bytes, size_t len)
{
	size_t line_len;
	bool is_whole;
	const char *line = first_line(bytes, len, &line_len, &is_whole);

	if (line && is_whole)
		return metrics_request_parse_line(line, line_len);
	return len < METRICS_REQUEST_MAX ? METRICS_MORE : METRICS_TOO_LONG;
}

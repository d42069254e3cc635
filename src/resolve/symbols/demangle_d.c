/* SPDX-License-Identifier: GPL-2.0-or-later */
/* demangle_d.c - demangles names of the D language. */
#include <ctype.h>
#include <libiberty/demangle.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "resolve/symbols/demangle_priv.h"

enum {
	/* Limit of the letters parsed for one name, including those of all references. Of the
	 * names in D's own library, about 11 in 20 000 exceed it. */
	WORK_MAX = 1 << 20
};

/* Parses the base-26 number after a Q: upper-case letters and a last lower-case letter. Returns
 * 0 if none exists. */
static size_t reference_distance(const char *at)
{
	size_t distance = 0;

	for (; isupper((unsigned char)*at); at++) {
		distance = distance * 26 + (size_t)(*at - 'A');
		if (distance > WORK_MAX)
			return 0;
	}
	return islower((unsigned char)*at) ? distance * 26 + (size_t)(*at - 'a') : 0;
}

/* Returns the end of an identifier that is prefixed with its length, at most `limit`. */
static size_t identifier_end(const char *name, size_t at, size_t limit)
{
	size_t len = 0;

	for (; at < limit && isdigit((unsigned char)name[at]); at++)
		len = len < limit ? len * 10 + (size_t)(name[at] - '0') : len;
	return len < limit - at ? at + len : limit;
}

/* Returns whether a name could expand to too much text. "Q" and a number refer to a type or an
 * identifier at this distance before it. Types can refer to types that refer to types, so a short
 * name can expand to any length of text, and libiberty cannot be stopped. This computes an upper
 * bound of the work: each letter costs 1, and each reference costs the letters between its target
 * and itself (for an identifier, the identifier's letters). */
static bool is_much_work(const char *name, size_t len)
{
	/* Total before each letter. */
	uint64_t *work = malloc((len + 1) * sizeof(*work));
	bool much = !work;

	for (size_t i = 0; !much && i < len; i++) {
		size_t distance = name[i] == 'Q' ? reference_distance(name + i + 1) : 0;
		uint64_t more = 1;

		if (!i)
			work[0] = 0;
		if (distance && distance <= i) {
			size_t to = i - distance;
			size_t end = isdigit((unsigned char)name[to])
					     ? identifier_end(name, to, i)
					     : i;

			more += work[end] - work[to];
		}
		work[i + 1] = work[i] + more;
		much = work[i + 1] > WORK_MAX;
	}
	free(work);
	return much;
}

/* Appends suffixes added by compilers (".localalias", ".1907"), in libiberty's form for C++. */
static void put_clones(struct buf *out, const char *at)
{
	while (*at == '.') {
		size_t len = 1 + strcspn(at + 1, ".");

		while (at[len] == '.' && isdigit((unsigned char)at[len + 1]))
			len += 1 + strcspn(at + len + 1, ".");
		buf_put(out, " [clone ", 8);
		buf_put(out, at, len);
		buf_put(out, "]", 1);
		at += len;
	}
}

static char *with_clones(const char *text, const char *clones)
{
	struct buf out = { 0 };

	buf_put(&out, text, strlen(text));
	put_clones(&out, clones);
	buf_put(&out, "", 1);
	if (!out.failed)
		return (char *)out.data;
	buf_done(&out);
	return NULL;
}

char *demangle_d(const char *name)
{
	size_t len = strcspn(name, ".");
	char *result = NULL;
	char *own;
	char *text;

	if (strncmp(name, "_D", 2) != 0 || is_much_work(name, len))
		return NULL;
	own = strndup(name, len);
	text = own ? dlang_demangle(own, 0) : NULL;
	if (text)
		result = with_clones(text, name + len);
	free(text);
	free(own);
	return result;
}

/* demangle_d.c - names of the D language. */
#include <ctype.h>
#include <libiberty/demangle.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "resolve/symbols/demangle_priv.h"

enum {
	/* Letters that reading a name may come to, all references followed.  Of the names of
	 * D's own library 11 in 20 000 seem to have more. */
	WORK_MAX = 1 << 20
};

/* The number behind a Q in base 26: capitals and a last small letter.  0: none. */
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

/* Where an identifier with its length in front ends, not beyond `limit`. */
static size_t identifier_end(const char *name, size_t at, size_t limit)
{
	size_t len = 0;

	for (; at < limit && isdigit((unsigned char)name[at]); at++)
		len = len < limit ? len * 10 + (size_t)(name[at] - '0') : len;
	return len < limit - at ? at + len : limit;
}

/* "Q" and a number refer to a type or an identifier so far back: types may refer to types
 * that refer to types, so that a short name stands for any length of text, which libiberty
 * gives no way to stop at.  Here each letter costs 1 and each reference what lies between
 * it and its target (of an identifier its own letters); no reading comes to more. */
static bool is_much_work(const char *name, size_t len)
{
	uint64_t *work = malloc((len + 1) * sizeof(*work)); /* up to each letter */
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

/* What compilers append (".localalias", ".1907"), in the form that libiberty has for C++. */
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

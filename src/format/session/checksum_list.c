/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/session/checksum_list.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/containers/hash.h"
#include "base/containers/map.h"
#include "base/containers/vec.h"

enum {
	HASH_DIGITS = 16
};

static const char line_start[] = "XXH3_";
static const char separator[] = "  ";

/* ---- lines ---- */

static bool parse_hash(const char *digits, uint64_t *ret_hash)
{
	uint64_t hash = 0;

	for (unsigned int i = 0; i < HASH_DIGITS; i++) {
		static const char hex[] = "0123456789abcdef";
		const char *digit = digits[i] ? strchr(hex, digits[i]) : NULL;

		if (!digit)
			return false;
		hash = hash << 4 | (uint64_t)(digit - hex);
	}
	*ret_hash = hash;
	return true;
}

/* Returns true if the name cannot lead out of the list's directory. */
static bool checksum_list_is_name(const char *name)
{
	size_t len = strcspn(name, "/");

	return len && (!name[len] || !name[len + 1]) &&
	       !(name[0] == '.' && (len == 1 || (len == 2 && name[1] == '.')));
}

static bool checksum_list_parse(const char *line, struct checksum_line *ret_line)
{
	size_t start = sizeof(line_start) - 1, between = sizeof(separator) - 1;

	if (strncmp(line, line_start, start) != 0 ||
	    !parse_hash(line + start, &ret_line->hash) ||
	    strncmp(line + start + HASH_DIGITS, separator, between) != 0)
		return false;
	ret_line->name = line + start + HASH_DIGITS + between;
	return checksum_list_is_name(ret_line->name);
}

int checksum_list_next(char *text, size_t len, size_t *at,
		       struct checksum_line *ret_line)
{
	char *line = text + *at;
	char *end = *at < len ? memchr(line, '\n', len - *at) : NULL;
	struct checksum_line found;

	if (!end)
		return 0;
	*at = (size_t)(end - text) + 1;
	*end = '\0';
	if (strlen(line) != (size_t)(end - line) || !checksum_list_parse(line, &found))
		return -EBADMSG;
	*ret_line = found;
	return 1;
}

void checksum_list_put(struct buf *out, uint64_t hash, const char *name)
{
	char start[sizeof(line_start) + HASH_DIGITS + sizeof(separator)];

	snprintf(start, sizeof(start), "%s%016" PRIx64 "%s", line_start, hash,
		 separator);
	buf_put(out, start, strlen(start));
	buf_put(out, name, strlen(name));
	buf_put_u8(out, '\n');
}

/* ---- promised files ---- */

struct listed_name {
	const char *name;
	uint64_t hash; /* hash in the last line of the file */
	size_t since;  /* offset of the file's first line since it was last removed */
	bool is_promised;
};

struct listed_names {
	VEC(struct listed_name) names;
	struct map by_name;
};

static struct listed_name *checksum_list_know(struct listed_names *l, const char *name)
{
	size_t len = strlen(name);
	uint64_t one = hash_bytes(name, len, 0), other = hash_bytes(name, len, 1);
	uint32_t at = map_get(&l->by_name, one, other);

	if (at != MAP_NONE)
		return &l->names.at[at];
	if (!vec_push(&l->names, ((struct listed_name){ .name = name })))
		return NULL;
	at = (uint32_t)l->names.nr - 1;
	return map_set(&l->by_name, one, other, at) ? NULL : &l->names.at[at];
}

/* Updates the name's state by a line that ends at offset `end`. */
static void checksum_list_note(struct listed_name *n, uint64_t hash, size_t end)
{
	bool is_dir = n->name[strlen(n->name) - 1] == '/';

	n->is_promised |= is_dir || n->hash == hash;
	if (hash == CHECKSUM_REMOVED) {
		n->is_promised = false;
		n->since = end;
	}
	n->hash = hash;
}

/* Reads all lines of a list. Returns 0 or -ENOMEM. Call checksum_list_done() in any case. */
static int checksum_list_read(char *text, size_t len, struct listed_names *l)
{
	struct checksum_line line;
	size_t at = 0;
	int r;

	while ((r = checksum_list_next(text, len, &at, &line))) {
		struct listed_name *n = r > 0 ? checksum_list_know(l, line.name) : NULL;

		if (r > 0 && !n)
			return -ENOMEM;
		if (n)
			checksum_list_note(n, line.hash, at);
	}
	return 0;
}

static void checksum_list_done(struct listed_names *l)
{
	vec_done(&l->names);
	map_done(&l->by_name);
}

int checksum_list_promised(char *text, size_t len,
			   int (*fn)(void *ctx, const char *name), void *ctx)
{
	struct listed_names l = { 0 };
	int r = checksum_list_read(text, len, &l);

	for (size_t i = 0; !r && i < l.names.nr; i++)
		if (l.names.at[i].is_promised)
			r = fn(ctx, l.names.at[i].name);
	checksum_list_done(&l);
	return r;
}

int checksum_list_compact(char *text, size_t len, struct buf *out)
{
	struct listed_names l = { 0 };
	struct checksum_line line;
	char *again = malloc(len + 1);
	size_t at = 0;
	int r = again ? 0 : -ENOMEM, next;

	if (again) {
		memcpy(again, text, len);
		r = checksum_list_read(again, len, &l);
	}
	while (!r && (next = checksum_list_next(text, len, &at, &line)))
		if (next > 0 && at > checksum_list_know(&l, line.name)->since)
			checksum_list_put(out, line.hash, line.name);
	checksum_list_done(&l);
	free(again);
	return r ? r : out->failed ? -ENOMEM : 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* json_yajl.c - json_walk() by the event parser yajl.  The parser does not check the results of
 * its allocations, so json_yajl_alloc() leaves it by longjmp() instead of returning NULL; all
 * its blocks are in a list, and are freed at the end. */
#include <errno.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>
#include <yajl/yajl_version.h>

#include "base/containers/vec.h"
#include "base/err.h"
#include "format/foreign/json_walk.h"

#define TEXT_OF_(x) #x
#define TEXT_OF(x) TEXT_OF_(x)

enum {
	COMPONENTS_MAX = 12,
	PIECE_BYTES = 1 << 20
};

struct json_yajl_path {
	struct foreign_word components[COMPONENTS_MAX];
	size_t nr;
};

/* An open object or array. */
struct json_yajl_level {
	uint64_t here; /* bit mask of the paths that end at or pass through it */
	/* bit mask of the paths that end at or pass through its current member */
	uint64_t child;
	bool is_array;
};

struct json_yajl_block {
	struct json_yajl_block *next, *prev;
	size_t len;
};

struct json_yajl {
	const struct foreign_info *info; /* can be NULL */
	struct json_yajl_path paths[JSON_WALK_PATHS_MAX];
	size_t nr_paths;
	VEC(struct json_yajl_level) levels;
	json_walk_fn fn;
	void *ctx;
	int r; /* the error with which a callback stopped the parser */
	struct json_yajl_block blocks;
	size_t bytes;
	jmp_buf no_memory;
};

/* ---- memory of the parser ---- */

static void *json_yajl_alloc(void *ctx, size_t len)
{
	struct json_yajl *y = ctx;
	struct json_yajl_block *b = NULL;

	if (len > JSON_WALK_BYTES_MAX - y->bytes)
		y->r = -E2BIG;
	else
		b = malloc(sizeof(*b) + len);
	if (!b) {
		y->r = y->r ? y->r : -ENOMEM;
		longjmp(y->no_memory, 1);
	}
	*b = (struct json_yajl_block){ y->blocks.next, &y->blocks, len };
	b->next->prev = b;
	y->blocks.next = b;
	y->bytes += len;
	return b + 1;
}

static void json_yajl_free(void *ctx, void *at)
{
	struct json_yajl *y = ctx;
	struct json_yajl_block *b;

	if (!at)
		return;
	b = (struct json_yajl_block *)at - 1;
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): each block is in the ring once */
	b->prev->next = b->next;
	b->next->prev = b->prev;
	y->bytes -= b->len;
	free(b);
}

static void *json_yajl_realloc(void *ctx, void *at, size_t len)
{
	void *to = json_yajl_alloc(ctx, len);
	size_t old = at ? ((struct json_yajl_block *)at - 1)->len : 0;

	if (at)
		memcpy(to, at, old < len ? old : len);
	json_yajl_free(ctx, at);
	return to;
}

/* ---- paths ---- */

static bool json_yajl_split(const char *text, struct json_yajl_path *ret_path)
{
	struct json_yajl_path p = { 0 };

	while (*text) {
		size_t len = strcspn(text, "/");

		if (p.nr == COMPONENTS_MAX)
			return false;
		p.components[p.nr++] = (struct foreign_word){ text, len };
		text += len + (text[len] == '/');
	}
	*ret_path = p;
	return true;
}

/* Returns whether a component of a path matches `key`, or an element of an array if `key` is
 * NULL. */
static bool json_yajl_fits(struct foreign_word component, const char *key, size_t len)
{
	if (!key)
		return component.len == 1 && component.at[0] == '*';
	return component.len == len && !memcmp(component.at, key, len);
}

/* Returns those of the paths `among` (a bit mask) whose component `depth` is the member `key`. */
static uint64_t json_yajl_paths_to(const struct json_yajl *y, uint64_t among,
				   size_t depth, const char *key, size_t len)
{
	uint64_t found = 0;

	for (; among; among &= among - 1) {
		const size_t i = (size_t)__builtin_ctzll(among);

		if (depth < y->paths[i].nr &&
		    json_yajl_fits(y->paths[i].components[depth], key, len))
			found |= (uint64_t)1 << i;
	}
	return found;
}

/* Returns the bit mask of the paths that end at or pass through the next value. */
static uint64_t json_yajl_paths_of_value(const struct json_yajl *y)
{
	if (!y->levels.nr)
		return y->nr_paths == JSON_WALK_PATHS_MAX
			       ? UINT64_MAX
			       : ((uint64_t)1 << y->nr_paths) - 1;
	return y->levels.at[y->levels.nr - 1].child;
}

/* Delivers a value at `depth` to those of the paths that end at it.  Returns yajl's result. */
static int json_yajl_deliver(struct json_yajl *y, uint64_t paths, size_t depth,
			     const struct json_value *value)
{
	for (; paths && !y->r; paths &= paths - 1) {
		const size_t i = (size_t)__builtin_ctzll(paths);

		if (y->paths[i].nr == depth)
			y->r = y->fn(y->ctx, i, value);
	}
	return !y->r;
}

/* ---- events ---- */

static int json_yajl_value(void *ctx, enum json_kind kind, const void *at, size_t len)
{
	struct json_yajl *y = ctx;
	const struct json_value value = { kind, { at, len } };
	const uint64_t paths = json_yajl_paths_of_value(y);

	return !paths || json_yajl_deliver(y, paths, y->levels.nr, &value);
}

static int json_yajl_begin(struct json_yajl *y, bool is_array)
{
	const struct json_value value = { .kind = JSON_BEGIN };
	struct json_yajl_level l = { .here = json_yajl_paths_of_value(y),
				     .is_array = is_array };
	size_t depth = y->levels.nr;

	if (depth == JSON_WALK_DEPTH_MAX)
		y->r = -E2BIG;
	/* The paths are the same for all elements of an array. */
	if (is_array)
		l.child = json_yajl_paths_to(y, l.here, depth, NULL, 0);
	if (!y->r && !vec_push(&y->levels, l))
		y->r = -ENOMEM;
	return !y->r && json_yajl_deliver(y, l.here, depth, &value);
}

static int json_yajl_end(void *ctx)
{
	static const struct json_value value = { .kind = JSON_END };
	struct json_yajl *y = ctx;
	const uint64_t here = y->levels.at[--y->levels.nr].here;

	return json_yajl_deliver(y, here, y->levels.nr, &value);
}

static int json_yajl_null(void *ctx)
{
	return json_yajl_value(ctx, JSON_NULL, "", 0);
}

static int json_yajl_bool(void *ctx, int value)
{
	return json_yajl_value(ctx, JSON_BOOL, value ? "true" : "false", value ? 4 : 5);
}

static int json_yajl_number(void *ctx, const char *at, size_t len)
{
	return json_yajl_value(ctx, JSON_NUMBER, at, len);
}

static int json_yajl_string(void *ctx, const unsigned char *at, size_t len)
{
	return json_yajl_value(ctx, JSON_STRING, at, len);
}

static int json_yajl_begin_object(void *ctx)
{
	return json_yajl_begin(ctx, false);
}

static int json_yajl_begin_array(void *ctx)
{
	return json_yajl_begin(ctx, true);
}

static int json_yajl_key(void *ctx, const unsigned char *at, size_t len)
{
	struct json_yajl *y = ctx;
	struct json_yajl_level *l = &y->levels.at[y->levels.nr - 1];

	l->child =
		json_yajl_paths_to(y, l->here, y->levels.nr - 1, (const char *)at, len);
	return 1;
}

/* ---- the whole text ---- */

static const yajl_callbacks json_yajl_callbacks = {
	.yajl_null = json_yajl_null,
	.yajl_boolean = json_yajl_bool,
	.yajl_number = json_yajl_number,
	.yajl_string = json_yajl_string,
	.yajl_start_map = json_yajl_begin_object,
	.yajl_map_key = json_yajl_key,
	.yajl_end_map = json_yajl_end,
	.yajl_start_array = json_yajl_begin_array,
	.yajl_end_array = json_yajl_end,
};

static int json_yajl_fail(const struct json_yajl *y, struct err *err)
{
	if (y->r == -E2BIG)
		return err_set(
			err, y->r,
			"its JSON is nested more than %d levels deep, or has a string longer than %d MB",
			JSON_WALK_DEPTH_MAX, JSON_WALK_BYTES_MAX >> 21);
	return y->r;
}

/* Parses the text. On an error of the parser, stores the offset of the error in *ret_at. */
static yajl_status json_yajl_parse(struct json_yajl *y, struct foreign_word text,
				   bool *ret_cut, size_t *ret_at)
{
	yajl_alloc_funcs memory = { json_yajl_alloc, json_yajl_realloc, json_yajl_free,
				    y };
	yajl_handle h = yajl_alloc(&json_yajl_callbacks, &memory, y);
	yajl_status status;

	/* Do not check for UTF-8, because names in profiles can have any encoding. */
	*ret_at = 0;
	yajl_config(h, yajl_dont_validate_strings, 1);
	do {
		const size_t left = text.len - *ret_at;
		const size_t len = left < PIECE_BYTES ? left : PIECE_BYTES;

		status = yajl_parse(h, (const unsigned char *)text.at + *ret_at, len);
		*ret_at += yajl_get_bytes_consumed(h);
		if (y->info)
			foreign_info_passed(y->info, text.at + *ret_at);
	} while (status == yajl_status_ok && *ret_at < text.len);
	/* Do not complete a text that ends within an array or object: the parser would deliver a
	 * cut number as a whole one. */
	*ret_cut = status == yajl_status_ok && y->levels.nr;
	if (status == yajl_status_ok && !y->levels.nr) {
		status = yajl_complete_parse(h);
		*ret_cut = status == yajl_status_error;
	}
	return status;
}

/* Runs the parser. This is a separate function, because setjmp() can lose changes of local
 * variables of its caller. */
static int json_yajl_walk(struct json_yajl *y, struct foreign_word text,
			  struct err *err)
{
	yajl_status status;
	bool cut;
	size_t at;

	if (setjmp(y->no_memory)) /* NOLINT(cert-err52-cpp): see the head of this file */
		return json_yajl_fail(y, err);
	status = json_yajl_parse(y, text, &cut, &at);
	if (y->r)
		return json_yajl_fail(y, err);
	if (cut)
		return 1;
	return status == yajl_status_ok
		       ? 0
		       : err_set(err, -EBADMSG, "malformed JSON at byte %zu", at);
}

int json_walk(struct foreign_word text, const struct json_walk_paths *paths,
	      json_walk_fn fn, void *ctx, struct err *err)
{
	struct json_yajl *y = calloc(1, sizeof(*y));
	int r;

	if (!y)
		return -ENOMEM;
	y->fn = fn;
	y->ctx = ctx;
	y->info = paths->info;
	y->blocks.next = y->blocks.prev = &y->blocks;
	for (; y->nr_paths < paths->nr; y->nr_paths++)
		if (!json_yajl_split(paths->paths[y->nr_paths], &y->paths[y->nr_paths]))
			break;
	if (text.len >= 3 && !memcmp(text.at, "\xef\xbb\xbf", 3)) {
		text.at += 3;
		text.len -= 3;
	}
	r = json_yajl_walk(y, text, err);
	while (y->blocks.next != &y->blocks)
		json_yajl_free(y, y->blocks.next + 1);
	vec_done(&y->levels);
	free(y);
	return r;
}

const char *json_walk_version(void)
{
	return TEXT_OF(YAJL_MAJOR) "." TEXT_OF(YAJL_MINOR) "." TEXT_OF(YAJL_MICRO);
}

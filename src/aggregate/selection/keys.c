/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "aggregate/selection/keys.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/closest_match.h"
#include "base/err.h"
#include "base/parse.h"

static const uint64_t min_width_ns = 100; /* times are stored in units of 100 ns */

const struct key_row key_rows[] = {
	{ .name = "event", .id = KEY_EVENT, .help = "what was counted" },
	{ .name = "comm",
	  .id = KEY_COMM,
	  .needs = NEED_COMM,
	  .help = "command name of the thread" },
	{ .name = "pid",
	  .id = KEY_PID,
	  .kind = KEY_INTEGER,
	  .needs = NEED_PID,
	  .help = "process" },
	{ .name = "tgid",
	  .id = KEY_PID,
	  .kind = KEY_INTEGER,
	  .needs = NEED_PID,
	  .help = "process; the same as pid" },
	{ .name = "tid",
	  .id = KEY_TID,
	  .kind = KEY_INTEGER,
	  .needs = NEED_TID,
	  .help = "thread" },
	{ .name = "cpu",
	  .id = KEY_CPU,
	  .kind = KEY_INTEGER,
	  .needs = NEED_CPU,
	  .help = "processor" },
	{ .name = "image",
	  .id = KEY_IMAGE,
	  .needs = NEED_IMAGE,
	  .help = "binary that was hit" },
	{ .name = "dso",
	  .id = KEY_IMAGE,
	  .needs = NEED_IMAGE,
	  .help = "binary that was hit; the same as image" },
	{ .name = "app",
	  .id = KEY_APP,
	  .needs = NEED_APP | NEED_IMAGE,
	  .help = "main binary of the process" },
	{ .name = "symbol",
	  .id = KEY_SYMBOL,
	  .needs = NEED_IMAGE | NEED_FUNCTION,
	  .help = "function" },
	{ .name = "sym",
	  .id = KEY_SYMBOL,
	  .needs = NEED_IMAGE | NEED_FUNCTION,
	  .help = "function; the same as symbol" },
	{ .name = "origin",
	  .id = KEY_ORIGIN,
	  .needs = NEED_IMAGE,
	  .help = "cpu mode: [k] kernel, [.] user space, [g] and [u] the same of a guest, [H] hypervisor" },
	{ .name = "address",
	  .id = KEY_ADDRESS,
	  .kind = KEY_HEX,
	  .needs = NEED_IMAGE | NEED_ADDRESS,
	  .help = "link-time address in the image; run-time address in the kernel" },
	{ .name = "cgroup",
	  .id = KEY_CGROUP,
	  .needs = NEED_CGROUP,
	  .help = "control group of the process" },
	{ .name = "session",
	  .id = KEY_SESSION,
	  .help = "session that the sample is from" },
	{ .name = "host", .id = KEY_HOST, .help = "machine that was recorded" },
	{ .name = "time",
	  .id = KEY_TIME,
	  .kind = KEY_TIMES,
	  .needs = NEED_TIME,
	  .help = "time:10ms: spans of that length, in seconds from the session's start" },
	{ .name = "line",
	  .id = KEY_LINE,
	  .needs = NEED_IMAGE | NEED_ADDRESS | NEED_LINES,
	  .help = "source file and line, where there is debug information" },
	{ .name = "srcline",
	  .id = KEY_LINE,
	  .needs = NEED_IMAGE | NEED_ADDRESS | NEED_LINES,
	  .help = "source file and line; the same as line" },
	{ .name = "file",
	  .id = KEY_FILE,
	  .needs = NEED_IMAGE | NEED_ADDRESS | NEED_LINES,
	  .help = "source file" },
	{ .name = "srcfile",
	  .id = KEY_FILE,
	  .needs = NEED_IMAGE | NEED_ADDRESS | NEED_LINES,
	  .help = "source file; the same as file" },
	{ .name = "inline",
	  .id = KEY_INLINE,
	  .needs = NEED_IMAGE | NEED_FUNCTION | NEED_ADDRESS | NEED_LINES,
	  .help = "function that the source line belongs to; marked if it was inlined into the function of symbol" },
	{ .name = "function-line",
	  .id = KEY_FUNCTION_LINE,
	  .needs = NEED_IMAGE | NEED_FUNCTION | NEED_LINES,
	  .help = "source file and line where the function begins" },
	{ .name = "stack",
	  .id = KEY_STACK,
	  .needs = NEED_IMAGE | NEED_FUNCTION | NEED_STACK,
	  .help = "functions from the outermost caller inwards, separated by semicolons" },
	{ 0 },
};

static const struct key_row *keys_find_row(const char *name)
{
	for (const struct key_row *row = key_rows; row->name; row++) {
		if (!strcmp(row->name, name))
			return row;
	}
	return NULL;
}

static int unknown_key(const char *name, struct err *err)
{
	struct closest_match near = { .word = name };

	for (const struct key_row *row = key_rows; row->name; row++)
		closest_match_try(&near, row->name);
	if (near.best)
		return err_set(err, -EINVAL,
			       "--by: unknown key '%s': did you mean '%s'?", name,
			       near.best);
	return err_set(
		err, -EINVAL,
		"--by: unknown key '%s' (event, comm, pid, tid, cpu, image, app, symbol, origin, address, line, file, inline, function-line, stack, cgroup, session, host, time:10ms)",
		name);
}

/* Modifies `word`: cuts off the width. */
static int parse_key(char *word, struct key *key, struct err *err)
{
	char *width = strchr(word, ':');

	if (width)
		*width++ = '\0';
	key->row = keys_find_row(word);
	if (!key->row)
		return unknown_key(word, err);
	if (key->row->refusal)
		return err_set(err, -EINVAL, "--by %s: %s", word, key->row->refusal);
	if (key->row->id != KEY_TIME)
		return width ? err_set(err, -EINVAL, "--by: %s takes no ':%s'", word,
				       width)
			     : 0;
	if (!width || !parse_duration_ns(width, &key->width_ns) ||
	    key->width_ns < min_width_ns)
		return err_set(err, -EINVAL,
			       "--by: time needs a width, for example time:10ms");
	return 0;
}

static int add_key(struct key_list *list, const char *word, size_t len, struct err *err)
{
	struct key key = { .typed = strndup(word, len) };
	char *copy = strndup(word, len);
	int r;

	if (!key.typed || !copy)
		r = err_set(err, -ENOMEM, "out of memory");
	else
		r = parse_key(copy, &key, err);
	if (!r && key.row && keys_find(list, key.row->id) >= 0)
		r = err_set(err, -EINVAL, "--by: key '%s' is given twice", key.typed);
	free(copy);
	if (!r && vec_push(&list->keys, key))
		return 0;
	free(key.typed);
	return r ? r : err_set(err, -ENOMEM, "out of memory");
}

int keys_parse(struct key_list *list, const char *text, struct err *err)
{
	for (;;) {
		size_t len = strcspn(text, ",");
		int r = add_key(list, text, len, err);

		if (r || !text[len])
			return r;
		text += len + 1;
	}
}

int keys_mark_symbols(struct key_list *list)
{
	static const char name[] = "origin";
	struct key mark = { .row = keys_find_row(name), .implied = true };
	int at = keys_find(list, KEY_SYMBOL);

	if (at < 0 || keys_find(list, KEY_ORIGIN) >= 0)
		return 0;
	mark.typed = strdup(name);
	if (!mark.typed || !vec_push(&list->keys, mark)) {
		free(mark.typed);
		return -ENOMEM;
	}
	for (size_t i = list->keys.nr - 1; i > (size_t)at; i--)
		list->keys.at[i] = list->keys.at[i - 1];
	list->keys.at[at] = mark;
	return 0;
}

void keys_truncate(struct key_list *list, size_t nr)
{
	while (list->keys.nr > nr)
		free(list->keys.at[--list->keys.nr].typed);
}

void keys_done(struct key_list *list)
{
	keys_truncate(list, 0);
	vec_done(&list->keys);
}

int keys_find(const struct key_list *list, enum key_id id)
{
	for (size_t i = 0; i < list->keys.nr; i++) {
		if (list->keys.at[i].row->id == id)
			return (int)i;
	}
	return -1;
}

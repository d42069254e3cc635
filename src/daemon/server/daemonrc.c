/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/server/daemonrc.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/files/io.h"
#include "base/files/trust.h"
#include "base/parse.h"

enum {
	FILE_MAX = 1 << 20,
	NUMBER_MAX = 24,
	EVENT_KEY_MAX = 40,
	EVENTS_MAX = 64
};

static const char key_letters[] =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
/* Characters that need no quotes in a shell. */
static const char plain_letters[] =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-:,./=+@%^";

static struct daemonrc_entry *daemonrc_find(const struct daemonrc *rc, const char *key)
{
	for (size_t i = 0; i < rc->entries.nr; i++) {
		if (!strcmp(rc->entries.at[i].key, key))
			return &rc->entries.at[i];
	}
	return NULL;
}

static bool daemonrc_is_key(const char *key)
{
	return *key && key[strspn(key, key_letters)] == '\0';
}

static bool is_value(const char *value)
{
	size_t len = strlen(value);

	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)value[i] < ' ' || value[i] == 0x7f)
			return false;
	}
	return len <= DAEMONRC_VALUE_MAX;
}

static void take_out(struct daemonrc *rc, struct daemonrc_entry *e)
{
	free(e->key);
	free(e->value);
	rc->entries.nr--;
	memmove(e, e + 1, (char *)(rc->entries.at + rc->entries.nr) - (char *)e);
}

/* Appends a setting; takes ownership of `value`, also on failure. */
static int daemonrc_add(struct daemonrc *rc, const char *key, char *value)
{
	char *own = strdup(key);
	int r = own ? 0 : -ENOMEM;

	if (rc->entries.nr == DAEMONRC_KEYS_MAX)
		r = -E2BIG;
	if (!r && !vec_grow(&rc->entries))
		r = -ENOMEM;
	if (r) {
		free(own);
		free(value);
		return r;
	}
	rc->entries.at[rc->entries.nr++] =
		(struct daemonrc_entry){ .key = own, .value = value };
	return 0;
}

int daemonrc_set(struct daemonrc *rc, const char *key, const char *value)
{
	struct daemonrc_entry *e = daemonrc_find(rc, key);
	char *copy;

	if (!value) {
		if (e)
			take_out(rc, e);
		return 0;
	}
	if (!daemonrc_is_key(key) || !is_value(value))
		return -EINVAL;
	copy = strdup(value);
	if (!copy)
		return -ENOMEM;
	if (!e)
		return daemonrc_add(rc, key, copy);
	free(e->value);
	e->value = copy;
	return 0;
}

int daemonrc_set_number(struct daemonrc *rc, const char *key, uint64_t value)
{
	char text[NUMBER_MAX];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	return daemonrc_set(rc, key, text);
}

const char *daemonrc_get(const struct daemonrc *rc, const char *key)
{
	const struct daemonrc_entry *e = daemonrc_find(rc, key);

	return e ? e->value : NULL;
}

uint64_t daemonrc_number(const struct daemonrc *rc, const char *key, uint64_t otherwise)
{
	const char *value = daemonrc_get(rc, key);
	uint64_t number = otherwise;

	return value && parse_u64(value, &number) ? number : otherwise;
}

/* Removes the quotes in place, as a shell does for one word.  Returns false if a quote is not
 * closed, or if the value is followed by anything except a comment. */
static bool unquote(char *text)
{
	char *to = text;
	const char *at = text;

	for (char quote = '\0'; *at || quote; at++) {
		if (!*at)
			return false;
		if (quote ? *at == quote : *at == '"' || *at == '\'') {
			if (quote)
				quote = '\0';
			else
				quote = *at;
			continue;
		}
		if (*at == '\\' && quote != '\'' && at[1])
			at++;
		else if (!quote && (*at == ' ' || *at == '\t'))
			break;
		*to++ = *at;
	}
	at += strspn(at, " \t");
	if (*at && *at != '#')
		return false;
	*to = '\0';
	return true;
}

/* Parses one line and may modify it. */
static int daemonrc_parse_line(struct daemonrc *rc, char *line, struct err *err)
{
	char *equals;
	int r;

	line += strspn(line, " \t");
	line[strcspn(line, "\r")] = '\0';
	if (*line == '\0' || *line == '#')
		return 0;
	equals = strchr(line, '=');
	if (!equals)
		return err_set(err, -EINVAL, "'%.40s' is not KEY=VALUE", line);
	*equals = '\0';
	if (!daemonrc_is_key(line))
		return err_set(err, -EINVAL, "Invalid variable \"%.40s\"", line);
	if (!unquote(equals + 1) || !is_value(equals + 1))
		return err_set(err, -EINVAL, "Invalid value of %.40s", line);
	r = daemonrc_set(rc, line, equals + 1);
	if (r)
		return err_set(err, r,
			       r == -E2BIG ? "the file contains too many keys"
					   : "out of memory");
	return 0;
}

int daemonrc_parse(struct daemonrc *rc, const char *name, const void *bytes, size_t len,
		   struct err *err)
{
	const char *at = bytes;
	/* `at` can be NULL for an empty file. */
	const char *end = len ? at + len : at;

	for (unsigned int number = 1; at < end; number++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t line_len = (size_t)((newline ? newline : end) - at);
		char *line = strndup(at, line_len);
		int r;

		if (!line)
			return err_set(err, -ENOMEM, "out of memory");
		r = strlen(line) == line_len
			    ? daemonrc_parse_line(rc, line, err)
			    : err_set(err, -EINVAL, "a line contains a zero byte");
		free(line);
		if (r)
			return err_prefix(err, "%s:%u", name, number);
		at += line_len + (newline != NULL);
	}
	return 0;
}

int daemonrc_load(struct daemonrc *rc, const char *path, struct err *err)
{
	int fd = io_open(path, O_RDONLY | O_NONBLOCK, 0);
	struct buf text = { 0 };
	int r;

	if (fd < 0)
		return fd == -ENOENT ? fd : err_sys(err, fd, "cannot open '%s'", path);
	r = trust_check_config(fd, path, err);
	if (!r) {
		r = io_read_fd(fd, &text, FILE_MAX);
		r = r ? err_sys(err, r, "cannot read '%s'", path)
		      : daemonrc_parse(rc, path, text.data, text.len, err);
	}
	close(fd);
	buf_done(&text);
	return r;
}

static void daemonrc_put_text(struct buf *out, const char *text)
{
	buf_put(out, text, strlen(text));
}

static void daemonrc_put_value(struct buf *out, const char *value)
{
	if (value[strspn(value, plain_letters)] == '\0') {
		daemonrc_put_text(out, value);
		return;
	}
	buf_put_u8(out, '"');
	for (; *value; value++) {
		if (strchr("\"\\$`", *value))
			buf_put_u8(out, '\\');
		buf_put_u8(out, (uint8_t)*value);
	}
	buf_put_u8(out, '"');
}

void daemonrc_write(const struct daemonrc *rc, struct buf *out)
{
	for (size_t i = 0; i < rc->entries.nr; i++) {
		daemonrc_put_text(out, rc->entries.at[i].key);
		buf_put_u8(out, '=');
		daemonrc_put_value(out, rc->entries.at[i].value);
		buf_put_u8(out, '\n');
	}
}

int daemonrc_save(const struct daemonrc *rc, const char *path, struct err *err)
{
	const char *slash = strrchr(path, '/');
	struct buf text = { 0 };
	char *dir = slash ? strndup(path, (size_t)(slash - path)) : strdup(".");
	int r = dir ? 0 : -ENOMEM;

	daemonrc_write(rc, &text);
	if (text.failed)
		r = -ENOMEM;
	if (!r)
		r = io_make_dirs(dir, 0755);
	if (!r)
		r = io_write_file_to_disk(path, text.data, text.len, 0644);
	free(dir);
	buf_done(&text);
	return r ? err_sys(err, r, "cannot write '%s'", path) : 0;
}

static const char *event_key(size_t i, char key[EVENT_KEY_MAX])
{
	snprintf(key, EVENT_KEY_MAX, "CHOSEN_EVENTS_%zu", i);
	return key;
}

size_t daemonrc_nr_events(const struct daemonrc *rc)
{
	uint64_t nr = daemonrc_number(rc, "NR_CHOSEN", 0);
	char key[EVENT_KEY_MAX];
	size_t i = 0;

	while (i < nr && i < EVENTS_MAX && daemonrc_get(rc, event_key(i, key)))
		i++;
	return i;
}

const char *daemonrc_event(const struct daemonrc *rc, size_t i)
{
	char key[EVENT_KEY_MAX];

	return daemonrc_get(rc, event_key(i, key));
}

void daemonrc_clear_events(struct daemonrc *rc)
{
	static const char prefix[] = "CHOSEN_EVENTS_";

	for (size_t i = rc->entries.nr; i-- > 0;) {
		if (!strncmp(rc->entries.at[i].key, prefix, sizeof(prefix) - 1))
			take_out(rc, &rc->entries.at[i]);
	}
	(void)daemonrc_set(rc, "NR_CHOSEN", NULL);
}

int daemonrc_add_event(struct daemonrc *rc, const char *spec)
{
	size_t nr = daemonrc_nr_events(rc);
	char key[EVENT_KEY_MAX];
	int r = nr < EVENTS_MAX ? daemonrc_set(rc, event_key(nr, key), spec) : -E2BIG;

	return r ? r : daemonrc_set_number(rc, "NR_CHOSEN", nr + 1);
}

void daemonrc_done(struct daemonrc *rc)
{
	while (rc->entries.nr)
		take_out(rc, &rc->entries.at[rc->entries.nr - 1]);
	vec_done(&rc->entries);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/page/record_settings.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/files/io.h"
#include "base/files/trust.h"
#include "format/foreign/json_walk.h"

enum {
	SETTINGS_MAX = 64 << 10,
	SETTINGS_MODE = 0600,
	SETTINGS_DIR_MODE = 0700
};

/* Stores the paths ~/.oprofile and ~/.oprofile/record.json (malloc'd). */
static int settings_paths(char **ret_dir, char **ret_file, struct err *err)
{
	const char *home = getenv("HOME");
	const struct passwd *user;

	*ret_dir = *ret_file = NULL;
	if (!home || *home != '/') {
		user = getpwuid(geteuid());
		home = user ? user->pw_dir : "/";
	}
	if (asprintf(ret_dir, "%s/.oprofile", home) < 0)
		*ret_dir = NULL;
	if (!*ret_dir || asprintf(ret_file, "%s/record.json", *ret_dir) < 0) {
		*ret_file = NULL;
		return err_set(err, -ENOMEM, "out of memory");
	}
	return 0;
}

static int settings_on_value(void *ctx, size_t at, const struct json_value *v)
{
	bool *is_object = ctx;

	(void)at;
	*is_object |= v->kind == JSON_BEGIN;
	return 0;
}

/* Returns whether the text is one JSON object. */
static bool settings_are_json(const char *json, size_t len)
{
	static const char *const all[] = { "" };
	const struct json_walk_paths paths = { .paths = all, .nr = 1 };
	struct err err = { 0 };
	bool is_object = false;

	return len && json[strspn(json, " \t\r\n")] == '{' &&
	       !json_walk((struct foreign_word){ json, len }, &paths, settings_on_value,
			  &is_object, &err) &&
	       is_object;
}

static int settings_read(const char *file, struct buf *text, struct err *err)
{
	int fd = io_open(file, O_RDONLY | O_NOFOLLOW, 0);
	int r;

	if (fd < 0)
		return fd == -ENOENT ? 0 : err_sys(err, fd, "cannot open '%s'", file);
	r = trust_check_config(fd, file, err);
	if (!r) {
		r = io_read_fd(fd, text, SETTINGS_MAX);
		if (r)
			err_sys(err, r, "cannot read '%s'", file);
	}
	close(fd);
	return r;
}

int record_settings_load(struct buf *out, struct err *err)
{
	struct buf text = { 0 };
	char *dir, *file;
	int r = settings_paths(&dir, &file, err);

	if (!r)
		r = settings_read(file, &text, err);
	buf_put_u8(&text, '\0');
	if (!r && !text.failed &&
	    settings_are_json((const char *)text.data, text.len - 1))
		buf_put(out, text.data, text.len - 1);
	else if (!r)
		buf_put(out, "{}", 2);
	buf_done(&text);
	free(dir);
	free(file);
	return r;
}

int record_settings_save(const char *json, size_t len, struct err *err)
{
	char *dir, *file;
	int r = settings_paths(&dir, &file, err);

	if (!r && (len > SETTINGS_MAX || !settings_are_json(json, len)))
		r = err_set(err, -EINVAL, "the settings must be a JSON object");
	if (!r) {
		r = io_make_dirs(dir, SETTINGS_DIR_MODE);
		if (!r)
			r = io_write_file(file, json, len, SETTINGS_MODE);
		if (r)
			err_sys(err, r, "cannot write '%s'", file);
	}
	free(dir);
	free(file);
	return r;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/safe_text.h"

/* Formats the message and leaves the last `reserve` bytes free. */
__attribute__((format(printf, 4, 0))) static void
err_set_text(struct err *err, size_t reserve, bool lines, const char *format,
	     va_list args)
{
	char raw[ERR_TEXT_MAX];

	vsnprintf(raw, sizeof(raw), format, args);
	safe_text_copy(err->text, sizeof(err->text) - reserve, raw, lines);
}

static void err_append(struct err *err, const char *more)
{
	size_t len = strlen(err->text);

	snprintf(err->text + len, sizeof(err->text) - len, ": %s", more);
}

int err_set(struct err *err, int code, const char *format, ...)
{
	va_list args;

	if (!err)
		return code;
	err->code = code;
	va_start(args, format);
	err_set_text(err, 0, safe_text_has_lines(format), format, args);
	va_end(args);
	return code;
}

int err_sys(struct err *err, int code, const char *format, ...)
{
	const char *reason = strerror(-code);
	va_list args;

	if (!err)
		return code;
	err->code = code;
	va_start(args, format);
	err_set_text(err, strlen(reason) + strlen(": "), false, format, args);
	va_end(args);
	err_append(err, reason);
	return code;
}

bool err_is_absent(int code)
{
	return code == -ENOENT || code == -ENOTDIR || code == -ENAMETOOLONG;
}

int err_prefix(struct err *err, const char *format, ...)
{
	char old[ERR_TEXT_MAX];
	va_list args;

	if (!err)
		return -1;
	memcpy(old, err->text, sizeof(old));
	va_start(args, format);
	err_set_text(err, 0, false, format, args);
	va_end(args);
	err_append(err, old);
	return err->code;
}

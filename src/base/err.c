#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *err, int code, const char *format, ...)
{
	va_list args;

	if (!err)
		return code;
	err->code = code;
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	return code;
}

int err_sys(struct err *err, int code, const char *format, ...)
{
	va_list args;
	size_t len;

	if (!err)
		return code;
	err->code = code;
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	len = strlen(err->text);
	snprintf(err->text + len, sizeof(err->text) - len, ": %s", strerror(-code));
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
	size_t len;

	if (!err)
		return -1;
	memcpy(old, err->text, sizeof(old));
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	len = strlen(err->text);
	snprintf(err->text + len, sizeof(err->text) - len, ": %s", old);
	return err->code;
}

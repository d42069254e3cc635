/* SPDX-License-Identifier: GPL-2.0-or-later */
/* err.h - an error, described once at the point where it is detected.
 * Layer: base. */
#pragma once
#include <stdbool.h>

enum {
	ERR_TEXT_MAX = 512
};

struct err {
	int code; /* negative errno; 0: no error */
	char text[ERR_TEXT_MAX];
};

/* Stores `code` (a negative errno) and a message. Returns `code`, so that a caller can write
 * `return err_set(...)`.  `err` can be NULL.  Control characters of names in the message are
 * escaped (safe_text.h). Newlines are kept only if `format` itself contains some. */
int err_set(struct err *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Like err_set(), but appends ": " and the text of strerror(-code), which is never truncated. */
int err_sys(struct err *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Returns whether `code`, a negative errno, means that the file does not exist. For any other
 * error the file can exist: report the error instead of treating the file as missing. */
bool err_is_absent(int code);
/* Inserts "prefix: " before the message. Returns the stored code. */
int err_prefix(struct err *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

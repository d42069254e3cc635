/* SPDX-License-Identifier: GPL-2.0-or-later */
/* err.h - what went wrong, said once where it was seen.
 * Layer: base. */
#pragma once
#include <stdbool.h>

enum {
	ERR_TEXT_MAX = 512
};

struct err {
	int code; /* negative errno, 0 while nothing happened */
	char text[ERR_TEXT_MAX];
};

/* Records `code` (a negative errno) and the text; returns `code`, so that a caller can
 * write `return err_set(...)`.  `err` may be NULL.  Control characters of names in the text are
 * escaped (safe_text.h); line ends stay if `format` itself has some. */
int err_set(struct err *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* As err_set(), and appends ": " and the system's text for -code, which is never cut off. */
int err_sys(struct err *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Whether a negative errno means that there is no such file.  Any other error concerns a file that
 * may well be there: report it, and do not take the file for missing. */
bool err_is_absent(int code);
/* Puts "prefix: " before the text that is there; returns the recorded code. */
int err_prefix(struct err *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

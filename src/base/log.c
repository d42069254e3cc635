/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/containers/hash.h"
#include "base/safe_text.h"

enum {
	LOGGED_MAX =
		1024 /* number of messages to remember; others are logged each time */
};

static log_sink the_sink;
static log_progress_sink the_progress_sink;
/* Hashes of messages already logged; 0: free. */
static atomic_uint_least64_t logged[LOGGED_MAX];

void log_set_sink(log_sink sink)
{
	the_sink = sink;
}

static bool log_is_news(const char *text)
{
	uint64_t hash = hash_bytes(text, strlen(text), 0) | 1;

	for (size_t i = 0; i < LOGGED_MAX; i++) {
		atomic_uint_least64_t *at = &logged[(hash + i) % LOGGED_MAX];
		uint_least64_t there = 0;

		if (atomic_compare_exchange_strong(at, &there, hash))
			return true;
		if (there == hash)
			return false;
	}
	return true;
}

__attribute__((format(printf, 3, 0))) static void
log_say_line(enum log_level level, bool once, const char *format, va_list args)
{
	char raw[1024];
	char text[sizeof(raw)];

	if (!the_sink)
		return;
	vsnprintf(raw, sizeof(raw), format, args);
	safe_text_copy(text, sizeof(text), raw, safe_text_has_lines(format));
	if (!once || log_is_news(text))
		the_sink(level, text);
}

void log_say(enum log_level level, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_say_line(level, false, format, args);
	va_end(args);
}

void log_say_once(enum log_level level, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_say_line(level, true, format, args);
	va_end(args);
}

void log_set_progress_sink(log_progress_sink sink)
{
	the_progress_sink = sink;
}

void log_progress(const char *words)
{
	if (the_progress_sink)
		the_progress_sink(words);
}

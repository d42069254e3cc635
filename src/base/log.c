#include "base/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"

enum {
	TOLD_MAX = 1024 /* later ones are said each time */
};

static log_sink the_sink;
/* Hashes of what was said, 0: free. */
static atomic_uint_least64_t told[TOLD_MAX];

void log_set_sink(log_sink sink)
{
	the_sink = sink;
}

void log_say(enum log_level level, const char *format, ...)
{
	char text[1024];
	va_list args;

	if (!the_sink)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	the_sink(level, text);
}

static bool is_news(const char *text)
{
	uint64_t hash = hash_bytes(text, strlen(text), 0) | 1;

	for (size_t i = 0; i < TOLD_MAX; i++) {
		atomic_uint_least64_t *at = &told[(hash + i) % TOLD_MAX];
		uint_least64_t there = 0;

		if (atomic_compare_exchange_strong(at, &there, hash))
			return true;
		if (there == hash)
			return false;
	}
	return true;
}

void log_say_once(enum log_level level, const char *format, ...)
{
	char text[1024];
	va_list args;

	if (!the_sink)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (is_news(text))
		the_sink(level, text);
}

#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

static log_sink the_sink;

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

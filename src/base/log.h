/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log.h - where a layer below tools/ leaves a remark: the tool decides what becomes of it.
 * Layer: base.  The sink is process-wide state, set once at the start by the tool. */
#pragma once

enum log_level {
	LOG_WARNING, /* the result is affected; shown to the user */
	LOG_NOTE,    /* worth a line, the result is whole */
	LOG_DEBUG,
	LOG_COUNT
};

typedef void (*log_sink)(enum log_level level, const char *text);

/* NULL (the start) drops everything.  Texts are safe to show (safe_text.h). */
void log_set_sink(log_sink sink);
void log_say(enum log_level level, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* But not if the same was said so before: for what is met once for each segment of a session. */
void log_say_once(enum log_level level, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* What goes on while somebody waits ("fetched 1 of 3 files"): for the tool's line of progress,
 * which the next such text replaces.  NULL (the start) drops them. */
typedef void (*log_progress_sink)(const char *words);
void log_set_progress_sink(log_progress_sink sink);
void log_progress(const char *words);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log.h - messages from layers below tools/. The tool decides what to do with them.
 * Layer: base.  The tool sets the sink, which is process-wide, once at the start. */
#pragma once

enum log_level {
	LOG_WARNING, /* the result is affected; shown to the user */
	LOG_NOTE,    /* worth a message, but the result is complete */
	LOG_DEBUG,
	LOG_COUNT
};

typedef void (*log_sink)(enum log_level level, const char *text);

/* Sets the function that receives all messages. NULL, the default, drops them. The messages are
 * safe to print (safe_text.h). */
void log_set_sink(log_sink sink);
void log_say(enum log_level level, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Like log_say(), but drops a message that was logged before. For conditions that occur in each
 * segment of a session. */
void log_say_once(enum log_level level, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Reports progress while the user waits ("fetched 1 of 3 files"). The tool shows each text in
 * place of the previous one, on the same line. If the sink is NULL, the default, texts are
 * dropped. */
typedef void (*log_progress_sink)(const char *words);
void log_set_progress_sink(log_progress_sink sink);
void log_progress(const char *words);

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/cli/progress.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/byte_text.h"
#include "base/clock.h"
#include "base/files/io.h"
#include "tools/cli/command.h"
#include "tools/cli/terminal.h"

enum {
	FIRST_MS = 1000,
	EVERY_MS = 200,
	LINE_MAX_BYTES = 256
};

static const char clear_line[] = "\r\033[K";

/* Signals that would terminate the program while the line is shown. */
static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

enum {
	NR_SIGNALS = COUNT_OF(signals)
};

static struct {
	const char *what; /* NULL: no work in progress, or no terminal to show it */
	uint64_t next_ms; /* time of the next update */
	volatile sig_atomic_t shown;
	struct sigaction before[NR_SIGNALS]; /* saved while a line is shown */
} the;

static uint64_t progress_now_ms(void)
{
	return clock_now_ns(CLOCK_MONOTONIC_COARSE) / NS_PER_MS;
}

/* A signal handler: clears the line, and raises the signal again with its default action. */
static void die_cleanly(int number)
{
	if (the.shown && write(STDERR_FILENO, clear_line, sizeof(clear_line) - 1) < 0)
		the.shown = 0;
	signal(number, SIG_DFL);
	raise(number);
}

static void catch_signals(void)
{
	struct sigaction catch = { .sa_handler = die_cleanly };

	for (int i = 0; i < NR_SIGNALS; i++) {
		sigaction(signals[i], NULL, &the.before[i]);
		/* Do not change signals that the program ignores or handles. */
		if (the.before[i].sa_handler == SIG_DFL)
			sigaction(signals[i], &catch, NULL);
	}
}

static void let_signals_go(void)
{
	for (int i = 0; i < NR_SIGNALS; i++)
		sigaction(signals[i], &the.before[i], NULL);
}

void progress_text(char *out, size_t room, const char *what, uint64_t done,
		   uint64_t total)
{
	char done_text[32];
	char total_text[32];

	if (total && done > total)
		done = total;
	byte_text_put(done_text, sizeof(done_text), done);
	byte_text_put(total_text, sizeof(total_text), total);
	if (total)
		snprintf(out, room, "%s: %s %s of %s (%d %%)", command_name(), what,
			 done_text, total_text,
			 (int)((double)done / (double)total * 100));
	else
		snprintf(out, room, "%s: %s %s", command_name(), what, done_text);
}

void progress_begin(const char *what)
{
	progress_end();
	if (!terminal_has_escapes(STDERR_FILENO))
		return;
	the.what = what;
	the.next_ms = progress_now_ms() + FIRST_MS;
}

/* Returns whether an update is due. */
static bool is_due(void)
{
	uint64_t now;

	if (!the.what)
		return false;
	now = progress_now_ms();
	if (now < the.next_ms)
		return false;
	the.next_ms = now + EVERY_MS;
	return terminal_is_foreground(STDERR_FILENO);
}

/* Returns the space for the line. */
static size_t line_room(void)
{
	size_t width = terminal_width(STDERR_FILENO);

	/* Leave one column free, because some terminals wrap a line of the full width. */
	return width < LINE_MAX_BYTES ? width : LINE_MAX_BYTES;
}

static void progress_show(const char *text)
{
	char line[LINE_MAX_BYTES + sizeof(clear_line)];
	int len = snprintf(line, sizeof(line), "%s%s", clear_line, text);

	if (!the.shown)
		catch_signals();
	the.shown = 1;
	(void)!write(STDERR_FILENO, line, (size_t)len);
}

void progress_bytes(uint64_t done, uint64_t total)
{
	char text[LINE_MAX_BYTES];

	if (!is_due())
		return;
	progress_text(text, line_room(), the.what, done, total);
	progress_show(text);
}

void progress_words(const char *words)
{
	char text[LINE_MAX_BYTES];

	if (!is_due())
		return;
	snprintf(text, line_room(), "%s: %s", command_name(), words);
	progress_show(text);
}

void progress_hide(void)
{
	if (!the.shown)
		return;
	(void)!write(STDERR_FILENO, clear_line, sizeof(clear_line) - 1);
	the.shown = 0;
	let_signals_go();
}

void progress_end(void)
{
	progress_hide();
	the.what = NULL;
}

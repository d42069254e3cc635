/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests the progress line of long operations, on a separate terminal. */
#include "base/array.h"
#include "tools/cli/progress.h"

#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/cli/command.h"

#include "unit.h"

#define CLEAR "\r\033[K"

static void prints_readable_numbers(void **state)
{
	static const struct {
		uint64_t done;
		uint64_t total;
		const char *text;
	} rows[] = {
		{ 0, 1000000, "oprofile: reading 0 bytes of 1.0 MB (0 %)" },
		{ 999999, 1000000, "oprofile: reading 1000.0 kB of 1.0 MB (99 %)" },
		{ 1000000, 1000000, "oprofile: reading 1.0 MB of 1.0 MB (100 %)" },
		{ 1234567890123, 5000000000000,
		  "oprofile: reading 1.2 TB of 5.0 TB (24 %)" },
		/* A file that grew, and a pipe. */
		{ 3000, 2000, "oprofile: reading 2.0 kB of 2.0 kB (100 %)" },
		{ 12300000, 0, "oprofile: reading 12.3 MB" },
	};
	char text[128];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		progress_text(text, sizeof(text), "reading", rows[i].done,
			      rows[i].total);
		assert_string_equal(text, rows[i].text);
	}
	progress_text(text, 12, "reading", 0, 0);
	assert_string_equal(text, "oprofile: r");
}

static void wait_ms(long ms)
{
	const struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

/* Returns what `work` prints on a terminal, and its wait status; `key` is pressed after the
 * first output. */
static int on_terminal(void (*work)(void), const char *key, char *text, size_t room)
{
	size_t used = 0;
	ssize_t len;
	int status;
	int fd;
	pid_t pid;

	setenv("TERM", "xterm", 1);
	setenv("COLUMNS", "80", 1);
	pid = forkpty(&fd, NULL, NULL, NULL);
	assert_true(pid >= 0);
	if (!pid) {
		work();
		_exit(0);
	}
	/* EIO: the terminal is not open any more. The last output can still be in the kernel
	 * then (seen on a busy machine). */
	for (int left = 0; left < 4;) {
		len = read(fd, text + used, room - 1 - used);
		if (len > 0) {
			used += (size_t)len;
		} else {
			left++;
			wait_ms(20);
		}
		if (key && len > 0 && write(fd, key, strlen(key)) > 0)
			key = NULL;
	}
	text[used] = '\0';
	assert_int_equal(waitpid(pid, &status, 0), pid);
	close(fd);
	return status;
}

static void work_of_a_second(void)
{
	progress_begin("reading");
	progress_bytes(1000, 4000); /* too early */
	wait_ms(1050);
	progress_bytes(2000, 4000);
	progress_bytes(2500, 4000); /* too soon after the last one */
	command_warning("stop");
	wait_ms(250);
	progress_bytes(3000, 4000);
	progress_end();
	progress_bytes(4000, 4000); /* not requested */
}

static void long_work_shows_a_line(void **state)
{
	char text[1024];
	int status = on_terminal(work_of_a_second, NULL, text, sizeof(text));

	(void)state;
	assert_int_equal(status, 0);
	assert_string_equal(text,
			    CLEAR "oprofile: reading 2.0 kB of 4.0 kB (50 %)" CLEAR
				  "oprofile: warning: stop\r\n" CLEAR
				  "oprofile: reading 3.0 kB of 4.0 kB (75 %)" CLEAR);
}

static void short_work(void)
{
	progress_begin("reading");
	progress_bytes(1000, 4000);
	progress_end();
}

static void short_work_shows_nothing(void **state)
{
	char text[1024];

	(void)state;
	assert_int_equal(on_terminal(short_work, NULL, text, sizeof(text)), 0);
	assert_string_equal(text, "");
}

static void endless_work(void)
{
	progress_begin("reading");
	wait_ms(1050);
	progress_bytes(1000, 4000);
	wait_ms(20000);
}

static void ctrl_c_leaves_a_clean_line(void **state)
{
	char text[1024];
	int status = on_terminal(endless_work, "\003", text, sizeof(text));
	const char *end = text + strlen(text) - strlen(CLEAR);

	(void)state;
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGINT);
	assert_true(end > text);
	assert_string_equal(end, CLEAR);
}

static void unseen_work(void)
{
	setenv("TERM", "dumb", 1);
	progress_begin("reading");
	wait_ms(1050);
	progress_bytes(1000, 4000);
	progress_end();
}

static void a_dumb_terminal_shows_nothing(void **state)
{
	char text[1024];

	(void)state;
	assert_int_equal(on_terminal(unseen_work, NULL, text, sizeof(text)), 0);
	assert_string_equal(text, "");
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(prints_readable_numbers),
		cmocka_unit_test(long_work_shows_a_line),
		cmocka_unit_test(short_work_shows_nothing),
		cmocka_unit_test(ctrl_c_leaves_a_clean_line),
		cmocka_unit_test(a_dumb_terminal_shows_nothing),
	};

	return UNIT_RUN(cases);
}

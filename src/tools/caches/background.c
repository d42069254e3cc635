/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/caches/background.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/files/io.h"
#include "resolve/lines/later.h"
#include "tools/cli/command.h"

enum {
	/* Time limit; writing usually takes a hundredth of a second. */
	SECONDS_MAX = 60,
	FIRST_OTHER = STDERR_FILENO + 1
};

/* Writes the index files in the child process and exits. First closes all other files except
 * `lock`, so that programs which wait for the end of the command's output do not wait for this
 * process. */
static _Noreturn void write_and_exit(struct line_later *later, int lock)
{
	int null = io_open("/dev/null", O_RDWR, 0);

	alarm(SECONDS_MAX);
	(void)setsid();
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (null < 0 || dup2(null, fd) < 0)
			_exit(1);
	}
	if (lock >= 0)
		(void)dup2(lock, FIRST_OTHER);
	(void)close_range(lock >= 0 ? FIRST_OTHER + 1 : FIRST_OTHER, ~0U, 0);
	line_later_write(later);
	_exit(0);
}

void cache_write_in_background(struct line_later *later)
{
	pid_t child = -1;
	int lock;

	if (!line_later_any(later))
		return;
	lock = line_later_announce(later);
	if (!command_is_verbose())
		child = fork();
	if (!child)
		write_and_exit(later, lock);
	if (child < 0)
		line_later_write(later);
	if (lock >= 0)
		close(lock);
	line_later_done(later);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* deleted [MS] - a program that is deleted while it runs: copies itself to a temporary
 * directory, executes the copy, and removes it before it starts its work. */
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "work.h"

WORK_FUNCTION(deleted_a)
WORK_FUNCTION(deleted_b)

static void copy_self(const char *path)
{
	int in = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int out = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	struct stat st;

	if (in < 0 || out < 0 || fstat(in, &st))
		work_die(path);
	while (st.st_size > 0) {
		ssize_t n = sendfile(out, in, NULL, (size_t)st.st_size);

		if (n <= 0)
			work_die(path);
		st.st_size -= n;
	}
	close(in);
	close(out);
}

/* Executes the copy; never returns. */
static void become_copy(const char *ms)
{
	char dir[] = "/tmp/deleted-XXXXXX";
	char path[sizeof(dir) + 16];

	if (!mkdtemp(dir))
		work_die(dir);
	snprintf(path, sizeof(path), "%s/deleted_copy", dir);
	copy_self(path);
	execl(path, path, ms, "go", NULL);
	work_die(path);
}

int main(int argc, char **argv)
{
	struct work_part parts[] = {
		{ .name = "*/deleted_copy*,deleted_a", .run = deleted_a, .weight = 7 },
		{ .name = "*/deleted_copy*,deleted_b", .run = deleted_b, .weight = 3 },
	};
	unsigned int ms = work_argument(argc, argv, 1, 2000);

	if (argc < 3)
		become_copy(argc > 1 ? argv[1] : "2000");
	if (unlink(argv[0]) || rmdir(dirname(argv[0])))
		work_die(argv[0]);
	work_run_parts(parts, 2, ms, 10);
	work_print_shares("image,symbol", parts, 2);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flood [NUMBER] - changes its own name, and that of a file that it maps, NUMBER times each,
 * as fast as it can. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "work.h"

enum {
	FILE_BYTES = 4096
};

static int flood_open(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0755);

	if (fd < 0 || ftruncate(fd, FILE_BYTES))
		work_die(path);
	return fd;
}

/* Maps the file under its current name. */
static void flood_map(int fd)
{
	void *code = mmap(NULL, FILE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	if (code == MAP_FAILED)
		work_skip("no file may be mapped to be executed");
	munmap(code, FILE_BYTES);
}

int main(int argc, char **argv)
{
	unsigned int nr = work_argument(argc, argv, 1, 200000);
	char names[2][32] = { "flood-file" };
	int fd = flood_open(names[0]);

	for (unsigned int i = 0; i < nr; i++) {
		const char *old = names[i % 2];
		char *name = names[(i + 1) % 2];

		snprintf(name, sizeof(*names), "flood-%u", i);
		prctl(PR_SET_NAME, name);
		if (rename(old, name))
			work_die(name);
		flood_map(fd);
	}
	unlink(names[nr % 2]);
	close(fd);
	return 0;
}

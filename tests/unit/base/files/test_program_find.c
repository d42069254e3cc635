/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/files/program_find.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

static void make_file(const char *path, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, mode);

	assert_true(fd >= 0);
	close(fd);
}

static void finds_executable_files(void **state)
{
	char dir[] = "/tmp/program_find-XXXXXX";
	char path[128];
	char *found;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chdir(dir), 0);
	assert_int_equal(mkdir("one", 0700) | mkdir("two", 0700), 0);
	assert_int_equal(mkdir("one/prog", 0700), 0);
	make_file("two/prog", 0700);
	make_file("two/text", 0600);
	snprintf(path, sizeof(path), "%s/one:%s/two", dir, dir);
	assert_int_equal(setenv("PATH", path, 1), 0);

	/* A directory of that name is skipped. */
	found = program_find("prog");
	assert_non_null(found);
	assert_non_null(strstr(found, "/two/prog"));
	free(found);
	assert_true(program_can_run("prog"));
	assert_true(program_can_run("./two/prog"));
	assert_false(program_can_run("one/prog"));
	assert_false(program_can_run("two/text"));
	assert_false(program_can_run("text"));
	assert_false(program_can_run("./prog"));
	assert_false(program_can_run(""));
	found = program_find("two/text");
	assert_non_null(found);
	free(found);

	/* An empty element of PATH is the current directory. */
	assert_int_equal(chdir("two"), 0);
	assert_int_equal(setenv("PATH", ":/nonexistent", 1), 0);
	assert_true(program_can_run("prog"));
	assert_int_equal(unsetenv("PATH"), 0);
	assert_false(program_can_run("prog"));
	assert_int_equal(chdir(dir), 0);
	assert_int_equal(unlink("two/prog") | unlink("two/text") | rmdir("one/prog") |
				 rmdir("one") | rmdir("two") | rmdir(dir),
			 0);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(finds_executable_files),
	};

	return UNIT_RUN(cases);
}

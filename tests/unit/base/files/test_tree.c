/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/files/tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc_fail.h"
#include "base/err.h"
#include "base/files/io.h"
#include "unit.h"

static char top[64];

static void make(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", top, name);
	assert_int_equal(io_write_file(path, "", 0, 0644), 0);
}

static void make_dir(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", top, name);
	assert_int_equal(io_make_dirs(path, 0755), 0);
}

static int set_up(void **state)
{
	(void)state;
	snprintf(top, sizeof(top), "/tmp/tree-XXXXXX");
	if (!mkdtemp(top))
		return -1;
	make("a");
	make_dir("d/e");
	make("d/e/f");
	make_dir("skip");
	make("skip/g");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	return io_remove_tree(top);
}

struct seen {
	unsigned int files, dirs;
	bool any_skipped, found;
	const char *remove; /* when this is reached */
	int fail;
};

static int note(void *ctx, const struct tree_entry *entry)
{
	struct seen *seen = ctx;

	if (S_ISREG(entry->st.st_mode))
		seen->files++;
	if (S_ISDIR(entry->st.st_mode))
		seen->dirs++;
	seen->found |= !strcmp(entry->below, "d/e/f") && !strcmp(entry->name, "f");
	seen->any_skipped |= !strcmp(entry->name, "g");
	if (seen->remove && !strcmp(entry->below, seen->remove))
		(void)io_remove_tree(entry->path);
	if (!strcmp(entry->name, "skip"))
		return TREE_SKIP;
	return seen->fail;
}

static void visits_everything_below(void **state)
{
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(tree_walk(top, note, &seen, NULL), 0);
	assert_int_equal(seen.files, 2);
	assert_int_equal(seen.dirs, 3);
	assert_true(seen.found);
	assert_false(seen.any_skipped);
}

static void does_not_follow_a_link(void **state)
{
	struct seen seen = { 0 };
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/link", top);
	assert_int_equal(symlink("/", path), 0);
	assert_int_equal(tree_walk(top, note, &seen, NULL), 0);
	assert_int_equal(seen.dirs, 3);
}

static void skips_entries_removed_during_the_walk(void **state)
{
	struct seen seen = { .remove = "d/e" };

	(void)state;
	assert_int_equal(tree_walk(top, note, &seen, NULL), 0);
	assert_false(seen.found);
}

static void errors_end_the_walk(void **state)
{
	struct seen seen = { .fail = -EBADMSG };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(tree_walk(top, note, &seen, &err), -EBADMSG);
	assert_int_equal(tree_walk("/no/such/dir", note, &seen, &err), -ENOENT);
	assert_non_null(strstr(
		err.text, "cannot open '/no/such/dir': No such file or directory"));
}

static void handles_allocation_failure(void **state)
{
	(void)state;
	for (unsigned long n = 1;; n++) {
		struct seen seen = { 0 };
		bool failed;
		int r;

		alloc_fail_at(n);
		r = tree_walk(top, note, &seen, NULL);
		failed = alloc_fail_off();
		assert_int_equal(r, failed ? -ENOMEM : 0);
		if (!failed)
			break;
	}
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test_setup_teardown(visits_everything_below, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(does_not_follow_a_link, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(skips_entries_removed_during_the_walk,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(errors_end_the_walk, set_up, tear_down),
		cmocka_unit_test_setup_teardown(handles_allocation_failure, set_up,
						tear_down),
	};

	return UNIT_RUN(cases);
}

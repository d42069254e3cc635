/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc_fail.h"
#include "base/files/io.h"
#include "resolve/find/file_index.h"

struct tree {
	char root[40];
};

static void put(const struct tree *t, const char *dir, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", t->root, dir);
	assert_int_equal(io_make_dirs(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/%s/%s", t->root, dir, name);
	assert_int_equal(io_write_file(path, "", 0, 0644), 0);
}

static int setup(void **state)
{
	struct tree *t = calloc(1, sizeof(*t));

	snprintf(t->root, sizeof(t->root), "/tmp/test_file_index.XXXXXX");
	if (!mkdtemp(t->root))
		return -1;
	put(t, "a", "prog");
	put(t, "a/deep/er", "prog");
	put(t, "b", "my-prog");
	put(t, "b", "my_prog");
	put(t, "b", "ext4.ko");
	put(t, "b/c", "snd-hda,intel.ko");
	put(t, "b/c", "snd_hda_intel.ko.zst");
	put(t, "b", "packed.ko.gz");
	put(t, "b/c", "packed.ko.xz");
	put(t, "b/c", "packed.ko.debug");
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	struct tree *t = *state;

	io_remove_tree(t->root);
	free(t);
	return 0;
}

static void expect(const struct tree *t, const char *path, const char *end)
{
	if (!end) {
		assert_null(path);
		return;
	}
	assert_non_null(path);
	assert_int_equal(strncmp(path, t->root, strlen(t->root)), 0);
	assert_string_equal(path + strlen(t->root), end);
}

static void by_name(void **state)
{
	const struct tree *t = *state;
	const char *folders[] = { t->root, NULL };
	struct file_index *index;
	char loop[64];

	/* A link to a parent must not make the walk endless, or count files twice. */
	snprintf(loop, sizeof(loop), "%s/a/loop", t->root);
	assert_int_equal(symlink(t->root, loop), 0);
	snprintf(loop, sizeof(loop), "%s/b/alias", t->root);
	assert_int_equal(symlink("my-prog", loop), 0);
	assert_int_equal(file_index_new(folders, &index), 0);
	expect(t, file_index_get(index, "prog", 0), "/a/deep/er/prog");
	expect(t, file_index_get(index, "prog", 1), "/a/prog");
	expect(t, file_index_get(index, "prog", 2), NULL);
	expect(t, file_index_get(index, "my-prog", 0), "/b/my-prog");
	expect(t, file_index_get(index, "my-prog", 1), NULL);
	expect(t, file_index_get(index, "my_prog", 0), "/b/my_prog");
	expect(t, file_index_get(index, "alias", 0), "/b/alias");
	expect(t, file_index_get(index, "deep", 0), NULL);
	expect(t, file_index_get(index, "", 0), NULL);
	file_index_free(index);
}

static void modules(void **state)
{
	const struct tree *t = *state;
	const char *folders[] = { t->root, NULL };
	struct file_index *index;

	assert_int_equal(file_index_new(folders, &index), 0);
	expect(t, file_index_module(index, "ext4", 0), "/b/ext4.ko");
	expect(t, file_index_module(index, "ext4", 1), NULL);
	expect(t, file_index_module(index, "snd_hda_intel", 0),
	       "/b/c/snd-hda,intel.ko");
	expect(t, file_index_module(index, "snd_hda_intel", 1),
	       "/b/c/snd_hda_intel.ko.zst");
	expect(t, file_index_module(index, "snd_hda_intel", 2), NULL);
	expect(t, file_index_module(index, "packed", 0), "/b/c/packed.ko.xz");
	expect(t, file_index_module(index, "packed", 1), "/b/packed.ko.gz");
	expect(t, file_index_module(index, "packed", 2), "/b/c/packed.ko.debug");
	expect(t, file_index_module(index, "packed", 3), NULL);
	expect(t, file_index_module(index, "prog", 0), NULL);
	file_index_free(index);
}

static void folders_within_folders(void **state)
{
	const struct tree *t = *state;
	const char *folders[] = { t->root, t->root, "/nonexistent", NULL };
	struct file_index *index;

	assert_int_equal(file_index_new(folders, &index), 0);
	expect(t, file_index_get(index, "ext4.ko", 0), "/b/ext4.ko");
	expect(t, file_index_get(index, "ext4.ko", 1), NULL);
	file_index_free(index);
}

static void short_memory(void **state)
{
	const struct tree *t = *state;
	const char *folders[] = { t->root, NULL };

	for (unsigned long n = 1;; n++) {
		struct file_index *index;
		bool failed;
		int r;

		alloc_fail_at(n);
		r = file_index_new(folders, &index);
		failed = alloc_fail_off();
		if (!r)
			file_index_free(index);
		if (!failed)
			break;
		assert_int_equal(r, -ENOMEM);
	}
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest cases[] = {
		CASE(by_name),
		CASE(modules),
		CASE(folders_within_folders),
		CASE(short_memory),
	};

	return UNIT_RUN(cases);
}

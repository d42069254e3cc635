/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/io.h"
#include "resolve/elf/elf_maker.h"
#include "resolve/find/debug_cache.h"
#include "resolve/find/debug_cache_store.h"
#include "resolve/symbolize/naming.h"
#include "resolve/symbols/kallsyms.h"

static const uint8_t id_bytes[] = { 0xaa, 0xbb, 0xcc, 0xdd };
#define HEX "aabbccdd"
#define LINK ".build-id/aa/bbccdd"

struct fixture {
	char top[64]; /* contains the cache, and files outside the cache */
	char dir[80];
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	snprintf(f->top, sizeof(f->top), "/tmp/test_debug_cache.XXXXXX");
	if (!mkdtemp(f->top))
		return -1;
	snprintf(f->dir, sizeof(f->dir), "%s/cache", f->top);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	io_remove_tree(f->top);
	free(f);
	return 0;
}

static struct build_id the_id(void)
{
	struct build_id id = { .len = sizeof(id_bytes) };

	memcpy(id.bytes, id_bytes, sizeof(id_bytes));
	return id;
}

static char *path_of(const struct fixture *f, const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", f->dir, name);
	return path;
}

static void put(const struct fixture *f, const char *name, const void *bytes,
		size_t len)
{
	char *path = path_of(f, name);
	char *slash = strrchr(path, '/');

	*slash = '\0';
	assert_int_equal(io_make_dirs(path, 0755), 0);
	*slash = '/';
	assert_int_equal(io_write_file(path, bytes, len, 0644), 0);
}

static void put_text(const struct fixture *f, const char *name, const char *text)
{
	put(f, name, text, strlen(text));
}

static void put_elf(const struct fixture *f, const char *name, uint8_t first)
{
	uint8_t id[] = { first, 0xbb, 0xcc, 0xdd };
	struct elf_maker m = { .is64 = true,
			       .build_id = id,
			       .build_id_len = sizeof(id) };
	struct buf b = { 0 };

	elf_maker_write(&m, &b);
	put(f, name, b.data, b.len);
	buf_done(&b);
}

static void put_link(const struct fixture *f, const char *name, const char *text)
{
	put_text(f, name, ""); /* its directory */
	assert_int_equal(unlink(path_of(f, name)), 0);
	assert_int_equal(symlink(text, path_of(f, name)), 0);
}

static int open_part(const struct fixture *f, enum debug_cache_part part,
		     const char *name)
{
	struct build_id id = the_id();
	char *path;
	int fd;
	int r = debug_cache_open(f->dir, &id, part, name, &fd, &path);

	if (!r) {
		close(fd);
		free(path);
	}
	return r;
}

static void finds_files_in_the_new_layout(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(open_part(f, DEBUG_CACHE_ELF, NULL), -ENOENT);
	put_elf(f, "usr/bin/w/" HEX "/elf", 0xaa);
	put_link(f, LINK, "../../usr/bin/w/" HEX);
	assert_int_equal(open_part(f, DEBUG_CACHE_ELF, NULL), 0);
	assert_int_equal(open_part(f, DEBUG_CACHE_DEBUG, NULL), -ENOENT);
	put_elf(f, "usr/bin/w/" HEX "/debug", 0xaa);
	assert_int_equal(open_part(f, DEBUG_CACHE_DEBUG, NULL), 0);
}

static void finds_files_in_the_old_layout(void **state)
{
	struct fixture *f = *state;

	put_elf(f, "lib64/libc-2.10.2.so/" HEX, 0xaa);
	put_link(f, LINK, "../../lib64/libc-2.10.2.so/" HEX);
	assert_int_equal(open_part(f, DEBUG_CACHE_ELF, NULL), 0);
	assert_int_equal(open_part(f, DEBUG_CACHE_DEBUG, NULL), -ENOENT);
}

static void ignores_broken_links(void **state)
{
	struct fixture *f = *state;

	put_elf(f, "usr/bin/w/" HEX "/elf", 0xaa);
	put_text(f, LINK, "../../usr/bin/w/" HEX);
	assert_int_equal(open_part(f, DEBUG_CACHE_ELF, NULL), 0);
	put_text(f, LINK, "not a link");
	assert_int_equal(open_part(f, DEBUG_CACHE_ELF, NULL), -ESTALE);
	/* The binary is also found by its name, with a damaged link or without a link. */
	assert_int_equal(open_part(f, DEBUG_CACHE_ELF, "/usr/bin/w"), 0);
	assert_int_equal(unlink(path_of(f, LINK)), 0);
	assert_int_equal(open_part(f, DEBUG_CACHE_ELF, "/usr/bin/w"), 0);
	assert_int_equal(open_part(f, DEBUG_CACHE_ELF, NULL), -ENOENT);
}

/* Wrong files, loops and special files: none is used, nothing hangs. */
static void rejects_hostile_names(void **state)
{
	struct fixture *f = *state;

	put_elf(f, "usr/bin/w/" HEX "/elf", 0xab);
	put_link(f, LINK, "../../usr/bin/w/" HEX);
	assert_int_equal(open_part(f, DEBUG_CACHE_ELF, NULL), -ESTALE);
	assert_int_equal(unlink(path_of(f, LINK)), 0);
	put_link(f, LINK, "bbccdd");
	assert_int_equal(open_part(f, DEBUG_CACHE_ELF, NULL), -ELOOP);
	assert_int_equal(unlink(path_of(f, LINK)), 0);
	put_link(f, LINK, "../../fifo");
	assert_int_equal(mkfifo(path_of(f, "fifo"), 0600), 0);
	assert_int_equal(open_part(f, DEBUG_CACHE_ELF, NULL), -EINVAL);
	assert_int_equal(unlink(path_of(f, LINK)), 0);
	put_link(f, LINK, "/dev/zero");
	assert_int_equal(open_part(f, DEBUG_CACHE_ELF, NULL), -EINVAL);
	assert_int_equal(open_part(f, DEBUG_CACHE_ELF, "/../../etc"), -EINVAL);
}

/* Kallsyms in a directory that is not named after the build-id prove nothing. */
static void finds_kallsyms_by_build_id_alone(void **state)
{
	struct fixture *f = *state;

	put_text(f, "other/01234567/kallsyms", "ffffffff81000000 T _text\n");
	put_link(f, LINK, "../../other/01234567");
	assert_int_equal(open_part(f, DEBUG_CACHE_KALLSYMS, NULL), -ENOENT);
	put_text(f, "[kernel.kallsyms]/" HEX "/kallsyms", "ffffffff81000000 T _text\n");
	assert_int_equal(open_part(f, DEBUG_CACHE_KALLSYMS, NULL), 0);
}

static void adds_lists_and_removes(void **state)
{
	struct fixture *f = *state;
	struct build_id id = the_id();
	debug_cache_entries entries;

	put_elf(f, "../w", 0xaa);
	assert_int_equal(debug_cache_list(f->dir, &entries), 0);
	assert_int_equal(entries.nr, 0);
	assert_int_equal(debug_cache_add(f->dir, &id, DEBUG_CACHE_ELF, "/opt/w",
					 path_of(f, "../w")),
			 0);
	assert_int_equal(
		debug_cache_add_bytes(f->dir, &id, DEBUG_CACHE_DEBUG, "/opt/w", "x", 1),
		0);
	assert_int_equal(open_part(f, DEBUG_CACHE_ELF, NULL), 0);
	assert_int_equal(open_part(f, DEBUG_CACHE_DEBUG, NULL), -ESTALE);
	assert_int_equal(debug_cache_list(f->dir, &entries), 0);
	assert_int_equal(entries.nr, 1);
	assert_string_equal(entries.at[0].name, "/opt/w");
	debug_cache_entries_done(&entries);
	assert_int_equal(debug_cache_remove(f->dir, &id), 0);
	assert_int_equal(debug_cache_remove(f->dir, &id), -ENOENT);
	assert_int_not_equal(access(path_of(f, "opt"), F_OK), 0);
	assert_int_equal(access(path_of(f, "../w"), F_OK), 0);
}

/* The target of a link outside the cache is not removed, but the link is. */
static void removes_nothing_outside_the_cache(void **state)
{
	struct fixture *f = *state;
	struct build_id id = the_id();

	put_text(f, "../outside/" HEX "/precious", "x");
	put_link(f, LINK, "../../../outside/" HEX);
	assert_int_equal(debug_cache_remove(f->dir, &id), -EPERM);
	put_link(f, LINK, "../../there/" HEX);
	assert_int_equal(symlink("../outside", path_of(f, "there")), 0);
	assert_int_equal(debug_cache_remove(f->dir, &id), -EPERM);
	assert_int_not_equal(access(path_of(f, LINK), F_OK), 0);
	assert_int_equal(access(path_of(f, "../outside/" HEX "/precious"), F_OK), 0);
}

/* A kernel that ran 0x20000000 above its address in the cache; its module is at another address
 * than in the cache, so it has no name. */
static void rejects_kernel_symbols_of_another_boot(void **state)
{
	static const char text[] = "ffffffff81000000 T _text\n"
				   "ffffffff81000100 T do_it\n"
				   "ffffffffc0000010 t ext4_read\t[ext4]\n";
	struct fixture *f = *state;
	struct session_info info = { .hostname = "x",
				     .os_release = "y",
				     .vmlinux = "" };
	struct naming_options options = { .debug_dir = f->dir };
	struct image kernel = { .kind = IMAGE_KERNEL, .start = 0xffffffffa1000000 };
	struct image module = { .kind = IMAGE_MODULE,
				.start = 0xffffffffc0000000,
				.end = 0xffffffffc0001000 };
	struct naming_locations *locations;
	struct naming *n;
	struct dict d;
	const struct symbol *s;

	put_text(f, "[kernel.kallsyms]/" HEX "/kallsyms", text);
	assert_int_equal(dict_init(&d), 0);
	kernel.name = dict_string(&d, "[kernel.kallsyms]");
	kernel.build_id = the_id();
	kernel.ref_name = dict_string(&d, "_text");
	kernel.ref_address = kernel.start;
	module.name = dict_string(&d, "ext4");
	assert_int_equal(dict_image(&d, &kernel), 0);
	assert_int_equal(dict_image(&d, &module), 1);
	assert_int_equal(naming_locations_new(&options, &locations), 0);
	assert_int_equal(naming_new(&d, &info, NULL, &n), 0);
	naming_use(n, locations);
	s = naming_find(n, 0, 0x123, NULL);
	assert_non_null(s);
	assert_string_equal(s->name, "do_it");
	assert_null(naming_find(n, 1, 0x10, NULL));
	naming_free(n);

	/* The same boot: the module is used, but not one that was loaded a page further. */
	d.images.at[0].start = d.images.at[0].ref_address = 0xffffffff81000000;
	assert_int_equal(naming_new(&d, &info, NULL, &n), 0);
	naming_use(n, locations);
	assert_non_null(naming_find(n, 1, 0x10, NULL));
	naming_free(n);
	d.images.at[1].start -= 0x1000;
	assert_int_equal(naming_new(&d, &info, NULL, &n), 0);
	naming_use(n, locations);
	assert_null(naming_find(n, 1, 0x1010, NULL));
	naming_free(n);
	naming_locations_free(locations);
	dict_done(&d);
}

/* /bin/sh exists everywhere, but is not the other machine's. */
static void uses_no_local_file_for_a_foreign_image(void **state)
{
	struct session_info info = { .hostname = "x",
				     .os_release = "y",
				     .vmlinux = "" };
	struct image image = { .kind = IMAGE_FILE };
	const char *from;
	struct naming *n;
	struct dict d;

	(void)state;
	assert_int_equal(dict_init(&d), 0);
	image.name = dict_string(&d, "/bin/sh");
	assert_int_equal(dict_image(&d, &image), 0);
	assert_int_equal(naming_new(&d, &info, "", &n), 0);
	assert_null(naming_symtab(n, 0));
	assert_int_equal(naming_status(n, 0, &from), NAMING_FOREIGN);
	naming_free(n);
	dict_done(&d);
}

/* A recording that was killed does not contain its machine: this file is the one that ran. */
static void uses_no_local_file_for_an_unknown_host(void **state)
{
	struct session_info info = { .hostname = "", .os_release = "", .vmlinux = "" };
	struct image image = { .kind = IMAGE_FILE };
	const char *from;
	struct naming *n;
	struct stat st;
	struct dict d;
	int generation[2] = { 0 };
	int fd = open("/bin/sh", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(fstat(fd, &st), 0);
	if (!ioctl(fd, FS_IOC_GETVERSION, generation))
		image.inode_gen = (uint32_t)generation[0];
	close(fd);
	assert_int_equal(dict_init(&d), 0);
	image.name = dict_string(&d, "/bin/sh");
	image.dev = st.st_dev;
	image.inode = st.st_ino;
	assert_int_equal(dict_image(&d, &image), 0);
	image.inode++;
	assert_int_equal(dict_image(&d, &image), 1);
	image.inode = image.dev = 0;
	assert_int_equal(dict_image(&d, &image), 2);
	assert_int_equal(naming_new(&d, &info, "", &n), 0);
	for (uint32_t i = 0; i < 3; i++)
		(void)naming_symtab(n, i);
	assert_int_not_equal(naming_status(n, 0, &from), NAMING_UNKNOWN_HOST);
	assert_string_equal(from, "/bin/sh");
	assert_int_equal(naming_status(n, 1, &from), NAMING_UNKNOWN_HOST);
	assert_int_equal(naming_status(n, 2, &from), NAMING_UNKNOWN_HOST);
	naming_free(n);
	dict_done(&d);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test_setup_teardown(finds_files_in_the_new_layout, setup,
						teardown),
		cmocka_unit_test_setup_teardown(finds_files_in_the_old_layout, setup,
						teardown),
		cmocka_unit_test_setup_teardown(ignores_broken_links, setup, teardown),
		cmocka_unit_test_setup_teardown(rejects_hostile_names, setup, teardown),
		cmocka_unit_test_setup_teardown(finds_kallsyms_by_build_id_alone, setup,
						teardown),
		cmocka_unit_test_setup_teardown(adds_lists_and_removes, setup,
						teardown),
		cmocka_unit_test_setup_teardown(removes_nothing_outside_the_cache,
						setup, teardown),
		cmocka_unit_test_setup_teardown(rejects_kernel_symbols_of_another_boot,
						setup, teardown),
		cmocka_unit_test(uses_no_local_file_for_a_foreign_image),
		cmocka_unit_test(uses_no_local_file_for_an_unknown_host),
	};

	return UNIT_RUN(cases);
}

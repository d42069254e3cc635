/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/system/kernel_files.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#include "base/err.h"
#include "base/files/io.h"
#include "capture/system/kernel_files_priv.h"
#include "unit.h"

static char dir[] = "/tmp/test_kernel_files_XXXXXX";
static char current[sizeof(dir) + 16];

static int make_dir(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	(void)snprintf(current, sizeof(current), "%s/current", dir);
	return mkdir(current, 0700);
}

static int remove_dir(void **state)
{
	(void)state;
	return io_remove_tree(dir);
}

static void keeps_only_text_symbols(void **state)
{
	static const char in[] = "0000000000000000 T hidden\n"
				 "ffffffff81000000 T _text\n"
				 "ffffffff81000010 d data\n"
				 "ffffffff81000020 t local\t[ext4]\n"
				 "ffffffff81000030 W weak\n"
				 "nonsense\n"
				 "ffffffff81000040 A absolute\n"
				 "ffffffff81000050 T cut";
	static const char want[] = "ffffffff81000000 T _text\n"
				   "ffffffff81000020 t local\t[ext4]\n"
				   "ffffffff81000030 W weak\n";
	struct buf out = { 0 };
	bool hidden = true;

	(void)state;
	kernel_files_filter(in, strlen("0000000000000000 T hidden\n"), &out, &hidden);
	assert_true(hidden);
	assert_int_equal(out.len, 0);
	kernel_files_filter(in, strlen(in), &out, &hidden);
	assert_false(hidden);
	assert_int_equal(out.len, strlen(want));
	assert_memory_equal(out.data, want, out.len);
	buf_done(&out);
}

/* The saved file is a single zstd frame of lines that include _text or _stext. */
static void check_saved(const char *path)
{
	struct buf packed = { 0 };
	unsigned long long len;
	char *text;

	assert_int_equal(io_read_file(path, &packed, 64 << 20), 0);
	assert_int_equal(ZSTD_findFrameCompressedSize(packed.data, packed.len),
			 packed.len);
	len = ZSTD_getFrameContentSize(packed.data, packed.len);
	assert_true(len > 1000 && len < 64 << 20);
	text = malloc(len + 1);
	assert_non_null(text);
	assert_int_equal(ZSTD_decompress(text, len, packed.data, packed.len), len);
	text[len] = '\0';
	assert_non_null(strstr(text, "_stext\n"));
	free(text);
	buf_done(&packed);
}

static void creates_kallsyms_once_and_links_it(void **state)
{
	char path[sizeof(current) + 32];
	struct err err = { 0 };
	struct stat first;
	struct stat second;
	int r;

	(void)state;
	r = kernel_files_save_kallsyms(dir, current, "boot", &err);
	if (r == 1)
		skip(); /* kptr_restrict */
	assert_int_equal(r, 0);
	(void)snprintf(path, sizeof(path), "%s/kallsyms.zst", current);
	assert_int_equal(stat(path, &first), 0);
	assert_int_equal(first.st_nlink, 2);
	check_saved(path);
	assert_int_equal(kernel_files_save_kallsyms(dir, current, "boot", &err), 0);
	assert_int_equal(stat(path, &second), 0);
	assert_int_equal(first.st_ino, second.st_ino);
	assert_int_equal(second.st_nlink, 2);
}

static bool is_in_cache(const char *name)
{
	char path[sizeof(dir) + 64];

	(void)snprintf(path, sizeof(path), "%s/kernel/%s", dir, name);
	return access(path, F_OK) == 0;
}

static void put_in_cache(const char *name)
{
	char path[sizeof(dir) + 64];

	(void)snprintf(path, sizeof(path), "%s/kernel/%s", dir, name);
	assert_int_equal(io_write_file(path, "x", 1, 0644), 0);
}

static void removes_symbols_of_earlier_boots_with_their_sessions(void **state)
{
	char from[sizeof(dir) + 64];
	char to[sizeof(dir) + 64];
	struct err err = { 0 };

	(void)state;
	(void)snprintf(from, sizeof(from), "%s/kernel", dir);
	assert_int_equal(io_make_dirs(from, 0755), 0);
	put_in_cache("old1-0.kallsyms.zst");
	put_in_cache("old2-0.kallsyms.zst");
	put_in_cache("old1-0.kallsyms.zst.4242");
	put_in_cache("now-1.kallsyms.zst");
	put_in_cache("notes");
	(void)snprintf(from, sizeof(from), "%s/kernel/old2-0.kallsyms.zst", dir);
	(void)snprintf(to, sizeof(to), "%s/of-a-session", dir);
	assert_int_equal(link(from, to), 0);
	assert_true(kernel_files_save_kallsyms(dir, current, "now", &err) >= 0);
	assert_false(is_in_cache("old1-0.kallsyms.zst"));
	assert_false(is_in_cache("old1-0.kallsyms.zst.4242"));
	assert_true(is_in_cache("old2-0.kallsyms.zst"));
	assert_true(is_in_cache("now-1.kallsyms.zst"));
	assert_true(is_in_cache("notes"));
}

/* Recorders that start at the same moment each get a complete file. */
static void concurrent_recorders_do_not_conflict(void **state)
{
	enum {
		NR = 4
	};
	char own[NR][sizeof(dir) + 16];
	pid_t child[NR];
	int status;

	(void)state;
	for (int i = 0; i < NR; i++) {
		(void)snprintf(own[i], sizeof(own[i]), "%s/own%d", dir, i);
		assert_int_equal(mkdir(own[i], 0700), 0);
		child[i] = fork();
		if (child[i] == 0)
			_exit(kernel_files_save_kallsyms(dir, own[i], "together",
							 NULL) < 0);
	}
	for (int i = 0; i < NR; i++) {
		char path[256];

		assert_int_equal(waitpid(child[i], &status, 0), child[i]);
		assert_int_equal(status, 0);
		(void)snprintf(path, sizeof(path), "%s/kallsyms.zst", own[i]);
		if (access(path, F_OK) == 0)
			check_saved(path);
	}
}

static void describes_modules(void **state)
{
	static const char note[] = "\4\0\0\0\3\0\0\0\3\0\0\0GNU\0\xab\xcd\xef\0";
	static const char text[] =
		"ext4 1003520 2 - Live 0xffffffffc0400000\n"
		"loop 40960 0 mbcache,jbd2, Live 0xffffffffc0300000\n"
		"../x 1 0 - Live 0x1\n";
	static const char want[] = "ext4 0xffffffffc0400000 1003520 abcdef "
				   ".init.text=0x2 .text=0xffffffffc0400000\n"
				   "loop 0xffffffffc0300000 40960 -\n";
	char path[sizeof(dir) + 64];
	struct buf out = { 0 };

	(void)state;
	(void)snprintf(path, sizeof(path), "%s/ext4/notes", dir);
	assert_int_equal(io_make_dirs(path, 0700), 0);
	(void)snprintf(path, sizeof(path), "%s/ext4/notes/.note.gnu.build-id", dir);
	assert_int_equal(io_write_file(path, note, sizeof(note) - 1, 0600), 0);
	(void)snprintf(path, sizeof(path), "%s/ext4/sections", dir);
	assert_int_equal(io_make_dirs(path, 0700), 0);
	(void)snprintf(path, sizeof(path), "%s/ext4/sections/.text", dir);
	assert_int_equal(io_write_file(path, "0xffffffffc0400000\n", 19, 0600), 0);
	(void)snprintf(path, sizeof(path), "%s/ext4/sections/.init.text", dir);
	assert_int_equal(io_write_file(path, "0x2\n", 4, 0600), 0);
	(void)snprintf(path, sizeof(path), "%s/ext4/sections/.hidden", dir);
	assert_int_equal(io_write_file(path, "0x0\n", 4, 0600), 0);

	kernel_files_describe_modules(text, dir, &out);
	buf_put_u8(&out, '\0');
	assert_string_equal((const char *)out.data, want);
	buf_done(&out);
}

static void reads_symbols_of_one_module(void **state)
{
	static const char text[] = "1 T [fat]\n2 t a\t[fat]\n3 t b\t[vfat]\n"
				   "4 t c\t[fat]\n5 t cut\t[fat]";
	struct buf out = { 0 };

	(void)state;
	kernel_files_filter_module(text, sizeof(text) - 1, "fat", &out);
	buf_put_u8(&out, '\0');
	assert_string_equal((const char *)out.data, "2 t a\t[fat]\n4 t c\t[fat]\n");
	buf_done(&out);
}

/* New modules are appended to the list. */
static void adds_modules_loaded_later(void **state)
{
	static const struct proc_module m[] = {
		{ .name = "no-such", .address = 0x1000, .bytes = 5 }
	};
	struct buf got = { 0 };
	char path[sizeof(current) + 32];

	(void)state;
	(void)snprintf(path, sizeof(path), "%s/modules", current);
	assert_int_equal(io_write_file(path, "first\n", 6, 0600), 0);
	if (access("/proc/kallsyms", R_OK))
		skip();
	for (int i = 0; i < 2; i++) {
		assert_int_equal(kernel_files_add_modules(current, m, 1, NULL), 0);
		assert_int_equal(kernel_files_add_symbols(current, m, 1, NULL), 0);
	}
	assert_int_equal(io_read_file(path, &got, 1000), 0);
	buf_put_u8(&got, '\0');
	assert_string_equal((const char *)got.data,
			    "first\nno-such 0x0000000000001000 5 -\n"
			    "no-such 0x0000000000001000 5 -\n");
	buf_clear(&got);
	(void)snprintf(path, sizeof(path), "%s/modules.kallsyms", current);
	assert_int_equal(io_read_file(path, &got, 1000), 0);
	assert_int_equal(got.len, 2);
	assert_memory_equal(got.data, "\n\n", 2);
	buf_done(&got);
}

static void the_hash_ignores_use_counts(void **state)
{
	uint64_t a = kernel_files_modules_hash("ext4 100 2 - Live 0xc0400000\n");

	(void)state;
	assert_int_equal(a,
			 kernel_files_modules_hash("ext4 100 7 - Live 0xc0400000\n"));
	assert_int_not_equal(
		a, kernel_files_modules_hash("ext4 100 2 - Live 0xc0500000\n"));
	assert_int_not_equal(
		a, kernel_files_modules_hash("loop 100 2 - Live 0xc0400000\n"));
}

static void saves_the_vdso_by_its_build_id(void **state)
{
	struct build_id id = { 0 };
	struct build_id again = { 0 };
	struct err err = { 0 };
	const void *bytes;
	struct buf saved = { 0 };
	char path[256];
	size_t len;

	(void)state;
	if (kernel_files_own_vdso(&bytes, &len) < 0)
		skip();
	assert_int_equal(kernel_files_save_vdso(current, bytes, len, &id, &err), 0);
	assert_true(id.len >= 8);
	(void)snprintf(path, sizeof(path), "%s/vdso-", current);
	for (int i = 0; i < id.len; i++)
		(void)snprintf(path + strlen(path), 3, "%02x", id.bytes[i]);
	assert_int_equal(io_read_file(path, &saved, 1 << 20), 0);
	assert_int_equal(saved.len, len);
	assert_memory_equal(saved.data, bytes, len);
	buf_done(&saved);

	assert_int_equal(kernel_files_save_vdso_of(current, getpid(), (uintptr_t)bytes,
						   (uintptr_t)bytes + len, &again,
						   &err),
			 0);
	assert_memory_equal(&id, &again, sizeof(id));
}

static void no_prefix_of_a_vdso_is_overread(void **state)
{
	const void *bytes;
	size_t len;

	(void)state;
	if (kernel_files_own_vdso(&bytes, &len) < 0)
		skip();
	for (size_t n = 0; n < len; n += n < 1024 ? 1 : 97) {
		uint8_t *copy = malloc(n + 1);

		assert_non_null(copy);
		memcpy(copy + 1, bytes, n);
		(void)kernel_files_save_vdso(current, copy + 1, n, NULL, NULL);
		free(copy);
	}
	assert_int_equal(
		kernel_files_save_vdso(current, "no ELF file at all", 18, NULL, NULL),
		-EBADMSG);
	assert_int_equal(kernel_files_save_vdso_of(current, getpid(), 2, 1, NULL, NULL),
			 -EBADMSG);
}

static void keeps_modules_of_earlier_recordings(void **state)
{
	static const char older[] = "loop 0xc0000000 4096 - .text=0xc0000000\n"
				    "fat 0xc0100000 4096 aa .text=0xc0100000\n"
				    "nonsense\n"
				    "fat 0xc0300000 4096 aa .text=0xc0300000";
	static const char now[] = "loop 0xc0000000 4096 - .text=0xc0000010\n"
				  "fat 0xc0200000 4096 aa .text=0xc0200000\n";
	static const char both[] = "loop 0xc0000000 4096 - .text=0xc0000010\n"
				   "fat 0xc0200000 4096 aa .text=0xc0200000\n"
				   "fat 0xc0100000 4096 aa .text=0xc0100000\n"
				   "fat 0xc0300000 4096 aa .text=0xc0300000\n";
	struct buf out = { 0 };

	(void)state;
	buf_put(&out, now, strlen(now));
	kernel_files_merge_modules(older, strlen(older), &out);
	assert_int_equal(out.len, strlen(both));
	assert_memory_equal(out.data, both, out.len);
	/* Merging the same list again adds nothing. */
	kernel_files_merge_modules(older, strlen(older), &out);
	assert_int_equal(out.len, strlen(both));
	buf_done(&out);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(keeps_only_text_symbols),
		cmocka_unit_test(creates_kallsyms_once_and_links_it),
		cmocka_unit_test(removes_symbols_of_earlier_boots_with_their_sessions),
		cmocka_unit_test(concurrent_recorders_do_not_conflict),
		cmocka_unit_test(describes_modules),
		cmocka_unit_test(reads_symbols_of_one_module),
		cmocka_unit_test(adds_modules_loaded_later),
		cmocka_unit_test(keeps_modules_of_earlier_recordings),
		cmocka_unit_test(the_hash_ignores_use_counts),
		cmocka_unit_test(saves_the_vdso_by_its_build_id),
		cmocka_unit_test(no_prefix_of_a_vdso_is_overread),
	};

	return cmocka_run_group_tests(cases, make_dir, remove_dir);
}

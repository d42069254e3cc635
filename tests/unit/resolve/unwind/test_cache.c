/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stores tables in files: they are read as written, and changed files are refused. */
#include "unit.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/containers/hash.h"
#include "base/files/io.h"
#include "resolve/unwind/cache.h"

#include "resolve/elf/elf_maker.h"

enum {
	HEAD = 160,
	SETS_AT = HEAD,
	ROWS = 2000
};

struct place {
	char dir[32];
	char path[64];
};

static int setup(void **state)
{
	static struct place p;

	strcpy(p.dir, "/tmp/unwind_cache.XXXXXX");
	assert_non_null(mkdtemp(p.dir));
	snprintf(p.path, sizeof(p.path), "%s/abcd.unwind", p.dir);
	*state = &p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;

	return io_remove_tree(p->dir);
}

static const struct unwind_cache_key key = {
	.id = { .bytes = { 0xab, 0xcd }, .len = 2, .is_build_id = true },
};

static struct unwind_table *make(void)
{
	struct unwind_table *t = calloc(1, sizeof(*t));

	t->arch = unwind_arch_of_elf(EM_AARCH64, true);
	t->swap = true;
	t->base = 0x123456789;
	t->bucket_shift = 4;
	(void)vec_push(&t->sets, (struct unwind_set){ .base = UNWIND_NONE });
	(void)vec_push(&t->sets, (struct unwind_set){ .base = UNWIND_BASE_REG,
						      .reg = 31,
						      .is_signal = true,
						      .nr_rules = 2,
						      .offset = -16,
						      .return_slot = 30 });
	(void)vec_push(&t->sets, (struct unwind_set){ .base = UNWIND_BASE_CODE,
						      .return_slot = 30 });
	(void)vec_push(
		&t->rules,
		(struct unwind_rule){ .slot = 30, .how = UNWIND_AT_CFA, .value = -8 });
	(void)vec_push(&t->rules,
		       (struct unwind_rule){ .slot = 29, .how = UNWIND_VALUE });
	(void)vec_push(&t->code, 1);
	(void)vec_push(&t->code, 0);
	(void)vec_push(&t->code, 0x96);
	(void)vec_push(&t->rows, (struct unwind_row){ 0, 1 });
	(void)vec_push(&t->rows, (struct unwind_row){ 8, 2 });
	(void)vec_push(&t->rows, (struct unwind_row){ 0x20, 0 });
	(void)vec_push(&t->buckets, 0);
	(void)vec_push(&t->buckets, 1);
	(void)vec_push(&t->buckets, 2);
	return t;
}

static void reads_what_was_written(void **state)
{
	const struct place *p = *state;
	struct unwind_table *t = make(), *got = NULL;
	char *path_of;

	assert_int_equal(unwind_cache_write(p->path, &key, "/bin/thing", t), 0);
	assert_int_equal(unwind_cache_read(p->path, &key, &got), 0);
	assert_ptr_equal(got->arch, t->arch);
	assert_int_equal(got->swap, t->swap);
	assert_int_equal(got->base, t->base);
	assert_int_equal(got->bucket_shift, 4);
	assert_int_equal(got->rows.nr, 3);
	assert_memory_equal(got->rows.at, t->rows.at, 3 * sizeof(t->rows.at[0]));
	assert_int_equal(got->sets.nr, 3);
	assert_int_equal(got->sets.at[1].offset, -16);
	assert_true(got->sets.at[1].is_signal);
	assert_int_equal(got->rules.nr, 2);
	assert_memory_equal(got->rules.at, t->rules.at, 2 * sizeof(t->rules.at[0]));
	assert_int_equal(got->code.nr, 3);
	assert_int_equal(unwind_table_find(got, 0x123456789 + 9)->base,
			 UNWIND_BASE_CODE);
	path_of = unwind_cache_path_of(p->path);
	assert_string_equal(path_of, "/bin/thing");
	free(path_of);
	unwind_table_free(got);
	unwind_table_free(t);
}

static void rejects_a_table_of_another_file(void **state)
{
	const struct place *p = *state;
	struct unwind_cache_key other = key;
	struct unwind_table *t = make(), *got;

	assert_int_equal(unwind_cache_read(p->path, &key, &got), -ENOENT);
	assert_int_equal(unwind_cache_write(p->path, &key, "", t), 0);
	other.id.bytes[1]++;
	assert_int_equal(unwind_cache_read(p->path, &other, &got), -EBADMSG);
	other = key;
	other.with_debug = true;
	assert_int_equal(unwind_cache_read(p->path, &other, &got), -EBADMSG);
	assert_int_equal(unlink(p->path), 0);
	assert_int_equal(symlink("/dev/zero", p->path), 0);
	assert_true(unwind_cache_read(p->path, &key, &got) < 0);
	unwind_table_free(t);
}

/* A file is refused with any byte changed, and with any shorter length. */
static void rejects_damaged_tables(void **state)
{
	const struct place *p = *state;
	struct unwind_table *t = make(), *got;
	struct buf good = { 0 };

	assert_int_equal(unwind_cache_write(p->path, &key, "/x", t), 0);
	assert_int_equal(io_read_file(p->path, &good, 1 << 20), 0);
	for (size_t i = 0; i < good.len; i++) {
		good.data[i] ^= 0x10;
		assert_int_equal(io_write_file(p->path, good.data, good.len, 0600), 0);
		assert_int_equal(unwind_cache_read(p->path, &key, &got), -EBADMSG);
		good.data[i] ^= 0x10;
		assert_int_equal(io_write_file(p->path, good.data, i, 0600), 0);
		assert_int_equal(unwind_cache_read(p->path, &key, &got), -EBADMSG);
	}
	buf_done(&good);
	unwind_table_free(t);
}

/* Wrong tables are refused even if the hashes of the file are valid. */
static void rejects_hostile_tables(void **state)
{
	const struct place *p = *state;
	struct unwind_table *got, *t;

	for (unsigned int i = 0; i < 12; i++) {
		t = make();
		switch (i) {
		case 0:
			t->rows.at[1].set = 3;
			break;
		case 1:
			t->rows.at[2].offset = 8;
			break;
		case 2:
			t->buckets.at[1] = 3;
			break;
		case 3:
			t->buckets.at[2] = 0;
			break;
		case 4:
			t->sets.at[1].nr_rules = 3;
			break;
		case 5:
			t->sets.at[1].first_rule = 0xffffffff;
			break;
		case 6:
			t->sets.at[1].reg = UNWIND_REGS;
			break;
		case 7:
			t->sets.at[2].offset = 2;
			break;
		case 8:
			t->rules.at[0].slot = UNWIND_REGS;
			break;
		case 9:
			t->rules.at[1].value = -1;
			break;
		case 10:
			t->code.at[0] = 2;
			break;
		default:
			t->rules.at[0].how = UNWIND_REGISTER;
			break;
		}
		assert_int_equal(unwind_cache_write(p->path, &key, "", t), 0);
		assert_int_equal(unwind_cache_read(p->path, &key, &got), -EBADMSG);
		unwind_table_free(t);
	}
}

/* Makes a table that is large enough for a file, and counts the call. */
static int make_large(void *ctx, int fd, struct unwind_table **ret_table)
{
	unsigned int *nr_made = ctx;
	struct unwind_table *t = make();

	(void)fd;
	t->rows.nr = 0;
	t->buckets.nr = 1;
	t->bucket_shift = 16;
	for (uint32_t i = 0; i < ROWS; i++)
		(void)vec_push(&t->rows, (struct unwind_row){ 8 * i, i % 3 });
	++*nr_made;
	*ret_table = t;
	return 0;
}

static int write_binary(const struct place *p, const char *name)
{
	static const uint8_t id[20] = { 1, 2, 3 };
	const struct elf_maker what = { .is64 = true,
					.machine = EM_X86_64,
					.build_id = id,
					.build_id_len = sizeof(id) };
	struct buf elf = { 0 };
	char path[64];
	int fd;

	elf_maker_write(&what, &elf);
	snprintf(path, sizeof(path), "%s/%s", p->dir, name);
	assert_int_equal(io_write_file(path, elf.data, elf.len, 0600), 0);
	buf_done(&elf);
	fd = io_open(path, O_RDONLY, 0);
	assert_true(fd >= 0);
	return fd;
}

/* Opens the table of a file. Returns how many tables were made for it. */
static unsigned int made_for(const struct place *p, int fd, bool of_file)
{
	unsigned int nr_made = 0;
	const struct unwind_maker maker = {
		.fd = fd, .of_file = of_file, .make = make_large, .ctx = &nr_made
	};
	struct unwind_table *t = NULL;

	assert_int_equal(unwind_cache_load_by(p->dir, "/x", &maker, &t), 0);
	assert_int_equal(t->rows.nr, ROWS);
	unwind_table_free(t);
	return nr_made;
}

/* A file can claim the build-id of another one. */
static void a_table_belongs_to_the_file_it_was_made_from(void **state)
{
	const struct place *p = *state;
	int one = write_binary(p, "one");
	int two = write_binary(p, "two");
	const struct timespec later[2] = { { .tv_sec = 4000000000 },
					   { .tv_sec = 4000000000 } };

	assert_int_equal(made_for(p, one, true), 1);
	assert_int_equal(made_for(p, one, true), 0);
	assert_int_equal(made_for(p, two, true), 1);
	assert_int_equal(made_for(p, one, true), 0);
	assert_int_equal(futimens(one, later), 0);
	assert_int_equal(made_for(p, one, true), 1);
	/* A caller that trusts the build-id gets the table of the other file. */
	assert_int_equal(made_for(p, one, false), 1);
	assert_int_equal(made_for(p, two, false), 0);
	close(one);
	close(two);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(reads_what_was_written, setup,
						teardown),
		cmocka_unit_test_setup_teardown(rejects_a_table_of_another_file, setup,
						teardown),
		cmocka_unit_test_setup_teardown(rejects_damaged_tables, setup,
						teardown),
		cmocka_unit_test_setup_teardown(rejects_hostile_tables, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			a_table_belongs_to_the_file_it_was_made_from, setup, teardown),
	};

	return UNIT_RUN(tests);
}

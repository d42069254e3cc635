/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests the limit on a recording's tables, and which tables it leaves to the next one. */
#include "record/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "record/shared_tables.h"
#include "resolve/unwind/table.h"
#include "unit.h"

enum {
	MAX = 1 << 20
};

static const uint64_t minute_ns = 60000000000;

/* A recording whose images are files with the inodes 1, 2 ... */
struct recording {
	struct dict dict;
	struct recorder_stacks stacks;
};

static void begin(struct recording *r, struct shared_tables *shared, size_t nr)
{
	*r = (struct recording){ .stacks.dict = &r->dict };
	assert_int_equal(dict_init(&r->dict), 0);
	recorder_stacks_share(&r->stacks, shared);
	for (size_t i = 0; i < nr; i++) {
		struct image image = {
			.kind = IMAGE_FILE, .dev = 1, .inode = i + 1, .mtime_ns = 5
		};

		image.name = dict_string(&r->dict, "/bin/prog");
		assert_int_equal(dict_image(&r->dict, &image), i);
		assert_true(vec_push(&r->stacks.tables, (struct stack_table){ 0 }));
	}
}

static void end(struct recording *r)
{
	recorder_stacks_done(&r->stacks);
	dict_done(&r->dict);
}

static struct unwind_table *table_of_bytes(size_t bytes)
{
	struct unwind_table *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	assert_true(vec_reserve(&t->code, bytes - sizeof(*t)));
	t->code.nr = t->code.cap = bytes - sizeof(*t);
	return t;
}

static void give(struct recording *r, size_t image, size_t bytes)
{
	struct stack_table *entry = &r->stacks.tables.at[image];

	entry->table = table_of_bytes(bytes);
	entry->looked = entry->is_used = true;
	r->stacks.bytes += bytes;
}

/* Gives an image a table, like give(), but for a binary of a user. */
static void give_of(struct recording *r, size_t image, size_t bytes, uint32_t user)
{
	give(r, image, bytes);
	r->stacks.tables.at[image].user = user;
	assert_int_equal(shares_add(&r->stacks.bytes_of, user, bytes), 0);
}

static bool has(const struct recording *r, size_t image)
{
	return r->stacks.tables.at[image].table;
}

static void drops_unused_and_large_tables(void **state)
{
	struct shared_tables shared = { .max_bytes = MAX };
	struct recording r;

	(void)state;
	begin(&r, &shared, 4);
	give(&r, 0, MAX / 4);
	give(&r, 1, MAX / 4);
	assert_false(recorder_stacks_trim(&r.stacks, minute_ns));
	give(&r, 2, MAX / 8);
	/* All tables were used before the first check. */
	assert_true(recorder_stacks_trim(&r.stacks, minute_ns));
	assert_true(has(&r, 0) && has(&r, 1) && has(&r, 2));
	r.stacks.tables.at[1].is_used = true;
	assert_false(recorder_stacks_trim(&r.stacks, 2 * minute_ns - 1));
	assert_true(recorder_stacks_trim(&r.stacks, 2 * minute_ns));
	assert_true(!has(&r, 0) && has(&r, 1) && !has(&r, 2));
	assert_int_equal(r.stacks.bytes, MAX / 4);
	/* The dropped tables can be requested again. */
	assert_false(r.stacks.tables.at[0].looked);
	r.stacks.tables.at[1].is_used = true;
	give(&r, 3, MAX);
	give(&r, 2, MAX / 2);
	assert_true(recorder_stacks_trim(&r.stacks, 2 * minute_ns + 1));
	assert_true(has(&r, 1) && has(&r, 2) && !has(&r, 3));
	/* The dropped table of image 3 is too large, so it must not be requested again. */
	assert_true(r.stacks.tables.at[3].looked);
	end(&r);
	shared_tables_forget(&shared);
}

/* One user has a large table, another one many small ones. */
static void a_user_with_many_tables_takes_no_memory_from_others(void **state)
{
	struct shared_tables shared = { .max_bytes = MAX };
	struct recording r;
	size_t nr = 0;

	(void)state;
	begin(&r, &shared, 14);
	give(&r, 0, MAX / 4);
	give_of(&r, 1, MAX / 4, 1000);
	for (size_t i = 2; i < 14; i++)
		give_of(&r, i, MAX / 12, 1001);
	assert_true(recorder_stacks_trim(&r.stacks, minute_ns));
	assert_true(has(&r, 0) && has(&r, 1));
	for (size_t i = 2; i < 14; i++)
		nr += has(&r, i);
	assert_int_equal(nr, 6);
	/* This user does not make the tables of other users count as unused more often than once a
	 * minute. */
	give_of(&r, 2, MAX / 12, 1001);
	assert_false(r.stacks.tables.at[1].is_used);
	assert_true(recorder_stacks_trim(&r.stacks, minute_ns + 1));
	assert_true(has(&r, 0) && has(&r, 1));
	end(&r);
	shared_tables_forget(&shared);
}

static void keeps_all_tables_without_a_limit(void **state)
{
	struct shared_tables shared = { .max_bytes = 0 };
	struct recording r;

	(void)state;
	begin(&r, &shared, 1);
	give(&r, 0, MAX);
	assert_false(recorder_stacks_trim(&r.stacks, minute_ns));
	assert_true(has(&r, 0));
	end(&r);
	shared_tables_forget(&shared);
}

static void the_next_recording_reuses_tables(void **state)
{
	struct shared_tables shared = { .max_bytes = MAX };
	struct recording r;
	struct image image;
	struct unwind_table *table;
	uint32_t user = 0;

	(void)state;
	begin(&r, &shared, 3);
	give(&r, 0, 1000);
	give(&r, 1, 2000);
	image = r.dict.images.at[1];
	r.dict.images.at[0].mtime_ns = 0; /* its state was not known */
	end(&r);
	assert_int_equal(shared.kept_bytes, 2000);
	/* Each of these is another state of the file, or another file. */
	for (unsigned int i = 0; i < 6; i++) {
		struct image other = image;

		*(uint64_t *[]){
			&other.dev,      &other.inode,      &other.inode_gen,
			&other.mtime_ns, &other.file_bytes, &(uint64_t){ 0 }
		}[i] += 1;
		if (i == 5)
			other.build_id.len = 20;
		assert_null(shared_tables_take(&shared, &other, &user));
	}
	image.name = 77;
	table = shared_tables_take(&shared, &image, &user);
	assert_non_null(table);
	assert_int_equal(unwind_table_bytes(table), 2000);
	assert_null(shared_tables_take(&shared, &image, &user));
	assert_int_equal(shared.kept_bytes, 0);
	shared_tables_keep(&shared, &image, table, user);
	/* Tables that this recording does not use are dropped at its end. */
	begin(&r, &shared, 1);
	give(&r, 0, 500);
	end(&r);
	assert_int_equal(shared.kept_bytes, 500);
	/* When the recording needs memory, these are dropped first. */
	begin(&r, &shared, 2);
	give(&r, 1, MAX / 2);
	assert_false(recorder_stacks_trim(&r.stacks, minute_ns));
	assert_int_equal(shared.kept.nr, 0);
	assert_true(has(&r, 1));
	end(&r);
	shared_tables_forget(&shared);
}

static void requests_refused_tables_again(void **state)
{
	struct shared_tables shared = { .max_bytes = MAX };
	struct recording r;

	(void)state;
	begin(&r, &shared, 2);
	give(&r, 0, 1000);
	r.stacks.tables.at[1].looked = true;
	assert_false(recorder_stacks_trim(&r.stacks, minute_ns));
	r.stacks.tables.at[1].is_refused = r.stacks.any_refused = true;
	assert_false(recorder_stacks_trim(&r.stacks, 5 * minute_ns));
	assert_false(recorder_stacks_trim(&r.stacks, 6 * minute_ns - 1));
	assert_true(r.stacks.tables.at[1].looked);
	assert_true(recorder_stacks_trim(&r.stacks, 6 * minute_ns));
	assert_false(r.stacks.tables.at[1].looked);
	assert_true(has(&r, 0) && r.stacks.tables.at[0].looked);
	assert_false(recorder_stacks_trim(&r.stacks, 60 * minute_ns));
	end(&r);
	shared_tables_forget(&shared);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(drops_unused_and_large_tables),
		cmocka_unit_test(a_user_with_many_tables_takes_no_memory_from_others),
		cmocka_unit_test(keeps_all_tables_without_a_limit),
		cmocka_unit_test(the_next_recording_reuses_tables),
		cmocka_unit_test(requests_refused_tables_again),
	};

	return UNIT_RUN(tests);
}

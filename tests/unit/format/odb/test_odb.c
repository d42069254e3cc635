/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "format/odb/layout.h"
#include "format/odb/sample_file.h"
#include "format/odb/sample_path.h"
#include "format/odb/table_check.h"

static const uint32_t versions[] = { ODB_VERSION_09, ODB_VERSION };

static const struct odb_header header = { .version = ODB_VERSION,
					  .cpu_type = 69,
					  .event = 0x76,
					  .unit_mask = 3,
					  .count = 100000,
					  .is_kernel = true,
					  .cpu_mhz = 2596.125,
					  .mtime_s = 0x123456789,
					  .cg_to_is_kernel = true,
					  .anon_start = 0x7f0000001000,
					  .cg_to_anon_start = 0x7f0000002000 };

static void make_file(uint32_t version, bool wide, bool big_endian, size_t nr_nodes,
		      struct buf *out)
{
	struct odb_layout layout = odb_layout_of(version, wide, big_endian);
	struct odb_header h = header;
	odb_nodes nodes = { 0 };

	h.version = version;
	for (size_t i = 0; i < nr_nodes; i++)
		assert_true(vec_push(&nodes, (struct odb_node){ i * 0x100000001, 7 }));
	odb_file_put(&layout, &h, &nodes, out);
	assert_false(out->failed);
	vec_done(&nodes);
}

/* Writes a number at a position of the table of make_file(ODB_VERSION, true, false, 3, ...). */
static void change(struct buf *b, size_t at, uint32_t value)
{
	for (size_t i = 0; i < 4; i++)
		b->data[at + i] = (uint8_t)(value >> (8 * i));
}

enum {
	/* Positions in that file; node 0 is not used. */
	USED_AT = 76,
	NODES_AT = 104,
	NODE = 16,
	VALUE = 8,
	NEXT = 12,
	CHAINS_AT = NODES_AT + 128 * NODE
};

static struct odb_table_faults table_faults(const struct buf *b)
{
	struct odb_table_faults faults;
	struct odb_file file;

	assert_int_equal(odb_file_open(b->data, b->len, NULL, &file, NULL), 0);
	assert_int_equal(odb_table_check(&file, b->len, &faults), 0);
	return faults;
}

/* Checks a file with three nodes and a change. */
static void check_fault(size_t at, uint32_t value, struct odb_table_faults want)
{
	struct odb_table_faults got;
	struct buf b = { 0 };

	make_file(ODB_VERSION, true, false, 3, &b);
	change(&b, at, value);
	got = table_faults(&b);
	assert_int_equal(got.wrong_links, want.wrong_links);
	assert_int_equal(got.wrong_slots, want.wrong_slots);
	assert_int_equal(got.unlinked, want.unlinked);
	assert_int_equal(got.repeated, want.repeated);
	assert_int_equal(got.empty, want.empty);
	assert_int_equal(got.extra_bytes, want.extra_bytes);
	assert_true(odb_table_is_faulty(&got));
	buf_done(&b);
}

static void damaged_tables_are_found(void **state)
{
	struct odb_table_faults faults;
	struct buf b = { 0 };

	(void)state;
	make_file(ODB_VERSION, true, false, 100, &b);
	faults = table_faults(&b);
	assert_false(odb_table_is_faulty(&faults));
	buf_put_u8(&b, 0);
	assert_int_equal(table_faults(&b).extra_bytes, 1);
	buf_done(&b);
	/* The keys of make_file() are all in chain 0, the last node first: 3, 2, 1. */
	check_fault(USED_AT, 3,
		    (struct odb_table_faults){ .wrong_links = 1, .unlinked = 2 });
	check_fault(USED_AT, 5, (struct odb_table_faults){ .unlinked = 1, .empty = 1 });
	check_fault(NODES_AT + NODE + NEXT, 3,
		    (struct odb_table_faults){ .wrong_links = 1 });
	check_fault(NODES_AT + 2 * NODE + NEXT, 0,
		    (struct odb_table_faults){ .unlinked = 1 });
	check_fault(NODES_AT + 3 * NODE + NEXT, 128,
		    (struct odb_table_faults){ .wrong_links = 1, .unlinked = 2 });
	check_fault(CHAINS_AT, 0, (struct odb_table_faults){ .unlinked = 3 });
	check_fault(CHAINS_AT + 4, 3, (struct odb_table_faults){ .wrong_links = 1 });
	check_fault(NODES_AT + NODE + VALUE, 0,
		    (struct odb_table_faults){ .empty = 1 });
	check_fault(NODES_AT + NODE, 9, (struct odb_table_faults){ .wrong_slots = 1 });
	/* Node 1 gets the key of node 2. */
	b = (struct buf){ 0 };
	make_file(ODB_VERSION, true, false, 3, &b);
	change(&b, NODES_AT + NODE, 1);
	change(&b, NODES_AT + NODE + 4, 1);
	faults = table_faults(&b);
	assert_int_equal(faults.repeated, 1);
	/* OProfile starts another node if the first one is full. */
	change(&b, NODES_AT + NODE + VALUE, UINT32_MAX);
	faults = table_faults(&b);
	assert_false(odb_table_is_faulty(&faults));
	buf_done(&b);
}

/* The offsets that OProfile's manual and its abi files document. */
static void layouts_match_those_of_oprofile(void **state)
{
	struct odb_layout wide = odb_layout_of(ODB_VERSION, true, false);
	struct odb_layout narrow = odb_layout_of(ODB_VERSION, false, false);
	struct odb_layout old = odb_layout_of(ODB_VERSION_09, true, false);

	(void)state;
	assert_int_equal(wide.header_bytes, 72);
	assert_int_equal(wide.field_at[ODB_CPU_SPEED], 32);
	assert_int_equal(wide.field_at[ODB_CG_TO_ANON_START], 64);
	assert_int_equal(narrow.header_bytes, 64);
	assert_int_equal(narrow.field_at[ODB_CPU_SPEED], 28);
	assert_int_equal(old.header_bytes, 88);
	assert_int_equal(old.field_at[ODB_ANON_START], 64);
	assert_int_equal(old.field_at[ODB_CG_TO_ANON_START], 72);
}

static void check_file(const struct buf *bytes, size_t nr_nodes, uint32_t version)
{
	struct odb_file file;
	struct err err = { 0 };

	assert_int_equal(odb_file_open(bytes->data, bytes->len, NULL, &file, &err), 0);
	assert_int_equal(file.nr_nodes, nr_nodes);
	assert_int_equal(file.header.version, version);
	assert_int_equal(file.header.cpu_type, 69);
	assert_int_equal(file.header.count, 100000);
	assert_true(file.header.is_kernel && file.header.cg_to_is_kernel);
	assert_true(file.header.cpu_mhz > 2596 && file.header.cpu_mhz < 2597);
	assert_int_equal(file.header.mtime_s, 0x123456789);
	assert_int_equal(file.header.anon_start, 0x7f0000001000);
	assert_int_equal(file.header.cg_to_anon_start, 0x7f0000002000);
	for (uint32_t i = 0; i < nr_nodes; i++) {
		struct odb_node node = odb_file_node(&file, i);

		assert_int_equal(node.key, i * 0x100000001);
		assert_int_equal(node.value, 7);
	}
}

static void files_of_each_abi_are_read(void **state)
{
	(void)state;
	for (size_t v = 0; v < 2; v++)
		for (int kind = 0; kind < 4; kind++)
			for (size_t nr = 0; nr < 600; nr += 199) {
				struct buf bytes = { 0 };

				make_file(versions[v], kind & 1, kind & 2, nr, &bytes);
				check_file(&bytes, nr, versions[v]);
				buf_done(&bytes);
			}
}

/* Each prefix is in a block of its own size, so that a read past its end is noticed. */
static void prefixes_are_refused(void **state)
{
	(void)state;
	for (size_t v = 0; v < 2; v++)
		for (int kind = 0; kind < 4; kind++) {
			struct buf bytes = { 0 };

			make_file(versions[v], kind & 1, kind & 2, 3, &bytes);
			for (size_t len = 0; len < bytes.len; len++) {
				uint8_t *copy = malloc(len ? len : 1);
				struct odb_file file;
				struct err err = { 0 };

				assert_non_null(copy);
				memcpy(copy, bytes.data, len);
				assert_int_equal(
					odb_file_open(copy, len, NULL, &file, &err),
					-EBADMSG);
				assert_true(err.text[0]);
				free(copy);
			}
			buf_done(&bytes);
		}
}

static void unknown_versions_are_refused(void **state)
{
	struct buf bytes = { 0 };
	struct odb_file file;
	struct err err = { 0 };

	(void)state;
	make_file(ODB_VERSION, true, false, 3, &bytes);
	bytes.data[4] = 0x11;
	assert_int_equal(odb_file_open(bytes.data, bytes.len, NULL, &file, &err),
			 -EBADMSG);
	assert_non_null(strstr(err.text, "0x11"));
	buf_done(&bytes);
}

static void abi_files_describe_layouts(void **state)
{
	struct odb_layout layout = odb_layout_of(ODB_VERSION, false, true), read;
	struct buf text = { 0 };
	struct err err = { 0 };
	char *line;

	(void)state;
	odb_abi_put(&layout, &text);
	assert_int_equal(odb_abi_parse((const char *)text.data, text.len, &read, &err),
			 0);
	assert_true(odb_layout_equals(&read, &layout));
	/* All prefixes lack a line. */
	for (size_t len = 0; len + 1 < text.len; len++)
		assert_int_not_equal(
			odb_abi_parse((const char *)text.data, len, &read, &err), 0);
	buf_put_u8(&text, 0);
	line = strstr((char *)text.data, "offsetof_header_mtime ");
	line[strlen("offsetof_header_mtime ")] = '9'; /* outside of the header */
	assert_int_equal(
		odb_abi_parse((const char *)text.data, text.len - 1, &read, &err),
		-EBADMSG);
	buf_done(&text);
}

/* A 32-bit machine whose 8-byte fields are aligned to 8 bytes, with keys of 4 bytes. */
static void given_abi_takes_precedence(void **state)
{
	struct odb_layout layout = odb_layout_of(ODB_VERSION, true, true);
	odb_nodes nodes = { 0 };
	struct buf bytes = { 0 };
	struct odb_file file;
	struct err err = { 0 };

	(void)state;
	layout.key_bytes = 4;
	layout.value_at = 4;
	layout.next_at = 8;
	layout.node_bytes = 12;
	assert_true(vec_push(&nodes, (struct odb_node){ 0x89abcdef, 5 }));
	odb_file_put(&layout, &header, &nodes, &bytes);
	assert_int_equal(odb_file_open(bytes.data, bytes.len, &layout, &file, &err), 0);
	assert_int_equal(odb_file_node(&file, 0).key, 0x89abcdef);
	assert_int_equal(odb_file_node(&file, 0).value, 5);
	vec_done(&nodes);
	buf_done(&bytes);
}

static void check_path(const char *path, const char *written)
{
	struct odb_path p;
	struct buf out = { 0 };
	struct err err = { 0 };

	assert_int_equal(odb_path_parse(path, &p, &err), 0);
	odb_path_put(&p, &out);
	buf_put_u8(&out, 0);
	assert_string_equal((const char *)out.data, written ? written : path);
	odb_path_done(&p);
	buf_done(&out);
}

static void paths_name_images_and_events(void **state)
{
	(void)state;
	check_path("{root}/bar1/bar2/{dep}/{root}/foo1/foo2/EVENT.1234.8192.34.35.2",
		   NULL);
	check_path("{kern}/bar/{dep}/{kern}/foo/EVENT.0.0.all.all.all", NULL);
	check_path("{root}/a/{dep}/{root}/b/{cg}/{root}/c/EVENT.0.0.all.all.all", NULL);
	check_path("{root}/a/{dep}/{anon:[vdso]}/12.0x1000.0x2000/E.1.0.12.13.0", NULL);
	check_path("{root}/a b/EV.X.1.0.all.all.all",
		   "{root}/a b/{dep}/{root}/a b/EV.X.1.0.all.all.all");
}

static void malformed_paths_are_refused(void **state)
{
	static const char *const paths[] = {
		"",
		"EVENT.1.0.all.all.all",
		"{root}/EVENT.1.0.all.all.all",
		"a/b/EVENT.1.0.all.all.all",
		"{root}/a/EVENT.1.0.all.all",
		"{root}/a/EVENT.1.0.all.all.x",
		"{root}/a/.1.0.all.all.all",
		"{root}/a/{dep}/{anon:anon}/1/E.1.0.1.1.all",
		"{root}/a/{dep}/{anon:anon/E.1.0.1.1.all",
		"{root}/a/{dep}/E.1.0.all.all.all",
		"{root}/a/{dep}/{root}/b/{cg}/E.1.0.all.all.all",
		"{root}/a/{dep}/{root}/b/{dep}/{root}/c/E.1.0.all.all.all"
	};

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		struct odb_path p;
		struct err err = { 0 };

		assert_int_equal(odb_path_parse(paths[i], &p, &err), -EBADMSG);
		assert_true(err.text[0]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layouts_match_those_of_oprofile),
		cmocka_unit_test(files_of_each_abi_are_read),
		cmocka_unit_test(damaged_tables_are_found),
		cmocka_unit_test(prefixes_are_refused),
		cmocka_unit_test(unknown_versions_are_refused),
		cmocka_unit_test(abi_files_describe_layouts),
		cmocka_unit_test(given_abi_takes_precedence),
		cmocka_unit_test(paths_name_images_and_events),
		cmocka_unit_test(malformed_paths_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "format/archive/manifest.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "unit.h"

static void accepts_only_names_that_stay_below(void **state)
{
	static const char *const good[] = { "a",       "usr/bin/true", ".debug/x",
					    "..a/b..", "[vdso]",       "a b" };
	static const char *const bad[] = { "",      "/a",   "a/",    "a//b",
					   ".",     "..",   "a/..",  "../a",
					   "a/./b", "a\nb", "a\x7f", "a/../b" };
	char longest[ARCHIVE_NAME_MAX + 2];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(good); i++)
		assert_true(archive_name_ok(good[i]));
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		assert_false(archive_name_ok(bad[i]));
	for (size_t i = 0; i < sizeof(longest); i++)
		longest[i] = i % 2 ? '/' : 'x';
	longest[ARCHIVE_NAME_MAX] = '\0';
	assert_true(archive_name_ok(longest));
	longest[ARCHIVE_NAME_MAX] = 'y';
	longest[ARCHIVE_NAME_MAX + 1] = '\0';
	assert_false(archive_name_ok(longest));
}

static int parse(const char *text, struct archive_manifest *m, struct err *err)
{
	return archive_manifest_parse(text, strlen(text), m, err);
}

static void parses_a_manifest(void **state)
{
	struct archive_manifest m;

	(void)state;
	assert_int_equal(parse("oparchive 1\n"
			       "file 00000000000000ff 12 34 usr/bin/a b\n"
			       "image - missing /x\n"
			       "later 1 2 3\n"
			       "file 1 0 0 c\n"
			       "end\n",
			       &m, NULL),
			 0);
	assert_int_equal(m.files.nr, 2);
	assert_int_equal(m.files.at[0].hash, 0xff);
	assert_int_equal(m.files.at[0].bytes, 12);
	assert_int_equal(m.files.at[0].mtime_ns, 34);
	assert_string_equal(m.files.at[0].name, "usr/bin/a b");
	assert_string_equal(m.files.at[1].name, "c");
	archive_manifest_done(&m);
}

static void rejects_a_bad_manifest(void **state)
{
	static const struct {
		const char *text;
		const char *why;
	} rows[] = {
		{ "", "the manifest is empty" },
		{ "oparchive 2\nend\n",
		  "unsupported manifest version, or manifest truncated after line 1" },
		{ "oparchive 1\nfile 1 2 3 a\n",
		  "unsupported manifest version, or manifest truncated after line 2" },
		{ "oparchive 1\nfile 1 2 3 ../a\nend\n",
		  "manifest line 2 is malformed" },
		{ "oparchive 1\nfile 1 2 a\nend\n", "manifest line 2 is malformed" },
		{ "oparchive 1\nfile 1 -2 3 a\nend\n", "manifest line 2 is malformed" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct archive_manifest m;
		struct err err = { 0 };

		assert_int_equal(parse(rows[i].text, &m, &err), -EBADMSG);
		assert_string_equal(err.text, rows[i].why);
		archive_manifest_done(&m);
	}
}

static void writing_and_parsing_agree(void **state)
{
	static char name[] = "usr/bin/true";
	const struct archive_file file = {
		.name = name, .hash = 0xabc, .bytes = 5, .mtime_ns = 7
	};
	struct archive_manifest m = { 0 };
	struct buf text = { 0 };

	(void)state;
	assert_int_equal(archive_manifest_file(&m, &file), 0);
	assert_int_equal(archive_manifest_image(&m, "12ab", true, "/usr/bin/true"), 0);
	assert_int_equal(archive_manifest_image(&m, "", false, "/x"), 0);
	assert_int_equal(archive_manifest_image(&m, "", false, "/x\nend"), 0);
	archive_manifest_put(&m, &text);
	buf_put_u8(&text, 0);
	assert_string_equal((const char *)text.data,
			    "oparchive 1\n"
			    "file 0000000000000abc 5 7 usr/bin/true\n"
			    "image 12ab found /usr/bin/true\n"
			    "image - missing /x\n"
			    "end\n");
	buf_done(&text);
	archive_manifest_done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepts_only_names_that_stay_below),
		cmocka_unit_test(parses_a_manifest),
		cmocka_unit_test(rejects_a_bad_manifest),
		cmocka_unit_test(writing_and_parsing_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

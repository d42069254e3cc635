#include "aggregate/spec.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"

#include "unit.h"

static struct spec parse(const char *word, const char *second)
{
	struct spec spec = { 0 };
	struct err err = { 0 };

	if (spec_add(&spec, word, &err) || (second && spec_add(&spec, second, &err)))
		fail_msg("%s", err.text);
	return spec;
}

static void wrong_words_say_what_is_wrong(void **state)
{
	static const struct {
		const char *word, *part;
	} rows[] = {
		{ "imgae:x", "did you mean 'image:'" },
		{ "foo:bar", "unknown tag" },
		{ "binary:x", "binary" },
		{ "sample-file:x", "sample-file" },
		{ "lib-image:x", "later version" },
		{ "session:", "No session given" },
		{ "image:", "nothing given" },
		{ "tid:abc", "tid: 'abc'" },
		{ "tid:99999999999", "not a thread id" },
		{ "{", "later version" },
		{ "{}", "later version" },
		{ "", "empty" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct spec spec = { 0 };
		struct err err = { 0 };

		assert_int_equal(spec_add(&spec, rows[i].word, &err), -EINVAL);
		if (!strstr(err.text, rows[i].part))
			fail_msg("%s: %s", rows[i].word, err.text);
		assert_null(strchr(err.text, '\n'));
		spec_done(&spec);
	}
}

static void lists_and_escaped_commas(void **state)
{
	struct spec spec = parse("comm:a\\,b,c*,,d", NULL);

	(void)state;
	assert_int_equal(spec.lists[SPEC_COMM].values.nr, 3);
	assert_true(spec_wants_comm(&spec, "a,b"));
	assert_true(spec_wants_comm(&spec, "cxy"));
	assert_true(spec_wants_comm(&spec, "d"));
	assert_false(spec_wants_comm(&spec, "a"));
	spec_done(&spec);
}

static void a_tag_twice(void **state)
{
	struct spec spec = parse("event:a", "event:b");
	struct err err = { 0 };

	(void)state;
	assert_false(spec_wants_event(&spec, "a"));
	assert_true(spec_wants_event(&spec, "b"));
	assert_int_equal(spec_add(&spec, "event:b", &err), -EINVAL);
	assert_non_null(strstr(err.text, "tag specified more than once: event:b"));
	spec_done(&spec);
}

static void all_is_no_restriction(void **state)
{
	struct spec spec = parse("tid:all", "event:all");

	(void)state;
	assert_true(spec_wants_tid(&spec, 17));
	assert_true(spec_wants_event(&spec, "x"));
	spec_done(&spec);
	spec = parse("tid:1,-1", NULL);
	assert_true(spec_wants_tid(&spec, 1));
	assert_true(spec_wants_tid(&spec, -1));
	assert_false(spec_wants_tid(&spec, 2));
	spec_done(&spec);
}

static void images_match_in_their_roles(void **state)
{
	static const struct image_names app = { { "/usr/bin/make", NULL }, false };
	static const struct image_names lib = { { "/lib/libc.so.6", NULL }, false };
	static const struct image_names kernel = {
		{ "/no-vmlinux", "[kernel.kallsyms]" }, true
	};
	static const struct {
		const char *word;
		const struct image_names *image;
		bool want, top;
	} rows[] = {
		{ "make", &lib, true, false },
		{ "/usr/bin/make", &lib, true, false },
		{ "libc.so.6", &lib, true, false },
		{ "/lib/*", &lib, true, false },
		{ "bin/make", &lib, false, false },
		{ "MAKE", &lib, false, false },
		{ "image:make", &lib, true, false },
		{ "image:libc*", &lib, false, false },
		{ "image:/usr/*", &kernel, true, false },
		{ "no-vmlinux", &kernel, true, true },
		{ "image:no-vmlinux", &kernel, true, true },
		{ "image:[kernel.kallsyms]", &kernel, true, true },
		{ "ext4", &kernel, false, false },
		{ "[make]", &lib, false, false },
		{ "[l]ibc*", &lib, true, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct spec spec = parse(rows[i].word, NULL);
		bool top = true;

		if (spec_wants_image(&spec, &app, rows[i].image, &top) !=
			    rows[i].want ||
		    top != rows[i].top)
			fail_msg("%s", rows[i].word);
		spec_done(&spec);
	}
}

static void tags_are_combined(void **state)
{
	static const struct image_names app = { { "/bin/a", NULL }, false };
	static const struct image_names other = { { "/bin/b", NULL }, false };
	static const struct image_names lib = { { "/lib/l", NULL }, false };
	struct spec spec = parse("image:a", "l");
	bool top;

	(void)state;
	assert_true(spec_wants_image(&spec, &app, &lib, &top));
	assert_false(spec_wants_image(&spec, &other, &lib, &top));
	assert_false(spec_wants_image(&spec, &app, &app, &top));
	assert_false(spec_wants_image(&spec, NULL, &lib, &top));
	spec_done(&spec);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(wrong_words_say_what_is_wrong),
		cmocka_unit_test(lists_and_escaped_commas),
		cmocka_unit_test(a_tag_twice),
		cmocka_unit_test(all_is_no_restriction),
		cmocka_unit_test(images_match_in_their_roles),
		cmocka_unit_test(tags_are_combined),
	};

	return UNIT_RUN(cases);
}

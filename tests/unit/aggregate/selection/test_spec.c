/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "aggregate/selection/spec.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/err.h"
#include "format/session/session.h"

#include "alloc_fail.h"
#include "unit.h"

static struct spec parse(const char *word, const char *second)
{
	struct spec spec = { 0 };
	struct err err = { 0 };

	if (spec_add(&spec, word, &err) || (second && spec_add(&spec, second, &err)))
		fail_msg("%s", err.text);
	return spec;
}

static bool wants(const struct spec *spec, const struct image_names *app,
		  const struct image_names *image, bool *ret_top)
{
	return spec_wants_image(spec, spec_image_bits(spec, app),
				spec_image_bits(spec, image), ret_top);
}

static void rejects_wrong_tags_with_a_reason(void **state)
{
	static const struct {
		const char *word, *text;
	} rows[] = {
		{ "imgae:x", "unknown tag in profile specification 'imgae:x': did you "
			     "mean 'image:'?" },
		{ "Image:x", "unknown tag in profile specification 'Image:x': did you "
			     "mean 'image:'?" },
		{ "lib-imge:x", "unknown tag in profile specification 'lib-imge:x': "
				"did you mean 'lib-image:'?" },
		{ "unitmask:1", "unknown tag in profile specification 'unitmask:1': "
				"did you mean 'unit-mask:'?" },
		{ "foo:bar", "unknown tag in profile specification 'foo:bar' (a file "
			     "of that name is written image:./foo:bar)" },
		{ "pid:1", "profile specification 'pid:1': pid: is called tgid: here" },
		{ "binary:x", "profile specification 'binary:x': binary: is gone since "
			      "OProfile 0.7: use image:" },
		{ "sample-file:x",
		  "profile specification 'sample-file:x': sample-file: is gone since "
		  "OProfile 0.7: use session: and image:" },
		{ "archive:x", "profile specification 'archive:x': archive: is not "
			       "supported here" },
		{ "session:", "No session given after session:" },
		{ "image:", "nothing given after image:" },
		{ "image:,,", "nothing given after image:" },
		{ "tid:abc", "tid: 'abc' is not a thread id" },
		{ "tid:1,,2x", "tid: '2x' is not a thread id" },
		{ "tid:99999999999", "tid: '99999999999' is not a thread id" },
		{ "tid:--1", "tid: '--1' is not a thread id" },
		{ "tid:all,x", "tid: 'x' is not a thread id" },
		{ "tgid:0x", "tgid: '0x' is not a process id" },
		{ "cpu:a", "cpu: 'a' is not the number of a CPU" },
		{ "count:-1", "count: '-1' is not a count" },
		{ "count:1e5", "count: '1e5' is not a count" },
		{ "unit-mask:0xg", "unit-mask: '0xg' is not a unit mask" },
		{ "time:", "nothing given after time:" },
		{ "time:5s",
		  "time: '5s' is not a span such as 10%-20%, 1.5s-3s, 2s- or "
		  "10%/2" },
		{ "time:10%-20%,20%-10%", "time: '20%-10%' is not a span such as "
					  "10%-20%, 1.5s-3s, 2s- or 10%/2" },
		{ "symbol:", "nothing given after symbol:" },
		{ "symbol-exclude:,", "nothing given after symbol-exclude:" },
		{ "symbols:x", "unknown tag in profile specification 'symbols:x': did "
			       "you mean 'symbol:'?" },
		{ "cpu:\n1", "cpu: '\\n1' is not the number of a CPU" },
		{ "{", "'{': differential profiles ({ } { }) are not supported" },
		{ "{}", "'{}': differential profiles ({ } { }) are not supported" },
		{ "}", "'}': differential profiles ({ } { }) are not supported" },
		{ "", "empty argument in the profile specification" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct spec spec = { 0 };
		struct err err = { 0 };

		assert_int_equal(spec_add(&spec, rows[i].word, &err), -EINVAL);
		assert_string_equal(err.text, rows[i].text);
		spec_done(&spec);
	}
}

static void parses_lists_and_escaped_commas(void **state)
{
	struct spec spec = parse("comm:a\\,b,c*,,d", NULL);

	(void)state;
	assert_int_equal(spec.lists[SPEC_COMM].values.nr, 3);
	assert_true(spec_wants_thread(&spec, 1, 1, "a,b"));
	assert_true(spec_wants_thread(&spec, 1, 1, "cxy"));
	assert_true(spec_wants_thread(&spec, 1, 1, "d"));
	assert_false(spec_wants_thread(&spec, 1, 1, "a"));
	spec_done(&spec);
}

static void selects_cgroups(void **state)
{
	struct spec spec = parse("cgroup:/system.slice/*,/", NULL);

	(void)state;
	assert_true(spec_has_cgroups(&spec));
	assert_int_equal(spec_columns(&spec), COLUMN_THREAD);
	assert_true(spec_wants_cgroup(&spec, "/system.slice/a.service"));
	assert_true(spec_wants_cgroup(&spec, "/"));
	assert_false(spec_wants_cgroup(&spec, "/user.slice"));
	assert_false(spec_wants_cgroup(&spec, ""));
	spec_done(&spec);
	spec = parse("comm:a", NULL);
	assert_false(spec_has_cgroups(&spec));
	assert_true(spec_wants_cgroup(&spec, "/x"));
	spec_done(&spec);
}

static void rejects_a_repeated_tag(void **state)
{
	struct spec spec = parse("event:a", "event:b");
	struct err err = { 0 };

	(void)state;
	assert_false(spec_wants_event(&spec, "a", 0, 0));
	assert_true(spec_wants_event(&spec, "b", 0, 0));
	assert_string_equal(spec.lists[SPEC_EVENT].text, "event:b");
	assert_int_equal(spec_add(&spec, "event:a", &err), -EINVAL);
	assert_string_equal(err.text, "tag specified more than once: event:a");
	spec_done(&spec);

	/* The last specification of a tag also counts for numbers, and after `all`. */
	spec = parse("tid:1", "tid:2");
	assert_false(spec_wants_thread(&spec, 9, 1, ""));
	assert_true(spec_wants_thread(&spec, 9, 2, ""));
	spec_done(&spec);
	spec = parse("cpu:all", "cpu:3");
	assert_false(spec_wants_cpu(&spec, 2));
	assert_true(spec_wants_cpu(&spec, 3));
	spec_done(&spec);
	/* Words without a tag add up. */
	spec = parse("a", "a");
	assert_int_equal(spec.lists[SPEC_ANY_IMAGE].values.nr, 2);
	spec_done(&spec);
}

static void matches_events_without_modifiers(void **state)
{
	static const struct {
		const char *asked, *name;
		bool wanted;
	} cases[] = {
		{ "event:cycles", "cycles:pp", true },
		{ "event:cycles", "cpu_core/cycles:ppp/", true },
		{ "event:cycles:ppp", "cpu_core/cycles:ppp/", true },
		{ "event:cycles", "cpu_core/cycles/u", true },
		{ "event:cpu_core/cycles/", "cpu_core/cycles/u", true },
		{ "event:page-faults", "page-faults:k", true },
		{ "event:page-faults:k", "page-faults:k", true },
		{ "event:page-faults:u", "page-faults:k", false },
		{ "event:cycles:p", "cycles", false },
		{ "event:cycles", "cpu-cycles:pp", false },
		{ "event:sched", "sched:sched_switch", false },
		{ "event:cpu", "cpu//", false },
		{ "event:cpu//", "cpu//p", true },
		{ "event:p", "p", true },
		{ "event:x", ":p", false },
		{ "event:x", "/", false },
		{ "event:x", "", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct spec spec = parse(cases[i].asked, NULL);

		if (spec_wants_event(&spec, cases[i].name, 0, 0) != cases[i].wanted)
			fail_msg("%s, %s", cases[i].asked, cases[i].name);
		spec_done(&spec);
	}
}

static void all_is_no_restriction(void **state)
{
	static const char *const words[] = { "tid:all",   "tgid:all",      "cpu:all",
					     "count:all", "unit-mask:all", "event:all",
					     "tid:7,all", "event:x,all" };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(words); i++) {
		struct spec spec = parse(words[i], NULL);

		assert_true(spec_wants_thread(&spec, 17, 18, "c"));
		assert_true(spec_wants_event(&spec, "y", 5, 6));
		assert_true(spec_wants_cpu(&spec, -1));
		assert_int_equal(spec_columns(&spec), 0);
		spec_done(&spec);
	}
}

static void parses_numbers_completely(void **state)
{
	struct spec spec = parse("tid:1,-1,0x10", NULL);

	(void)state;
	assert_true(spec_wants_thread(&spec, 9, 1, ""));
	assert_true(spec_wants_thread(&spec, 9, -1, ""));
	assert_true(spec_wants_thread(&spec, 9, 16, ""));
	assert_false(spec_wants_thread(&spec, 1, 2, ""));
	spec_done(&spec);
	spec = parse("tgid:007", "cpu:0,-1");
	assert_true(spec_wants_thread(&spec, 7, 1, ""));
	assert_false(spec_wants_thread(&spec, 1, 7, ""));
	assert_true(spec_wants_cpu(&spec, 0));
	assert_true(spec_wants_cpu(&spec, -1));
	assert_false(spec_wants_cpu(&spec, 1));
	spec_done(&spec);
	spec = parse("unit-mask:0x0f,1", "count:100000,18446744073709551615");
	assert_true(spec_wants_event(&spec, "e", 100000, 15));
	assert_true(spec_wants_event(&spec, "e", UINT64_MAX, 1));
	assert_false(spec_wants_event(&spec, "e", 100000, 0));
	assert_false(spec_wants_event(&spec, "e", 0, 1));
	spec_done(&spec);
}

static void requests_only_needed_columns(void **state)
{
	static const struct {
		const char *word;
		unsigned int columns;
	} rows[] = {
		{ "event:x", 0 },
		{ "session:x", 0 },
		{ "count:1", 0 },
		{ "comm:x", COLUMN_THREAD },
		{ "tgid:1", COLUMN_THREAD },
		{ "cpu:1", COLUMN_CPU },
		{ "x", COLUMN_THREAD | COLUMN_STACK },
		{ "symbol:x", COLUMN_STACK },
		{ "symbol-exclude:x", COLUMN_STACK },
		{ "time:1s-2s", COLUMN_TIME },
		{ "time:1s-2s,all", 0 },
		{ "lib-image-exclude:x", COLUMN_THREAD | COLUMN_STACK },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct spec spec = parse(rows[i].word, NULL);

		assert_int_equal(spec_columns(&spec), rows[i].columns);
		spec_done(&spec);
	}
}

static void matches_mangled_and_demangled_symbols(void **state)
{
	static const struct {
		const char *word, *second, *raw, *shown;
		bool want;
	} rows[] = {
		{ "symbol:main", NULL, "main", NULL, true },
		{ "symbol:main", NULL, "main2", NULL, false },
		{ "symbol:mai*,turn*", NULL, "main2", NULL, true },
		{ "symbol:turn(char const\\*\\, int)", NULL, "_Z4turnPKci",
		  "turn(char const*, int)", true },
		{ "symbol:turn(*\\, int)", NULL, "_Z4turnPKci",
		  "turn(char const*, int)", true },
		{ "symbol:_Z4turnPKci", NULL, "_Z4turnPKci", "turn(char const*, int)",
		  true },
		{ "symbol:_Z4turn*", NULL, "_Z4turnPKci", "turn(char const*, int)",
		  true },
		{ "symbol:turn", NULL, "_Z4turnPKci", "turn(char const*, int)", false },
		{ "symbol:v::operator[](int)", NULL, "_ZN1vixEi", "v::operator[](int)",
		  true },
		{ "symbol:[k]", NULL, "k", NULL, false },
		{ "symbol:[jk]", NULL, "k", NULL, false },
		{ "symbol:[jk]*", NULL, "k", NULL, true },
		{ "symbol-exclude:main", NULL, "main", NULL, false },
		{ "symbol-exclude:turn*", NULL, "_Z4turnPKci", "turn(char const*, int)",
		  false },
		{ "symbol-exclude:main", NULL, "mid", NULL, true },
		{ "symbol:m*", "symbol-exclude:main", "mid", NULL, true },
		{ "symbol:m*", "symbol-exclude:main", "main", NULL, false },
		{ "symbol:a", "symbol:b", "a", NULL, false },
		{ "symbol:a", "symbol:b", "b", NULL, true },
		{ "comm:a", NULL, "anything", NULL, true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct spec spec = parse(rows[i].word, rows[i].second);

		assert_int_equal(spec_has_symbols(&spec), rows[i].word[0] == 's');
		if (spec_wants_symbol(&spec, rows[i].raw, rows[i].shown) !=
		    rows[i].want)
			fail_msg("%s: %s", rows[i].word, rows[i].raw);
		spec_done(&spec);
	}
}

static void matches_images_in_their_roles(void **state)
{
	static const struct image_names app = { { "/usr/bin/make", NULL }, false };
	static const struct image_names lib = { { "/lib/libc.so.6", NULL }, false };
	static const struct image_names odd = { { "/tmp/a[b]\\c", NULL }, false };
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
		{ "*libc*", &lib, true, false },
		{ "/l?b/libc.so.[0-9]", &lib, true, false },
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
		{ "lib-image:libc*", &lib, true, false },
		{ "lib-image:libc*", &app, false, false },
		{ "lib-image:make", &lib, false, false },
		{ "lib-image:make", &app, true, false },
		{ "lib-image:no-vmlinux", &kernel, true, false },
		{ "lib-image-exclude:libc*", &lib, false, false },
		{ "lib-image-exclude:libc*", &app, true, false },
		{ "lib-image-exclude:make", &lib, true, false },
		{ "lib-image-exclude:make", &app, false, false },
		{ "lib-image-exclude:no-vmlinux", &kernel, false, false },
		{ "image-exclude:make", &lib, false, false },
		{ "image-exclude:libc.so.6", &lib, false, false },
		{ "image-exclude:libc.so.6", &app, true, false },
		{ "image-exclude:x,no-vmlinux", &kernel, false, false },
		{ "lib-image:/tmp/a[b]\\c", &odd, true, false },
		{ "lib-image:/tmp/a\\[b]\\\\c", &odd, true, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct spec spec = parse(rows[i].word, NULL);
		bool top = true;

		if (wants(&spec, &app, rows[i].image, &top) != rows[i].want ||
		    top != rows[i].top)
			fail_msg("%s", rows[i].word);
		spec_done(&spec);
	}
}

static void combines_tags(void **state)
{
	static const struct image_names app = { { "/bin/a", NULL }, false };
	static const struct image_names other = { { "/bin/b", NULL }, false };
	static const struct image_names lib = { { "/lib/l", NULL }, false };
	static const struct image_names kernel = { { "/no-vmlinux" }, true };
	struct spec spec = parse("image:a", "l");
	bool top;

	(void)state;
	assert_true(wants(&spec, &app, &lib, &top));
	assert_false(wants(&spec, &other, &lib, &top));
	assert_false(wants(&spec, &app, &app, &top));
	assert_false(wants(&spec, &lib, &lib, &top));
	spec_done(&spec);
	spec = parse("image:a", "lib-image:l");
	assert_true(wants(&spec, &app, &lib, &top));
	assert_false(wants(&spec, &other, &lib, &top));
	assert_false(wants(&spec, &app, &app, &top));
	spec_done(&spec);
	spec = parse("image:a,b", "image-exclude:*/b");
	assert_true(wants(&spec, &app, &lib, &top));
	assert_false(wants(&spec, &other, &lib, &top));
	spec_done(&spec);
	/* The kernel is shown below one program, not as a separate entry. */
	spec = parse("image:a", "lib-image:no-vmlinux");
	assert_true(wants(&spec, &app, &kernel, &top));
	assert_false(top);
	assert_false(wants(&spec, &other, &kernel, &top));
	spec_done(&spec);
}

static void excludes_sessions(void **state)
{
	struct spec spec = parse("session:a,b", "session-exclude:b,old*");

	(void)state;
	assert_true(spec_wants_session(&spec, "a"));
	assert_false(spec_wants_session(&spec, "b"));
	assert_false(spec_wants_session(&spec, "older"));
	spec_done(&spec);
	spec = parse("session:a", NULL);
	assert_true(spec_wants_session(&spec, "zzz"));
	spec_done(&spec);
}

static void handles_allocation_failure(void **state)
{
	static const char *const words[] = { "image:./.,b", "tid:1,2,3", "session:s" };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(words); i++) {
		for (unsigned long n = 1;; n++) {
			struct spec spec = { 0 };
			struct err err = { 0 };
			int r;

			alloc_fail_at(n);
			r = spec_add(&spec, words[i], &err);
			if (!alloc_fail_off()) {
				assert_int_equal(r, 0);
				spec_done(&spec);
				break;
			}
			assert_int_equal(r, -ENOMEM);
			assert_string_equal(err.text, "out of memory");
			spec_done(&spec);
		}
	}
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(rejects_wrong_tags_with_a_reason),
		cmocka_unit_test(parses_lists_and_escaped_commas),
		cmocka_unit_test(selects_cgroups),
		cmocka_unit_test(rejects_a_repeated_tag),
		cmocka_unit_test(matches_events_without_modifiers),
		cmocka_unit_test(all_is_no_restriction),
		cmocka_unit_test(parses_numbers_completely),
		cmocka_unit_test(requests_only_needed_columns),
		cmocka_unit_test(matches_mangled_and_demangled_symbols),
		cmocka_unit_test(matches_images_in_their_roles),
		cmocka_unit_test(combines_tags),
		cmocka_unit_test(excludes_sessions),
		cmocka_unit_test(handles_allocation_failure),
	};

	return UNIT_RUN(cases);
}

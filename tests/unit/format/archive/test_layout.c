/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/archive/layout.h"

#include "base/array.h"
#include "unit.h"

static void classifies_names_by_their_use(void **state)
{
	static const struct {
		const char *name;
		enum archive_name_use use;
	} names[] = {
		{ "manifest", ARCHIVE_NAME_OWN },
		{ "manifest/below", ARCHIVE_NAME_OWN },
		{ "unfinished", ARCHIVE_NAME_OWN },
		{ "unfinished.part", ARCHIVE_NAME_OWN },
		{ ".vmlinux", ARCHIVE_NAME_OWN },
		{ ".debug/.build-id/ab/cdef/debug", ARCHIVE_NAME_OWN },
		{ "image-path/module.ko", ARCHIVE_NAME_OWN },
		{ "var/lib/oprofile/samples/current/segment-000002", ARCHIVE_NAME_OWN },
		{ "var/lib", ARCHIVE_NAME_OWN },
		{ "usr/lib/debug/.build-id/ab/cdef.debug", ARCHIVE_NAME_DEBUG },
		{ "usr/bin/.debug/ls", ARCHIVE_NAME_DEBUG },
		{ "usr/bin/ls.debug", ARCHIVE_NAME_DEBUG },
		{ "boot/vmlinux-6.1", ARCHIVE_NAME_DEBUG },
		{ "lib/modules/6.1/vmlinux", ARCHIVE_NAME_DEBUG },
		{ "tmp/perf-12.map", ARCHIVE_NAME_JIT },
		{ "home/x/jit-12.dump", ARCHIVE_NAME_JIT },
		{ "manifests", ARCHIVE_NAME_PLAIN },
		{ "usr/bin/manifest", ARCHIVE_NAME_PLAIN },
		{ "var/lib/oprofile/jitdump", ARCHIVE_NAME_PLAIN },
		{ "usr/lib/debugger", ARCHIVE_NAME_PLAIN },
		{ "usr/bin/true", ARCHIVE_NAME_PLAIN },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(names); i++)
		assert_int_equal(archive_name_use(names[i].name), names[i].use);
}

static void reserved_directories_have_defined_files_only(void **state)
{
	static const char *const defined[] = {
		"usr/bin/true",
		"manifest",
		".vmlinux",
		".debug/.build-id/ab/cdef/elf",
		".debug/[kernel.kallsyms]/abcdef/kallsyms",
		"image-path/module.ko",
		"var/lib/oprofile/samples/current/images/12",
	};
	static const char *const others[] = {
		"manifest/x",
		".debug",
		".debug/x",
		".debug/.build-id/ab/cdef",
		".debug/.build-id/ab/cdef/other",
		".debug/[kernel.kallsyms]/kallsyms",
		"image-path/a/b",
		"var/lib/oprofile/samples",
		"var",
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(defined); i++)
		assert_true(archive_name_defined(defined[i]));
	for (size_t i = 0; i < COUNT_OF(others); i++)
		assert_false(archive_name_defined(others[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classifies_names_by_their_use),
		cmocka_unit_test(reserved_directories_have_defined_files_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

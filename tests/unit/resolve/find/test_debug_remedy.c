/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/find/debug_remedy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "format/session/dict.h"
#include "unit.h"

static const struct build_id id = { .len = 3, .bytes = { 0xab, 0xcd, 0xef } };

/* Returns the distribution of a root whose os-release has this text. */
static const struct distribution *distribution_of(const char *text)
{
	char root[] = "/tmp/remedy-XXXXXX";
	char etc[64], path[80];
	const struct distribution *found;
	FILE *f;

	assert_non_null(mkdtemp(root));
	snprintf(etc, sizeof(etc), "%s/etc", root);
	snprintf(path, sizeof(path), "%s/os-release", etc);
	assert_int_equal(mkdir(etc, 0755), 0);
	f = fopen(path, "we");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
	found = distribution_find(root);
	assert_int_equal(remove(path), 0);
	assert_int_equal(remove(etc), 0);
	assert_int_equal(remove(root), 0);
	return found;
}

static void expect_remedy(const struct debug_remedy *remedy, const char *expected)
{
	struct buf out = { 0 };

	debug_remedy_put(&out, remedy);
	buf_put_u8(&out, 0);
	assert_false(out.failed);
	assert_string_equal((const char *)out.data, expected);
	buf_done(&out);
}

static void names_the_server_of_the_distribution(void **state)
{
	static const struct {
		const char *release, *server;
	} rows[] = {
		{ "NAME=x\nVERSION_ID=\"12\"\nID=debian\n",
		  "https://debuginfod.debian.net" },
		{ "ID_LIKE=debian\nID=ubuntu\n", "https://debuginfod.ubuntu.com" },
		{ "ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n",
		  "https://debuginfod.ubuntu.com" },
		{ "ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n",
		  "https://debuginfod.centos.org" },
		{ "ID='opensuse-leap'\nID_LIKE='suse opensuse'",
		  "https://debuginfod.opensuse.org" },
		{ "ID=plan9\n", "https://debuginfod.elfutils.org" },
		{ "", "https://debuginfod.elfutils.org" },
		{ "XID=debian\nID=\n", "https://debuginfod.elfutils.org" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_string_equal(
			distribution_server(distribution_of(rows[i].release)),
			rows[i].server);
	assert_string_equal(distribution_server(distribution_find("/nonexistent")),
			    "https://debuginfod.elfutils.org");
}

static void uses_servers_before_packages(void **state)
{
	struct debug_remedy remedy = { .distribution = distribution_of("ID=debian"),
				       .path = "/usr/lib/x y.so",
				       .build_id = &id };

	(void)state;
	expect_remedy(&remedy, "export DEBUGINFOD_URLS=https://debuginfod.debian.net");
	remedy.foreign = true;
	expect_remedy(&remedy,
		      "export DEBUGINFOD_URLS=https://debuginfod.elfutils.org");
	remedy.has_servers = true;
	expect_remedy(&remedy, "debuginfod-find debuginfo abcdef");
	remedy.foreign = false;
	expect_remedy(&remedy, "find-dbgsym-packages '/usr/lib/x y.so'");
	remedy.distribution = distribution_of("ID=fedora");
	expect_remedy(
		&remedy,
		"sudo dnf --enablerepo='*debug*' install /usr/lib/debug/.build-id/ab/cdef.debug");
	remedy.distribution = distribution_of("ID_LIKE=suse");
	expect_remedy(
		&remedy,
		"sudo zypper install --plus-content debug 'debuginfo(build-id)=abcdef'");
	remedy.distribution = distribution_of("ID=arch");
	expect_remedy(&remedy, "debuginfod-find debuginfo abcdef");
}

static void a_private_program_has_to_be_built_again(void **state)
{
	static const char build[] =
		"build it with -g -Wl,--build-id, and do not strip it";
	const struct build_id none = { 0 };
	struct debug_remedy remedy = { .distribution = distribution_of("ID=debian"),
				       .path = "/home/u/p",
				       .build_id = &id };

	(void)state;
	expect_remedy(&remedy, build);
	remedy.path = "/usr/local/bin/p";
	expect_remedy(&remedy, build);
	remedy.path = "/usr/bin/p";
	remedy.build_id = &none;
	expect_remedy(&remedy, build);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(names_the_server_of_the_distribution),
		cmocka_unit_test(uses_servers_before_packages),
		cmocka_unit_test(a_private_program_has_to_be_built_again),
	};

	return UNIT_RUN(cases);
}

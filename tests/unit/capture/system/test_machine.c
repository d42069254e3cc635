/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/system/machine.h"

#include <string.h>
#include <sys/utsname.h>

#include "unit.h"

static void quotes_arguments_for_a_shell(void **state)
{
	char *argv[] = { (char *)"operf", (char *)"-e",  (char *)"a:1,b", (char *)"",
			 (char *)"it's",  (char *)"a b", (char *)"$x" };
	struct buf out = { 0 };

	(void)state;
	machine_quote_command(argv, 7, &out);
	assert_string_equal((const char *)out.data,
			    "operf -e a:1,b '' 'it'\\''s' 'a b' '$x'");
	buf_done(&out);
}

static void describes_this_machine(void **state)
{
	struct machine m;
	struct utsname u;

	(void)state;
	machine_read(&m);
	assert_int_equal(uname(&u), 0);
	assert_string_equal(m.arch, u.machine);
	assert_string_equal(m.os_release, u.release);
	assert_true(m.nr_cpus_online >= 1);
	assert_true(m.nr_cpus_available >= m.nr_cpus_online);
	assert_int_equal(strlen(m.boot_id), 36);
	assert_null(strchr(m.cpu_desc, '\n'));
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(quotes_arguments_for_a_shell),
		cmocka_unit_test(describes_this_machine),
	};

	return UNIT_RUN(cases);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/files/charge.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "unit.h"

static void a_file_is_charged_to_its_user(void **state)
{
	char path[] = "/tmp/charge-XXXXXX";
	int fd = mkstemp(path);
	int r;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	assert_true(charge_get(path) == CHARGE_UNKNOWN);
	r = charge_set(path, 65534);
	if (r == -ENOTSUP) {
		unlink(path);
		print_message("NOT TESTED: /tmp keeps no attributes\n");
		skip();
	}
	assert_int_equal(r, 0);
	assert_int_equal(charge_get(path), 65534);
	assert_int_equal(charge_set(path, 0), 0);
	assert_int_equal(charge_get(path), 0);
	assert_int_equal(setxattr(path, "user.oprofile.uid", "5x", 2, 0), 0);
	assert_true(charge_get(path) == CHARGE_UNKNOWN);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(charge_set(path, 0), -ENOENT);
	assert_true(charge_get(path) == CHARGE_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(a_file_is_charged_to_its_user),
	};

	return UNIT_RUN(cases);
}

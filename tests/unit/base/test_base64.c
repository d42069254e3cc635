/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base64.h"

#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "unit.h"

/* The examples of RFC 4648, section 10, and all bits of a group. */
static void encodes_all_lengths(void **state)
{
	static const char *const rows[][2] = {
		{ "", "" },
		{ "f", "Zg==" },
		{ "fo", "Zm8=" },
		{ "foo", "Zm9v" },
		{ "foob", "Zm9vYg==" },
		{ "fooba", "Zm9vYmE=" },
		{ "foobar", "Zm9vYmFy" },
		{ "\xff\xff\xff", "////" },
		{ "\xfb\xef\xbe", "++++" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct buf out = { 0 };

		buf_put(&out, "x", 1);
		base64_put(&out, rows[i][0], strlen(rows[i][0]));
		assert_false(out.failed);
		assert_int_equal(out.len, 1 + strlen(rows[i][1]));
		assert_memory_equal(out.data + 1, rows[i][1], out.len - 1);
		buf_done(&out);
	}
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(encodes_all_lengths),
	};

	return UNIT_RUN(cases);
}

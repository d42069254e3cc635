/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads names of functions from hand-made BTF. */
#include "unit.h"

#include <string.h>

#include "capture/source/btf.h"

enum {
	FUNCTION = 12u << 24,
	PROTOTYPE = 13u << 24
};

struct made {
	uint16_t magic;
	uint8_t version, flags;
	uint32_t len, types, types_len, strings, strings_len;
	uint32_t words[15];
	char names[16];
};

/* 1: int, 2: a prototype with one parameter, 3: handle, 4: a function without a name */
static const struct made good = {
	.magic = 0xeb9f,
	.version = 1,
	.len = 24,
	.types_len = sizeof(good.words),
	.strings = sizeof(good.words),
	.strings_len = sizeof(good.names),
	.words = { 8, 1u << 24, 4, 32, 0, PROTOTYPE | 1, 1, 8, 1, 1, FUNCTION, 2, 0,
		   FUNCTION, 2 },
	.names = "\0handle\0int",
};

static void finds_functions_by_type(void **state)
{
	(void)state;
	assert_string_equal(btf_name(&good, sizeof(good), 1), "int");
	assert_string_equal(btf_name(&good, sizeof(good), 3), "handle");
	assert_null(btf_name(&good, sizeof(good), 2));
	assert_null(btf_name(&good, sizeof(good), 4));
	assert_null(btf_name(&good, sizeof(good), 5));
	assert_null(btf_name(&good, sizeof(good), 0));
	assert_null(btf_name(NULL, 0, 1));
}

static void rejects_truncated_or_damaged_btf(void **state)
{
	struct made made;

	(void)state;
	for (size_t len = 0; len < sizeof(good); len++)
		assert_null(btf_name(&good, len, 3));
	for (size_t at = 0; at < sizeof(good); at++) {
		const char *name;

		made = good;
		((uint8_t *)&made)[at] ^= 0xff;
		name = btf_name(&made, sizeof(made), 3);
		if (name)
			assert_true(strlen(name) < sizeof(made.names));
	}
	made = good;
	made.words[1] = 31u << 24; /* an unknown kind */
	assert_null(btf_name(&made, sizeof(made), 3));
	made = good;
	memset(made.names + 1, 'x', sizeof(made.names) - 1); /* no end */
	assert_null(btf_name(&made, sizeof(made), 3));
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(finds_functions_by_type),
		cmocka_unit_test(rejects_truncated_or_damaged_btf),
	};

	return UNIT_RUN(cases);
}

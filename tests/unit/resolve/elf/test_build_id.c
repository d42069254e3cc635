/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/files/io.h"
#include "resolve/elf/build_id.h"
#include "resolve/elf/elf_maker.h"

static const uint8_t id_bytes[BUILD_ID_MAX + 1] = { 0xab, 1,  2,  3,  4,  5,   6,
						    7,    8,  9,  10, 11, 12,  13,
						    14,   15, 16, 17, 18, 0xff };

static void reads_every_class_and_byte_order(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 8; i++) {
		struct elf_maker m = { .is64 = i & 1,
				       .big_endian = i & 2,
				       .no_sections = i & 4,
				       .build_id = id_bytes,
				       .build_id_len = i & 1 ? 20 : 16 };
		struct build_id id = { 0 };
		struct buf b = { 0 };

		elf_maker_write(&m, &b);
		assert_int_equal(elf_build_id_bytes(b.data, b.len, &id), 0);
		assert_int_equal(id.len, m.build_id_len);
		assert_memory_equal(id.bytes, id_bytes, id.len);
		buf_done(&b);
	}
}

static void handles_files_without_build_id(void **state)
{
	struct elf_maker m = { .is64 = true };
	struct build_id id = { 0 };
	struct buf b = { 0 };

	(void)state;
	elf_maker_write(&m, &b);
	assert_int_equal(elf_build_id_bytes(b.data, b.len, &id), -ENODATA);
	buf_clear(&b);
	m.build_id = id_bytes; /* longer than any that the kernel reports */
	m.build_id_len = sizeof(id_bytes);
	elf_maker_write(&m, &b);
	assert_int_equal(elf_build_id_bytes(b.data, b.len, &id), -ENODATA);
	assert_int_equal(elf_build_id_bytes("", 0, &id), -EBADMSG);
	assert_int_equal(elf_build_id("/proc/self/maps", &id, NULL), -EINVAL);
	assert_int_equal(elf_build_id("/dev/zero", &id, NULL), -EINVAL);
	assert_int_equal(id.len, 0);
	buf_done(&b);
}

static void survives_every_prefix(void **state)
{
	struct elf_maker m = { .is64 = true, .build_id = id_bytes, .build_id_len = 20 };
	struct buf b = { 0 };

	(void)state;
	elf_maker_write(&m, &b);
	for (size_t len = 0; len < b.len; len++) {
		uint8_t *cut = malloc(len + 1);
		struct build_id id = { 0 };
		int r;

		memcpy(cut, b.data, len);
		r = elf_build_id_bytes(cut, len, &id);
		assert_true(r == 0 ? id.len == 20 : r < 0);
		free(cut);
	}
	buf_done(&b);
}

/* The kernel's notes have no header that gives their byte order. */
static void reads_bare_notes(void **state)
{
	struct build_id id = { 0 };

	(void)state;
	for (unsigned int big = 0; big < 2; big++) {
		uint8_t notes[20] = { 0 };

		notes[big ? 3 : 0] = 4;
		notes[big ? 7 : 4] = 4;
		notes[big ? 11 : 8] = NT_GNU_BUILD_ID;
		memcpy(notes + 12, "GNU", 4);
		memcpy(notes + 16, id_bytes, 4);
		assert_int_equal(notes_build_id(notes, sizeof(notes), &id), 0);
		assert_int_equal(id.len, 4);
		assert_memory_equal(id.bytes, id_bytes, 4);
		assert_true(notes_build_id(notes, sizeof(notes) - 1, &id) < 0);
	}
	assert_int_equal(notes_build_id("", 0, &id), -ENODATA);
}

static void prints_and_parses_text(void **state)
{
	struct build_id a = { .len = 3, .bytes = { 0xab, 0x01, 0xf0 } };
	struct build_id b = a;
	char hex[2 * BUILD_ID_MAX + 1];

	(void)state;
	build_id_to_hex(&a, hex);
	assert_string_equal(hex, "ab01f0");
	assert_true(build_id_equal(&a, &b));
	b.bytes[2]++;
	assert_false(build_id_equal(&a, &b));
	b = a;
	b.len = 2;
	assert_false(build_id_equal(&a, &b));
	a.len = 0;
	build_id_to_hex(&a, hex);
	assert_string_equal(hex, "");
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(reads_every_class_and_byte_order),
		cmocka_unit_test(handles_files_without_build_id),
		cmocka_unit_test(survives_every_prefix),
		cmocka_unit_test(reads_bare_notes),
		cmocka_unit_test(prints_and_parses_text),
	};

	return UNIT_RUN(cases);
}

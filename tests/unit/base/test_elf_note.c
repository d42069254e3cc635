/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/elf_note.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

/* Little-endian: a version note of another owner, then build-id deadbeef01. */
static const uint8_t notes[] = {
	4, 0, 0,   0,   4,   0, 0,    0,    1,    0,    0, 0, 'X', 'e', 'n',
	0, 9, 9,   9,   9,   4, 0,    0,    0,    5,    0, 0, 0,   3,   0,
	0, 0, 'G', 'N', 'U', 0, 0xde, 0xad, 0xbe, 0xef, 1, 0, 0,   0,
};

enum {
	UNPADDED = sizeof(notes) - 3
};

static void finds_the_build_id(void **state)
{
	const uint8_t *id = NULL;
	size_t len = 0;

	(void)state;
	assert_int_equal(elf_note_build_id(notes, sizeof(notes), false, &id, &len), 0);
	assert_int_equal(len, 5);
	assert_memory_equal(id, "\xde\xad\xbe\xef\x01", 5);
	/* The last note can end without padding. */
	assert_int_equal(elf_note_build_id(notes, UNPADDED, false, &id, &len), 0);
	assert_int_equal(len, 5);
}

static void reads_swapped_integers(void **state)
{
	uint8_t swapped[sizeof(notes)];
	const uint8_t *id = NULL;
	size_t len = 0;

	(void)state;
	memcpy(swapped, notes, sizeof(notes));
	for (size_t note = 0; note <= 20; note += 20) {
		for (size_t field = note; field < note + 12; field += 4) {
			swapped[field + 3] = notes[field];
			swapped[field] = 0;
		}
	}
	assert_int_equal(elf_note_build_id(swapped, sizeof(swapped), true, &id, &len),
			 0);
	assert_int_equal(len, 5);
	assert_true(elf_note_build_id(swapped, sizeof(swapped), false, &id, &len) < 0);
}

static void every_prefix_is_rejected_or_ends(void **state)
{
	(void)state;
	for (size_t cut = 0; cut < UNPADDED; cut++) {
		uint8_t *exact = malloc(
			cut ? cut : 1); /* so that a sanitizer detects an overrun */
		const uint8_t *id = NULL;
		size_t len = 0;
		int r;

		memcpy(exact, notes, cut);
		r = elf_note_build_id(exact, cut, false, &id, &len);
		assert_int_equal(r, cut == 0 || cut == 20 ? -ENODATA : -EBADMSG);
		assert_null(id);
		free(exact);
	}
}

static void rejects_absurd_lengths(void **state)
{
	uint8_t bad[sizeof(notes)];
	struct elf_note_walk w;
	struct elf_note note;

	(void)state;
	for (size_t field = 0; field < 8; field += 4) {
		memcpy(bad, notes, sizeof(bad));
		memset(bad + field, 0xff, 4);
		w = elf_note_walk_of(bad, sizeof(bad), false);
		assert_int_equal(elf_note_next(&w, &note), -EBADMSG);
	}
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(finds_the_build_id),
		cmocka_unit_test(reads_swapped_integers),
		cmocka_unit_test(every_prefix_is_rejected_or_ends),
		cmocka_unit_test(rejects_absurd_lengths),
	};

	return UNIT_RUN(cases);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads texts of a section from shared and separate pages; and sections that claim to be too
 * large. */
#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/array.h"
#include "base/buf.h"
#include "resolve/dwarf/file.h"
#include "resolve/dwarf/section.h"
#include "resolve/dwarf/unit.h"
#include "resolve/elf/elf_maker.h"
#include "resolve/elf/file.h"

enum {
	PAGES = DWARF_PAGES_SHARED + 200,
	BYTES = PAGES * DWARF_PAGE_BYTES,
	BEGIN = 123, /* offset of the section in its file */
	LAST = (PAGES - 1) * DWARF_PAGE_BYTES
};

struct made {
	struct elf_file file;
	struct elf_section entry;
	uint8_t *bytes;
};

static void put(struct made *m, size_t at, char letter, size_t len)
{
	memset(m->bytes + at, letter, len);
	m->bytes[at + len] = '\0';
}

/* Zeros, with a text across the end of page 9 and others in the last pages; the last text has
 * no end. */
static void make(struct made *m)
{
	FILE *f = tmpfile();
	int fd;

	assert_non_null(f);
	*m = (struct made){ .bytes = calloc(1, BYTES) };
	assert_non_null(m->bytes);
	put(m, 10 * DWARF_PAGE_BYTES - 3, 'a', 300);
	put(m, LAST - 40, 'b', 30);
	put(m, LAST + 1, 'c', 255);
	put(m, LAST + 1000, 'd', 256);
	put(m, LAST + 2000, 'e', 5000);
	memset(m->bytes + BYTES - 20, 'f', 20);
	assert_int_equal(fseek(f, BEGIN, SEEK_SET), 0);
	assert_int_equal(fwrite(m->bytes, 1, BYTES, f), BYTES);
	assert_int_equal(fflush(f), 0);
	fd = dup(fileno(f));
	assert_true(fd >= 0);
	fclose(f);
	m->file.fd = fd;
	m->file.len = BEGIN + BYTES;
	m->entry.offset = BEGIN;
	m->entry.bytes = BYTES;
}

static void check_texts(const struct made *m, struct dwarf_section *s,
			struct dwarf_spare *spare)
{
	static const size_t places[] = { 10 * DWARF_PAGE_BYTES - 3,
					 10 * DWARF_PAGE_BYTES,
					 5,
					 LAST - 40,
					 LAST + 1,
					 LAST + 1000,
					 LAST + 2000,
					 LAST + 6999 };

	for (size_t i = 0; i < COUNT_OF(places); i++) {
		const char *text = dwarf_section_text(s, spare, places[i]);

		assert_non_null(text);
		assert_string_equal(text, (const char *)m->bytes + places[i]);
	}
	assert_null(dwarf_section_text(s, spare, BYTES - 20));
	assert_null(dwarf_section_text(s, spare, BYTES));
	assert_null(dwarf_section_text(s, spare, UINT64_MAX));
}

static void test_reads_texts(void **unused)
{
	struct dwarf_section s;
	struct dwarf_spare spare = { 0 };
	struct made m;

	(void)unused;
	make(&m);
	assert_int_equal(dwarf_section_open(&m.file, &m.entry, false, &s), 0);
	check_texts(&m, &s, &spare);
	dwarf_section_close(&s);
	/* Now other sections use all the shared pages. */
	assert_int_equal(dwarf_section_open(&m.file, &m.entry, false, &s), 0);
	for (uint64_t i = 0; i < DWARF_PAGES_SHARED; i++) {
		size_t len;

		assert_non_null(dwarf_section_at(&s, &spare,
						 (i + 20) * DWARF_PAGE_BYTES, &len));
	}
	check_texts(&m, &s, &spare);
	assert_null(s.pages[0]);
	assert_null(s.pages[9]);
	dwarf_section_forget(&s);
	assert_null(s.pages[20]);
	check_texts(&m, &s, &spare);
	assert_non_null(s.pages[9]);
	dwarf_section_close(&s);
	dwarf_spare_done(&spare);
	close(m.file.fd);
	free(m.bytes);
}

/* Opens a section of that many bytes, all zeros, that claims to unpack to `claims`. */
static int open_claim(uint64_t claims, uint64_t bytes)
{
	const Elf64_Chdr head = { .ch_type = ELFCOMPRESS_ZLIB, .ch_size = claims };
	FILE *f = tmpfile();
	struct elf_file file = { .is64 = true };
	struct elf_section entry = { .bytes = bytes, .flags = SHF_COMPRESSED };
	struct dwarf_section s;
	int r;

	assert_non_null(f);
	assert_int_equal(fwrite(&head, sizeof(head), 1, f), 1);
	assert_int_equal(fflush(f), 0);
	assert_int_equal(ftruncate(fileno(f), (off_t)bytes), 0);
	file.fd = fileno(f);
	file.len = bytes;
	r = dwarf_section_open(&file, &entry, false, &s);
	fclose(f);
	return r;
}

/* If the claim is accepted, the packed bytes are read, which are invalid. */
static void test_rejects_too_large_sections(void **unused)
{
	const uint64_t mb = 1 << 20;

	(void)unused;
	assert_int_equal(open_claim(64 * mb, mb / 8), -EBADMSG);
	assert_int_equal(open_claim(65 * mb, mb / 8), -EFBIG);
	assert_int_equal(open_claim(3072 * mb, 3 * mb), -EFBIG);
	assert_int_equal(open_claim(1280 * mb, 20 * mb), -EBADMSG);
	assert_int_equal(open_claim(1281 * mb, 20 * mb - 1), -EFBIG);
	assert_int_equal(open_claim(UINT64_MAX, 3 * mb), -EFBIG);
	/* No compression reaches this ratio, whatever the size. */
	assert_int_equal(open_claim(300 * mb, 4096), -EFBIG);
}

/* 96 MB of zeros that claim to be packed to 2 MB: most of them are never read. */
static void test_rejects_decompression_bombs(void **unused)
{
	const uint64_t claims = 96 << 20, bytes = 2 << 20;
	const Elf64_Chdr head = { .ch_type = ELFCOMPRESS_ZLIB, .ch_size = claims };
	uint8_t *zeros = calloc(1, claims), *packed = calloc(1, bytes);
	uLongf len = bytes - sizeof(head);
	struct elf_file file = {
		.is64 = true, .fd = -1, .bytes = packed, .len = bytes
	};
	struct elf_section entry = { .bytes = bytes, .flags = SHF_COMPRESSED };
	struct dwarf_section s;

	(void)unused;
	assert_non_null(zeros);
	assert_non_null(packed);
	memcpy(packed, &head, sizeof(head));
	assert_int_equal(compress2(packed + sizeof(head), &len, zeros, claims, 1),
			 Z_OK);
	assert_int_equal(dwarf_section_open(&file, &entry, false, &s), -EFBIG);
	free(zeros);
	free(packed);
}

/* Returns how many units are found in .debug_info. */
static size_t count_units(const uint8_t *bytes, size_t len)
{
	const struct elf_maker_section sections[] = {
		{ .name = ".debug_info",
		  .type = SHT_PROGBITS,
		  .bytes = bytes,
		  .len = len },
	};
	const struct elf_maker m = { .is64 = true,
				     .machine = EM_X86_64,
				     .sections = sections,
				     .nr_sections = 1 };
	struct dwarf_file file;
	struct dwarf_info info = { .file = &file };
	struct buf out = { 0 };
	size_t nr;

	elf_maker_write(&m, &out);
	assert_false(out.failed);
	assert_int_equal(dwarf_file_open_bytes(&file, out.data, out.len, false, NULL),
			 0);
	assert_int_equal(dwarf_info_scan(&info), 0);
	nr = info.units.nr;
	dwarf_info_done(&info);
	dwarf_file_close(&file);
	buf_done(&out);
	return nr;
}

static void test_unit_without_length(void **unused)
{
	/* Version 4, abbreviations at 0, addresses of 8 bytes, an end mark. */
	static const uint8_t unit[] = { 8, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 0 };
	uint8_t bytes[3 * sizeof(unit)] = { 0 };

	(void)unused;
	for (size_t i = 0; i < 3; i++)
		memcpy(bytes + i * sizeof(unit), unit, sizeof(unit));
	assert_int_equal(count_units(bytes, sizeof(bytes)), 3);
	memset(bytes + sizeof(unit), 0, sizeof(unit));
	assert_int_equal(count_units(bytes, sizeof(bytes)), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads_texts),
		cmocka_unit_test(test_rejects_too_large_sections),
		cmocka_unit_test(test_rejects_decompression_bombs),
		cmocka_unit_test(test_unit_without_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

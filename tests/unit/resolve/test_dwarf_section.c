/* Texts of a section, in pages that all share and alone. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "resolve/dwarf_section.h"
#include "resolve/elf_file.h"

enum {
	PAGES = DWARF_PAGES_SHARED + 200,
	BYTES = PAGES * DWARF_PAGE_BYTES,
	BEGIN = 123, /* of the section in its file */
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

/* Zeros, with a text across the end of page 9 and others in the last ones; the very last one
 * has no end. */
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

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		const char *text = dwarf_section_text(s, spare, places[i]);

		assert_non_null(text);
		assert_string_equal(text, (const char *)m->bytes + places[i]);
	}
	assert_null(dwarf_section_text(s, spare, BYTES - 20));
	assert_null(dwarf_section_text(s, spare, BYTES));
	assert_null(dwarf_section_text(s, spare, UINT64_MAX));
}

static void test_texts(void **unused)
{
	struct dwarf_section s;
	struct dwarf_spare spare = { 0 };
	struct made m;

	(void)unused;
	make(&m);
	assert_int_equal(dwarf_section_open(&m.file, &m.entry, false, &s), 0);
	check_texts(&m, &s, &spare);
	dwarf_section_close(&s);
	/* Now others have taken all the pages that are shared. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks up lines of JIT code by address and function: code that replaces other code, and V8's
 * addresses. */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "alloc_fail.h"
#include "base/buf.h"
#include "resolve/lines/jit_lines.h"

#define CODE 0x7100

struct world {
	struct buf file;
	struct jitdump dump;
	struct mapped bytes;
	struct jit_lines *lines;
};

static void put_header(struct world *w)
{
	const uint32_t header[] = { 0x4A695444, 1, 40, 62, 0, 77, 500, 0, 0, 0 };

	memset(w, 0, sizeof(*w));
	buf_put(&w->file, header, sizeof(header));
}

/* Writes lines for `first` and for the code 0x10 bytes after it. */
static void put_lines(struct world *w, uint64_t code, uint64_t first, uint32_t line)
{
	const uint32_t head[] = { 2, 16 + 16 + 16 + 4 + 16 + 2 };
	const uint64_t rest[] = { 1, code, 2 };
	const uint32_t numbers[] = { line, 0, line + 1, 0 };
	uint64_t second = first + 0x10;

	buf_put(&w->file, head, sizeof(head));
	buf_put(&w->file, rest, sizeof(rest));
	buf_put(&w->file, &first, sizeof(first));
	buf_put(&w->file, numbers, 8);
	buf_put(&w->file, "a.l", 4);
	buf_put(&w->file, &second, sizeof(second));
	buf_put(&w->file, numbers + 2, 8);
	buf_put(&w->file, "\xff", 2); /* the same file */
}

static void put_code(struct world *w, const char *name, uint64_t address,
		     uint64_t index)
{
	const uint32_t head[] = { 0, (uint32_t)(56 + strlen(name) + 1 + 0x80) };
	const uint64_t rest[] = { 1, 0, address, address, 0x80, index };
	static const char code[0x80];

	buf_put(&w->file, head, sizeof(head));
	buf_put(&w->file, rest, sizeof(rest));
	buf_put(&w->file, name, strlen(name) + 1);
	buf_put(&w->file, code, sizeof(code));
}

static int open_lines(struct world *w)
{
	int r = jitdump_read(&w->dump, w->file.data, w->file.len, NULL);

	w->bytes = (struct mapped){ .bytes = w->file.data, .len = w->file.len };
	return r ? r : jit_lines_new(&w->dump, &w->bytes, &w->lines);
}

static void done(struct world *w)
{
	jit_lines_free(w->lines);
	jitdump_done(&w->dump);
	buf_done(&w->file);
}

/* Returns the line of an address in a function; 0 if there is none. */
static uint32_t line_at(const struct world *w, uint64_t address, const char *function)
{
	const struct jitdump_code *code = jit_lines_code(w->lines, address, function);
	const char *file;
	uint32_t line = 0;

	if (code && jit_lines_find(w->lines, code, address, &file, &line))
		assert_string_equal(file, "a.l");
	return line;
}

static void replaced_code_has_its_own_lines(void **state)
{
	struct world w;

	(void)state;
	put_header(&w);
	put_lines(&w, CODE, CODE + 4, 10);
	put_code(&w, "f", CODE, 1);
	put_lines(&w, CODE, CODE, 20);
	put_code(&w, "g", CODE, 2);
	put_code(&w, "bare", CODE + 0x1000, 3);
	put_lines(&w, CODE + 0x40, CODE + 0x40, 30);
	put_code(&w, "h", CODE + 0x40, 4);
	assert_int_equal(open_lines(&w), 0);
	assert_int_equal(line_at(&w, CODE, "f"), 0); /* before its first line */
	assert_int_equal(line_at(&w, CODE + 4, "f"), 10);
	assert_int_equal(line_at(&w, CODE + 0x13, "f"), 10);
	assert_int_equal(line_at(&w, CODE + 0x14, "f"), 11);
	assert_int_equal(line_at(&w, CODE + 0x7f, "f"), 11);
	assert_int_equal(line_at(&w, CODE, "g"), 20);
	assert_int_equal(line_at(&w, CODE + 0x50, "g"), 21);
	assert_int_equal(line_at(&w, CODE + 0x50, "h"), 31);
	/* Without the name of a known function, the last code at the address is used. */
	assert_int_equal(line_at(&w, CODE + 0x10, NULL), 21);
	assert_int_equal(line_at(&w, CODE + 0x50, "nobody"), 31);
	assert_int_equal(line_at(&w, CODE + 0x1000, "bare"), 0);
	assert_null(jit_lines_code(w.lines, CODE - 1, NULL));
	assert_null(jit_lines_code(w.lines, CODE + 0xc0, NULL));
	done(&w);
}

/* The offset that every address in V8's dumps has in excess. */
static void reads_addresses_of_v8(void **state)
{
	struct world w;

	(void)state;
	put_header(&w);
	put_lines(&w, CODE, CODE + 0x40, 10);
	put_code(&w, "f", CODE, 1);
	put_lines(&w, CODE + 0x200, CODE + 0x200 + 0x48, 20);
	put_code(&w, "g", CODE + 0x200, 2);
	assert_int_equal(open_lines(&w), 0);
	assert_int_equal(line_at(&w, CODE, "f"), 10);
	assert_int_equal(line_at(&w, CODE + 0x10, "f"), 11);
	assert_int_equal(line_at(&w, CODE + 0x207, "g"), 0);
	assert_int_equal(line_at(&w, CODE + 0x208, "g"), 20);
	done(&w);
}

static int make(void)
{
	struct world w;
	int r;

	put_header(&w);
	put_lines(&w, CODE, CODE, 10);
	put_code(&w, "f", CODE, 1);
	r = w.file.failed ? -ENOMEM : open_lines(&w);
	done(&w);
	return r;
}

static void handles_allocation_failure(void **state)
{
	(void)state;
	for (unsigned long n = 1;; n++) {
		int r;

		alloc_fail_at(n);
		r = make();
		if (!alloc_fail_off()) {
			assert_int_equal(r, 0);
			break;
		}
		assert_int_equal(r, -ENOMEM);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replaced_code_has_its_own_lines),
		cmocka_unit_test(reads_addresses_of_v8),
		cmocka_unit_test(handles_allocation_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

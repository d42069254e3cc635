/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "alloc_fail.h"
#include "base/buf.h"
#include "base/err.h"
#include "format/jit/jitdump.h"

/* The layout is written here a second time, by hand, from the specification. */
struct maker {
	struct buf out;
	bool swap;
	size_t record; /* where the current record begins */
};

static void u32(struct maker *m, uint32_t v)
{
	v = m->swap ? __builtin_bswap32(v) : v;
	buf_put(&m->out, &v, sizeof(v));
}

static void u64(struct maker *m, uint64_t v)
{
	v = m->swap ? __builtin_bswap64(v) : v;
	buf_put(&m->out, &v, sizeof(v));
}

static void begin(struct maker *m, uint32_t id, uint64_t time)
{
	m->record = m->out.len;
	u32(m, id);
	u32(m, 0);
	u64(m, time);
}

static void end(struct maker *m)
{
	uint32_t size = (uint32_t)(m->out.len - m->record);

	size = m->swap ? __builtin_bswap32(size) : size;
	memcpy(m->out.data + m->record + 4, &size, sizeof(size));
}

static void header(struct maker *m)
{
	u32(m, 0x4A695444);
	u32(m, 1);
	u32(m, 40);
	u32(m, 62);
	u32(m, 0);
	u32(m, 4711);
	u64(m, 1000);
	u64(m, 0);
}

static void load(struct maker *m, uint64_t time, uint64_t address, uint64_t index,
		 const char *name, const char *code)
{
	begin(m, 0, time);
	u32(m, 4711);
	u32(m, 4712);
	u64(m, address);
	u64(m, address);
	u64(m, strlen(code));
	u64(m, index);
	buf_put(&m->out, name, strlen(name) + 1);
	buf_put(&m->out, code, strlen(code));
	end(m);
}

static void move(struct maker *m, uint64_t time, uint64_t from, uint64_t to,
		 uint64_t size, uint64_t index)
{
	begin(m, 1, time);
	u32(m, 4711);
	u32(m, 4712);
	u64(m, to);
	u64(m, from);
	u64(m, to);
	u64(m, size);
	u64(m, index);
	end(m);
}

static void lines(struct maker *m, uint64_t time, uint64_t address)
{
	begin(m, 2, time);
	u64(m, address);
	u64(m, 2);
	u64(m, address);
	u32(m, 7);
	u32(m, 1);
	buf_put(&m->out, "a.js", 5);
	u64(m, address + 4);
	u32(m, 8);
	u32(m, 0);
	buf_put(&m->out, "dir/b.js", 9);
	end(m);
}

static void make_all(struct maker *m)
{
	header(m);
	lines(m, 1900, 0x5000);
	load(m, 2000, 0x5000, 1, "first", "CODEcode");
	load(m, 3000, 0x6000, 2, "second one", "1234");
	begin(m, 4, 3500);
	u64(m, 0);
	u64(m, 0);
	u64(m, 0);
	end(m);
	load(m, 4000, 0x5000, 3, "third", "abcdefgh");
	move(m, 5000, 0x6000, 0x7000, 4, 2);
	begin(m, JITDUMP_UNLOAD, 6000);
	u64(m, 0x5000);
	end(m);
	begin(m, 77, 6500); /* fields of future versions */
	u64(m, 0);
	end(m);
	begin(m, 3, 7000);
	end(m);
}

static void check_all(const struct maker *m)
{
	struct jitdump d;
	const char *text = (const char *)m->out.data;

	assert_int_equal(jitdump_read(&d, m->out.data, m->out.len, NULL), 0);
	assert_int_equal(d.pid, 4711);
	assert_int_equal(d.machine, 62);
	assert_int_equal(d.begin_ns, 1000);
	assert_int_equal(d.codes.nr, 3);
	assert_memory_equal(text + d.codes.at[0].offset, "CODEcode", 8);
	assert_memory_equal(text + d.codes.at[1].name, "second one", 11);
	assert_memory_equal(text + d.codes.at[2].offset, "abcdefgh", 8);
	assert_int_equal(d.codes.at[2].address, 0x5000);
	assert_true(d.codes.at[0].lines && !d.codes.at[1].lines &&
		    !d.codes.at[2].lines);
	assert_true(!d.codes.at[1].unwind && d.codes.at[2].unwind);
	assert_int_equal(d.events.nr, 5);
	assert_int_equal(d.events.at[3].start, 0x7000);
	assert_int_equal(d.events.at[3].end, 0x7004);
	assert_int_equal(d.events.at[3].code, 1);
	assert_int_equal(d.events.at[3].time_ns, 5000);
	assert_int_equal(d.events.at[4].code, JITDUMP_NO_CODE);
	assert_int_equal(d.events.at[4].end, 0x5008);
	assert_int_equal(d.nr_unknown, 1);
	assert_int_equal(d.nr_bad, 0);
	assert_int_equal(d.cut_bytes, 0);
	assert_true(d.closed);
	jitdump_done(&d);
}

static void reads_all_records(void **state)
{
	struct maker m = { 0 };

	(void)state;
	make_all(&m);
	check_all(&m);
	buf_done(&m.out);
}

static void reads_the_other_byte_order(void **state)
{
	struct maker m = { .swap = true };

	(void)state;
	make_all(&m);
	check_all(&m);
	buf_done(&m.out);
}

static int note_line(void *ctx, const struct jitdump_line *line)
{
	struct buf *out = ctx;
	char text[64];

	buf_put(out, text,
		(size_t)snprintf(text, sizeof(text), "%s:%u/%u@%llx ", line->file,
				 line->line, line->discriminator,
				 (unsigned long long)line->address));
	return 0;
}

static void reads_lines_of_code(void **state)
{
	struct maker m = { 0 };
	struct buf text = { 0 };
	struct jitdump d;

	(void)state;
	make_all(&m);
	assert_int_equal(jitdump_read(&d, m.out.data, m.out.len, NULL), 0);
	assert_int_equal(jitdump_lines(&d, m.out.data, m.out.len, &d.codes.at[0],
				       note_line, &text),
			 0);
	buf_put(&text, "", 1);
	assert_string_equal((char *)text.data, "a.js:7/1@5000 dir/b.js:8/0@5004 ");
	buf_clear(&text);
	assert_int_equal(jitdump_lines(&d, m.out.data, m.out.len, &d.codes.at[1],
				       note_line, &text),
			 0);
	assert_int_equal(text.len, 0);
	buf_done(&text);
	jitdump_done(&d);
	buf_done(&m.out);
}

static void counts_invalid_records(void **state)
{
	struct maker m = { 0 };
	struct jitdump d;

	(void)state;
	header(&m);
	move(&m, 1, 0x1, 0x2, 4, 9); /* length 0 */
	load(&m, 2, 0x1000, 1, "good", "code");
	move(&m, 3, 0x1000, 0x2000, 5, 1); /* another size */
	load(&m, 4, UINT64_MAX - 1, 2, "wraps", "code");
	begin(&m, JITDUMP_UNLOAD, 5);
	u64(&m, 0x9999);
	end(&m);
	load(&m, 6, 0x3000, 3, "empty", "");
	buf_put(&m.out, "cut", 3);
	assert_int_equal(jitdump_read(&d, m.out.data, m.out.len, NULL), 0);
	assert_int_equal(d.codes.nr, 1);
	assert_int_equal(d.nr_bad, 4);
	assert_int_equal(d.cut_bytes, 3);
	jitdump_done(&d);
	buf_done(&m.out);
}

static void code_without_bytes_has_an_offset(void **state)
{
	struct maker m = { 0 };
	struct jitdump d;

	(void)state;
	header(&m);
	for (uint64_t i = 0; i < 2; i++) {
		begin(&m, 0, i);
		u64(&m, 0);
		u64(&m, 0x1000);
		u64(&m, 0x1000 * (i + 1));
		u64(&m, 0x100);
		u64(&m, i);
		buf_put(&m.out, "f", 2);
		end(&m);
	}
	assert_int_equal(jitdump_read(&d, m.out.data, m.out.len, NULL), 0);
	assert_int_equal(d.codes.nr, 2);
	assert_true(d.codes.at[0].offset == JITDUMP_NO_BYTES);
	assert_true(d.codes.at[1].offset == JITDUMP_NO_BYTES + 0x100);
	jitdump_done(&d);
	buf_done(&m.out);
}

/* libopagent/jitdump.h of OProfile has another header and other records. */
static void reads_oprofiles_own_dumps(void **state)
{
	struct maker m = { 0 };
	struct buf text = { 0 };
	struct jitdump d;

	(void)state;
	u32(&m, 0x4F74496A);
	u32(&m, 1);
	u32(&m, 48);
	u32(&m, 9);
	u32(&m, 64);
	u32(&m, 0);
	u64(&m, 1700000000);
	buf_put(&m.out, "elf64-x86-64\0\0\0", 16);
	begin(&m, 0, 1700000001);
	u64(&m, 0x5000);
	u64(&m, 0x77777000);
	u32(&m, 4);
	u32(&m, 0);
	buf_put(&m.out, "Lcom/X;f()V", 12);
	buf_put(&m.out, "CODE\0\0\0", 8); /* with padding */
	end(&m);
	begin(&m, 3, 1700000002);
	u64(&m, 0x5000);
	u32(&m, 2);
	u32(&m, 0);
	u64(&m, 0x5000);
	u32(&m, 3);
	buf_put(&m.out, "X.java", 7);
	u64(&m, 0x5002);
	u32(&m, 4);
	buf_put(&m.out, "\xff", 2);
	end(&m);
	begin(&m, 1, 1700000003);
	u64(&m, 0x5000);
	end(&m);
	begin(&m, 2, 1700000004);
	end(&m);
	assert_int_equal(jitdump_read(&d, m.out.data, m.out.len, NULL), 0);
	assert_true(d.oprofile && d.closed);
	assert_int_equal(d.nr_bad + d.nr_unknown + d.cut_bytes, 0);
	assert_int_equal(d.codes.nr, 1);
	assert_memory_equal(m.out.data + d.codes.at[0].offset, "CODE", 4);
	assert_memory_equal(m.out.data + d.codes.at[0].name, "Lcom/X;f()V", 12);
	assert_int_equal(d.events.nr, 2);
	assert_true(d.events.at[0].time_ns == 1700000001000000000);
	assert_int_equal(d.events.at[1].code, JITDUMP_NO_CODE);
	assert_int_equal(jitdump_lines(&d, m.out.data, m.out.len, &d.codes.at[0],
				       note_line, &text),
			 0);
	buf_put(&text, "", 1);
	assert_string_equal((char *)text.data, "X.java:3/0@5000 X.java:4/0@5002 ");
	buf_done(&text);
	jitdump_done(&d);
	buf_done(&m.out);
}

static void rejects_other_files(void **state)
{
	struct maker m = { 0 };
	struct err err = { 0 };
	struct jitdump d;

	(void)state;
	assert_int_equal(jitdump_read(&d, "nothing", 7, &err), -EBADMSG);
	jitdump_done(&d);
	header(&m);
	m.out.data[4] = 9;
	assert_int_equal(jitdump_read(&d, m.out.data, m.out.len, &err), -EBADMSG);
	assert_string_equal(err.text, "unsupported jitdump version 9");
	jitdump_done(&d);
	buf_done(&m.out);
}

static void survives_every_prefix(void **state)
{
	struct maker m = { 0 };

	(void)state;
	make_all(&m);
	for (size_t len = 0; len < m.out.len; len++) {
		struct jitdump d;
		int r = jitdump_read(&d, m.out.data, len, NULL);

		assert_true(r == 0 || (r == -EBADMSG && len < 40));
		assert_true(d.codes.nr <= 3);
		jitdump_done(&d);
	}
	buf_done(&m.out);
}

static void handles_allocation_failure(void **state)
{
	struct maker m = { 0 };

	(void)state;
	make_all(&m);
	for (unsigned long n = 1;; n++) {
		struct jitdump d;
		int r;

		alloc_fail_at(n);
		r = jitdump_read(&d, m.out.data, m.out.len, NULL);
		jitdump_done(&d);
		if (!alloc_fail_off())
			break;
		assert_int_equal(r, -ENOMEM);
	}
	buf_done(&m.out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_all_records),
		cmocka_unit_test(reads_the_other_byte_order),
		cmocka_unit_test(reads_lines_of_code),
		cmocka_unit_test(counts_invalid_records),
		cmocka_unit_test(code_without_bytes_has_an_offset),
		cmocka_unit_test(reads_oprofiles_own_dumps),
		cmocka_unit_test(rejects_other_files),
		cmocka_unit_test(survives_every_prefix),
		cmocka_unit_test(handles_allocation_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

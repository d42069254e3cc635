/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads profiles of valgrind, simpleperf and the JDK, and folded stacks with two counts. */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/err.h"
#include "reading.h"
#include "unit.h"

static void check_profile(reading_fn read, const void *bytes, size_t len,
			  const char *samples, uint64_t skipped)
{
	const struct reading r = { .read = read,
				   .bytes = bytes,
				   .len = len,
				   .samples = samples,
				   .skipped = skipped };

	reading_check(&r);
	reading_check_damage(&r);
}

/* ---- callgrind ---- */

static void reads_own_costs_of_callgrind(void **state)
{
	static const char text[] = "# callgrind format\n"
				   "version: 1\n"
				   "pid: 42\n"
				   "cmd: /usr/bin/prog -x a/b\n"
				   "\n"
				   "positions: instr line\n"
				   "events: Ir Dr\n"
				   "summary: 95 11\n"
				   "\n"
				   "ob=(1) /usr/bin/prog\n"
				   "fl=(1) a.c\n"
				   "fn=(1) main\n"
				   "0x401000 10 5 1\n"
				   "+3 +1 7\n"
				   "* * 1 1\n"
				   "fi=(2) b.h\n"
				   "-2 3 10\n"
				   "cob=(2) /lib/x.so\n"
				   "cfi=(3) x.c\n"
				   "cfn=(2) work\n"
				   "calls=3 0x2000 20\n"
				   "* 11 70 9\n"
				   "jfi=(2)\n"
				   "jfn=(3) other\n"
				   "jump=2 0x401010 12\n"
				   "* *\n"
				   "jcnd=1/2 +3 +1\n"
				   "+1 +1\n"
				   "fn=(3)\n"
				   "0 0 2 0\n"
				   "\n"
				   "ob=(2)\n"
				   "fn=(2)\n"
				   "0x2000 20 70 9\n"
				   "fn=(9)\n"
				   "what\n"
				   "fn=plain name\n"
				   "0 0 18446744073709551616\n"
				   "totals: 95 11\n";

	(void)state;
	check_profile(foreign_read_callgrind, text, sizeof(text) - 1,
		      "Ir prog 42/42 0 1 23: main(/usr/bin/prog) [truncated]\n"
		      "Dr prog 42/42 0 1 2: main(/usr/bin/prog) [truncated]\n"
		      "Ir prog 42/42 0 1 2: other(/usr/bin/prog) [truncated]\n"
		      "Ir prog 42/42 0 1 70: work(/lib/x.so) [truncated]\n"
		      "Dr prog 42/42 0 1 9: work(/lib/x.so) [truncated]\n",
		      3);
	reading_refuses(foreign_read_callgrind, "fn=a\n1 2\n", "events:");
}

/* With "+", "-" and "*" in the costs, too. */
static void reads_relative_costs_of_callgrind(void **state)
{
	static const char text[] = "events: Ir\n"
				   "fn=main\n"
				   "16 20\n"
				   "cfn=f\n"
				   "calls=1 50\n"
				   "* 400\n"
				   "fn=f\n"
				   "+35 -300\n"
				   "* *\n"
				   "fn=g\n"
				   "-31 +400\n"
				   "* -501";

	(void)state;
	check_profile(foreign_read_callgrind, text, sizeof(text) - 1,
		      "Ir  -1/-1 0 1 20: main() [truncated]\n"
		      "Ir  -1/-1 0 1 200: f() [truncated]\n"
		      "Ir  -1/-1 0 1 500: g() [truncated]\n",
		      1);
}

/* Checks that a file is read, with this number of wrong sums. */
static void check_sums(const char *text, const char *samples, uint64_t wrong)
{
	const struct reading r = { .read = foreign_read_callgrind,
				   .bytes = text,
				   .len = strlen(text),
				   .samples = samples,
				   .contradictions = wrong };

	reading_check(&r);
	reading_check_damage(&r);
}

static void compares_sums_of_callgrind(void **state)
{
	static const char one[] = "Ir  -1/-1 0 1 400: f() [truncated]\n";
	static const char two[] = "Ir  -1/-1 0 1 407: f() [truncated]\n";

	(void)state;
	check_sums(
		"creator: callgrind-3.19.0\nevents: Ir\nsummary: 397\nfn=f\n1 400\ntotals: 400\n",
		one, 0);
	check_sums("creator: callgrind-3.19.0\nevents: Ir\nfn=f\n1 400\ntotals: 401\n",
		   one, 1);
	/* Other writers round the cost of each line. */
	check_sums("events: Ir\nfn=f\n1 400\ntotals: 401\n", one, 0);
	check_sums("events: Ir\nfn=f\n1 400\ntotals: 402\n", one, 1);
	/* The file was cut, and so its "totals:" is missing. */
	check_sums("events: Ir\nsummary: 900\nfn=f\n1 400\n", one, 1);
	check_sums("events: Ir\nsummary: 900\nfn=f\n1 400\ntotals: 900\n", one, 1);
	/* The sums of parts, and of all parts so far. */
	check_sums(
		"events: Ir\nfn=f\n1 400\ntotals: 400\npart: 2\nevents: Ir\nfn=f\n1 7\ntotals: 7\n",
		two, 0);
	check_sums("events: Ir\nfn=f\n1 400\npart: 2\nfn=f\n1 7\ntotals: 407\n", two,
		   0);
	check_sums(
		"part: 1\nevents: Ir\nsummary: 500\nfn=f\n1 400\npart: 2\nfn=f\n1 7\ntotals: 7\n",
		two, 1);
}

static void reads_parts_with_other_events(void **state)
{
	(void)state;
	check_sums("events: Ir\nfn=f\n1 10\nfn=g\n1 20\ntotals: 30\n"
		   "part: 2\nevents: Dr\nfn=f\n1 7\ntotals: 7\n"
		   "part: 3\nevents: Dr Ir\nfn=g\n1 3 4\ntotals: 3 4\n",
		   "Ir  -1/-1 0 1 10: f() [truncated]\n"
		   "Dr  -1/-1 0 1 7: f() [truncated]\n"
		   "Ir  -1/-1 0 1 24: g() [truncated]\n"
		   "Dr  -1/-1 0 1 3: g() [truncated]\n",
		   0);
}

static void reads_costs_of_cachegrind(void **state)
{
	static const char text[] = "desc: I1 cache: 1 B\n"
				   "cmd: ./prog\n"
				   "events: Ir\n"
				   "fl=a.c\n"
				   "fn=main\n"
				   "3 10\n"
				   "4 20\n"
				   "summary: 30\n";

	(void)state;
	check_profile(foreign_read_callgrind, text, sizeof(text) - 1,
		      "Ir prog -1/-1 0 1 30: main() [truncated]\n", 0);
}

/* ---- difffolded ---- */

static void reads_both_counts_of_difffolded(void **state)
{
	static const char text[] = "# a comment\n"
				   "p;main;lex 10 25\n"
				   "p;main 0 7\n"
				   "p;main;x y 3 0\n"
				   "p;one 5\n";

	(void)state;
	check_profile(foreign_read_difffolded, text, sizeof(text) - 1,
		      "before p -1/-1 0 10 0: lex() main()\n"
		      "after p -1/-1 0 25 0: lex() main()\n"
		      "after p -1/-1 0 7 0: main()\n"
		      "before p -1/-1 0 3 0: x y() main()\n",
		      1);
}

/* ---- simpleperf ---- */

static void put_varint_field(struct buf *b, unsigned int field, uint64_t value)
{
	buf_put_varint(b, field << 3);
	buf_put_varint(b, value);
}

static void put_bytes_field(struct buf *b, unsigned int field, const void *bytes,
			    size_t len)
{
	buf_put_varint(b, field << 3 | 2);
	buf_put_varint(b, len);
	buf_put(b, bytes, len);
}

static void put_text_field(struct buf *b, unsigned int field, const char *text)
{
	put_bytes_field(b, field, text, strlen(text));
}

/* Appends a Record with one message, and empties the message. */
static void put_record(struct buf *b, unsigned int field, struct buf *message)
{
	struct buf record = { 0 };

	put_bytes_field(&record, field, message->data, message->len);
	for (unsigned int i = 0; i < 4; i++)
		buf_put_u8(b, (uint8_t)(record.len >> (8 * i)));
	buf_put(b, record.data, record.len);
	buf_done(&record);
	buf_clear(message);
}

static void put_entry(struct buf *message, uint64_t file, uint64_t symbol)
{
	struct buf entry = { 0 };

	put_varint_field(&entry, 1, 0x1000);
	put_varint_field(&entry, 2, file);
	put_varint_field(&entry, 3, symbol);
	put_bytes_field(message, 3, entry.data, entry.len);
	buf_done(&entry);
}

/* Makes a report. `odd`: with ids that occur twice and ids that do not occur, and more samples than
 * it states. */
static struct buf make_simpleperf(bool odd)
{
	struct buf b = { 0 }, m = { 0 };

	buf_put(&b, "SIMPLEPERF\1\0", 12);
	put_text_field(&m, 1, "cpu-cycles");
	put_text_field(&m, 1, "sched:sched_switch");
	put_text_field(&m, 2, "com.example.app");
	put_record(&b, 5, &m);
	put_varint_field(&m, 1, 5000);
	put_varint_field(&m, 2, 43);
	put_entry(&m, 7, 1);
	put_entry(&m, 8, UINT64_MAX);
	put_varint_field(&m, 4, 250000);
	put_varint_field(&m, 5, 0);
	put_record(&b, 1, &m);
	put_varint_field(&m, 1, 6000);
	put_varint_field(&m, 2, 99);
	put_entry(&m, odd ? 9 : 8, UINT64_MAX);
	if (odd)
		put_entry(&m, 7, 2);
	put_varint_field(&m, 4, 1);
	put_varint_field(&m, 5, odd ? 2 : 1);
	put_record(&b, 1, &m);
	put_varint_field(&m, 1, odd ? 1 : 2);
	put_varint_field(&m, 2, 900);
	put_record(&b, 2, &m);
	put_varint_field(&m, 1, 7);
	put_text_field(&m, 2, "/system/lib64/libc.so");
	put_text_field(&m, 3, "malloc");
	put_text_field(&m, 3, "free");
	put_record(&b, 3, &m);
	put_varint_field(&m, 1, 8);
	put_text_field(&m, 2, "[kernel.kallsyms]");
	put_record(&b, 3, &m);
	put_varint_field(&m, 1, 43);
	put_varint_field(&m, 2, 42);
	put_text_field(&m, 3, "RenderThread");
	put_record(&b, 4, &m);
	if (odd) {
		put_varint_field(&m, 1, 7);
		put_text_field(&m, 2, "/other.so");
		put_record(&b, 3, &m);
		put_varint_field(&m, 1, 43);
		put_varint_field(&m, 2, 41);
		put_record(&b, 4, &m);
	}
	buf_put(&b, "\0\0\0\0", 4);
	buf_done(&m);
	assert_false(b.failed);
	return b;
}

static void reads_reports_of_simpleperf(void **state)
{
	struct buf b = make_simpleperf(false);
	const struct reading r = {
		.read = foreign_read_simpleperf,
		.bytes = b.data,
		.len = b.len,
		.samples = "cpu-cycles RenderThread 42/43 5000 1 250000: "
			   "free(/system/lib64/libc.so) ([kernel.kallsyms])\n"
			   "sched:sched_switch  -1/99 6000 1 1: ([kernel.kallsyms])\n",
		.lost = 900
	};

	(void)state;
	reading_check(&r);
	reading_check_damage(&r);
	reading_refuses(foreign_read_simpleperf, "SIMPLEPERF\7\1", "version 263");
	buf_done(&b);
}

static void counts_contradictions_of_simpleperf(void **state)
{
	struct buf b = make_simpleperf(true);
	const struct reading r = {
		.read = foreign_read_simpleperf,
		.bytes = b.data,
		.len = b.len,
		.samples = "cpu-cycles RenderThread 42/43 5000 1 250000: "
			   "free(/system/lib64/libc.so) ([kernel.kallsyms])\n"
			   "  -1/99 6000 1 1: () (/system/lib64/libc.so)\n",
		/* A file, a function and an event that do not exist; a file and
				    * a thread that exist twice; the number of samples. */
		.contradictions = 6,
		.lost = 900
	};

	(void)state;
	reading_check(&r);
	reading_check_damage(&r);
	buf_done(&b);
}

/* ---- JFR ---- */

static void put_be(struct buf *b, uint64_t value, unsigned int bytes)
{
	while (bytes--)
		buf_put_u8(b, (uint8_t)(value >> (8 * bytes)));
}

/* Appends an event with its size, which counts its own byte, and empties it. */
static size_t put_event(struct buf *b, unsigned int type, struct buf *event)
{
	const size_t at = b->len;
	struct buf body = { 0 };

	buf_put_varint(&body, type);
	buf_put(&body, event->data, event->len);
	if (body.len + 1 < 128) {
		buf_put_varint(b, body.len + 1);
	} else {
		buf_put_u8(b, (uint8_t)(0x80 | ((body.len + 2) & 0x7f)));
		buf_put_u8(b, (uint8_t)((body.len + 2) >> 7));
	}
	buf_put(b, body.data, body.len);
	buf_done(&body);
	buf_clear(event);
	return at;
}

static void put_utf8(struct buf *b, const char *text)
{
	buf_put_u8(b, 3);
	buf_put_varint(b, strlen(text));
	buf_put(b, text, strlen(text));
}

/* The strings of the metadata: kinds, keys, and values. */
static const char *const jfr_strings[] = {
	"root",
	"metadata",
	"class",
	"field",
	"id",
	"name",
	"constantPool",
	"dimension",
	"true",
	"1",
	"10",
	"11",
	"12",
	"13",
	"14",
	"15",
	"16",
	"17",
	"18",
	"19",
	"20",
	"long",
	"int",
	"boolean",
	"java.lang.String",
	"jdk.types.Symbol",
	"java.lang.Class",
	"jdk.types.Method",
	"jdk.types.StackFrame",
	"jdk.types.StackTrace",
	"java.lang.Thread",
	"jdk.ExecutionSample",
	"21",
	"jdk.NativeMethodSample",
	"string",
	"type",
	"method",
	"lineNumber",
	"truncated",
	"frames",
	"osName",
	"osThreadId",
	"javaName",
	"startTime",
	"sampledThread",
	"stackTrace",
};

static uint64_t string_number(const char *text)
{
	for (size_t i = 0; i < COUNT_OF(jfr_strings); i++)
		if (!strcmp(jfr_strings[i], text))
			return i;
	fail();
	return 0;
}

static void put_attribute(struct buf *b, const char *key, const char *value)
{
	buf_put_varint(b, string_number(key));
	buf_put_varint(b, string_number(value));
}

static void put_class(struct buf *b, const char *name, const char *id,
		      unsigned int nr_fields)
{
	buf_put_varint(b, string_number("class"));
	buf_put_varint(b, 2);
	put_attribute(b, "name", name);
	put_attribute(b, "id", id);
	buf_put_varint(b, nr_fields);
}

static void put_field(struct buf *b, const char *name, const char *type,
		      const char *flag)
{
	buf_put_varint(b, string_number("field"));
	buf_put_varint(b, flag ? 3 : 2);
	put_attribute(b, "name", name);
	put_attribute(b, "class", type);
	if (flag)
		put_attribute(b, flag, *flag == 'd' ? "1" : "true");
	buf_put_varint(b, 0);
}

static void put_sample_class(struct buf *b, const char *name, const char *id)
{
	put_class(b, name, id, 3);
	put_field(b, "startTime", "10", NULL);
	put_field(b, "sampledThread", "19", "constantPool");
	put_field(b, "stackTrace", "18", "constantPool");
}

static void put_types(struct buf *b)
{
	for (unsigned int i = 0; i < 3; i++)
		buf_put_varint(b, 0);
	buf_put_varint(b, COUNT_OF(jfr_strings));
	for (size_t i = 0; i < COUNT_OF(jfr_strings); i++)
		put_utf8(b, jfr_strings[i]);
	buf_put_varint(b, string_number("root"));
	buf_put_varint(b, 0);
	buf_put_varint(b, 1);
	buf_put_varint(b, string_number("metadata"));
	buf_put_varint(b, 0);
	buf_put_varint(b, 12);
	put_class(b, "long", "10", 0);
	put_class(b, "int", "11", 0);
	put_class(b, "boolean", "12", 0);
	put_class(b, "java.lang.String", "13", 0);
	put_class(b, "jdk.types.Symbol", "14", 1);
	put_field(b, "string", "13", NULL);
	put_class(b, "java.lang.Class", "15", 1);
	put_field(b, "name", "14", "constantPool");
	put_class(b, "jdk.types.Method", "16", 2);
	put_field(b, "type", "15", "constantPool");
	put_field(b, "name", "14", "constantPool");
	put_class(b, "jdk.types.StackFrame", "17", 2);
	put_field(b, "method", "16", "constantPool");
	put_field(b, "lineNumber", "11", NULL);
	put_class(b, "jdk.types.StackTrace", "18", 2);
	put_field(b, "truncated", "12", NULL);
	put_field(b, "frames", "17", "dimension");
	put_class(b, "java.lang.Thread", "19", 3);
	put_field(b, "osName", "13", NULL);
	put_field(b, "osThreadId", "10", NULL);
	put_field(b, "javaName", "13", NULL);
	put_sample_class(b, "jdk.ExecutionSample", "20");
	put_sample_class(b, "jdk.NativeMethodSample", "21");
}

static void put_pool(struct buf *b, unsigned int type, unsigned int nr)
{
	buf_put_varint(b, type);
	buf_put_varint(b, nr);
}

static void put_numbers(struct buf *b, const uint64_t *numbers, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		buf_put_varint(b, numbers[i]);
}

static void put_symbols(struct buf *b)
{
	put_pool(b, 14, 4);
	buf_put_varint(b, 1);
	put_utf8(b, "java/lang/Math");
	buf_put_varint(b, 2);
	buf_put(b,
		"\5\3\xe9"
		"ab",
		5); /* Latin-1 */
	buf_put_varint(b, 3);
	buf_put(b, "\4\2m\xac\x41", 5); /* characters: m, U+20AC */
	buf_put_varint(b, 4);
	put_utf8(b, "main");
}

static void put_pools(struct buf *b, uint64_t back)
{
	static const uint64_t classes[] = { 1, 1, 2, 2 };
	static const uint64_t methods[] = { 1, 1, 3, 2, 2, 4 };
	static const uint64_t stacks[] = { 1, 0, 2, 1, 10, 2, 20, 2, 1, 1, 2, 30 };

	buf_put_varint(b, 0);
	buf_put_varint(b, 0);
	for (unsigned int i = 0; i < 9; i++) {
		const uint8_t bits = (uint8_t)(-back >> (7 * i));

		buf_put_u8(b, i < 8 && back ? bits | 0x80 : back ? bits : 0);
		if (!back)
			break;
	}
	buf_put_u8(b, 1);
	if (back) {
		buf_put_varint(b, 1);
		put_symbols(b);
		return;
	}
	buf_put_varint(b, 4);
	put_pool(b, 15, 2);
	put_numbers(b, classes, COUNT_OF(classes));
	put_pool(b, 16, 2);
	put_numbers(b, methods, COUNT_OF(methods));
	put_pool(b, 18, 2);
	put_numbers(b, stacks, COUNT_OF(stacks));
	put_pool(b, 19, 2);
	buf_put_varint(b, 5);
	put_utf8(b, "os");
	buf_put_varint(b, 77);
	put_utf8(b, "java thread");
	buf_put_varint(b, 6);
	put_utf8(b, "GC");
	buf_put_varint(b, 78);
	buf_put_u8(b, 0);
}

static void put_chunk(struct buf *b)
{
	static const uint64_t samples[][3] = { { 1500, 5, 1 },
					       { 2000, 6, 2 },
					       { 2500, 7, 9 } };
	struct buf c = { 0 }, event = { 0 };
	size_t pools, last, metadata;

	for (size_t i = 0; i < COUNT_OF(samples); i++) {
		put_numbers(&event, samples[i], 3);
		put_event(&c, i == 1 ? 21 : 20, &event);
	}
	put_types(&event);
	metadata = put_event(&c, 0, &event) + 68;
	put_pools(&event, 0);
	pools = put_event(&c, 1, &event);
	put_pools(&event, c.len - pools);
	last = put_event(&c, 1, &event) + 68;
	buf_put(b, "FLR\0\0\2\0\1", 8);
	put_be(b, c.len + 68, 8);
	put_be(b, last, 8);
	put_be(b, metadata, 8);
	put_be(b, 1700000000000000000, 8);
	put_be(b, 0, 8);
	put_be(b, 1000, 8);
	put_be(b, 1000000, 8);
	put_be(b, 1, 4);
	buf_put(b, c.data, c.len);
	buf_done(&c);
	buf_done(&event);
	assert_false(b->failed);
}

static void reads_recordings_of_java(void **state)
{
	static const char samples[] =
		"jdk.ExecutionSample java thread -1/77 1700000000000500000 1 0: "
		"java.lang.Math.m\xe2\x82\xac() \xc3\xa9"
		"ab.main()\n"
		"jdk.NativeMethodSample GC -1/78 1700000000001000000 1 0: \xc3\xa9"
		"ab.main() [truncated]\n"
		"jdk.ExecutionSample  -1/-1 1700000000001500000 1 0:\n";
	struct reading r = { .read = foreign_read_jfr, .samples = samples };
	struct buf b = { 0 };

	(void)state;
	put_chunk(&b);
	check_profile(foreign_read_jfr, b.data, b.len, samples, 0);
	/* The second chunk is cut. */
	put_chunk(&b);
	r.bytes = b.data;
	r.len = b.len - 1;
	r.cut = true;
	reading_check(&r);
	buf_done(&b);
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(reads_own_costs_of_callgrind),
		cmocka_unit_test(reads_relative_costs_of_callgrind),
		cmocka_unit_test(compares_sums_of_callgrind),
		cmocka_unit_test(reads_parts_with_other_events),
		cmocka_unit_test(reads_costs_of_cachegrind),
		cmocka_unit_test(reads_both_counts_of_difffolded),
		cmocka_unit_test(reads_reports_of_simpleperf),
		cmocka_unit_test(counts_contradictions_of_simpleperf),
		cmocka_unit_test(reads_recordings_of_java),
	};

	return UNIT_RUN(cases);
}

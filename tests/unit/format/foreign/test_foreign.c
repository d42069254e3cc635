/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads profiles of other tools: valid ones completely, and damaged ones except for the damaged
 * part. Each is also cut at every byte, and read with the n-th allocation failing. */
#include "base/array.h"
#include "format/foreign/foreign.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc_fail.h"
#include "base/buf.h"
#include "base/err.h"
#include "unit.h"

/* All samples that were read, one line each: "EVENT COMM PID/TID CPU TIME COUNT PERIOD:
 * NAME(IMAGE) ... [truncated]". */
struct heard {
	char text[8192];
	size_t len;
	uint64_t samples;
};

static void say_word(struct heard *h, struct foreign_word w)
{
	assert_true(h->len + w.len + 1 < sizeof(h->text));
	if (w.len)
		memcpy(h->text + h->len, w.at, w.len);
	h->len += w.len;
	h->text[h->len] = 0;
}

static void say(struct heard *h, const char *text)
{
	say_word(h, (struct foreign_word){ text, strlen(text) });
}

static void say_number(struct heard *h, const char *before, int64_t number)
{
	char text[64];

	snprintf(text, sizeof(text), "%s%" PRId64, before, number);
	say(h, text);
}

static int hear(void *ctx, const struct foreign_sample *s)
{
	struct heard *h = ctx;

	h->samples += s->count;
	say_word(h, s->event);
	say(h, " ");
	say_word(h, s->comm);
	say_number(h, " ", s->pid);
	say_number(h, "/", s->tid);
	say_number(h, " ", s->cpu);
	say_number(h, " ", (int64_t)s->time_ns);
	say_number(h, " ", (int64_t)s->count);
	say_number(h, " ", (int64_t)s->period);
	say(h, ":");
	for (size_t i = 0; i < s->nr_frames; i++) {
		say(h, " ");
		say_word(h, s->frames[i].name);
		say(h, "(");
		say_word(h, s->frames[i].image);
		say(h, ")");
	}
	say(h, s->truncated ? " [truncated]\n" : "\n");
	return 0;
}

static int count_alone(void *ctx, const struct foreign_sample *s)
{
	*(uint64_t *)ctx += s->count;
	return 0;
}

static const struct foreign_format *format_of(const char *name, const void *bytes,
					      size_t len)
{
	const struct foreign_format *f = foreign_find(bytes, len);

	assert_non_null(f);
	assert_string_equal(f->name, name);
	return f;
}

static void check_prefixes(const struct foreign_format *f, const uint8_t *bytes,
			   size_t len)
{
	for (size_t cut = 0; cut <= len; cut++) {
		/* A separate copy, so that reading a byte too far is detected. */
		uint8_t *part = malloc(cut + !cut);
		struct foreign_info info = { 0 };
		struct err err = { 0 };
		uint64_t samples = 0;
		int r;

		assert_non_null(part);
		memcpy(part, bytes, cut);
		foreign_find(part, cut);
		r = f->read(part, cut, count_alone, &samples, &info, &err);
		assert_true(!r || (r == -EBADMSG && err.text[0]));
		free(part);
	}
}

static void check_short_memory(const struct foreign_format *f, const void *bytes,
			       size_t len)
{
	for (unsigned long n = 1;; n++) {
		struct foreign_info info = { 0 };
		uint64_t samples = 0;
		int r;

		alloc_fail_at(n);
		r = f->read(bytes, len, count_alone, &samples, &info, NULL);
		if (!alloc_fail_off()) {
			assert_int_equal(r, 0);
			break;
		}
		assert_int_equal(r, -ENOMEM);
	}
}

static void check(const char *name, const void *bytes, size_t len, const char *wanted,
		  uint64_t skipped)
{
	const struct foreign_format *f = format_of(name, bytes, len);
	struct heard h = { .text = "" };
	struct foreign_info info = { 0 };

	assert_int_equal(f->read(bytes, len, hear, &h, &info, NULL), 0);
	assert_string_equal(h.text, wanted);
	assert_int_equal(info.skipped, skipped);
	check_prefixes(f, bytes, len);
	check_short_memory(f, bytes, len);
}

static int refuse(void *ctx, const struct foreign_sample *s)
{
	(void)s;
	++*(int *)ctx;
	return -E2BIG;
}

/* ---- folded stacks ---- */

static void reads_folded_stacks(void **state)
{
	static const char text[] = "# a comment\n"
				   "\n"
				   "prog;main;work 12\n"
				   "a prog with blanks;main 3\r\n"
				   "k;do_syscall_64_[k];jitted_[j];inl_[i];odd_[x] 4\n"
				   "k;[truncated];deep 5\n"
				   "alone 6\n"
				   "nothing;none 0\n"
				   "no count;at all\n"
				   "a;;b 7\n"
				   "last;line 8";
	static const char wanted[] = " prog -1/-1 -1 0 12 0: work() main()\n"
				     " a prog with blanks -1/-1 -1 0 3 0: main()\n"
				     " k -1/-1 -1 0 4 0: odd_[x]() inl() jitted() "
				     "do_syscall_64([kernel.kallsyms])\n"
				     " k -1/-1 -1 0 5 0: deep() [truncated]\n"
				     " alone -1/-1 -1 0 6 0:\n"
				     " a -1/-1 -1 0 7 0: b()\n"
				     " last -1/-1 -1 0 8 0: line()\n";

	(void)state;
	check("folded", text, sizeof(text) - 1, wanted, 1);
}

static void rounds_fractions(void **state)
{
	static const char text[] =
		"p;f 10.5\np;g 30.25\np;h 2.\np;lost 0.25\np;no 0.0\n";
	static const char wanted[] = " p -1/-1 -1 0 11 0: f()\n"
				     " p -1/-1 -1 0 30 0: g()\n"
				     " p -1/-1 -1 0 2 0: h()\n";

	(void)state;
	check("folded", text, sizeof(text) - 1, wanted, 1);
	/* Versions are not counts. */
	assert_null(foreign_recognise("a;b 1.2.3\n", 10));
}

static void reads_stacks_of_any_depth(void **state)
{
	struct buf b = { 0 };
	struct foreign_info info = { 0 };
	uint64_t samples = 0;

	(void)state;
	buf_put(&b, "deep", 4);
	for (int i = 0; i < FOREIGN_FRAMES_MAX + 10; i++)
		buf_put(&b, ";f", 2);
	buf_put(&b, " 2\n", 3);
	assert_false(b.failed);
	assert_int_equal(
		foreign_read_folded(b.data, b.len, count_alone, &samples, &info, NULL),
		0);
	assert_int_equal(samples, 2);
	buf_done(&b);
}

/* ---- perf script ---- */

static void reads_text_of_perf_script(void **state)
{
	static const char text[] =
		"# captured on: now\n"
		"prog 17/18 [003] 12.000345: 250000 cycles:u: \n"
		"\t          401136 work+0x10 (/usr/bin/prog (deleted))\n"
		"\t    7f0000001000 operator+(int)+0x2 (/lib/x.so)\n"
		"\t               0 [unknown] ([unknown])\n"
		"\n"
		"a prog 7 1.5:  cpu-clock: 401000 main+0x0 (/usr/bin/prog)\n"
		"swapper 0 [000] sched:sched_switch: prev_comm=x\n"
		"what is this\n";
	static const char wanted[] =
		"cycles:u prog 17/18 3 12000345000 1 250000: work(/usr/bin/prog "
		"(deleted)) "
		"operator+(int)(/lib/x.so) [unknown]([unknown])\n"
		"cpu-clock a prog 7/7 -1 1500000000 1 0: main(/usr/bin/prog)\n"
		"sched:sched_switch swapper 0/0 0 0 1 0:\n";

	(void)state;
	check("perf-script", text, sizeof(text) - 1, wanted, 1);
}

/* The fields that -F selects are not mistaken for others. */
static void reads_any_fields_of_perf_script(void **state)
{
#define STACK "\t          401136 work+0x10 (/x)\n\t          401036 main+0x6 (/x)\n\n"
#define WORK " work(/x) main(/x)\n"
	static const struct {
		const char *text;
		const char *wanted;
	} all[] = {
		{ " 4711  1000.000100:    1000000 cpu-clock: \n" STACK,
		  "cpu-clock  4711/4711 -1 1000000100000 1 1000000:" WORK },
		{ " 1000.000100:    1000000 cpu-clock: \n" STACK,
		  "cpu-clock  -1/-1 -1 1000000100000 1 1000000:" WORK },
		{ "job  4711  1000.000100: \n" STACK,
		  " job 4711/4711 -1 1000000100000 1 0:" WORK },
		{ "job \n" STACK "a job 2 \n" STACK,
		  " job -1/-1 -1 0 1 0:" WORK " a job 2 -1/-1 -1 0 1 0:" WORK },
		{ "\n" STACK "\n" STACK,
		  "  -1/-1 -1 0 1 0:" WORK "  -1/-1 -1 0 1 0:" WORK },
		{ " 4711 \n" STACK, "  4711/4711 -1 0 1 0:" WORK },
		{ "   1000000 \n" STACK, "  -1/-1 -1 0 1 1000000:" WORK },
		{ "cpu-clock: \n" STACK, "cpu-clock  -1/-1 -1 0 1 0:" WORK },
		{ "   1000000 cpu-clock: \n" STACK,
		  "cpu-clock  -1/-1 -1 0 1 1000000:" WORK },
		{ "job 4711/4712 [001] K     2026-01-02 10:11:12.123456     1.000100:   7 x: \n" STACK,
		  "x job 4711/4712 1 1000100000 1 7:" WORK },
		{ "             job           401136 work (/x)\n",
		  " job -1/-1 -1 0 1 0: work(/x)\n" },
		{ " 4711    1000000            401136 work (/x)\n",
		  "  4711/4711 -1 0 1 1000000: work(/x)\n" },
		{ "           401136 work\n", "  -1/-1 -1 0 1 0: work()\n" },
		{ "             job  4711 \n", " job 4711/4711 -1 0 1 0:\n" },
		/* Data addresses, source lines, registers and instructions are not frames. */
		{ "job  7 1.000100: faults:           7fff1234 var+0x0 (/y)\n"
		  "\t          401136 work+0x10 (/x)\n  a.c:7\n ABI:2    AX:0x1\n"
		  "job  7 1.000100: faults:           7fff1234 var (/y)           401136 work (/x) insn: c1\n",
		  "faults job 7/7 -1 1000100000 1 0: work(/x)\n"
		  "faults job 7/7 -1 1000100000 1 0: work(/x)\n" },
		/* Branches, physical addresses and page sizes are not, either. */
		{ "job  7 1.000100: x: \n\t          401136 work+0x10 (/x)\n"
		  " 0x401136/0x401000/P/-/-/0 \n"
		  "job  7 1.000200: x: \n\t          401136 work+0x10 (/x)\n"
		  "        123456000 4K\n"
		  "job  7 1.000300: x:           401136 work (/x)       123456000 4K\n",
		  "x job 7/7 -1 1000100000 1 0: work(/x)\n"
		  "x job 7/7 -1 1000200000 1 0: work(/x)\n"
		  "x job 7/7 -1 1000300000 1 0: work(/x)\n" },
		{ " 7 \n\t          401136 work+0x10 (/x)\n  a.c:7\n insn: c1\n"
		  " 8 \n\t          401136 work+0x10 (/x)\n  a.c:7\n insn: c1\n",
		  "  7/7 -1 0 1 0: work(/x)\n  8/8 -1 0 1 0: work(/x)\n" },
		/* Records of --show-task-events and others. */
		{ "job  7 1.000100: PERF_RECORD_COMM exec: job:7/7\n"
		  "job  7 1.000200: PERF_RECORD_MMAP2 7/7: [0x1000(0x2000) @ 0 fe:00 1 0]: r-xp /x\n"
		  "job  7 1.000300: x: \n" STACK,
		  "x job 7/7 -1 1000300000 1 0:" WORK },
		/* An inlined function is in the image of its caller. */
		{ "job  7 1.000100: x: \n\t          401136 in+0x1 (inlined)\n"
		  "\t          401136 work+0x10 (/x)\n\t          401036 f+0x1 (inlined)\n\n",
		  "x job 7/7 -1 1000100000 1 0: in(/x) work(/x) f()\n" },
		{ "job  7 1.000100: x: \n\t          401136 work+0x1 (/x+0x136)\n\n",
		  "x job 7/7 -1 1000100000 1 0: work(/x)\n" },
		{ "VM:    1 VCPU:000 job  7 1.000100: x:           401136 (anonymous namespace)::f(int)\n",
		  "x job 7/7 -1 1000100000 1 0: (anonymous namespace)::f(int)()\n" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(all); i++)
		check("perf-script", all[i].text, strlen(all[i].text), all[i].wanted,
		      0);
}

static void counts_lost_samples_of_perf_script(void **state)
{
	static const char text[] =
		"job  7 1.000100: PERF_RECORD_LOST lost 30\n"
		"job  7 1.000200: PERF_RECORD_LOST_SAMPLES lost 1\n"
		"job  7 1.000300: PERF_RECORD_LOST lost x\n"
		"job  7 1.000400: PERF_RECORD_LOST\n"
		"job  7 1.000500: x: \n\t          401136 work+0x10 (/x)\n\n"
		"job  7 1.000600: PERF_RECORD_LOST lost 12\n";
	struct foreign_info info = { 0 };
	uint64_t samples = 0;

	(void)state;
	assert_int_equal(foreign_read_perf_script(text, sizeof(text) - 1, count_alone,
						  &samples, &info, NULL),
			 0);
	assert_int_equal(samples, 1);
	assert_int_equal(info.lost, 42);
	assert_int_equal(info.skipped, 0);
}

/* Texts in which a line looks as if perf script had printed it. */
static void rejects_other_texts_as_perf_script(void **state)
{
	static const char *const texts[] = {
		"2.1: Overview\nSome words\nabout it\n3.1: More\n",
		"Nov 26 10:00:00 host kernel: a message\nNov 26 10:00:01 host sshd: x\n",
		"see: this\nnote: that\n",
		"f:\n\tadd %eax, %ebx\n\tret\n",
		"one 1 \ntwo 2 \n",
		"a;b 99999999999999999999999\n",
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(texts); i++)
		assert_null(foreign_recognise(texts[i], strlen(texts[i])));
}

/* Returns whether the reader of perf script reports that the first `len` bytes were cut. */
static bool is_cut(const char *text, size_t len)
{
	struct foreign_info info = { 0 };
	uint64_t samples = 0;

	assert_int_equal(
		foreign_read_perf_script(text, len, count_alone, &samples, &info, NULL),
		0);
	return info.cut || info.skipped;
}

static void reads_text_truncated_within_a_stack(void **state)
{
	static const char first[] = "prog 17 1.5: 1000 cycles: \n"
				    "\t401136 work+0x10 (/usr/bin/prog)\n"
				    "\n";
	static const char text[] = "prog 17 1.5: 1000 cycles: \n"
				   "\t401136 work+0x10 (/usr/bin/prog)\n"
				   "\n"
				   "prog 17 1.6: 1000 cycles: \n"
				   "\t401136 work+0x10 (/usr/bin/prog)\n"
				   "\t401000 main+0x10 (/usr/bin/prog)\n"
				   "\n";

	(void)state;
	for (size_t len = sizeof(first); len < sizeof(text) - 1; len++)
		assert_true(is_cut(text, len));
	assert_false(is_cut(text, sizeof(text) - 1));
	assert_false(is_cut(first, sizeof(first) - 1));
}

static void text_without_stacks_needs_no_empty_line(void **state)
{
	static const char text[] = "prog 17 1.5: cycles: 401136 work+0x10 (/x)\n"
				   "prog 17 1.6: sched:sched_switch: prev_comm=x\n"
				   "prog 17 1.7: cycles: \n";
	static const char mixed[] = "prog 17 1.5: cycles: \n"
				    "\t401136 work+0x10 (/x)\n"
				    "\n"
				    "prog 17 1.6: faults: 401136 work+0x10 (/x)\n";

	(void)state;
	assert_false(is_cut(text, sizeof(text) - 1));
	assert_true(is_cut(text, sizeof(text) - 2));
	assert_false(is_cut(mixed, sizeof(mixed) - 1));
}

/* ---- pprof ---- */

static void put_number(struct buf *b, unsigned int field, uint64_t value)
{
	buf_put_varint(b, field << 3);
	buf_put_varint(b, value);
}

static void put_bytes(struct buf *b, unsigned int field, const void *bytes, size_t len)
{
	buf_put_varint(b, field << 3 | 2);
	buf_put_varint(b, len);
	buf_put(b, bytes, len);
}

/* Writes a message with the number fields 1, 2, ...; a 0 is omitted. */
static void put_message(struct buf *b, unsigned int field, const uint64_t *values,
			size_t nr)
{
	struct buf m = { 0 };

	for (size_t i = 0; i < nr; i++)
		if (values[i])
			put_number(&m, (unsigned int)i + 1, values[i]);
	put_bytes(b, field, m.data, m.len);
	buf_done(&m);
}

static void put_location(struct buf *b, uint64_t id, const uint64_t *functions,
			 size_t nr)
{
	struct buf m = { 0 };

	put_number(&m, 1, id);
	put_number(&m, 2, 1); /* the mapping */
	for (size_t i = 0; i < nr; i++)
		put_message(&m, 4, &functions[i], 1);
	put_bytes(b, 4, m.data, m.len);
	buf_done(&m);
}

/* Writes locations and values packed, or each as a separate field. */
static void put_sample(struct buf *b, bool packed, const uint64_t *at, size_t nr_at,
		       uint64_t count, uint64_t period)
{
	const uint64_t labels[][3] = { { 9, 10, 0 }, { 11, 0, 42 } };
	const uint64_t values[] = { count, period };
	struct buf m = { 0 }, list = { 0 };

	for (size_t i = 0; i < nr_at; i++) {
		if (!packed)
			put_number(&m, 1, at[i]);
		buf_put_varint(&list, at[i]);
	}
	if (packed)
		put_bytes(&m, 1, list.data, list.len);
	buf_clear(&list);
	for (size_t i = 0; i < 2; i++) {
		if (!packed)
			put_number(&m, 2, values[i]);
		buf_put_varint(&list, values[i]);
	}
	if (packed)
		put_bytes(&m, 2, list.data, list.len);
	for (size_t i = 0; i < 2; i++)
		put_message(&m, 3, labels[i], 3);
	put_bytes(b, 2, m.data, m.len);
	buf_done(&list);
	buf_done(&m);
}

static struct buf make_pprof(void)
{
	static const char *const strings[] = { "",     "samples",     "count",
					       "cpu",  "nanoseconds", "/bin/prog",
					       "main", "work",        "inlined",
					       "comm", "prog",        "pid" };
	const uint64_t types[][2] = { { 1, 2 }, { 3, 4 } };
	const uint64_t mapping[] = { 1, 0x1000, 0x2000, 0, 5 };
	const uint64_t functions[][2] = { { 1, 6 }, { 2, 7 }, { 3, 8 } };
	const uint64_t outer[] = { 1 }, inner[] = { 3, 2 };
	const uint64_t stack[] = { 2, 1 }, broken[] = { 77, 1 };
	struct buf b = { 0 };

	for (size_t i = 0; i < 2; i++)
		put_message(&b, 1, types[i], 2);
	put_sample(&b, true, stack, 2, 5, 50);
	put_sample(&b, false, stack, 1, 3, 30);
	put_sample(&b, true, broken, 2, 1, 10);
	put_message(&b, 3, mapping, 5);
	put_location(&b, 1, outer, 1);
	put_location(&b, 2, inner, 2);
	for (size_t i = 0; i < 3; i++)
		put_message(&b, 5, functions[i], 2);
	for (size_t i = 0; i < COUNT_OF(strings); i++)
		put_bytes(&b, 6, strings[i], strlen(strings[i]));
	put_number(&b, 9, 1700000000000000000); /* time */
	put_message(&b, 11, types[1], 2);
	put_number(&b, 12, 10000000);
	assert_false(b.failed);
	return b;
}

static void reads_profiles_of_pprof(void **state)
{
	static const char wanted[] =
		"cpu prog 42/42 -1 0 5 50: inlined(/bin/prog) work(/bin/prog) "
		"main(/bin/prog)\n"
		"cpu prog 42/42 -1 0 3 30: inlined(/bin/prog) work(/bin/prog)\n"
		"cpu prog 42/42 -1 0 1 10: main(/bin/prog)\n";
	struct buf b = make_pprof();
	struct foreign_info info = { 0 };
	uint64_t samples = 0;

	(void)state;
	check("pprof", b.data, b.len, wanted, 1);
	assert_int_equal(
		foreign_read_pprof(b.data, b.len, count_alone, &samples, &info, NULL),
		0);
	assert_int_equal(samples, 9);
	assert_int_equal(info.period, 10000000);
	assert_int_equal(info.start_wall_ns, 1700000000000000000);
	assert_int_equal(info.main_image.len, strlen("/bin/prog"));
	assert_memory_equal(info.main_image.at, "/bin/prog", info.main_image.len);
	assert_int_equal(info.period_event.len, strlen("cpu"));
	buf_done(&b);
}

/* Makes a profile with a single value, cpu/nanoseconds. */
static struct buf make_pprof_of_time(uint64_t period)
{
	static const char *const strings[] = { "", "cpu", "nanoseconds", "work" };
	const uint64_t type[] = { 1, 2 }, function[] = { 1, 3 }, line[] = { 1 };
	const uint64_t values[] = { 20000000, 54000000, 400000 };
	struct buf b = { 0 };

	put_message(&b, 1, type, 2);
	for (size_t i = 0; i < COUNT_OF(values); i++)
		put_message(&b, 2, (const uint64_t[]){ 1, values[i] }, 2);
	put_location(&b, 1, line, 1);
	put_message(&b, 5, function, 2);
	for (size_t i = 0; i < COUNT_OF(strings); i++)
		put_bytes(&b, 6, strings[i], strlen(strings[i]));
	put_message(&b, 11, type, 2);
	put_number(&b, 12, period);
	assert_false(b.failed);
	return b;
}

/* Times are not numbers of samples: the period of the profile gives the number. */
static void handles_values_without_counts(void **state)
{
	struct buf by_period = make_pprof_of_time(10000000);
	struct buf without = make_pprof_of_time(0);

	(void)state;
	check("pprof", by_period.data, by_period.len,
	      "cpu  -1/-1 -1 0 2 20000000: work()\n"
	      "cpu  -1/-1 -1 0 5 54000000: work()\n"
	      "cpu  -1/-1 -1 0 1 400000: work()\n",
	      0);
	check("pprof", without.data, without.len,
	      "cpu  -1/-1 -1 0 1 20000000: work()\n"
	      "cpu  -1/-1 -1 0 1 54000000: work()\n"
	      "cpu  -1/-1 -1 0 1 400000: work()\n",
	      0);
	buf_done(&by_period);
	buf_done(&without);
}

/* Replaces every byte by others: the result is different data, or an error. */
static void rejects_damaged_profiles_of_pprof(void **state)
{
	struct buf b = make_pprof();

	(void)state;
	for (size_t i = 0; i < b.len; i++)
		for (unsigned int bit = 0; bit < 8; bit++) {
			struct foreign_info info = { 0 };
			struct err err = { 0 };
			uint64_t samples = 0;
			int r;

			b.data[i] ^= (uint8_t)(1 << bit);
			r = foreign_read_pprof(b.data, b.len, count_alone, &samples,
					       &info, &err);
			assert_true(!r || r == -EBADMSG);
			b.data[i] ^= (uint8_t)(1 << bit);
		}
	buf_done(&b);
}

/* ---- all ---- */

static void rejects_unknown_formats(void **state)
{
	static const char *const texts[] = {
		"", "\n\n", "hello", "a b c\n", "{\"json\": 1}\n", "# a comment\n"
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(texts); i++)
		assert_null(foreign_find(texts[i], strlen(texts[i])));
	assert_null(foreign_find("\x7f"
				 "ELF\2\1\1",
				 7));
	/* A text whose first line could be a stack. */
	assert_null(foreign_recognise("a;b 1\nsome\nother\ntext\n", 22));
	assert_null(foreign_recognise("Notes 2026\n- item 3\n- a 5\n", 27));
}

/* Formats without a reader are recognised, so that an error message can name them. */
static void recognizes_unsupported_formats(void **state)
{
	static const struct {
		const char *name;
		const char *text;
	} all[] = {
		{ "callgrind",
		  "version: 1\ncreator: x\nevents: Ir 5\nfl=(1) a.c\nfn=(1) work\n10 5\n" },
		{ "cachegrind",
		  "desc: I1 cache: 1 B\ncmd: x\nevents: Ir\nfl=a\nfn=b\n1 2\n" },
		{ "massif", "desc: --massif-out-file=x\ncmd: x\ntime_unit: i\n" },
		{ "heap-profile", "heap profile: 3: 4096 [7: 9216] @ heap/1048576\n" },
		{ "go-text", "goroutine profile: total 5\n1 @ 0x43\n" },
		{ "gprof-text",
		  "Flat profile:\n\nEach sample counts as 0.01 seconds.\n" },
		{ "perf-report-text",
		  "# To display\n#\n# Overhead  Command\n 1.0% x\n" },
		{ "opreport-text",
		  "CPU: x\nProfiling through timer interrupt\nsamples %\n" },
		{ "perf-dump-text",
		  "\n0x4b8@perf.data [0x58]: event: 1\n.\n. ... raw event: size 88 bytes\n" },
		{ "bpftrace", "Attaching 1 probe...\n\n@[\n    f+1\n]: 5\n" },
		{ "perf-map", "401000 10 f\n401010 20 g h\n" },
		{ "svg", "<?xml version=\"1.0\"?>\n<svg width=\"1\">\n" },
		{ "markup", "<!DOCTYPE html>\n<html>\n<svg>" },
		{ "speedscope",
		  "{\"$schema\": \"https://www.speedscope.app/file-format-schema.json\"}" },
		{ "firefox", "{\"meta\": {\"preprocessedProfileVersion\" : 1}}" },
		{ "cpuprofile", "{\"nodes\":[{\"id\":1,\"callFrame\":{}}]}" },
		{ "chrome-trace", "{\"traceEvents\":[]}" },
		{ "chrome-trace", "[\n{\"ph\":\"X\",\"ts\":1}]" },
		{ "json", "{\"a\": 1}" },
		{ "difffolded", "p;a;b 10 25\np;a 0 5\n" },
		{ "jfr", "FLR\0" },
		{ "bzip2", "BZh9" },
	};

	static const char *const not_folded[] = {
		"main 10\n",
		"main 10\nsome text\nf 2\n",
		"main 10\nf 2 kB\n",
		"some words 10\nf 20\n",
		"MemTotal: 10\nMemFree: 20\n",
		"nr_free_pages 10\nnr_x 20\n",
		"a,b 10\nc,d 20\n",
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(all); i++) {
		const struct foreign_format *f = foreign_recognise(
			all[i].text, strlen(all[i].text) + (all[i].text[0] == 'F'));

		assert_non_null(f);
		assert_string_equal(f->name, all[i].name);
		assert_non_null(f->title);
		assert_true(f->read || f->advice);
	}
	/* Names in brackets are not JSON. */
	format_of("folded", "[[unknown]];f 1\n", 16);
	format_of("folded", "{lambda};f 1\n", 13);
	format_of("folded", "gmond;main 1\n", 13);
	/* One frame per stack: all lines must agree. */
	format_of("folded", "main 10\n# x\nstd::f(int, char) 20\n", 33);
	for (size_t i = 0; i < COUNT_OF(not_folded); i++)
		assert_null(foreign_recognise(not_folded[i], strlen(not_folded[i])));
}

static void the_consumer_can_stop_the_reader(void **state)
{
	struct buf b = make_pprof();
	const struct {
		const char *name;
		const void *bytes;
		size_t len;
	} all[] = {
		{ "folded", "a;b 1\na;c 2\n", 12 },
		{ "perf-script", "p 1 x: 1 f (o)\np 1 x: 1 f (o)\n", 30 },
		{ "pprof", b.data, b.len },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(all); i++) {
		struct foreign_info info = { 0 };
		int nr = 0;

		assert_int_equal(format_of(all[i].name, all[i].bytes, all[i].len)
					 ->read(all[i].bytes, all[i].len, refuse, &nr,
						&info, NULL),
				 -E2BIG);
		assert_int_equal(nr, 1);
	}
	buf_done(&b);
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(reads_folded_stacks),
		cmocka_unit_test(rounds_fractions),
		cmocka_unit_test(reads_stacks_of_any_depth),
		cmocka_unit_test(reads_text_of_perf_script),
		cmocka_unit_test(reads_any_fields_of_perf_script),
		cmocka_unit_test(rejects_other_texts_as_perf_script),
		cmocka_unit_test(counts_lost_samples_of_perf_script),
		cmocka_unit_test(reads_text_truncated_within_a_stack),
		cmocka_unit_test(text_without_stacks_needs_no_empty_line),
		cmocka_unit_test(reads_profiles_of_pprof),
		cmocka_unit_test(handles_values_without_counts),
		cmocka_unit_test(rejects_damaged_profiles_of_pprof),
		cmocka_unit_test(rejects_unknown_formats),
		cmocka_unit_test(recognizes_unsupported_formats),
		cmocka_unit_test(the_consumer_can_stop_the_reader),
	};

	return UNIT_RUN(cases);
}

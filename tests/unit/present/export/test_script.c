/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the lines of perf script. The expected lines were printed by perf 6.1, or follow from
 * its number formats. */
#include "unit.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "present/export/script.h"

enum {
	FLAT = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD
};

#define KERNEL " _copy_to_user+0x28 ([kernel.kallsyms])"
#define LD "/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"

/* Exactly SCRIPT_PADDING bytes after the text are readable. */
static struct script_text text(const char *s)
{
	static char *kept[64];
	static size_t nr;
	size_t len = strlen(s);
	char **slot = &kept[nr++ % 64];

	free(*slot);
	*slot = calloc(1, len + SCRIPT_PADDING);
	assert_non_null(*slot);
	memcpy(*slot, s, len);
	return (struct script_text){ *slot, len };
}

/* Writes the sample with these fields of -F and compares it with perf's output. */
static void expect(const struct script_event *events, size_t nr, const char *spec,
		   bool chains, const struct script_sample *s, const char *printed)
{
	uint32_t fields[4];
	struct script_writer w = {
		.events = events, .fields = fields, .nr_events = nr, .chains = chains
	};
	struct buf out = { 0 };
	struct err err = { 0 };
	int r = script_fields(events, nr, spec, chains, fields, &err);

	if (r)
		fail_msg("%s", err.text);
	script_writer_init(&w);
	script_write(&w, s, &out);
	buf_put_u8(&out, 0);
	assert_string_equal((const char *)out.data, printed);
	buf_done(&out);
}

static const struct script_event page_faults = {
	.name = "page-faults",
	.type = PERF_TYPE_SOFTWARE,
	.sample_type = FLAT | PERF_SAMPLE_ADDR,
};

static struct script_sample fault(const struct script_frame *frame)
{
	return (struct script_sample){
		.misc = PERF_RECORD_MISC_KERNEL,
		.comm = text("w"),
		.pid = 9659,
		.tid = 9659,
		.time_ns = UINT64_C(2526027578999),
		.period = 1,
		.frames = frame,
		.nr_frames = 1,
	};
}

static void test_flat(void **unused)
{
	const struct script_frame frame = { .address = 0xffffffff81b75d98,
					    .position = text(KERNEL) };
	const struct script_frame bare = { .address = 0xffffffff81b75d98,
					   .position = text(" _copy_to_user") };
	const struct script_frame low = { .address = 0x7fb6aa4dfb70,
					  .position = text(" _start+0x0 (" LD ")") };
	struct script_sample s = fault(&frame);

	(void)unused;
	expect(&page_faults, 1, NULL, true, &s,
	       "               w  9659  2526.027578:          1 page-faults:  "
	       "ffffffff81b75d98 _copy_to_user+0x28 ([kernel.kallsyms])\n");
	expect(&page_faults, 1, "+misc,+pid", true, &s,
	       "               w  9659/9659  K      2526.027578:          1 "
	       "page-faults:"
	       "  ffffffff81b75d98 _copy_to_user+0x28 ([kernel.kallsyms])\n");
	expect(&page_faults, 1, "comm,pid,tid,time,event", true, &s,
	       "               w  9659/9659   2526.027578: page-faults: \n");
	expect(&page_faults, 1, "event,period", true, &s, "         1 page-faults: \n");
	s.frames = &bare;
	expect(&page_faults, 1, "ip,sym", true, &s,
	       " ffffffff81b75d98 _copy_to_user\n");
	s.frames = &low;
	s.addr = low;
	expect(&page_faults, 1, "+addr", true, &s,
	       "               w  9659  2526.027578:          1 page-faults:     "
	       "7fb6aa4dfb70 _start+0x0 (" LD ")     7fb6aa4dfb70 _start+0x0 (" LD
	       ")\n");
}

static void test_chain(void **unused)
{
	static const struct script_event events[] = {
		{ .name = "cpu-clock",
		  .type = PERF_TYPE_SOFTWARE,
		  .sample_type = FLAT | PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN },
		{ .name = "context-switches",
		  .type = PERF_TYPE_SOFTWARE,
		  .sample_type = FLAT | PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN },
	};
	const struct script_frame frames[] = {
		{ .address = 0xffffffff821fb643,
		  .position = text(" schedule+0x23 ([kernel.kallsyms])") },
		{ .address = 0x146f7c, .position = text(" [unknown] (/usr/bin/perf)") },
	};
	struct script_sample s = { .event = 1,
				   .comm = text("perf"),
				   .pid = 9405,
				   .tid = 9405,
				   .time_ns = UINT64_C(2524824528000),
				   .period = 1,
				   .chain = true,
				   .frames = frames,
				   .nr_frames = 2 };

	(void)unused;
	expect(events, 2, NULL, true, &s,
	       "perf  9405 [000]  2524.824528:          1 context-switches: \n"
	       "\tffffffff821fb643 schedule+0x23 ([kernel.kallsyms])\n"
	       "\t          146f7c [unknown] (/usr/bin/perf)\n"
	       "\n");
	/* The kernel cannot walk the stack: s390x. */
	s.nr_frames = 0;
	s.event = 0;
	expect(events, 1, NULL, true, &s,
	       "perf  9405 [000]  2524.824528:          1 cpu-clock: \n\n");
	/* -G; the name column has the width of the longest name. */
	s.chain = false;
	s.nr_frames = 1;
	expect(events, 2, NULL, false, &s,
	       "            perf  9405 [000]  2524.824528:          1        "
	       "cpu-clock:  "
	       "ffffffff821fb643 schedule+0x23 ([kernel.kallsyms])\n");
	expect(events, 2, "comm,period,ip", false, &s,
	       "            perf          1  ffffffff821fb643 schedule+0x23 "
	       "([kernel.kallsyms])\n");
}

static void test_branches(void **unused)
{
	static const struct script_event cycles = {
		.name = "cycles",
		.type = PERF_TYPE_HARDWARE,
		.sample_type = FLAT | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_BRANCH_STACK,
	};
	const struct script_frame frame = {
		.address = 0xece0,
		.position = text(" [unknown] (/lib64/libpthread-2.15.so)")
	};
	const struct script_branch branches[] = {
		{ .from = 0xffffffff81068283,
		  .to = 0xffffffff8106827e,
		  .from_position = text("([kernel.kallsyms])"),
		  .to_position = text("([kernel.kallsyms])"),
		  .predicted = true,
		  .type = "" },
		{ .from = 0x7fea6f19193f,
		  .to = 0x7fea6f6d1b70,
		  .mispredicted = true,
		  .in_tx = true,
		  .aborted = true,
		  .cycles = 65535,
		  .type = "COND" },
	};
	struct script_sample s = { .comm = text("perf"),
				   .pid = 6520,
				   .tid = 6520,
				   .chain = true,
				   .frames = &frame,
				   .nr_frames = 1,
				   .branches = branches,
				   .nr_branches = 2 };

	(void)unused;
	expect(&cycles, 1, "comm,tid,pid,ip,sym,brstack,dso", true, &s,
	       "perf  6520/6520  \n"
	       "\t            ece0 [unknown] (/lib64/libpthread-2.15.so)\n"
	       " 0xffffffff81068283([kernel.kallsyms])/0xffffffff8106827e"
	       "([kernel.kallsyms])/P/-/-/0/  "
	       "0x7fea6f19193f/0x7fea6f6d1b70/M/X/A/65535/COND \n");
}

static void test_numbers(void **unused)
{
	static const struct script_event raw = {
		.name = "cpu-clock:ppp",
		.type = PERF_TYPE_SOFTWARE,
		.sample_type = FLAT | PERF_SAMPLE_CPU | PERF_SAMPLE_WEIGHT_STRUCT |
			       PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_DATA_PAGE_SIZE |
			       PERF_SAMPLE_CODE_PAGE_SIZE,
	};
	const struct script_frame frame = { .address = 0x55d1547ee1ef,
					    .position = text(" cmp+0x20 (/bin/w)") };
	struct script_sample s = { .comm = text("w"),
				   .pid = 9916,
				   .tid = 9916,
				   .cpu = 1,
				   .time_ns = UINT64_C(2528434440268),
				   .period = 1001001,
				   .frames = &frame,
				   .nr_frames = 1,
				   .code_page_size = 4096 };
	struct script_sample wide = { .comm = text("longer than sixteen"),
				      .pid = -1,
				      .tid = 4194304,
				      .cpu = 1234,
				      .time_ns = UINT64_C(123456789000000001),
				      .period = UINT64_C(12345678901234567890),
				      .frames = &frame,
				      .nr_frames = 1 };

	(void)unused;
	expect(&raw, 1, "+phys_addr,+data_page_size,+weight,+code_page_size", true, &s,
	       "               w  9916 [001]  2528.434440:    1001001 cpu-clock:ppp:"
	       "                0     55d1547ee1ef cmp+0x20 (/bin/w)               0 "
	       "N/A 4K\n");
	expect(&raw, 1, "+pid,-event,-ip", true, &wide,
	       "longer than sixteen    -1/4194304 [1234] 123456789.000000: "
	       "12345678901234567890 \n");
	s.data_page_size = 2097152;
	expect(&raw, 1, "data_page_size", true, &s, " 2M\n");
}

static void test_nanoseconds(void **unused)
{
	const uint32_t fields = SCRIPT_TIME;
	struct script_writer w = { .events = &page_faults,
				   .fields = &fields,
				   .nr_events = 1,
				   .nanoseconds = true };
	struct script_sample s = { .time_ns = UINT64_C(2528434440268) };
	struct buf out = { 0 };

	(void)unused;
	script_writer_init(&w);
	script_write(&w, &s, &out);
	buf_put_u8(&out, 0);
	assert_string_equal((const char *)out.data, " 2528.434440268: \n");
	buf_done(&out);
}

static void test_positions(void **unused)
{
	const struct script_position known = { "main", 0x1f, "/bin/a" };
	const struct script_position unknown = { NULL, 0, NULL };
	struct buf out = { 0 };

	(void)unused;
	script_position(SCRIPT_SYM | SCRIPT_SYMOFF | SCRIPT_DSO, &known, &out);
	script_position(SCRIPT_SYM | SCRIPT_SYMOFF | SCRIPT_DSO, &unknown, &out);
	script_position(SCRIPT_SYM, &known, &out);
	script_position(SCRIPT_DSO, &known, &out);
	script_position(0, &known, &out);
	buf_put(&out, "|", 1);
	script_branch_position(SCRIPT_BRSTACK | SCRIPT_DSO, &known, &out);
	script_branch_position(SCRIPT_BRSTACKSYM | SCRIPT_DSO, &known, &out);
	script_branch_position(SCRIPT_BRSTACKSYM, &unknown, &out);
	buf_put_u8(&out, 0);
	assert_string_equal((const char *)out.data,
			    " main+0x1f (/bin/a) [unknown] ([unknown]) main (/bin/a)|"
			    "(/bin/a)main+0x1f(/bin/a)[unknown]");
	buf_done(&out);
}

/* "%16lx" and "%lx" with all lengths, the offset between the halves. */
static void test_addresses(void **unused)
{
	static const struct script_event event = { .name = "e",
						   .type = PERF_TYPE_SOFTWARE,
						   .sample_type = FLAT };
	uint64_t v = UINT64_C(0xfedcba9876543210);

	(void)unused;
	for (unsigned int i = 0; i < 130; i++) {
		struct script_frame frame = {
			.address = i ? v >> (i - 1) % 64 : 0,
			.offset = i < 65 ? v >> i % 64 : i - 65,
			.position = text(" a_function_of_some_length+0x"),
			.after = text(" (/usr/lib/x86_64-linux-gnu/libc.so.6)")
		};
		struct script_sample s = fault(&frame);
		char expected[256];

		snprintf(expected, sizeof(expected),
			 " %16" PRIx64 "%.*s%" PRIx64 "%.*s\n", frame.address,
			 (int)frame.position.len, frame.position.at, frame.offset,
			 (int)frame.after.len, frame.after.at);
		expect(&event, 1, "ip,sym,symoff,dso", true, &s, expected);
		frame.after.at = NULL;
		frame.after.len = 0;
		snprintf(expected, sizeof(expected), " %16" PRIx64 "%.*s\n",
			 frame.address, (int)frame.position.len, frame.position.at);
		expect(&event, 1, "ip,sym,symoff,dso", true, &s, expected);
	}
}

static void test_first_half_of_a_position(void **unused)
{
	const struct script_position known = { "main", 0x1f, "/bin/a" };
	const struct script_position unknown = { NULL, 0, "/bin/a" };
	struct buf out = { 0 };
	size_t first;

	(void)unused;
	assert_true(script_halves(SCRIPT_SYM | SCRIPT_SYMOFF | SCRIPT_DSO, &known, &out,
				  &first));
	assert_int_equal(first, 8);
	assert_true(script_halves(SCRIPT_SYM | SCRIPT_SYMOFF, &known, &out, &first));
	assert_int_equal(first, 8);
	assert_false(script_halves(SCRIPT_SYM | SCRIPT_DSO, &known, &out, &first));
	assert_int_equal(first, 14);
	assert_false(script_halves(SCRIPT_SYM | SCRIPT_SYMOFF | SCRIPT_DSO, &unknown,
				   &out, &first));
	assert_int_equal(first, 19);
	buf_put_u8(&out, 0);
	assert_string_equal(
		(const char *)out.data,
		" main+0x (/bin/a) main+0x main (/bin/a) [unknown] (/bin/a)");
	buf_done(&out);
}

static void test_fields(void **unused)
{
	static const struct script_event events[] = {
		{ "cycles", PERF_TYPE_HARDWARE, 0, FLAT },
		{ "sched:sched_switch", PERF_TYPE_TRACEPOINT, 316, FLAT },
		{ "ibs_op//", 11, 0, FLAT | PERF_SAMPLE_WEIGHT },
		{ "dummy:HG", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, 0 },
	};
	uint32_t fields[4];
	struct err err;

	(void)unused;
	assert_int_equal(script_fields(events, 4, NULL, true, fields, &err), 0);
	assert_int_equal(fields[0], SCRIPT_COMM | SCRIPT_TID | SCRIPT_TIME |
					    SCRIPT_PERIOD | SCRIPT_EVENT | SCRIPT_IP |
					    SCRIPT_SYM | SCRIPT_SYMOFF | SCRIPT_DSO);
	assert_int_equal(fields[1],
			 SCRIPT_COMM | SCRIPT_TID | SCRIPT_TIME | SCRIPT_EVENT);
	assert_int_equal(fields[2], fields[0]);
	assert_int_equal(script_fields(events, 4, "cpu", true, fields, &err), -EINVAL);
	assert_string_equal(err.text, "Samples for 'cycles' event do not have CPU "
				      "attribute set. Cannot print 'cpu' field.");
	assert_int_equal(script_fields(events, 4, "com", true, fields, &err), -EINVAL);
	assert_string_equal(err.text, "unknown field 'com': did you mean 'comm'?");
	assert_int_equal(script_fields(events, 4, "ip,symoff", true, fields, &err),
			 -EINVAL);
	assert_int_equal(script_fields(events, 4, "comm,+ip", true, fields, &err),
			 -EINVAL);
	assert_int_equal(script_fields(events, 4, "insn", true, fields, &err), -EINVAL);
	assert_string_equal(err.text,
			    "the field 'insn' of perf script is not supported");
	/* Removing the symbol also removes its offset. */
	assert_int_equal(script_fields(events, 4, "-sym", true, fields, &err), 0);
	assert_false(fields[0] & (SCRIPT_SYM | SCRIPT_SYMOFF));
	/* A field that is never printed can be removed, and the last word counts. */
	assert_int_equal(script_fields(events, 4,
				       "-trace,-comm,+comm,+tid,-tid,-bpf-output", true,
				       fields, &err),
			 0);
	assert_true(fields[0] & SCRIPT_COMM);
	assert_false(fields[0] & SCRIPT_TID);
	assert_int_equal(script_fields(events, 4, "-tracy", true, fields, &err),
			 -EINVAL);
	assert_int_equal(script_fields(events, 4, "+trace", true, fields, &err),
			 -EINVAL);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(test_flat),
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_branches),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_nanoseconds),
		cmocka_unit_test(test_positions),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_first_half_of_a_position),
		cmocka_unit_test(test_fields),
	};

	return UNIT_RUN(cases);
}

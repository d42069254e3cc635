/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decodes raw records: every field, in both byte orders, and cut at every byte. */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "decode/record_names.h"
#include "record_maker.h"

enum {
	FULL = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
	       PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU
};

static void two_events(struct decoder *d, bool swap)
{
	struct perf_event_attr attr = { .size = sizeof(attr),
					.sample_type = FULL,
					.sample_id_all = 1,
					.read_format = PERF_FORMAT_GROUP |
						       PERF_FORMAT_ID |
						       PERF_FORMAT_LOST |
						       PERF_FORMAT_TOTAL_TIME_ENABLED };

	decoder_init(d, swap);
	assert_int_equal(decoder_add_attr(d, &attr), 0);
	assert_int_equal(decoder_add_attr(d, &attr), 0);
	assert_int_equal(decoder_add_id(d, 700, 0), 0);
	assert_int_equal(decoder_add_id(d, 701, 1), 0);
}

static void trailer(struct maker *m)
{
	put_u32(m, 20);
	put_u32(m, 21);
	put_u64(m, 1234567); /* time */
	put_u64(m, 31);      /* stream */
	put_u32(m, 1);       /* cpu */
	put_u32(m, 0);
	put_u64(m, 700); /* identifier */
}

static void mmap2_of(struct maker *m, bool bit, bool build_id)
{
	begin(m, PERF_RECORD_MMAP2,
	      PERF_RECORD_MISC_USER | (bit ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0));
	put_u32(m, 20);
	put_u32(m, 21);
	put_u64(m, 0x7000);
	put_u64(m, 0x2000);
	put_u64(m, 0x1000);
	if (build_id) {
		uint8_t id[24] = { 20, 0, 0, 0, 0xab, 0xcd };

		buf_put(&m->b, id, sizeof(id));
	} else {
		put_u32(m, 8);
		put_u32(m, 1);
		put_u64(m, 4711);
		put_u64(m, 5);
	}
	put_u32(m, PROT_READ | PROT_EXEC);
	put_u32(m, MAP_PRIVATE);
	put_text(m, "/usr/lib/libc.so.6", 24);
	trailer(m);
	finish(m);
}

static void mmap2(struct maker *m, bool build_id)
{
	mmap2_of(m, build_id, build_id);
}

static void check_mmap2(bool swap)
{
	struct maker m = { .swap = swap };
	struct decoder d;
	struct record rec;

	two_events(&d, swap);
	mmap2(&m, false);
	assert_int_equal(decode(&m, &d, &rec), 0);
	assert_int_equal(rec.mmap.pid, 20);
	assert_int_equal(rec.mmap.start, 0x7000);
	assert_int_equal(rec.mmap.len, 0x2000);
	assert_int_equal(rec.mmap.pgoff, 0x1000);
	assert_int_equal(rec.mmap.maj, 8);
	assert_int_equal(rec.mmap.ino, 4711);
	assert_int_equal(rec.mmap.build_id_len, 0);
	assert_int_equal(rec.mmap.prot, PROT_READ | PROT_EXEC);
	assert_int_equal(rec.mmap.flags, MAP_PRIVATE);
	assert_string_equal(rec.mmap.path, "/usr/lib/libc.so.6");
	assert_int_equal(rec.id.time_ns, 1234567);
	assert_int_equal(rec.id.event, 0);
	mmap2(&m, true);
	assert_int_equal(decode(&m, &d, &rec), 0);
	assert_int_equal(rec.mmap.build_id_len, 20);
	assert_int_equal(rec.mmap.build_id[1], 0xcd);
	assert_int_equal(rec.mmap.ino, 0);
	buf_done(&m.b);
	decoder_done(&d);
}

static void test_mmap2(void **unused)
{
	(void)unused;
	check_mmap2(false);
	check_mmap2(true);
}

/* Linux 3.10 to 3.15: the path follows the inode's generation. */
static void check_mmap2_without_flags(bool swap, const char *path)
{
	struct maker m = { .swap = swap };
	struct decoder d;
	struct record rec;

	two_events(&d, swap);
	begin(&m, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);
	put_u64(&m, 20);
	put_u64(&m, 0x7000);
	put_u64(&m, 0x2000);
	put_u64(&m, 0x1000);
	put_u64(&m, 8);
	put_u64(&m, 4711);
	put_u64(&m, 5);
	put_text(&m, path, 24);
	trailer(&m);
	finish(&m);
	assert_int_equal(decode(&m, &d, &rec), 0);
	assert_int_equal(rec.mmap.ino, 4711);
	assert_int_equal(rec.mmap.prot, PROT_EXEC);
	assert_int_equal(rec.mmap.flags, 0);
	assert_string_equal(rec.mmap.path, path);
	assert_int_equal(rec.id.time_ns, 1234567);
	buf_done(&m.b);
	decoder_done(&d);
}

static void test_mmap2_without_flags(void **unused)
{
	(void)unused;
	for (int swap = 0; swap < 2; swap++) {
		check_mmap2_without_flags(swap, "/usr/lib/libc.so.6");
		check_mmap2_without_flags(swap, "/a");
		check_mmap2_without_flags(swap, "[vdso]");
	}
}

/* Checks a record in which a flag is left over: the kernel leaves the flag of another recording's
 * build-id in a record with a device. */
static void check_left_over_bit(bool swap)
{
	struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_TID, .build_id = 1 };
	struct maker m = { .swap = swap };
	struct decoder d;
	struct record rec;

	two_events(&d, swap);
	mmap2_of(&m, true, false);
	assert_int_equal(decode(&m, &d, &rec), 0);
	assert_int_equal(rec.mmap.build_id_len, 0);
	assert_int_equal(rec.mmap.maj, 8);
	assert_int_equal(rec.mmap.ino, 4711);
	assert_int_equal(rec.mmap.ino_gen, 5);
	assert_int_equal(rec.misc, PERF_RECORD_MISC_USER);
	assert_string_equal(rec.mmap.path, "/usr/lib/libc.so.6");
	/* If an event requests build-ids, the field is the build-id's length, with any value. */
	assert_int_equal(decoder_add_attr(&d, &attr), 0);
	mmap2_of(&m, true, false);
	assert_int_equal(decode(&m, &d, &rec), 0);
	assert_int_equal(rec.mmap.build_id_len, swap ? 0 : 8);
	assert_int_equal(rec.mmap.ino, 0);
	buf_done(&m.b);
	decoder_done(&d);
}

static void test_left_over_bit(void **unused)
{
	(void)unused;
	check_left_over_bit(false);
	check_left_over_bit(true);
}

static void test_unterminated_string(void **unused)
{
	struct maker m = { 0 };
	struct decoder d;
	struct record rec;

	(void)unused;
	two_events(&d, false);
	begin(&m, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
	put_u32(&m, 1);
	put_u32(&m, 2);
	buf_put(&m.b, "abcdefgh", 8);
	finish(&m);
	assert_int_equal(decode(&m, &d, &rec), -EBADMSG);
	m.b.data[m.b.len - 1] = 0;
	assert_int_equal(decode(&m, &d, &rec), 0);
	assert_string_equal(rec.comm.comm, "abcdefg");
	assert_true(rec.comm.exec);
	buf_done(&m.b);
	decoder_done(&d);
}

static void test_unknown_kinds_and_sizes(void **unused)
{
	struct maker m = { 0 };
	struct decoder d;
	struct record rec;

	(void)unused;
	two_events(&d, false);
	begin(&m, 4000, 7);
	put_u64(&m, 1);
	finish(&m);
	assert_int_equal(decode(&m, &d, &rec), 0);
	assert_int_equal(rec.type, 4000);
	m.b.data[6] = 4; /* smaller than its header */
	assert_int_equal(decode(&m, &d, &rec), -EBADMSG);
	m.b.data[6] = 200; /* larger than the data */
	assert_int_equal(decode(&m, &d, &rec), -EBADMSG);
	buf_done(&m.b);
	decoder_done(&d);
}

/* Begins a record, copies its body from `words`, and ends it with the trailer. */
static void simple(struct maker *m, uint32_t type, uint16_t misc, const uint64_t *words,
		   size_t nr)
{
	begin(m, type, misc);
	for (size_t i = 0; i < nr; i++)
		put_u64(m, words[i]);
	trailer(m);
	finish(m);
}

static void check_trailer(const struct record *rec)
{
	assert_int_equal(rec->id.pid, 20);
	assert_int_equal(rec->id.tid, 21);
	assert_int_equal(rec->id.time_ns, 1234567);
	assert_int_equal(rec->id.stream_id, 31);
	assert_int_equal(rec->id.cpu, 1);
	assert_int_equal(rec->id.id, 700);
}

static void check_words_only(struct maker *m, const struct decoder *d)
{
	static const uint64_t words[] = { 11, 22, 33 };
	struct record rec;

	simple(m, PERF_RECORD_LOST, 0, words, 2);
	assert_int_equal(decode(m, d, &rec), 0);
	assert_int_equal(rec.lost.id, 11);
	assert_int_equal(rec.lost.lost, 22);
	check_trailer(&rec);
	simple(m, PERF_RECORD_LOST_SAMPLES, 0, words, 1);
	assert_int_equal(decode(m, d, &rec), 0);
	assert_int_equal(rec.lost.id, 0);
	assert_int_equal(rec.lost.lost, 11);
	simple(m, PERF_RECORD_UNTHROTTLE, 0, words, 3);
	assert_int_equal(decode(m, d, &rec), 0);
	assert_int_equal(rec.throttle.time_ns, 11);
	assert_int_equal(rec.throttle.id, 22);
	assert_int_equal(rec.throttle.stream_id, 33);
	simple(m, PERF_RECORD_AUX, 0, words, 3);
	assert_int_equal(decode(m, d, &rec), 0);
	assert_int_equal(rec.aux.offset, 11);
	assert_int_equal(rec.aux.size, 22);
	assert_int_equal(rec.aux.flags, 33);
	check_trailer(&rec);
	simple(m, PERF_RECORD_AUX_OUTPUT_HW_ID, 0, words, 1);
	assert_int_equal(decode(m, d, &rec), 0);
	assert_int_equal(rec.aux_output_hw_id.hw_id, 11);
}

static void check_switches(struct maker *m, const struct decoder *d)
{
	struct record rec;

	simple(m, PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT, NULL, 0);
	assert_int_equal(decode(m, d, &rec), 0);
	assert_true(rec.sched_switch.out);
	assert_false(rec.sched_switch.preempted);
	assert_int_equal(rec.sched_switch.other_tid, -1);
	check_trailer(&rec);
	begin(m, PERF_RECORD_SWITCH_CPU_WIDE,
	      PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
	put_u32(m, 5);
	put_u32(m, 6);
	trailer(m);
	finish(m);
	assert_int_equal(decode(m, d, &rec), 0);
	assert_true(rec.sched_switch.preempted);
	assert_int_equal(rec.sched_switch.other_pid, 5);
	assert_int_equal(rec.sched_switch.other_tid, 6);
	begin(m, PERF_RECORD_ITRACE_START, 0);
	put_u32(m, 5);
	put_u32(m, 6);
	trailer(m);
	finish(m);
	assert_int_equal(decode(m, d, &rec), 0);
	assert_int_equal(rec.itrace_start.pid, 5);
	assert_int_equal(rec.itrace_start.tid, 6);
}

static void check_code_changes(struct maker *m, const struct decoder *d)
{
	struct record rec;

	begin(m, PERF_RECORD_BPF_EVENT, 0);
	put_u16(m, 1);
	put_u16(m, 2);
	put_u32(m, 77);
	put_text(m, "12345678", 8);
	trailer(m);
	finish(m);
	assert_int_equal(decode(m, d, &rec), 0);
	assert_int_equal(rec.bpf_event.kind, 1);
	assert_int_equal(rec.bpf_event.flags, 2);
	assert_int_equal(rec.bpf_event.prog_id, 77);
	assert_memory_equal(rec.bpf_event.tag, "12345678", 8);
	check_trailer(&rec);
	begin(m, PERF_RECORD_TEXT_POKE, 0);
	put_u64(m, 0xffffffff81000000);
	put_u16(m, 5);
	put_u16(m, 2);
	put_text(m, "OLD..nw", 12);
	trailer(m);
	finish(m);
	assert_int_equal(decode(m, d, &rec), 0);
	assert_int_equal(rec.text_poke.addr, 0xffffffff81000000);
	assert_int_equal(rec.text_poke.old_len, 5);
	assert_int_equal(rec.text_poke.new_len, 2);
	assert_memory_equal(rec.text_poke.bytes + 5, "nw", 2);
	check_trailer(&rec);
}

static void check_read_and_deferred(struct maker *m, const struct decoder *d)
{
	static const uint64_t deferred[] = { 0xc00c1e, 3, (uint64_t)-512, 0x10, 0x20 };
	struct record rec;

	begin(m, PERF_RECORD_READ, 0);
	put_u32(m, 5);
	put_u32(m, 6);
	put_u64(m, 1); /* group with one event: enabled, {value, id, lost} */
	put_u64(m, 50);
	put_u64(m, 51);
	put_u64(m, 52);
	put_u64(m, 53);
	trailer(m);
	finish(m);
	assert_int_equal(decode(m, d, &rec), 0);
	assert_int_equal(rec.read.pid, 5);
	assert_int_equal(rec.read.tid, 6);
	assert_int_equal(rec.read.values.enabled_ns, 50);
	assert_int_equal(rec.read.values.one.value, 51);
	assert_int_equal(rec.read.values.one.id, 52);
	assert_int_equal(rec.read.values.one.lost, 53);
	check_trailer(&rec);
	simple(m, RECORD_CALLCHAIN_DEFERRED, 0, deferred, 5);
	assert_int_equal(decode(m, d, &rec), 0);
	assert_int_equal(rec.deferred.cookie, 0xc00c1e);
	assert_int_equal(rec.deferred.nr, 3);
	assert_int_equal(decoder_u64_at(d, rec.deferred.chain, 2), 0x20);
	check_trailer(&rec);
}

static void check_short(struct maker *m, const struct decoder *d)
{
	static const uint64_t many[] = { 1, UINT64_MAX / 8 };
	struct record rec;

	for (uint32_t type = 1; type <= RECORD_CALLCHAIN_DEFERRED; type++) {
		simple(m, type, 0, many, 2);
		decode_prefixes(m, d);
	}
	assert_int_equal(decode(m, d, &rec), -EBADMSG);
	simple(m, PERF_RECORD_NAMESPACES, 0, many, 2);
	assert_int_equal(decode(m, d, &rec), -EBADMSG);
}

static void test_kinds(void **unused)
{
	struct decoder d;

	(void)unused;
	for (int swap = 0; swap < 2; swap++) {
		struct maker m = { .swap = swap };

		two_events(&d, swap);
		check_words_only(&m, &d);
		check_switches(&m, &d);
		check_code_changes(&m, &d);
		check_read_and_deferred(&m, &d);
		check_short(&m, &d);
		buf_done(&m.b);
		decoder_done(&d);
	}
}

static void test_names(void **unused)
{
	(void)unused;
	assert_null(record_name(0));
	assert_string_equal(record_name(PERF_RECORD_MMAP), "MMAP");
	assert_string_equal(record_name(10), "MMAP2");
	assert_string_equal(record_name(15), "SWITCH_CPU_WIDE");
	assert_string_equal(record_name(22), "CALLCHAIN_DEFERRED");
	assert_null(record_name(23));
	assert_null(record_name(63));
	assert_string_equal(record_name(64), "ATTR");
	assert_string_equal(record_name(68), "FINISHED_ROUND");
	assert_string_equal(record_name(86), "SCHEDSTAT_DOMAIN");
	assert_null(record_name(87));
	assert_string_equal(record_name(32769), "DSO");
	assert_null(record_name(40000));
}

/* Ends a record as the kernel does for the second of two recordings: the size includes the fields
 * of the first recording. */
static void finish_second(struct maker *m)
{
	trailer(m);
	for (int i = 0; i < 5; i++)
		put_u64(m, 0x4141414141414141);
	finish(m);
}

static void check_second(const struct maker *m, const struct decoder *d, size_t own)
{
	struct record rec;

	assert_int_equal(decode(m, d, &rec), 0);
	check_trailer(&rec);
	assert_int_equal(decoder_own_bytes(d, m->b.data, m->b.len), own);
}

static void put_ksymbol(struct maker *m)
{
	begin(m, PERF_RECORD_KSYMBOL, 0);
	put_u64(m, 0xffffffffc0000000);
	put_u32(m, 42);
	put_u16(m, 1);
	put_u16(m, 0);
	put_text(m, "bpf_pro", 8);
}

static void check_second_records(bool swap)
{
	struct maker m = { .swap = swap };
	struct decoder d;

	two_events(&d, swap);
	put_ksymbol(&m);
	finish_second(&m);
	check_second(&m, &d, 72);
	begin(&m, PERF_RECORD_BPF_EVENT, 0);
	put_u64(&m, 1);
	put_u64(&m, 2);
	finish_second(&m);
	check_second(&m, &d, 64);
	begin(&m, PERF_RECORD_TEXT_POKE, 0);
	put_u64(&m, 0xffffffff81000000);
	put_u16(&m, 5);
	put_u16(&m, 2);
	put_text(&m, "OLD..nw", 12);
	finish_second(&m);
	check_second(&m, &d, 72);
	/* A valid record, and one whose name does not end. */
	put_ksymbol(&m);
	trailer(&m);
	finish(&m);
	check_second(&m, &d, 72);
	begin(&m, PERF_RECORD_KSYMBOL, 0);
	for (int i = 0; i < 10; i++)
		put_u64(&m, 0x4141414141414141);
	finish(&m);
	assert_int_equal(decoder_own_bytes(&d, m.b.data, m.b.len), 88);
	assert_int_equal(decoder_own_bytes(&d, m.b.data, 20), 0);
	buf_done(&m.b);
	decoder_done(&d);
}

static void test_record_layouts_of_other_versions(void **unused)
{
	(void)unused;
	check_second_records(false);
	check_second_records(true);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(test_mmap2),
		cmocka_unit_test(test_mmap2_without_flags),
		cmocka_unit_test(test_left_over_bit),
		cmocka_unit_test(test_unterminated_string),
		cmocka_unit_test(test_unknown_kinds_and_sizes),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_record_layouts_of_other_versions),
	};

	return UNIT_RUN(cases);
}

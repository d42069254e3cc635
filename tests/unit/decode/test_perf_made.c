/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records made by perf, without a trailer and id, in both byte orders. */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "record_maker.h"

static void words(struct maker *m, const uint64_t *w, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		put_u64(m, w[i]);
}

static void check_maps(struct maker *m, const struct decoder *d)
{
	struct record rec;

	begin(m, RECORD_THREAD_MAP, 0);
	put_u64(m, 2);
	put_u64(m, 100);
	put_text(m, "first", 16);
	put_u64(m, 101);
	put_text(m, "second", 16);
	finish(m);
	assert_int_equal(decode(m, d, &rec), 0);
	assert_int_equal(rec.thread_map.nr, 2);
	assert_int_equal(decoder_u64_at(d, rec.thread_map.rows, 3), 101);
	assert_string_equal((const char *)rec.thread_map.rows + 32, "second");
	assert_int_equal(decode_prefixes(m, d), 0);
	begin(m, RECORD_CPU_MAP, 0);
	put_u16(m, CPU_MAP_LIST);
	put_u16(m, 2);
	put_u16(m, 0);
	put_u16(m, 5);
	finish(m);
	assert_int_equal(decode(m, d, &rec), 0);
	assert_int_equal(rec.cpu_map.nr, 2);
	assert_int_equal(decode_prefixes(m, d), 0);
	begin(m, RECORD_CPU_MAP, 0);
	put_u16(m, CPU_MAP_RANGE);
	put_u8(m, 1);
	put_u8(m, 0);
	put_u16(m, 2);
	put_u16(m, 63);
	finish(m);
	assert_int_equal(decode(m, d, &rec), 0);
	assert_true(rec.cpu_map.any_cpu);
	assert_int_equal(rec.cpu_map.first, 2);
	assert_int_equal(rec.cpu_map.last, 63);
}

/* struct perf_record_mask_cpu_map32 and ..._map64: the second has four bytes of padding. */
static void check_cpu_masks(struct maker *m, const struct decoder *d)
{
	struct record rec;

	begin(m, RECORD_CPU_MAP, 0);
	put_u16(m, CPU_MAP_MASK);
	put_u16(m, 2);
	put_u16(m, 4);
	put_u32(m, 0xf);
	put_u32(m, 0x80000001);
	finish(m);
	assert_int_equal(decode(m, d, &rec), 0);
	assert_int_equal(rec.cpu_map.long_size, 4);
	assert_int_equal(decoder_u32_at(d, rec.cpu_map.values, 1), 0x80000001);
	begin(m, RECORD_CPU_MAP, 0);
	put_u16(m, CPU_MAP_MASK);
	put_u16(m, 1);
	put_u16(m, 8);
	put_u32(m, 0);
	put_u64(m, UINT64_C(0x8000000000000001));
	finish(m);
	assert_int_equal(decode(m, d, &rec), 0);
	assert_int_equal(rec.cpu_map.long_size, 8);
	assert_int_equal(decoder_u64_at(d, rec.cpu_map.values, 0),
			 UINT64_C(0x8000000000000001));
	assert_int_equal(decode_prefixes(m, d), 0);
	memset(m->b.data + 12, 0, 2);
	assert_int_equal(decode(m, d, &rec), -EBADMSG); /* words with a size of zero */
}

static void check_id_index(struct maker *m, const struct decoder *d)
{
	static const uint64_t rows[] = { 2, 70, 0, 0, 5, 71, 1, 1, 5, 9, 1, 9, 2 };
	struct record rec;

	begin(m, RECORD_ID_INDEX, 0);
	words(m, rows, 9);
	finish(m);
	assert_int_equal(decode(m, d, &rec), 0);
	assert_int_equal(rec.id_index.nr, 2);
	assert_int_equal(decoder_u64_at(d, rec.id_index.rows, 4), 71);
	assert_null(rec.id_index.guests);
	begin(m, RECORD_ID_INDEX, 0);
	words(m, rows, 13);
	finish(m);
	assert_int_equal(decode(m, d, &rec), 0);
	assert_int_equal(decoder_u64_at(d, rec.id_index.guests, 3), 2);
}

static void check_auxtrace(struct maker *m, const struct decoder *d)
{
	struct record rec;

	begin(m, RECORD_AUXTRACE_INFO, 0);
	put_u32(m, 1);
	put_u32(m, 0);
	put_u64(m, 6);
	put_u64(m, 7);
	finish(m);
	assert_int_equal(decode(m, d, &rec), 0);
	assert_int_equal(rec.auxtrace_info.kind, 1);
	assert_int_equal(rec.auxtrace_info.nr_words, 2);
	assert_int_equal(decoder_u64_at(d, rec.auxtrace_info.words, 1), 7);
	begin(m, RECORD_AUXTRACE, 0);
	put_u64(m, 4096);
	put_u64(m, 8192);
	put_u64(m, 3);
	put_u32(m, 1);
	put_u32(m, UINT32_MAX);
	put_u32(m, 5);
	put_u32(m, 0);
	finish(m);
	assert_int_equal(decode(m, d, &rec), 0);
	assert_int_equal(rec.auxtrace.size, 4096);
	assert_int_equal(rec.auxtrace.offset, 8192);
	assert_int_equal(rec.auxtrace.reference, 3);
	assert_int_equal(rec.auxtrace.idx, 1);
	assert_int_equal(rec.auxtrace.tid, -1);
	assert_int_equal(rec.auxtrace.cpu, 5);
}

/* Checks a record of an AUX trace error. `format` 0: perf before 5.2, with the message at the
 * later position of the time. */
static void check_auxtrace_error(struct maker *m, const struct decoder *d,
				 uint32_t format)
{
	struct record rec;

	begin(m, RECORD_AUXTRACE_ERROR, 0);
	put_u32(m, 1);
	put_u32(m, 8);
	put_u32(m, 2);
	put_u32(m, 100);
	put_u32(m, 101);
	put_u32(m, format);
	put_u64(m, 0x1234);
	if (format)
		put_u64(m, 99);
	put_text(m, "Overflow packet", 64);
	finish(m);
	assert_int_equal(decode(m, d, &rec), 0);
	assert_int_equal(rec.auxtrace_error.kind, 1);
	assert_int_equal(rec.auxtrace_error.code, 8);
	assert_int_equal(rec.auxtrace_error.cpu, 2);
	assert_int_equal(rec.auxtrace_error.pid, 100);
	assert_int_equal(rec.auxtrace_error.tid, 101);
	assert_int_equal(rec.auxtrace_error.ip, 0x1234);
	assert_int_equal(rec.auxtrace_error.time_ns, format ? 99 : 0);
	assert_string_equal(rec.auxtrace_error.message, "Overflow packet");
	decode_prefixes(m, d);
}

static void check_stat(struct maker *m, const struct decoder *d)
{
	static const uint64_t numbers[] = { 1, 60, 61 };
	struct record rec;

	begin(m, RECORD_STAT_CONFIG, 0);
	words(m, numbers, 3);
	finish(m);
	assert_int_equal(decode(m, d, &rec), 0);
	assert_int_equal(rec.stat_config.nr, 1);
	assert_int_equal(decoder_u64_at(d, rec.stat_config.rows, 1), 61);
	begin(m, RECORD_STAT_ROUND, 0);
	words(m, numbers, 2);
	finish(m);
	assert_int_equal(decode(m, d, &rec), 0);
	assert_int_equal(rec.stat_round.kind, 1);
	assert_int_equal(rec.stat_round.time_ns, 60);
	begin(m, RECORD_STAT, 0);
	put_u64(m, 5);
	put_u32(m, 1);
	put_u32(m, 2);
	words(m, numbers, 3);
	finish(m);
	assert_int_equal(decode(m, d, &rec), 0);
	assert_int_equal(rec.stat.id, 5);
	assert_int_equal(rec.stat.cpu, 1);
	assert_int_equal(rec.stat.thread, 2);
	assert_int_equal(rec.stat.value, 1);
	assert_int_equal(rec.stat.enabled_ns, 60);
	assert_int_equal(rec.stat.running_ns, 61);
	assert_int_equal(decode_prefixes(m, d), 0);
}

static void check_clock(struct maker *m, const struct decoder *d)
{
	static const uint64_t numbers[] = { 31, 32, 33, 34, 35 };
	struct record rec;

	begin(m, RECORD_TIME_CONV, 0);
	words(m, numbers, 3);
	finish(m);
	assert_int_equal(decode(m, d, &rec), 0);
	assert_int_equal(rec.time_conv.time_shift, 31);
	assert_int_equal(rec.time_conv.time_mult, 32);
	assert_int_equal(rec.time_conv.time_zero, 33);
	assert_int_equal(rec.time_conv.time_mask, 0);
	begin(m, RECORD_TIME_CONV, 0);
	words(m, numbers, 5);
	put_text(m, "\1\1", 8);
	finish(m);
	assert_int_equal(decode(m, d, &rec), 0);
	assert_int_equal(rec.time_conv.time_cycles, 34);
	assert_int_equal(rec.time_conv.time_mask, 35);
	assert_true(rec.time_conv.has_time_zero && rec.time_conv.has_time_short);
}

static void check_others(struct maker *m, const struct decoder *d)
{
	struct record rec;

	begin(m, RECORD_EVENT_UPDATE, 0);
	put_u64(m, 2);
	put_u64(m, 70);
	put_text(m, "cycles", 8);
	finish(m);
	assert_int_equal(decode(m, d, &rec), 0);
	assert_int_equal(rec.event_update.kind, 2);
	assert_int_equal(rec.event_update.id, 70);
	assert_int_equal(rec.event_update.len, 8);
	assert_string_equal((const char *)rec.event_update.data, "cycles");
	begin(m, RECORD_HEADER_FEATURE, 0);
	put_u64(m, 3);
	put_u64(m, 4);
	finish(m);
	assert_int_equal(decode(m, d, &rec), 0);
	assert_int_equal(rec.header_feature.feature, 3);
	assert_int_equal(rec.header_feature.len, 8);
	begin(m, RECORD_HEADER_TRACING_DATA, 0);
	put_u32(m, 1000);
	finish(m);
	assert_int_equal(decode(m, d, &rec), 0);
	assert_int_equal(rec.tracing_data.size, 1000);
	begin(m, RECORD_BPF_METADATA, 0);
	put_text(m, "prog", 64);
	finish(m);
	assert_int_equal(decode(m, d, &rec), 0);
	assert_string_equal(rec.bpf_metadata.prog, "prog");
	begin(m, RECORD_SCHEDSTAT_DOMAIN, 0);
	put_u64(m, 999);
	put_u32(m, 3);
	put_u16(m, 17);
	put_u16(m, 1);
	put_u64(m, 0);
	finish(m);
	assert_int_equal(decode(m, d, &rec), 0);
	assert_int_equal(rec.schedstat.time, 999);
	assert_int_equal(rec.schedstat.cpu, 3);
	assert_int_equal(rec.schedstat.version, 17);
	assert_int_equal(rec.schedstat.domain, 1);
	assert_int_equal(rec.schedstat.len, 8);
}

static void check_bare(struct maker *m, const struct decoder *d)
{
	struct record rec;

	begin(m, RECORD_FINISHED_ROUND, 0);
	finish(m);
	assert_int_equal(decode(m, d, &rec), 0);
	assert_int_equal(rec.type, RECORD_FINISHED_ROUND);
	assert_int_equal(rec.id.pid, -1);
	assert_false(rec.id.has_time);
	for (uint32_t type = 64; type < 100; type++) {
		begin(m, type, 0);
		for (int i = 0; i < 5; i++)
			put_u64(m, UINT64_MAX);
		finish(m);
		decode(m, d, &rec);
		decode_prefixes(m, d);
		/* The last words are not a trailer here. */
		assert_int_equal(rec.id.time_ns, 0);
	}
}

static void test_perf_made(void **unused)
{
	struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_IDENTIFIER |
						       PERF_SAMPLE_TIME,
					.sample_id_all = 1 };

	(void)unused;
	for (int swap = 0; swap < 2; swap++) {
		struct maker m = { .swap = swap };
		struct decoder d;

		decoder_init(&d, swap);
		assert_int_equal(decoder_add_attr(&d, &attr), 0);
		check_maps(&m, &d);
		check_cpu_masks(&m, &d);
		check_id_index(&m, &d);
		check_auxtrace(&m, &d);
		check_auxtrace_error(&m, &d, 0);
		check_auxtrace_error(&m, &d, 1);
		check_stat(&m, &d);
		check_clock(&m, &d);
		check_others(&m, &d);
		check_bare(&m, &d);
		buf_done(&m.b);
		decoder_done(&d);
	}
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(test_perf_made),
	};

	return UNIT_RUN(cases);
}

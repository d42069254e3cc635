/* Raw records: every field in its place, in both byte orders, and cut anywhere. */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/buf.h"
#include "base/err.h"
#include "decode/record.h"

/* Writes integers in either byte order. */
struct maker {
	struct buf b;
	bool swap;
};

static void u16(struct maker *m, uint16_t v)
{
	v = m->swap ? __builtin_bswap16(v) : v;
	buf_put(&m->b, &v, sizeof(v));
}

static void u32(struct maker *m, uint32_t v)
{
	v = m->swap ? __builtin_bswap32(v) : v;
	buf_put(&m->b, &v, sizeof(v));
}

static void u64(struct maker *m, uint64_t v)
{
	v = m->swap ? __builtin_bswap64(v) : v;
	buf_put(&m->b, &v, sizeof(v));
}

static void text(struct maker *m, const char *s, size_t bytes)
{
	char padded[64] = "";

	memcpy(padded, s, strlen(s));
	buf_put(&m->b, padded, bytes);
}

static void start(struct maker *m, uint32_t type, uint16_t misc)
{
	buf_clear(&m->b);
	u32(m, type);
	u16(m, misc);
	u16(m, 0);
}

static void finish(struct maker *m)
{
	uint16_t size = (uint16_t)m->b.len;

	size = m->swap ? __builtin_bswap16(size) : size;
	memcpy(m->b.data + 6, &size, sizeof(size));
}

enum {
	FULL = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
	       PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_STREAM_ID |
	       PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ |
	       PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK |
	       PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_WEIGHT |
	       PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_REGS_INTR |
	       PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_CGROUP
};

static void two_events(struct decoder *d, bool swap)
{
	struct perf_event_attr attr = { .size = sizeof(attr),
					.sample_type = FULL,
					.sample_id_all = 1,
					.sample_regs_user = 5,
					.sample_regs_intr = 1,
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

static void full_sample(struct maker *m)
{
	start(m, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	u64(m, 701);    /* identifier */
	u64(m, 0x1234); /* ip */
	u32(m, 10);
	u32(m, 11);
	u64(m, 99);    /* time */
	u64(m, 0xadd); /* addr */
	u64(m, 1);     /* stream id */
	u32(m, 3);     /* cpu */
	u32(m, 0);
	u64(m, 4000); /* period */
	u64(m, 2);    /* read: group of two, one time, three words each */
	u64(m, 0);
	for (int i = 0; i < 6; i++)
		u64(m, 0);
	u64(m, 2); /* chain */
	u64(m, PERF_CONTEXT_USER);
	u64(m, 0x1234);
	u32(m, 4); /* raw */
	u32(m, 0xdeadbeef);
	u64(m, 1); /* branches */
	for (int i = 0; i < 3; i++)
		u64(m, 0);
	u64(m, 2); /* user registers: abi, two of them */
	u64(m, 0);
	u64(m, 0);
	u64(m, 8); /* stack */
	u64(m, 0);
	u64(m, 8);
	u64(m, 0); /* weight */
	u64(m, 0); /* data source */
	u64(m, 0); /* transaction */
	u64(m, 0); /* no registers at the interrupt */
	u64(m, 0); /* physical address */
	u64(m, 0xc6);
	finish(m);
}

static void check_sample(bool swap)
{
	struct maker m = { .swap = swap };
	struct decoder d;
	struct record rec;
	struct err err;

	two_events(&d, swap);
	full_sample(&m);
	assert_int_equal(decoder_record(&d, m.b.data, m.b.len, &rec, &err), 0);
	assert_int_equal(rec.id.event, 1);
	assert_int_equal(rec.sample.ip.v, 0x1234);
	assert_int_equal(rec.id.pid, 10);
	assert_int_equal(rec.id.tid, 11);
	assert_int_equal(rec.id.time_ns, 99);
	assert_int_equal(rec.sample.addr, 0xadd);
	assert_int_equal(rec.id.cpu, 3);
	assert_int_equal(rec.sample.period, 4000);
	assert_int_equal(rec.sample.nr_chain, 2);
	assert_int_equal(decoder_chain_at(&d, &rec.sample, 0), PERF_CONTEXT_USER);
	assert_int_equal(decoder_chain_at(&d, &rec.sample, 1), 0x1234);
	assert_int_equal(rec.sample.cgroup, 0xc6);
	/* Cut anywhere: by the data's end, and by its own size. */
	for (size_t len = 0; len < m.b.len; len++) {
		uint8_t *copy = malloc(len ? len : 1);
		uint16_t size = (uint16_t)len;

		memcpy(copy, m.b.data, len);
		assert_int_equal(decoder_record(&d, copy, len, &rec, &err), -EBADMSG);
		size = swap ? __builtin_bswap16(size) : size;
		if (len >= 8) {
			memcpy(copy + 6, &size, sizeof(size));
			assert_int_equal(decoder_record(&d, copy, len, &rec, &err),
					 -EBADMSG);
		}
		free(copy);
	}
	buf_done(&m.b);
	decoder_done(&d);
}

static void test_sample(void **unused)
{
	(void)unused;
	check_sample(false);
	check_sample(true);
}

static void trailer(struct maker *m)
{
	u32(m, 20);
	u32(m, 21);
	u64(m, 1234567); /* time */
	u64(m, 1);       /* stream */
	u32(m, 1);       /* cpu */
	u32(m, 0);
	u64(m, 700); /* identifier */
}

static void mmap2(struct maker *m, bool build_id)
{
	start(m, PERF_RECORD_MMAP2,
	      PERF_RECORD_MISC_USER | (build_id ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0));
	u32(m, 20);
	u32(m, 21);
	u64(m, 0x7000);
	u64(m, 0x2000);
	u64(m, 0x1000);
	if (build_id) {
		uint8_t id[24] = { 20, 0, 0, 0, 0xab, 0xcd };

		buf_put(&m->b, id, sizeof(id));
	} else {
		u32(m, 8);
		u32(m, 1);
		u64(m, 4711);
		u64(m, 5);
	}
	u32(m, PROT_READ | PROT_EXEC);
	u32(m, MAP_PRIVATE);
	text(m, "/usr/lib/libc.so.6", 24);
	trailer(m);
	finish(m);
}

static void check_mmap2(bool swap)
{
	struct maker m = { .swap = swap };
	struct decoder d;
	struct record rec;

	two_events(&d, swap);
	mmap2(&m, false);
	assert_int_equal(decoder_record(&d, m.b.data, m.b.len, &rec, NULL), 0);
	assert_int_equal(rec.mmap.pid, 20);
	assert_int_equal(rec.mmap.start, 0x7000);
	assert_int_equal(rec.mmap.len, 0x2000);
	assert_int_equal(rec.mmap.pgoff, 0x1000);
	assert_int_equal(rec.mmap.maj, 8);
	assert_int_equal(rec.mmap.ino, 4711);
	assert_int_equal(rec.mmap.build_id_len, 0);
	assert_int_equal(rec.mmap.prot, PROT_READ | PROT_EXEC);
	assert_string_equal(rec.mmap.path, "/usr/lib/libc.so.6");
	assert_int_equal(rec.id.time_ns, 1234567);
	assert_int_equal(rec.id.event, 0);
	mmap2(&m, true);
	assert_int_equal(decoder_record(&d, m.b.data, m.b.len, &rec, NULL), 0);
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

static void test_string_without_end(void **unused)
{
	struct maker m = { 0 };
	struct decoder d;
	struct record rec;

	(void)unused;
	two_events(&d, false);
	start(&m, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
	u32(&m, 1);
	u32(&m, 2);
	buf_put(&m.b, "abcdefgh", 8);
	finish(&m);
	assert_int_equal(decoder_record(&d, m.b.data, m.b.len, &rec, NULL), -EBADMSG);
	m.b.data[m.b.len - 1] = 0;
	assert_int_equal(decoder_record(&d, m.b.data, m.b.len, &rec, NULL), 0);
	assert_string_equal(rec.comm.comm, "abcdefg");
	assert_true(rec.comm.exec);
	buf_done(&m.b);
	decoder_done(&d);
}

static void test_unknown_kind_and_sizes(void **unused)
{
	struct maker m = { 0 };
	struct decoder d;
	struct record rec;

	(void)unused;
	two_events(&d, false);
	start(&m, 4000, 7);
	u64(&m, 1);
	finish(&m);
	assert_int_equal(decoder_record(&d, m.b.data, m.b.len, &rec, NULL), 0);
	assert_int_equal(rec.type, 4000);
	m.b.data[6] = 4; /* smaller than its own header */
	assert_int_equal(decoder_record(&d, m.b.data, m.b.len, &rec, NULL), -EBADMSG);
	m.b.data[6] = 200; /* larger than the data */
	assert_int_equal(decoder_record(&d, m.b.data, m.b.len, &rec, NULL), -EBADMSG);
	buf_done(&m.b);
	decoder_done(&d);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(test_sample),
		cmocka_unit_test(test_mmap2),
		cmocka_unit_test(test_string_without_end),
		cmocka_unit_test(test_unknown_kind_and_sizes),
	};

	return UNIT_RUN(cases);
}

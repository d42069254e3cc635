/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decodes samples: every field, in both byte orders, and cut at every byte. */
#include "base/array.h"

#include "unit.h"

#include <errno.h>
#include <string.h>

#include "record_maker.h"

static const uint64_t everything =
	PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
	PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
	PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN |
	PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER |
	PERF_SAMPLE_STACK_USER | PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC |
	PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_PHYS_ADDR |
	PERF_SAMPLE_AUX | PERF_SAMPLE_CGROUP | PERF_SAMPLE_DATA_PAGE_SIZE |
	PERF_SAMPLE_CODE_PAGE_SIZE;

/* Two events with this attr, with the ids 700 and 701. */
static void two_events(struct decoder *d, const struct perf_event_attr *attr, bool swap)
{
	decoder_init(d, swap);
	assert_int_equal(decoder_add_attr(d, attr), 0);
	assert_int_equal(decoder_add_attr(d, attr), 0);
	assert_int_equal(decoder_add_id(d, 700, 0), 0);
	assert_int_equal(decoder_add_id(d, 701, 1), 0);
}

static void fixed_part(struct maker *m)
{
	begin(m, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put_u64(m, 701);    /* identifier */
	put_u64(m, 0x1234); /* ip */
	put_u32(m, 10);
	put_u32(m, 11);
	put_u64(m, 99);    /* time */
	put_u64(m, 0xadd); /* addr */
	put_u64(m, 701);   /* id */
	put_u64(m, 31);    /* stream id */
	put_u32(m, 3);     /* cpu */
	put_u32(m, 0xffff);
	put_u64(m, 4000); /* period */
}

/* Writes the flags of a branch. They are C bit fields: from the lowest bit up in a little-endian
 * machine's file, from the highest one down in a big-endian one's. */
static void put_branch_flags(struct maker *m)
{
	/* predicted, aborted, 0x1234 cycles, return, spec 2, new_type 5, priv 3 */
	uint64_t low_first = 0x2 | 0x8 | UINT64_C(0x1234) << 4 | UINT64_C(6) << 20 |
			     UINT64_C(2) << 24 | UINT64_C(5) << 26 | UINT64_C(3) << 30;
	uint64_t high_first = UINT64_C(1) << 62 | UINT64_C(1) << 60 |
			      UINT64_C(0x1234) << 44 | UINT64_C(6) << 40 |
			      UINT64_C(2) << 38 | UINT64_C(5) << 34 | UINT64_C(3) << 31;
	bool big = m->swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

	put_u64(m, big ? high_first : low_first);
}

static void variable_part(struct maker *m)
{
	put_u64(m, 2); /* read: a group of two, both times, three words each */
	put_u64(m, 5000);
	put_u64(m, 4000);
	for (uint64_t i = 0; i < 6; i++)
		put_u64(m, 60 + i);
	put_u64(m, 3); /* chain */
	put_u64(m, (uint64_t)-512);
	put_u64(m, 0x1234);
	put_u64(m, 0x5678);
	put_u32(m, 12); /* raw */
	put_text(m, "raw payload", 12);
	put_u64(m, 2); /* branches */
	put_u64(m, 77);
	put_u64(m, 0x100);
	put_u64(m, 0x200);
	put_branch_flags(m);
	put_u64(m, 0x300);
	put_u64(m, 0x400);
	put_u64(m, 0);
	put_u64(m, 0xc1); /* their counters */
	put_u64(m, 0xc2);
	put_u64(m, 2); /* user registers: abi, two of them */
	put_u64(m, 0xa0);
	put_u64(m, 0xa2);
	put_u64(m, 16); /* stack, of which 5 bytes are used */
	put_text(m, "stack", 16);
	put_u64(m, 5);
	put_u64(m, UINT64_C(0x0021000b00000309)); /* weight, ins_lat, p_stage_cyc */
	put_u64(m, 0xda7a);
	put_u64(m, 0x7a);
	put_u64(m, 0); /* no registers at the interrupt */
	put_u64(m, 0xf000);
	put_u64(m, 0xc6);
	put_u64(m, 4096);
	put_u64(m, 2097152);
	put_u64(m, 8); /* aux */
	put_text(m, "AUX", 8);
}

static const struct perf_event_attr full_attr = {
	.size = sizeof(full_attr),
	.sample_type = everything,
	.sample_id_all = 1,
	.sample_regs_user = 5,
	.sample_regs_intr = 1,
	.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX | SAMPLE_BRANCH_COUNTERS,
	.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_LOST |
		       PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
};

static void check_fixed(const struct record *rec)
{
	assert_int_equal(rec->type, PERF_RECORD_SAMPLE);
	assert_int_equal(rec->misc, PERF_RECORD_MISC_USER);
	assert_int_equal(rec->id.event, 1);
	assert_false(rec->id.stray);
	assert_int_equal(rec->id.id, 701);
	assert_int_equal(rec->id.stream_id, 31);
	assert_int_equal(rec->sample.ip.v, 0x1234);
	assert_int_equal(rec->id.pid, 10);
	assert_int_equal(rec->id.tid, 11);
	assert_true(rec->id.has_time);
	assert_int_equal(rec->id.time_ns, 99);
	assert_int_equal(rec->sample.addr, 0xadd);
	assert_int_equal(rec->id.cpu, 3);
	assert_int_equal(rec->sample.period, 4000);
}

static void check_branches(const struct decoder *d, const struct record_sample *s)
{
	struct branch b;

	assert_int_equal(s->nr_branches, 2);
	assert_int_equal(s->branch_hw_index, 77);
	b = decoder_branch_at(d, s, 0);
	assert_int_equal(b.from, 0x100);
	assert_int_equal(b.to, 0x200);
	assert_false(b.mispredicted);
	assert_true(b.predicted);
	assert_false(b.in_tx);
	assert_true(b.aborted);
	assert_int_equal(b.cycles, 0x1234);
	assert_int_equal(b.type, PERF_BR_RET);
	assert_string_equal(branch_type_name(&b), "RET");
	assert_int_equal(b.spec, 2);
	assert_int_equal(b.new_type, 5);
	assert_int_equal(b.priv, 3);
	b = decoder_branch_at(d, s, 1);
	assert_int_equal(b.from, 0x300);
	assert_int_equal(b.to, 0x400);
	assert_false(b.predicted);
	assert_int_equal(b.type, 0);
	assert_string_equal(branch_type_name(&b), "");
	assert_int_equal(decoder_u64_at(d, s->branch_counters, 1), 0xc2);
}

static void check_read(const struct decoder *d, const struct record_read *r)
{
	assert_int_equal(r->nr, 2);
	assert_int_equal(r->enabled_ns, 5000);
	assert_int_equal(r->running_ns, 4000);
	assert_int_equal(r->one.value, 60);
	assert_int_equal(decoder_read_at(d, r, 0).id, 61);
	assert_int_equal(decoder_read_at(d, r, 1).value, 63);
	assert_int_equal(decoder_read_at(d, r, 1).id, 64);
	assert_int_equal(decoder_read_at(d, r, 1).lost, 65);
}

static void check_rest(const struct decoder *d, const struct record_sample *s)
{
	check_read(d, &s->read);
	assert_int_equal(s->nr_chain, 3);
	assert_int_equal(chain_mark_of(decoder_chain_at(d, s, 0)), CHAIN_USER);
	assert_int_equal(decoder_chain_at(d, s, 2), 0x5678);
	assert_int_equal(s->raw.len, 12);
	assert_memory_equal(s->raw.at, "raw payload", 12);
	check_branches(d, s);
	assert_int_equal(s->user_regs.abi, PERF_SAMPLE_REGS_ABI_64);
	assert_int_equal(s->user_regs.mask, 5);
	assert_int_equal(decoder_u64_at(d, s->user_regs.values, 1), 0xa2);
	assert_int_equal(s->user_stack.len, 5);
	assert_memory_equal(s->user_stack.at, "stack", 5);
	assert_int_equal(s->weight, 0x309);
	assert_int_equal(s->ins_lat, 0xb);
	assert_int_equal(s->p_stage_cyc, 0x21);
	assert_int_equal(s->data_src, 0xda7a);
	assert_int_equal(s->transaction, 0x7a);
	assert_int_equal(s->intr_regs.abi, PERF_SAMPLE_REGS_ABI_NONE);
	assert_int_equal(s->intr_regs.mask, 0);
	assert_int_equal(s->phys_addr, 0xf000);
	assert_int_equal(s->cgroup, 0xc6);
	assert_int_equal(s->data_page_size, 4096);
	assert_int_equal(s->code_page_size, 2097152);
	assert_int_equal(s->aux.len, 8);
	assert_memory_equal(s->aux.at, "AUX", 4);
}

static void check_sample(bool swap)
{
	struct maker m = { .swap = swap };
	struct decoder d;
	struct record rec;

	two_events(&d, &full_attr, swap);
	fixed_part(&m);
	variable_part(&m);
	finish(&m);
	assert_int_equal(decode(&m, &d, &rec), 0);
	check_fixed(&rec);
	assert_true(rec.sample.has & PERF_SAMPLE_AUX);
	check_rest(&d, &rec.sample);
	assert_int_equal(decode_prefixes(&m, &d), 0);
	/* The short function does not read the fields after these. */
	memset(&rec, 0xff, sizeof(rec));
	assert_int_equal(decoder_sample_fixed(&d, m.b.data, m.b.len, &rec, NULL), 0);
	check_fixed(&rec);
	assert_int_equal(rec.sample.nr_chain, 0);
	assert_int_equal(rec.sample.has, 0);
	fixed_part(&m);
	finish(&m);
	assert_int_equal(decode(&m, &d, &rec), -EBADMSG);
	assert_int_equal(decoder_sample_fixed(&d, m.b.data, m.b.len, &rec, NULL), 0);
	m.b.len -= 8;
	finish(&m);
	assert_int_equal(decoder_sample_fixed(&d, m.b.data, m.b.len, &rec, NULL),
			 -EBADMSG);
	buf_done(&m.b);
	decoder_done(&d);
}

static void test_sample(void **unused)
{
	(void)unused;
	check_sample(false);
	check_sample(true);
}

/* A flat sample: missing fields are -1 or 0, the period comes from the attr. */
static void test_short_records(void **unused)
{
	struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_IP,
					.sample_period = 12345 };
	struct maker m = { 0 };
	struct decoder d;
	struct record rec;

	(void)unused;
	decoder_init(&d, false);
	assert_int_equal(decoder_add_attr(&d, &attr), 0);
	begin(&m, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
	put_u64(&m, 0xffffffff81000000);
	finish(&m);
	memset(&rec, 0xff, sizeof(rec));
	assert_int_equal(decode(&m, &d, &rec), 0);
	assert_int_equal(rec.sample.ip.v, 0xffffffff81000000);
	assert_int_equal(rec.sample.period, 12345);
	assert_int_equal(rec.id.pid, -1);
	assert_int_equal(rec.id.tid, -1);
	assert_false(rec.id.has_time);
	assert_int_equal(rec.sample.addr, 0);
	assert_int_equal(rec.sample.nr_chain, 0);
	buf_done(&m.b);
	decoder_done(&d);
}

/* Checks a form of struct read_format, and the plain weight. */
static void check_read_format(uint64_t format, uint64_t nr, uint64_t id, uint64_t lost)
{
	struct perf_event_attr attr = { .sample_type =
						PERF_SAMPLE_READ | PERF_SAMPLE_WEIGHT,
					.read_format = format };
	struct maker m = { .swap = true };
	struct decoder d;
	struct record rec;

	decoder_init(&d, true);
	assert_int_equal(decoder_add_attr(&d, &attr), 0);
	begin(&m, PERF_RECORD_SAMPLE, 0);
	if (format & PERF_FORMAT_GROUP) {
		put_u64(&m, nr);
		for (uint64_t i = 0; i < nr; i++)
			put_u64(&m, 1000 + i);
	} else {
		put_u64(&m, 1000);
		if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
			put_u64(&m, 9);
		if (format & PERF_FORMAT_ID)
			put_u64(&m, id);
		if (format & PERF_FORMAT_LOST)
			put_u64(&m, lost);
	}
	put_u64(&m, UINT64_C(0x1122334455667788));
	finish(&m);
	assert_int_equal(decode(&m, &d, &rec), 0);
	assert_int_equal(rec.sample.read.nr, nr);
	assert_int_equal(decoder_read_at(&d, &rec.sample.read, nr - 1).value,
			 1000 + nr - 1);
	assert_int_equal(rec.sample.read.one.id, id);
	assert_int_equal(rec.sample.read.one.lost, lost);
	assert_int_equal(rec.sample.weight, UINT64_C(0x1122334455667788));
	assert_int_equal(rec.sample.ins_lat, 0);
	assert_int_equal(decode_prefixes(&m, &d), 0);
	buf_done(&m.b);
	decoder_done(&d);
}

static void test_read_formats(void **unused)
{
	(void)unused;
	check_read_format(0, 1, 0, 0);
	check_read_format(PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID, 1, 5, 0);
	check_read_format(PERF_FORMAT_ID | PERF_FORMAT_LOST, 1, 5, 6);
	check_read_format(PERF_FORMAT_GROUP, 3, 0, 0);
}

/* Checks a sample with sizes whose product overflows. */
static void absurd(uint64_t type, uint64_t number)
{
	struct perf_event_attr attr = { .sample_type = type,
					.read_format = PERF_FORMAT_GROUP };
	struct maker m = { 0 };
	struct decoder d;
	struct record rec;

	decoder_init(&d, false);
	assert_int_equal(decoder_add_attr(&d, &attr), 0);
	begin(&m, PERF_RECORD_SAMPLE, 0);
	put_u64(&m, number);
	for (int i = 0; i < 8; i++)
		put_u64(&m, 0);
	finish(&m);
	assert_int_equal(decode(&m, &d, &rec), -EBADMSG);
	buf_done(&m.b);
	decoder_done(&d);
}

static void test_absurd_counts(void **unused)
{
	static const uint64_t types[] = { PERF_SAMPLE_READ, PERF_SAMPLE_CALLCHAIN,
					  PERF_SAMPLE_BRANCH_STACK,
					  PERF_SAMPLE_STACK_USER, PERF_SAMPLE_AUX };

	(void)unused;
	for (size_t i = 0; i < COUNT_OF(types); i++) {
		absurd(types[i], UINT64_C(1) << 61);
		absurd(types[i], UINT64_MAX);
		absurd(types[i], 65);
	}
	absurd(PERF_SAMPLE_RAW, 69);
}

/* More of the stack is used than was copied. */
static void test_stack_overrun(void **unused)
{
	struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_STACK_USER };
	struct maker m = { 0 };
	struct decoder d;
	struct record rec;

	(void)unused;
	decoder_init(&d, false);
	assert_int_equal(decoder_add_attr(&d, &attr), 0);
	begin(&m, PERF_RECORD_SAMPLE, 0);
	put_u64(&m, 8);
	put_u64(&m, 0);
	put_u64(&m, 9);
	finish(&m);
	assert_int_equal(decode(&m, &d, &rec), -EBADMSG);
	/* Without a stack, the second number is missing too. */
	begin(&m, PERF_RECORD_SAMPLE, 0);
	put_u64(&m, 0);
	finish(&m);
	assert_int_equal(decode(&m, &d, &rec), 0);
	assert_int_equal(rec.sample.user_stack.len, 0);
	buf_done(&m.b);
	decoder_done(&d);
}

enum {
	OFF_CPU_HEAD_BYTES = 24, /* pid, tid, ns, number of words */
	OFF_CPU_NS = 7000
};

/* Writes a sample of off-CPU time with `len` bytes of RAW data; with 40 bytes or more the data is
 * complete. */
static void off_cpu_sample(struct maker *m, uint32_t len)
{
	struct maker raw = { .swap = m->swap };

	put_u32(&raw, 20);
	put_u32(&raw, 21);
	put_u64(&raw, OFF_CPU_NS);
	put_u64(&raw, 3);
	put_u64(&raw, (uint64_t)PERF_CONTEXT_USER);
	put_u64(&raw, 0x4000);
	put_u64(&raw, 0x5000);
	put_u64(&raw, 99);
	begin(m, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
	put_u64(m, 0xffffffff81000000);
	put_u32(m, 0);
	put_u32(m, 0);
	put_u64(m, 1);
	put_u32(m, len);
	buf_put(&m->b, raw.b.data, len);
	finish(m);
	buf_done(&raw.b);
}

static void check_off_cpu(bool swap)
{
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_BPF_OUTPUT,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD |
			       PERF_SAMPLE_RAW,
	};
	const uint32_t whole = OFF_CPU_HEAD_BYTES + 4 * sizeof(uint64_t);
	struct maker m = { .swap = swap };
	struct decoder d;
	struct record rec;

	decoder_init(&d, swap);
	assert_int_equal(decoder_add_attr(&d, &attr), 0);
	off_cpu_sample(&m, whole);
	assert_int_equal(decode(&m, &d, &rec), 0);
	assert_int_equal(rec.id.pid, 0);
	decoder_set_off_cpu(&d);
	assert_int_equal(decode(&m, &d, &rec), 0);
	assert_int_equal(rec.id.pid, 20);
	assert_int_equal(rec.id.tid, 21);
	assert_int_equal(rec.sample.period, OFF_CPU_NS);
	assert_int_equal(rec.sample.ip.v, 0x4000);
	assert_int_equal(rec.sample.cgroup, 99);
	assert_int_equal(rec.sample.nr_chain, 3);
	assert_int_equal(rec.misc, PERF_RECORD_MISC_USER);
	assert_int_equal(decoder_sample_fixed(&d, m.b.data, m.b.len, &rec, NULL), 0);
	assert_int_equal(rec.id.pid, 20);
	assert_int_equal(rec.sample.ip.v, 0x4000);
	assert_int_equal(rec.sample.nr_chain, 0);
	for (uint32_t len = 0; len < whole; len += sizeof(uint32_t)) {
		off_cpu_sample(&m, len);
		assert_int_equal(decode(&m, &d, &rec), -EBADMSG);
		assert_int_equal(
			decoder_sample_fixed(&d, m.b.data, m.b.len, &rec, NULL),
			-EBADMSG);
	}
	buf_done(&m.b);
	decoder_done(&d);
}

static void test_off_cpu(void **unused)
{
	(void)unused;
	check_off_cpu(false);
	check_off_cpu(true);
}

static void test_marks_of_special_samples(void **unused)
{
	(void)unused;
	assert_int_equal(chain_mark_of(0x1234), CHAIN_ADDRESS);
	assert_int_equal(chain_mark_of(0xffffffff81000000), CHAIN_ADDRESS);
	assert_int_equal(chain_mark_of((uint64_t)-4096), CHAIN_ADDRESS);
	assert_int_equal(chain_mark_of((uint64_t)-32), CHAIN_HYPERVISOR);
	assert_int_equal(chain_mark_of((uint64_t)-128), CHAIN_KERNEL);
	assert_int_equal(chain_mark_of((uint64_t)-512), CHAIN_USER);
	assert_int_equal(chain_mark_of((uint64_t)-640), CHAIN_USER_DEFERRED);
	assert_int_equal(chain_mark_of((uint64_t)-2048), CHAIN_GUEST);
	assert_int_equal(chain_mark_of((uint64_t)-2176), CHAIN_GUEST_KERNEL);
	assert_int_equal(chain_mark_of((uint64_t)-2560), CHAIN_GUEST_USER);
	assert_int_equal(chain_mark_of((uint64_t)-4095), CHAIN_UNKNOWN_MARK);
	assert_int_equal(chain_mark_of(UINT64_MAX), CHAIN_UNKNOWN_MARK);
}

/* The position of the id: after ip, tid, time and addr, before cpu and stream. */
static void test_finds_the_attr_by_id(void **unused)
{
	struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_IP |
						       PERF_SAMPLE_TIME |
						       PERF_SAMPLE_ID | PERF_SAMPLE_CPU,
					.sample_id_all = 1 };
	struct maker m = { 0 };
	struct decoder d;
	struct record rec;

	(void)unused;
	two_events(&d, &attr, false);
	for (uint64_t id = 699; id < 703; id++) {
		begin(&m, PERF_RECORD_SAMPLE, 0);
		put_u64(&m, 1);
		put_u64(&m, 2);
		put_u64(&m, id == 699 ? 0 : id);
		put_u64(&m, 3);
		finish(&m);
		assert_int_equal(decode(&m, &d, &rec), 0);
		assert_int_equal(rec.id.event, id == 701);
		assert_int_equal(rec.id.stray, id == 702);
	}
	begin(&m, PERF_RECORD_LOST, 0);
	put_u64(&m, 0);
	put_u64(&m, 8);
	put_u64(&m, 55); /* time, id, cpu */
	put_u64(&m, 701);
	put_u64(&m, 1);
	finish(&m);
	assert_int_equal(decode(&m, &d, &rec), 0);
	assert_int_equal(rec.id.event, 1);
	assert_int_equal(rec.id.time_ns, 55);
	/* An event that has the id at another offset: there is no common offset any more. */
	attr.sample_type |= PERF_SAMPLE_ADDR | PERF_SAMPLE_STREAM_ID;
	assert_int_equal(decoder_add_attr(&d, &attr), 0);
	assert_int_equal(decode(&m, &d, &rec), 0);
	assert_int_equal(rec.id.event, 0);
	buf_done(&m.b);
	decoder_done(&d);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(test_sample),
		cmocka_unit_test(test_short_records),
		cmocka_unit_test(test_read_formats),
		cmocka_unit_test(test_absurd_counts),
		cmocka_unit_test(test_stack_overrun),
		cmocka_unit_test(test_marks_of_special_samples),
		cmocka_unit_test(test_off_cpu),
		cmocka_unit_test(test_finds_the_attr_by_id),
	};

	return UNIT_RUN(cases);
}

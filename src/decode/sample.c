/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "decode/sample.h"

#include <string.h>

#include "base/array.h"
#include "decode/record_priv.h"

/* Forces inlining, so that the compiler creates a version of the code for each byte order. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum {
	BRANCH_BYTES = 24 /* three words: from, to, flags */
};

uint64_t decoder_u64_at(const struct decoder *d, const uint8_t *array, uint64_t i)
{
	uint64_t v;

	memcpy(&v, array + i * sizeof(v), sizeof(v));
	return d->swap ? __builtin_bswap64(v) : v;
}

uint32_t decoder_u32_at(const struct decoder *d, const uint8_t *array, uint64_t i)
{
	uint32_t v;

	memcpy(&v, array + i * sizeof(v), sizeof(v));
	return d->swap ? __builtin_bswap32(v) : v;
}

uint64_t decoder_chain_at(const struct decoder *d, const struct record_sample *s,
			  uint64_t i)
{
	return decoder_u64_at(d, s->chain, i);
}

/* Returns a bit field of a word that the kernel wrote as C bit fields. Little-endian machines
 * allocate them from the lowest bit, big-endian machines from the highest. */
static uint64_t bits(uint64_t word, unsigned int first, unsigned int nr, bool big)
{
	return word >> (big ? 64 - first - nr : first) & ((UINT64_C(1) << nr) - 1);
}

struct branch decoder_branch_at(const struct decoder *d, const struct record_sample *s,
				uint64_t i)
{
	const uint8_t *entry = s->branches + i * BRANCH_BYTES;
	uint64_t flags = decoder_u64_at(d, entry, 2);
	bool big = d->swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

	return (struct branch){
		.from = decoder_u64_at(d, entry, 0),
		.to = decoder_u64_at(d, entry, 1),
		.mispredicted = bits(flags, 0, 1, big),
		.predicted = bits(flags, 1, 1, big),
		.in_tx = bits(flags, 2, 1, big),
		.aborted = bits(flags, 3, 1, big),
		.cycles = (uint16_t)bits(flags, 4, 16, big),
		.type = (uint8_t)bits(flags, 20, 4, big),
		.spec = (uint8_t)bits(flags, 24, 2, big),
		.new_type = (uint8_t)bits(flags, 26, 4, big),
		.priv = (uint8_t)bits(flags, 30, 3, big),
	};
}

const char *branch_type_name(const struct branch *b)
{
	static const char *const types[] = {
		"",         "COND", "UNCOND",  "IND",    "CALL",
		"IND_CALL", "RET",  "SYSCALL", "SYSRET", "COND_CALL",
		"COND_RET", "ERET", "IRQ",     "SERROR", "NO_TX",
	};
	static const char *const new_types[] = {
		"FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1",
		"ARCH_2",     "ARCH_3",     "ARCH_4",     "ARCH_5",
	};

	if (b->type < COUNT_OF(types))
		return types[b->type];
	return b->new_type < COUNT_OF(new_types) ? new_types[b->new_type] : "";
}

static struct read_value sample_take_value(struct cursor *in, uint64_t format)
{
	struct read_value v = { .value = cursor_u64(in) };

	if (format & PERF_FORMAT_ID)
		v.id = cursor_u64(in);
	if (format & PERF_FORMAT_LOST)
		v.lost = cursor_u64(in);
	return v;
}

static size_t value_bytes(uint64_t format)
{
	return sizeof(uint64_t) *
	       (1 + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST));
}

struct read_value decoder_read_at(const struct decoder *d, const struct record_read *r,
				  uint64_t i)
{
	size_t bytes = value_bytes(r->format);
	struct cursor in;

	if (!r->group)
		return r->one;
	in = cursor_of(r->group + i * bytes, bytes, d->swap);
	return sample_take_value(&in, r->format);
}

static void take_times(struct cursor *in, uint64_t format, struct record_read *r)
{
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		r->enabled_ns = cursor_u64(in);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		r->running_ns = cursor_u64(in);
}

/* Decodes the values that read(2) on an event returns, and that samples can contain:
 * perf_event_open(2), "Reading results". */
void record_take_read(struct cursor *in, uint64_t format, struct record_read *ret_read)
{
	struct record_read r = { .nr = 1, .format = (uint32_t)format };
	struct cursor first;

	if (!(format & PERF_FORMAT_GROUP)) {
		uint64_t value = cursor_u64(in);

		take_times(in, format, &r);
		if (format & PERF_FORMAT_ID)
			r.one.id = cursor_u64(in);
		if (format & PERF_FORMAT_LOST)
			r.one.lost = cursor_u64(in);
		r.one.value = value;
		*ret_read = r;
		return;
	}
	r.nr = cursor_u64(in);
	take_times(in, format, &r);
	r.group = record_take_array(in, r.nr, value_bytes(format));
	if (r.group && r.nr) {
		first = cursor_of(r.group, value_bytes(format), in->swap);
		r.one = sample_take_value(&first, format);
	}
	*ret_read = r;
}

static struct record_bytes take_bytes(struct cursor *in, uint64_t len)
{
	return (struct record_bytes){ .at = record_take_array(in, len, 1), .len = len };
}

static void take_chain(struct cursor *in, struct record_sample *s)
{
	uint64_t nr = cursor_u64(in);

	s->chain = record_take_array(in, nr, sizeof(uint64_t));
	s->nr_chain = s->chain ? nr : 0;
}

static void take_branches(struct cursor *in, uint64_t branch_type,
			  struct record_sample *s)
{
	s->nr_branches = cursor_u64(in);
	s->branch_hw_index = UINT64_MAX;
	if (branch_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		s->branch_hw_index = cursor_u64(in);
	s->branches = record_take_array(in, s->nr_branches, BRANCH_BYTES);
	s->branch_counters = NULL;
	if (branch_type & SAMPLE_BRANCH_COUNTERS)
		s->branch_counters =
			record_take_array(in, s->nr_branches, sizeof(uint64_t));
}

static struct record_regs take_regs(struct cursor *in, uint64_t mask)
{
	struct record_regs r = { .abi = cursor_u64(in) };

	if (r.abi == PERF_SAMPLE_REGS_ABI_NONE)
		return r;
	r.mask = mask;
	r.values = record_take_array(in, (uint64_t)__builtin_popcountll(mask),
				     sizeof(uint64_t));
	return r;
}

/* Reads the requested number of stack bytes, followed by the number that was really used. */
static struct record_bytes take_user_stack(struct cursor *in)
{
	struct record_bytes room = take_bytes(in, cursor_u64(in));
	uint64_t used;

	if (!room.len)
		return room;
	used = cursor_u64(in);
	if (used > room.len)
		in->failed = true;
	room.len = used;
	return room;
}

/* Takes the weight of a sample. Both kinds of weight are one word, whose fields are arranged so
 * that swapping the word is correct. */
static void take_weight(struct cursor *in, uint64_t type, struct record_sample *s)
{
	uint64_t word = cursor_u64(in);

	s->weight = word;
	s->ins_lat = s->p_stage_cyc = 0;
	if (!(type & PERF_SAMPLE_WEIGHT_STRUCT))
		return;
	s->weight = (uint32_t)word;
	s->ins_lat = (uint16_t)(word >> 32);
	s->p_stage_cyc = (uint16_t)(word >> 48);
}

/* Reads the fields after the chain and the user state, in the kernel's order. */
static void take_last_parts(const struct perf_event_attr *a, uint64_t t,
			    struct cursor *in, struct record_sample *s)
{
	if (t & PERF_SAMPLE_WEIGHT_TYPE)
		take_weight(in, t, s);
	if (t & PERF_SAMPLE_DATA_SRC)
		s->data_src = cursor_u64(in);
	if (t & PERF_SAMPLE_TRANSACTION)
		s->transaction = cursor_u64(in);
	if (t & PERF_SAMPLE_REGS_INTR)
		s->intr_regs = take_regs(in, a->sample_regs_intr);
	if (t & PERF_SAMPLE_PHYS_ADDR)
		s->phys_addr = cursor_u64(in);
	if (t & PERF_SAMPLE_CGROUP)
		s->cgroup = cursor_u64(in);
	if (t & PERF_SAMPLE_DATA_PAGE_SIZE)
		s->data_page_size = cursor_u64(in);
	if (t & PERF_SAMPLE_CODE_PAGE_SIZE)
		s->code_page_size = cursor_u64(in);
	if (t & PERF_SAMPLE_AUX)
		s->aux = take_bytes(in, cursor_u64(in));
}

/* Decodes the fields after the chain. Not inlined, so that samples with only chains use a short
 * path. */
__attribute__((noinline)) static void take_middle_parts(const struct perf_event_attr *a,
							uint64_t t, struct cursor *in,
							struct record_sample *s)
{
	if (t & PERF_SAMPLE_RAW)
		s->raw = take_bytes(in, cursor_u32(in));
	if (t & PERF_SAMPLE_BRANCH_STACK)
		take_branches(in, a->branch_sample_type, s);
	if (t & PERF_SAMPLE_REGS_USER)
		s->user_regs = take_regs(in, a->sample_regs_user);
	if (t & PERF_SAMPLE_STACK_USER)
		s->user_stack = take_user_stack(in);
	if (t > PERF_SAMPLE_STACK_USER)
		take_last_parts(a, t, in, s);
}

/* Reads the fields after the fixed part. `t` has no bits of the fixed part. */
static void take_variable_parts(const struct perf_event_attr *a, uint64_t t,
				struct cursor *in, struct record_sample *s)
{
	if (t & PERF_SAMPLE_READ)
		record_take_read(in, a->read_format, &s->read);
	if (t & PERF_SAMPLE_CALLCHAIN)
		take_chain(in, s);
	if (t > PERF_SAMPLE_CALLCHAIN)
		take_middle_parts(a, t, in, s);
	s->has = t;
}

/* Returns the field at `offset`, or 0 if `offset` is 0. In that case the load of the header is
 * wasted, but this costs less than a branch for every field. */
ALWAYS_INLINE uint64_t field_u64(const uint8_t *at, uint16_t offset, bool swap)
{
	return record_u64(at + offset, swap) & -(uint64_t)(offset != 0);
}

/* Like field_u64(), for a number that is -1 if it is missing. */
ALWAYS_INLINE uint32_t field_u32(const uint8_t *at, uint16_t offset, uint16_t part,
				 bool swap)
{
	return record_u32(at + offset + part, swap) | -(uint32_t)(offset == 0);
}

ALWAYS_INLINE void load_ids(const struct sample_layout *l, const uint8_t *at, bool swap,
			    struct record_id *id)
{
	id->pid = (int32_t)field_u32(at, l->tid, 0, swap);
	id->tid = (int32_t)field_u32(at, l->tid, 4, swap);
	id->id = field_u64(at, l->id, swap);
	id->time_ns = field_u64(at, l->time, swap);
	id->has_time = l->time;
	id->stream_id = field_u64(at, l->stream, swap);
	id->cpu = field_u32(at, l->cpu, 0, swap);
}

/* Decodes the fixed-size fields by their offsets, with a single length check. Every sample
 * takes this path. Returns the layout, or NULL if the record is too short. */
ALWAYS_INLINE const struct sample_layout *decode_fixed(const struct decoder *d,
						       const uint8_t *at, size_t size,
						       bool swap, struct record *rec)
{
	bool stray;
	uint32_t event = record_attr(d, at, size, d->id_in_sample, &stray);
	const struct sample_layout *l = d->layouts.at + event;
	struct record_sample *s = &rec->sample;

	if (event >= d->layouts.nr || l->bytes > size)
		return NULL;
	rec->id.event = event;
	rec->id.stray = stray;
	load_ids(l, at, swap, &rec->id);
	s->ip.v = field_u64(at, l->ip, swap);
	s->addr = field_u64(at, l->addr, swap);
	s->period = field_u64(at, l->period, swap) + l->default_period;
	s->cgroup = 0;
	s->nr_chain = 0;
	s->chain = NULL;
	s->has = 0;
	return l;
}

/* Decodes a chain without further fields, which is the most frequent variable part. Returns
 * false if it is truncated. */
ALWAYS_INLINE bool decode_chain(const struct sample_layout *l, const uint8_t *at,
				size_t size, bool swap, struct record_sample *s)
{
	size_t left = size - l->bytes;
	uint64_t nr;

	if (left < sizeof(nr))
		return false;
	nr = record_u64(at + l->bytes, swap);
	if (nr > left / sizeof(nr) - 1)
		return false;
	s->chain = at + l->bytes + sizeof(nr);
	s->nr_chain = nr;
	s->has = PERF_SAMPLE_CALLCHAIN;
	return true;
}

/* Returns the cpu mode of a chain's first address, and that address, or 0 if the chain has only
 * markers. */
static uint16_t look_at_chain_head(const struct decoder *d,
				   const struct record_sample *s, uint64_t *ret_ip)
{
	uint16_t mode = PERF_RECORD_MISC_USER;

	*ret_ip = 0;
	for (uint64_t i = 0; i < s->nr_chain && !*ret_ip; i++) {
		uint64_t word = decoder_chain_at(d, s, i);

		if (chain_mark_of(word) == CHAIN_KERNEL)
			mode = PERF_RECORD_MISC_KERNEL;
		else if (chain_mark_of(word) == CHAIN_USER)
			mode = PERF_RECORD_MISC_USER;
		else if (chain_mark_of(word) == CHAIN_ADDRESS)
			*ret_ip = word;
	}
	return mode;
}

/* Replaces the fields of a sample of perf's "offcpu-time" by those in its RAW: u32 pid, u32 tid,
 * u64 ns, u64 number of words of the chain, the chain, u64 cgroup. Source:
 * tools/perf/util/evsel.c, __set_offcpu_sample(). */
__attribute__((noinline)) static int take_off_cpu(const struct decoder *d,
						  struct record *rec, struct err *err)
{
	struct record_sample *s = &rec->sample;
	struct cursor in = cursor_of(s->raw.at, s->raw.len, d->swap);

	rec->id.pid = (int32_t)cursor_u32(&in);
	rec->id.tid = (int32_t)cursor_u32(&in);
	s->period = cursor_u64(&in);
	take_chain(&in, s);
	s->has |= PERF_SAMPLE_CALLCHAIN;
	s->cgroup = cursor_u64(&in);
	if (in.failed)
		return record_cut_short(rec, err);
	rec->misc = (uint16_t)((rec->misc & ~PERF_RECORD_MISC_CPUMODE_MASK) |
			       look_at_chain_head(d, s, &s->ip.v));
	return 0;
}

ALWAYS_INLINE int decode_sample(const struct decoder *d, const uint8_t *bytes,
				size_t size, bool swap, struct record *rec,
				struct err *err)
{
	const struct sample_layout *l = decode_fixed(d, bytes, size, swap, rec);
	struct cursor in = { .data = bytes, .len = size, .swap = swap };

	if (!l)
		return record_cut_short(rec, err);
	if (!l->more)
		return 0;
	if (l->more == PERF_SAMPLE_CALLCHAIN)
		return decode_chain(l, bytes, size, swap, &rec->sample)
			       ? 0
			       : record_cut_short(rec, err);
	in.pos = l->bytes;
	take_variable_parts(&d->attrs.at[rec->id.event], l->more, &in, &rec->sample);
	if (in.failed)
		return record_cut_short(rec, err);
	return l->off_cpu ? take_off_cpu(d, rec, err) : 0;
}

int decoder_sample(const struct decoder *d, const void *bytes, size_t size,
		   struct record *ret_record, struct err *err)
{
	ret_record->type = PERF_RECORD_SAMPLE;
	ret_record->misc = record_u16((const uint8_t *)bytes + 4, d->swap);
	return d->swap ? decode_sample(d, bytes, size, true, ret_record, err)
		       : decode_sample(d, bytes, size, false, ret_record, err);
}

int decoder_sample_fixed(const struct decoder *d, const void *bytes, size_t size,
			 struct record *ret_record, struct err *err)
{
	const struct sample_layout *l;
	int r;

	ret_record->type = PERF_RECORD_SAMPLE;
	ret_record->misc = record_u16((const uint8_t *)bytes + 4, d->swap);
	l = d->swap ? decode_fixed(d, bytes, size, true, ret_record)
		    : decode_fixed(d, bytes, size, false, ret_record);
	if (!l)
		return record_cut_short(ret_record, err);
	if (__builtin_expect(!l->off_cpu, 1))
		return 0;
	r = decoder_sample(d, bytes, size, ret_record, err);
	ret_record->sample.nr_chain = 0;
	ret_record->sample.chain = NULL;
	ret_record->sample.has = 0;
	return r;
}

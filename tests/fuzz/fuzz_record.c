/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Raw perf records through decode and resolve: the first byte selects the attr (if its highest
 * bit is set, an attr follows), the rest is a sequence of records. */
#include <stdlib.h>
#include <string.h>

#include "decode/record.h"
#include "resolve/replay/resolver.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const uint64_t sample_types[] = {
	PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
	PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN |
		PERF_SAMPLE_CGROUP,
	PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW |
		PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER |
		PERF_SAMPLE_STACK_USER,
};

/* Reads all bytes of borrowed data, so that a sanitizer reports invalid ones. */
static uint64_t sum_bytes(const uint8_t *at, uint64_t len)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < len; i++)
		sum += at[i];
	return sum;
}

static uint64_t read_sample(const struct decoder *d, const struct record_sample *s)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < s->nr_chain; i++)
		sum += chain_mark_of(decoder_chain_at(d, s, i));
	if (s->has & PERF_SAMPLE_READ)
		for (uint64_t i = 0; i < s->read.nr; i++)
			sum += decoder_read_at(d, &s->read, i).value;
	if (s->has & PERF_SAMPLE_RAW)
		sum += sum_bytes(s->raw.at, s->raw.len);
	for (uint64_t i = 0; s->has & PERF_SAMPLE_BRANCH_STACK && i < s->nr_branches;
	     i++) {
		sum += decoder_branch_at(d, s, i).from;
		if (s->branch_counters)
			sum += decoder_u64_at(d, s->branch_counters, i);
	}
	if (s->has & PERF_SAMPLE_REGS_USER)
		for (int i = 0; i < __builtin_popcountll(s->user_regs.mask); i++)
			sum += decoder_u64_at(d, s->user_regs.values, (uint64_t)i);
	if (s->has & PERF_SAMPLE_STACK_USER)
		sum += sum_bytes(s->user_stack.at, s->user_stack.len);
	if (s->has & PERF_SAMPLE_AUX)
		sum += sum_bytes(s->aux.at, s->aux.len);
	return sum;
}

static uint64_t read_lent(const struct decoder *d, const struct record *rec)
{
	switch (rec->type) {
	case PERF_RECORD_SAMPLE:
		return read_sample(d, &rec->sample);
	case RECORD_THREAD_MAP:
		return sum_bytes(rec->thread_map.rows, rec->thread_map.nr * 24);
	case RECORD_ID_INDEX:
		return sum_bytes(rec->id_index.rows, rec->id_index.nr * 32);
	case RECORD_AUXTRACE_INFO:
		return sum_bytes(rec->auxtrace_info.words,
				 rec->auxtrace_info.nr_words * 8);
	case RECORD_EVENT_UPDATE:
		return sum_bytes(rec->event_update.data, rec->event_update.len);
	case RECORD_CALLCHAIN_DEFERRED:
		return sum_bytes(rec->deferred.chain, rec->deferred.nr * 8);
	case PERF_RECORD_TEXT_POKE:
		return sum_bytes(rec->text_poke.bytes,
				 (uint64_t)rec->text_poke.old_len +
					 rec->text_poke.new_len);
	case RECORD_AUXTRACE_ERROR:
		return strlen(rec->auxtrace_error.message);
	default:
		return 0;
	}
}

/* Checks that the fast decoder agrees with the full one. */
static void compare_short_way(const struct decoder *d, const uint8_t *data, size_t size,
			      const struct record *full)
{
	struct record fixed;

	if (decoder_sample_fixed(d, data, size, &fixed, NULL) ||
	    fixed.sample.ip.v != full->sample.ip.v ||
	    fixed.sample.period != full->sample.period ||
	    fixed.id.time_ns != full->id.time_ns || fixed.id.tid != full->id.tid ||
	    fixed.id.event != full->id.event)
		abort();
}

/* Advances by the records' own sizes, like a ring buffer. */
static void feed(const struct decoder *d, struct resolver *r, const uint8_t *data,
		 size_t len, uint64_t *sink)
{
	while (len >= sizeof(struct perf_event_header)) {
		struct perf_event_header header;
		struct record rec;
		struct sample sample;
		size_t size;

		memcpy(&header, data, sizeof(header));
		size = d->swap ? __builtin_bswap16(header.size) : header.size;
		if (size < sizeof(header) || size > len)
			return;
		if (!decoder_record(d, data, len, &rec, NULL)) {
			*sink += read_lent(d, &rec);
			if (rec.type == PERF_RECORD_SAMPLE)
				compare_short_way(d, data, size, &rec);
			if (rec.type == PERF_RECORD_SAMPLE)
				resolver_sample(r, d, &rec, &sample);
			else
				resolver_side_band(r, &rec);
			if (header.misc & 0x800)
				resolver_frontier(r, rec.id.time_ns);
		}
		data += size;
		len -= size;
	}
}

enum {
	OWN_ATTR_BYTES = 16
};

/* Sets the bits that determine a sample's layout. */
static void own_attr(const uint8_t *at, struct perf_event_attr *attr)
{
	uint32_t words[4];

	memcpy(words, at, sizeof(words));
	attr->sample_type = words[0];
	attr->branch_sample_type = words[1];
	attr->sample_regs_user = words[2];
	attr->read_format = words[3] & 0xff;
	attr->sample_regs_intr = words[3] >> 8 & 0xff;
	attr->sample_id_all = (words[3] & 0x80000000) != 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct perf_event_attr attr = { .sample_id_all = 1, .sample_regs_user = 0xff };
	volatile uint64_t sink_all;
	uint64_t sink = 0;
	struct resolver *resolver;
	struct decoder decoder;
	struct dict dict;
	uint8_t choice;

	if (!len)
		return 0;
	choice = data[0];
	attr.sample_type = sample_types[choice % 3];
	attr.read_format = choice >> 3 & 0x1f;
	data++;
	len--;
	if (choice & 0x80) {
		if (len < OWN_ATTR_BYTES)
			return 0;
		own_attr(data, &attr);
		data += OWN_ATTR_BYTES;
		len -= OWN_ATTR_BYTES;
	}
	decoder_init(&decoder, choice & 4);
	decoder_add_attr(&decoder, &attr);
	decoder_add_attr(&decoder, &attr);
	decoder_add_id(&decoder, 1, 1);
	if (dict_init(&dict))
		abort();
	if (!resolver_new(&dict, NULL, RESOLVE_CHAINS, &resolver)) {
		feed(&decoder, resolver, data, len, &sink);
		resolver_free(resolver);
	}
	dict_done(&dict);
	decoder_done(&decoder);
	sink_all = sink;
	(void)sink_all;
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "decode/perf_made.h"

#include <string.h>

#include "decode/record_priv.h"

static void decode_tracing_data(struct cursor *in, struct record *rec)
{
	rec->tracing_data.size = cursor_u32(in);
}

static void decode_id_index(struct cursor *in, struct record *rec)
{
	struct record_id_index *x = &rec->id_index;

	x->nr = cursor_u64(in);
	x->rows = record_take_array(in, x->nr, 4 * sizeof(uint64_t));
	x->guests = NULL;
	if (x->nr && cursor_left(in) / (2 * sizeof(uint64_t)) >= x->nr)
		x->guests = record_take_array(in, x->nr, 2 * sizeof(uint64_t));
}

static void decode_auxtrace_info(struct cursor *in, struct record *rec)
{
	struct record_auxtrace_info *a = &rec->auxtrace_info;

	a->kind = cursor_u32(in);
	cursor_u32(in); /* reserved */
	a->nr_words = cursor_left(in) / sizeof(uint64_t);
	a->words = record_take_array(in, a->nr_words, sizeof(uint64_t));
}

static void decode_auxtrace(struct cursor *in, struct record *rec)
{
	struct record_auxtrace *a = &rec->auxtrace;

	a->size = cursor_u64(in);
	a->offset = cursor_u64(in);
	a->reference = cursor_u64(in);
	a->idx = cursor_u32(in);
	a->tid = (int32_t)cursor_u32(in);
	a->cpu = (int32_t)cursor_u32(in);
}

/* Decodes an AUXTRACE_ERROR. Its time was added later than the other fields, and is located before
 * the message; `fmt` shows whether it is present. */
static void decode_auxtrace_error(struct cursor *in, struct record *rec)
{
	struct record_auxtrace_error *e = &rec->auxtrace_error;
	uint32_t format;
	size_t len;

	*e = (struct record_auxtrace_error){ .kind = cursor_u32(in) };
	e->code = cursor_u32(in);
	e->cpu = (int32_t)cursor_u32(in);
	e->pid = (int32_t)cursor_u32(in);
	e->tid = (int32_t)cursor_u32(in);
	format = cursor_u32(in);
	e->ip = cursor_u64(in);
	if (format)
		e->time_ns = cursor_u64(in);
	len = cursor_left(in);
	if (in->failed || !len)
		return;
	if (len > sizeof(e->message) - 1)
		len = sizeof(e->message) - 1;
	memcpy(e->message, in->data + in->pos, len);
}

static void decode_thread_map(struct cursor *in, struct record *rec)
{
	rec->thread_map.nr = cursor_u64(in);
	rec->thread_map.rows = record_take_array(in, rec->thread_map.nr, 24);
}

/* Decodes a mask of CPUs. The words of a 64-bit mask start four bytes later, because the struct is
 * aligned to 8 bytes, counted from the end of `type`. */
static void decode_cpu_mask(struct cursor *in, struct record_cpu_map *m)
{
	m->nr = cursor_u16(in);
	m->long_size = cursor_u16(in);
	if (m->long_size == 8)
		cursor_u32(in);
	else if (m->long_size != 4)
		in->failed = true;
	m->values = record_take_array(in, m->nr, m->long_size);
}

static void decode_cpu_map(struct cursor *in, struct record *rec)
{
	struct record_cpu_map *m = &rec->cpu_map;

	*m = (struct record_cpu_map){ .kind = cursor_u16(in) };
	if (m->kind == CPU_MAP_LIST) {
		m->nr = cursor_u16(in);
		m->values = record_take_array(in, m->nr, sizeof(uint16_t));
	} else if (m->kind == CPU_MAP_MASK) {
		decode_cpu_mask(in, m);
	} else if (m->kind == CPU_MAP_RANGE) {
		m->any_cpu = cursor_u8(in);
		cursor_u8(in);
		m->first = cursor_u16(in);
		m->last = cursor_u16(in);
	}
}

static void decode_stat_config(struct cursor *in, struct record *rec)
{
	rec->stat_config.nr = cursor_u64(in);
	rec->stat_config.rows =
		record_take_array(in, rec->stat_config.nr, 2 * sizeof(uint64_t));
}

static void decode_stat(struct cursor *in, struct record *rec)
{
	struct record_stat *s = &rec->stat;

	s->id = cursor_u64(in);
	s->cpu = cursor_u32(in);
	s->thread = cursor_u32(in);
	s->value = cursor_u64(in);
	s->enabled_ns = cursor_u64(in);
	s->running_ns = cursor_u64(in);
}

static void decode_stat_round(struct cursor *in, struct record *rec)
{
	rec->stat_round.kind = cursor_u64(in);
	rec->stat_round.time_ns = cursor_u64(in);
}

static void perf_made_take_rest(struct cursor *in, const uint8_t **ret_data,
				uint64_t *ret_len)
{
	*ret_len = cursor_left(in);
	*ret_data = record_take_array(in, *ret_len, 1);
}

static void decode_event_update(struct cursor *in, struct record *rec)
{
	struct record_event_update *u = &rec->event_update;

	u->kind = cursor_u64(in);
	u->id = cursor_u64(in);
	perf_made_take_rest(in, &u->data, &u->len);
}

/* Decodes a TIME_CONV. The fields after time_zero exist since Linux 5.10. */
static void decode_time_conv(struct cursor *in, struct record *rec)
{
	struct record_time_conv *t = &rec->time_conv;

	*t = (struct record_time_conv){ .time_shift = cursor_u64(in) };
	t->time_mult = cursor_u64(in);
	t->time_zero = cursor_u64(in);
	if (cursor_left(in) < 2 * sizeof(uint64_t) + 2)
		return;
	t->time_cycles = cursor_u64(in);
	t->time_mask = cursor_u64(in);
	t->has_time_zero = cursor_u8(in);
	t->has_time_short = cursor_u8(in);
}

static void decode_header_feature(struct cursor *in, struct record *rec)
{
	struct record_header_feature *f = &rec->header_feature;

	f->feature = cursor_u64(in);
	perf_made_take_rest(in, &f->data, &f->len);
}

static void decode_bpf_metadata(struct cursor *in, struct record *rec)
{
	rec->bpf_metadata.prog = record_take_str(in);
}

static void decode_schedstat(struct cursor *in, struct record *rec)
{
	struct record_schedstat *s = &rec->schedstat;

	s->time = cursor_u64(in);
	s->cpu = cursor_u32(in);
	s->version = cursor_u16(in);
	s->domain = cursor_u16(in); /* padding in RECORD_SCHEDSTAT_CPU */
	if (rec->type == RECORD_SCHEDSTAT_CPU)
		s->domain = 0;
	perf_made_take_rest(in, &s->data, &s->len);
}

#define AT(type) [(type)-RECORD_PERF_MADE_FIRST]

/* The reader (format/perfdata/input.h) handles HEADER_ATTR and HEADER_BUILD_ID, and unpacks
 * COMPRESSED records. Other types that are missing here have no body. */
const record_decode_fn record_perf_made[RECORD_PERF_MADE_COUNT] = {
	AT(RECORD_HEADER_TRACING_DATA) = decode_tracing_data,
	AT(RECORD_ID_INDEX) = decode_id_index,
	AT(RECORD_AUXTRACE_INFO) = decode_auxtrace_info,
	AT(RECORD_AUXTRACE) = decode_auxtrace,
	AT(RECORD_AUXTRACE_ERROR) = decode_auxtrace_error,
	AT(RECORD_THREAD_MAP) = decode_thread_map,
	AT(RECORD_CPU_MAP) = decode_cpu_map,
	AT(RECORD_STAT_CONFIG) = decode_stat_config,
	AT(RECORD_STAT) = decode_stat,
	AT(RECORD_STAT_ROUND) = decode_stat_round,
	AT(RECORD_EVENT_UPDATE) = decode_event_update,
	AT(RECORD_TIME_CONV) = decode_time_conv,
	AT(RECORD_HEADER_FEATURE) = decode_header_feature,
	AT(RECORD_BPF_METADATA) = decode_bpf_metadata,
	AT(RECORD_SCHEDSTAT_CPU) = decode_schedstat,
	AT(RECORD_SCHEDSTAT_DOMAIN) = decode_schedstat,
};

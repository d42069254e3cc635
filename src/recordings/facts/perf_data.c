/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf_data.c - the facts of a perf.data. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/saturate.h"
#include "decode/record.h"
#include "recordings/facts/info.h"

enum {
	FLAGS_AT = 40, /* offset of the bit fields in struct perf_event_attr */
	FIRST_SIMPLEPERF_FEATURE = 128
};

/* Names of bits, from bit 0 on. */
struct bit_names {
	const char *const *names;
	size_t nr;
	const char *between;
};

static const char *const feature_names[] = {
	[1] = "TRACING_DATA",
	"BUILD_ID",
	"HOSTNAME",
	"OSRELEASE",
	"VERSION",
	"ARCH",
	"NRCPUS",
	"CPUDESC",
	"CPUID",
	"TOTAL_MEM",
	"CMDLINE",
	"EVENT_DESC",
	"CPU_TOPOLOGY",
	"NUMA_TOPOLOGY",
	"BRANCH_STACK",
	"PMU_MAPPINGS",
	"GROUP_DESC",
	"AUXTRACE",
	"STAT",
	"CACHE",
	"SAMPLE_TIME",
	"MEM_TOPOLOGY",
	"CLOCKID",
	"DIR_FORMAT",
	"BPF_PROG_INFO",
	"BPF_BTF",
	"COMPRESSED",
	"CPU_PMU_CAPS",
	"CLOCK_DATA",
	"HYBRID_TOPOLOGY",
	"PMU_CAPS",
	"CPU_DOMAIN_INFO",
	"E_MACHINE",
	"CLN_SIZE",
};

static const char *const simpleperf_feature_names[] = {
	"FILE", "META_INFO", "DEBUG_UNWIND", "DEBUG_UNWIND_FILE", "FILE2",
};

static const char *const sample_type_names[] = {
	"IP",
	"TID",
	"TIME",
	"ADDR",
	"READ",
	"CALLCHAIN",
	"ID",
	"CPU",
	"PERIOD",
	"STREAM_ID",
	"RAW",
	"BRANCH_STACK",
	"REGS_USER",
	"STACK_USER",
	"WEIGHT",
	"DATA_SRC",
	"IDENTIFIER",
	"TRANSACTION",
	"REGS_INTR",
	"PHYS_ADDR",
	"AUX",
	"CGROUP",
	"DATA_PAGE_SIZE",
	"CODE_PAGE_SIZE",
	"WEIGHT_STRUCT",
};

static const char *const read_format_names[] = {
	"TOTAL_TIME_ENABLED", "TOTAL_TIME_RUNNING", "ID", "GROUP", "LOST",
};

static const char *const branch_names[] = {
	"USER",       "KERNEL",     "HV",       "ANY",       "ANY_CALL",
	"ANY_RETURN", "IND_CALL",   "ABORT_TX", "IN_TX",     "NO_TX",
	"COND",       "CALL_STACK", "IND_JUMP", "CALL",      "NO_FLAGS",
	"NO_CYCLES",  "TYPE_SAVE",  "HW_INDEX", "PRIV_SAVE", "COUNTERS",
};

/* In bit order.  precise_ip (bits 15 and 16) is a number; "freq" is reported separately. */
static const char *const flag_names[] = {
	"disabled",
	"inherit",
	"pinned",
	"exclusive",
	"exclude_user",
	"exclude_kernel",
	"exclude_hv",
	"exclude_idle",
	"mmap",
	"comm",
	NULL,
	"inherit_stat",
	"enable_on_exec",
	"task",
	"watermark",
	NULL,
	NULL,
	"mmap_data",
	"sample_id_all",
	"exclude_host",
	"exclude_guest",
	"exclude_callchain_kernel",
	"exclude_callchain_user",
	"mmap2",
	"comm_exec",
	"use_clockid",
	"context_switch",
	"write_backward",
	"namespaces",
	"ksymbol",
	"bpf_event",
	"aux_output",
	"cgroup",
	"text_poke",
	"build_id",
	"inherit_thread",
	"remove_on_exec",
	"sigtrap",
	"defer_callchain",
	"defer_output",
};

static void info_perf_data_put_word(struct buf *out, const char *between,
				    const char *word)
{
	if (out->len)
		buf_put(out, between, strlen(between));
	buf_put(out, word, strlen(word));
}

static void info_perf_data_put_bits(struct buf *out, uint64_t bits,
				    const struct bit_names *names)
{
	for (unsigned int i = 0; i < 64; i++) {
		char number[16];

		if (!(bits >> i & 1))
			continue;
		snprintf(number, sizeof(number), "bit %u", i);
		if (i >= names->nr)
			info_perf_data_put_word(out, names->between, number);
		else if (names->names[i])
			info_perf_data_put_word(out, names->between, names->names[i]);
	}
}

static void fact_buf(struct fact_list *list, const char *name, struct buf *text)
{
	if (text->failed)
		list->failed = true;
	else
		fact_text(list, name, "%.*s", (int)text->len,
			  text->data ? (const char *)text->data : "");
	buf_done(text);
}

static void fact_bits(struct fact_list *list, const char *name, uint64_t bits,
		      const struct bit_names *names)
{
	struct buf text = { 0 };

	info_perf_data_put_bits(&text, bits, names);
	fact_buf(list, name, &text);
}

static void features_fact(struct fact_list *list, const struct perf_input_info *from)
{
	static const struct bit_names perfs = { feature_names, COUNT_OF(feature_names),
						" " };
	static const struct bit_names simpleperfs = {
		simpleperf_feature_names, COUNT_OF(simpleperf_feature_names), " "
	};
	struct buf text = { 0 };

	info_perf_data_put_bits(&text, from->features[0], &perfs);
	info_perf_data_put_bits(&text, from->features[FIRST_SIMPLEPERF_FEATURE / 64],
				&simpleperfs);
	fact_buf(list, "features", &text);
}

static const char *clock_name(int32_t id)
{
	static const char *const names[] = {
		[CLOCK_REALTIME] = "realtime",
		[CLOCK_MONOTONIC] = "monotonic",
		[CLOCK_MONOTONIC_RAW] = "monotonic_raw",
		[CLOCK_BOOTTIME] = "boottime",
		[CLOCK_TAI] = "tai",
	};
	const char *name = id >= 0 && (size_t)id < COUNT_OF(names) ? names[id] : NULL;

	return name ? name : "unknown";
}

/* Adds a time in seconds, as perf script shows times. */
static void fact_seconds(struct fact_list *list, const char *name, uint64_t ns)
{
	if (ns)
		fact_text(list, name, "%" PRIu64 ".%09" PRIu64, ns / NS_PER_S,
			  ns % NS_PER_S);
}

static void clock_facts(struct fact_list *list, const struct perf_input_info *from)
{
	time_t seconds = (time_t)(from->clock_wall_ns / NS_PER_S);
	char date[64];
	struct tm tm;

	fact_seconds(list, "first_sample", from->first_ns);
	fact_seconds(list, "last_sample", from->last_ns);
	if (from->clock_id >= 0)
		fact_text(list, "clock", "%s", clock_name(from->clock_id));
	if (!from->clock_wall_ns || !gmtime_r(&seconds, &tm) ||
	    !strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S UTC", &tm))
		return;
	fact_text(list, "date", "%s", date);
	fact_seconds(list, "clock_at_date", from->clock_ns);
}

void info_perf_facts(struct fact_list *list, const struct perf_input_info *from)
{
	const char *kind = from->is_pipe ? "pipe" : "file";

	if (from->is_directory)
		kind = "directory";
	fact_text(list, "format", "perf.data %s%s%s", kind,
		  from->is_simpleperf ? " of simpleperf" : "",
		  from->is_stat ? " of perf stat record: counts, no samples" : "");
	fact_text(list, "byte_order", "%s",
		  from->swap == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? "little"
									 : "big");
	fact_text(list, "host", "%s", from->hostname);
	fact_text(list, "os_release", "%s", from->os_release);
	fact_text(list, "arch", "%s", from->arch);
	fact_text(list, "cpu", "%s", from->cpu_desc);
	fact_text(list, "cpu_id", "%s", from->cpu_id);
	fact_count(list, "e_machine", from->e_machine);
	fact_count(list, "cache_line_bytes", from->cache_line_bytes);
	fact_count(list, "cpus_available", from->nr_cpus_available);
	fact_count(list, "cpus_online", from->nr_cpus_online);
	fact_count(list, "memory_kb", from->total_mem_kb);
	fact_text(list, "perf_version", "%s", from->version);
	fact_text(list, "command", "%s", from->command);
	clock_facts(list, from);
	features_fact(list, from);
	fact_count(list, "build_ids", from->build_ids.nr);
	fact_count(list, "files_with_symbols", from->symbol_files.nr);
}

/* Returns the word of bit fields with bit 0 lowest, independent of the machine's byte order. */
static uint64_t attr_flags(const struct perf_event_attr *attr)
{
	uint64_t word, turned = 0;

	memcpy(&word, (const uint8_t *)attr + FLAGS_AT, sizeof(word));
	if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
		return word;
	for (unsigned int i = 0; i < 64; i++)
		turned |= (word >> (63 - i) & 1) << i;
	return turned;
}

static const char *type_name(uint32_t type)
{
	static const char *const names[] = { "hardware", "software", "tracepoint",
					     "hw-cache", "raw",      "breakpoint" };

	return type < COUNT_OF(names) ? names[type] : "PMU";
}

static void fact_hex(struct fact_list *list, const char *name, uint64_t value)
{
	if (value)
		fact_text(list, name, "0x%" PRIx64, value);
}

void info_attr_facts(struct fact_list *list, const struct perf_input_event *event)
{
	static const struct bit_names samples = { sample_type_names,
						  COUNT_OF(sample_type_names), "|" };
	static const struct bit_names reads = { read_format_names,
						COUNT_OF(read_format_names), "|" };
	static const struct bit_names branches = { branch_names, COUNT_OF(branch_names),
						   "|" };
	static const struct bit_names flags = { flag_names, COUNT_OF(flag_names), " " };
	const struct perf_event_attr *a = &event->attr;

	fact_text(list, "type", "%" PRIu32 " (%s)", a->type, type_name(a->type));
	fact_text(list, "config", "0x%" PRIx64, (uint64_t)a->config);
	fact_hex(list, "config1", a->config1);
	fact_hex(list, "config2", a->config2);
	fact_number(list, a->freq ? "frequency_hz" : "period", a->sample_period);
	fact_count(list, "precise_ip", a->precise_ip);
	fact_bits(list, "sample_type", a->sample_type, &samples);
	fact_bits(list, "read_format", a->read_format, &reads);
	fact_bits(list, "branch_sample_type", a->branch_sample_type, &branches);
	fact_hex(list, "regs_user", a->sample_regs_user);
	fact_count(list, "stack_user_bytes", a->sample_stack_user);
	fact_hex(list, "regs_intr", a->sample_regs_intr);
	fact_bits(list, "flags", attr_flags(a) & ~(3ULL << 15), &flags);
	fact_number(list, "attr_bytes", a->size);
	fact_count(list, "ids", event->ids.nr);
}

void info_damage_facts(struct fact_list *list, const struct perf_input_damage *damage)
{
	fact_count(list, "missing_bytes", damage->missing_bytes);
	fact_count(list, "cut_bytes", damage->cut_bytes);
	fact_count(list, "bad_bytes", damage->bad_bytes);
	fact_count(list, "missing_files", damage->missing_files);
	fact_count(list, "bad_features", damage->bad_features);
}

/* ---- records ---- */

struct counting {
	struct info *info;
	struct decoder decoder;
	VEC(uint64_t) samples; /* one per event */
	uint64_t undecodable;
	uint64_t lost, filtered; /* samples */
	size_t row; /* index of the row found last: records of a type often follow each other */
};

static struct info_row *info_perf_data_find_row(struct counting *c, uint32_t type)
{
	struct info *info = c->info;

	if (c->row < info->rows.nr && info->rows.at[c->row].type == type)
		return &info->rows.at[c->row];
	for (c->row = 0; c->row < info->rows.nr; c->row++) {
		if (info->rows.at[c->row].type == type)
			return &info->rows.at[c->row];
	}
	if (!vec_push(&info->rows, (struct info_row){ .type = type }))
		return NULL;
	return &info->rows.at[c->row];
}

static void count_sample(struct counting *c, const uint8_t *at, size_t len)
{
	struct record rec;

	if (decoder_sample_fixed(&c->decoder, at, len, &rec, NULL))
		c->undecodable++;
	else if (!rec.id.stray && rec.id.event < c->samples.nr)
		c->samples.at[rec.id.event]++;
}

static void info_perf_data_count_lost(struct counting *c, const uint8_t *at, size_t len)
{
	struct record rec;

	if (decoder_record(&c->decoder, at, len, &rec, NULL))
		return;
	if (record_is_filtered(&rec))
		c->filtered = saturating_add(c->filtered, rec.lost.lost);
	else
		c->lost = saturating_add(c->lost, rec.lost.lost);
}

static int info_perf_data_count_chunk(struct counting *c,
				      const struct perf_chunk *chunk)
{
	size_t pos = 0;

	while (pos < chunk->len) {
		const uint8_t *at = chunk->bytes + pos;
		struct perf_event_header h;
		struct info_row *row;

		memcpy(&h, at, sizeof(h));
		if (c->decoder.swap) {
			h.type = __builtin_bswap32(h.type);
			h.size = __builtin_bswap16(h.size);
		}
		row = info_perf_data_find_row(c, h.type);
		if (!row)
			return -ENOMEM;
		row->records++;
		row->bytes += h.size;
		if (h.type == PERF_RECORD_SAMPLE)
			count_sample(c, at, h.size);
		else if (h.type == PERF_RECORD_LOST ||
			 h.type == PERF_RECORD_LOST_SAMPLES)
			info_perf_data_count_lost(c, at, h.size);
		pos += h.size;
	}
	return 0;
}

/* Adds rows for the compressed records. The records that they contain have their own rows. */
static int count_frames(struct counting *c, const struct perf_input_damage *damage)
{
	static const uint32_t types[] = { RECORD_COMPRESSED, RECORD_COMPRESSED2 };

	for (size_t i = 0; i < COUNT_OF(types); i++) {
		const struct perf_input_frames *frames = &damage->frames[i];
		struct info_row row = { types[i], frames->records, frames->bytes };

		if (frames->records && !vec_push(&c->info->rows, row))
			return -ENOMEM;
	}
	return 0;
}

static int count_all(struct counting *c, struct perf_input *in, struct err *err)
{
	struct perf_chunk chunk;
	int r;

	while ((r = perf_input_next(in, &chunk, err)) == 0) {
		r = info_perf_data_count_chunk(c, &chunk);
		perf_input_release(in, &chunk);
		if (r)
			return err_set(err, r, "out of memory");
	}
	return r < 0 ? r : count_frames(c, perf_input_damage(in));
}

static int info_perf_data_know_events(struct counting *c,
				      const struct perf_input_info *from)
{
	for (size_t i = 0; i < from->events.nr; i++) {
		const struct perf_input_event *event = &from->events.at[i];

		if (decoder_add_attr(&c->decoder, &event->attr) ||
		    !vec_push(&c->samples, 0))
			return -ENOMEM;
		if (!strcmp(event->name, OFF_CPU_EVENT))
			decoder_set_off_cpu(&c->decoder);
		for (size_t j = 0; j < event->ids.nr; j++) {
			if (decoder_add_id(&c->decoder, event->ids.at[j], (uint32_t)i))
				return -ENOMEM;
		}
	}
	return 0;
}

static int info_perf_data_by_type(const void *a, const void *b)
{
	const struct info_row *x = a, *y = b;

	return x->type < y->type ? -1 : x->type > y->type;
}

static int info_perf_data_report(struct counting *c, const struct perf_input *in)
{
	const struct perf_input_info *from = perf_input_info(in);
	struct info *info = c->info;

	info_perf_facts(&info->facts, from);
	fact_count(&info->facts, "aux_bytes", perf_input_damage(in)->aux_bytes);
	fact_count(&info->facts, "lost_samples", c->lost);
	fact_count(&info->facts, "filtered_samples", c->filtered);
	for (size_t i = 0; i < from->events.nr; i++) {
		struct info_event *event =
			info_event_new(info, from->events.at[i].name);

		if (!event)
			return -ENOMEM;
		event->samples = c->samples.at[i];
		info_attr_facts(&event->facts, &from->events.at[i]);
		if (event->facts.failed)
			return -ENOMEM;
	}
	if (info->rows.nr > 1)
		qsort(info->rows.at, info->rows.nr, sizeof(info->rows.at[0]),
		      info_perf_data_by_type);
	if (from->interrupted)
		fact_text(&info->damage, "interrupted",
			  "perf was stopped before it could complete the header");
	info_damage_facts(&info->damage, perf_input_damage(in));
	fact_count(&info->damage, "undecodable_samples", c->undecodable);
	info->incomplete = info->damage.facts.nr;
	/* Unknown records come from newer kernels; they are skipped, as in perf. */
	fact_count(&info->damage, "unknown_records",
		   perf_input_damage(in)->unknown_records);
	return info->facts.failed || info->damage.failed ? -ENOMEM : 0;
}

int info_read_perf_data(struct info *info, struct err *err)
{
	struct counting c = { .info = info };
	struct perf_input *in;
	int r = perf_input_open(info->path, info->trust, &in, err);

	if (r)
		return r;
	decoder_init(&c.decoder, perf_input_info(in)->swap);
	r = info_perf_data_know_events(&c, perf_input_info(in));
	if (!r)
		r = count_all(&c, in, err);
	if (!r)
		r = info_perf_data_report(&c, in);
	if (r == -ENOMEM)
		r = err_set(err, r, "'%s': out of memory", info->path);
	vec_done(&c.samples);
	decoder_done(&c.decoder);
	perf_input_close(in);
	return r;
}

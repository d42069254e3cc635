/* SPDX-License-Identifier: GPL-2.0-or-later */
/* data_features.c - writes the feature sections of a perf.data file. */
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "format/perfdata/data_priv.h"

/* The payload layouts are in tools/perf/util/header.c, write_*(), and in
 * perf.data-file-format.txt. Numbers are in this machine's byte order. */
enum {
	FEATURE_BUILD_ID = 2,
	FEATURE_HOSTNAME = 3,
	FEATURE_OSRELEASE = 4,
	FEATURE_VERSION = 5,
	FEATURE_ARCH = 6,
	FEATURE_NRCPUS = 7,
	FEATURE_CPUDESC = 8,
	FEATURE_TOTAL_MEM = 10,
	FEATURE_CMDLINE = 11,
	FEATURE_EVENT_DESC = 12,
	FEATURE_SAMPLE_TIME = 21,
	FEATURE_CLOCKID = 23,
	FEATURE_CLOCK_DATA = 29,

	TEXT_ALIGN = 64,              /* NAME_ALIGN */
	MISC_BUILD_ID_SIZE = 1 << 15, /* PERF_RECORD_MISC_BUILD_ID_SIZE */
	CLOCK_DATA_VERSION = 1
};

struct feature_input {
	const struct perf_data_features *f;
	const struct perf_data_events *events;
};

static void perf_data_features_put_u32(struct buf *out, uint32_t v)
{
	buf_put(out, &v, sizeof(v));
}

static void perf_data_features_put_u64(struct buf *out, uint64_t v)
{
	buf_put(out, &v, sizeof(v));
}

/* Appends `len` bytes of `text`, a NUL, and zeros up to a multiple of TEXT_ALIGN. */
static void put_padded(struct buf *out, const char *text, size_t len)
{
	static const char zeros[TEXT_ALIGN];

	buf_put(out, text, len);
	buf_put(out, zeros, TEXT_ALIGN - len % TEXT_ALIGN);
}

static size_t padded_size(size_t len)
{
	return (len / TEXT_ALIGN + 1) * TEXT_ALIGN;
}

static void perf_data_features_put_text(struct buf *out, const char *text)
{
	size_t len = strlen(text);

	perf_data_features_put_u32(out, (uint32_t)padded_size(len));
	put_padded(out, text, len);
}

static bool put_hostname(const struct feature_input *in, struct buf *out)
{
	if (in->f->hostname)
		perf_data_features_put_text(out, in->f->hostname);
	return in->f->hostname;
}

static bool put_os_release(const struct feature_input *in, struct buf *out)
{
	if (in->f->os_release)
		perf_data_features_put_text(out, in->f->os_release);
	return in->f->os_release;
}

static bool put_version(const struct feature_input *in, struct buf *out)
{
	if (in->f->version)
		perf_data_features_put_text(out, in->f->version);
	return in->f->version;
}

static bool put_arch(const struct feature_input *in, struct buf *out)
{
	if (in->f->arch)
		perf_data_features_put_text(out, in->f->arch);
	return in->f->arch;
}

static bool put_nr_cpus(const struct feature_input *in, struct buf *out)
{
	perf_data_features_put_u32(out, in->f->nr_cpus_available);
	perf_data_features_put_u32(out, in->f->nr_cpus_online);
	return in->f->nr_cpus_online;
}

static bool put_cpu_desc(const struct feature_input *in, struct buf *out)
{
	if (in->f->cpu_desc)
		perf_data_features_put_text(out, in->f->cpu_desc);
	return in->f->cpu_desc;
}

static bool put_total_mem(const struct feature_input *in, struct buf *out)
{
	perf_data_features_put_u64(out, in->f->total_mem_kb);
	return in->f->total_mem_kb;
}

static bool perf_data_features_put_command(const struct feature_input *in,
					   struct buf *out)
{
	perf_data_features_put_u32(out, (uint32_t)in->f->nr_command);
	for (int i = 0; i < in->f->nr_command; i++)
		perf_data_features_put_text(out, in->f->command[i]);
	return in->f->nr_command > 0;
}

static bool put_event_desc(const struct feature_input *in, struct buf *out)
{
	perf_data_features_put_u32(out, (uint32_t)in->events->nr);
	perf_data_features_put_u32(out, sizeof(struct perf_event_attr));
	for (size_t i = 0; i < in->events->nr; i++) {
		const struct perf_data_event_row *e = &in->events->at[i];

		buf_put(out, &e->attr, sizeof(e->attr));
		perf_data_features_put_u32(out, (uint32_t)e->nr_ids);
		perf_data_features_put_text(out, e->name);
		buf_put(out, e->ids, e->nr_ids * sizeof(uint64_t));
	}
	return in->events->nr;
}

/* Appends the build-id of an image as a struct perf_record_header_build_id of
 * tools/lib/perf/include/perf/event.h. */
static void perf_data_features_put_build_id(const struct perf_data_build_id *image,
					    struct buf *out)
{
	struct {
		struct perf_event_header header;
		int32_t pid; /* -1: the host, not a guest */
		uint8_t id[BUILD_ID_MAX];
		uint8_t id_len;
		uint8_t reserved[3];
	} b = { .pid = -1, .id_len = image->id.len };
	size_t len = strlen(image->path);
	uint16_t mode = image->kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;

	static_assert(sizeof(b) == 36, "perf_record_header_build_id of tools/perf");
	if (sizeof(b) + padded_size(len) > UINT16_MAX)
		return;
	b.header.misc = (uint16_t)(mode | MISC_BUILD_ID_SIZE);
	b.header.size = (uint16_t)(sizeof(b) + padded_size(len));
	memcpy(b.id, image->id.bytes, sizeof(b.id));
	buf_put(out, &b, sizeof(b));
	put_padded(out, image->path, len);
}

static bool put_build_ids(const struct feature_input *in, struct buf *out)
{
	bool any = false;

	for (size_t i = 0; i < in->f->nr_build_ids; i++) {
		if (!in->f->build_ids[i].id.len)
			continue;
		perf_data_features_put_build_id(&in->f->build_ids[i], out);
		any = true;
	}
	return any;
}

static bool put_sample_time(const struct feature_input *in, struct buf *out)
{
	perf_data_features_put_u64(out, in->f->first_ns);
	perf_data_features_put_u64(out, in->f->last_ns);
	return in->f->last_ns;
}

static bool put_clock_resolution(const struct feature_input *in, struct buf *out)
{
	struct timespec t;

	if (in->f->clock_id < 0 || clock_getres(in->f->clock_id, &t) < 0)
		return false;
	perf_data_features_put_u64(out, clock_ns(t));
	return true;
}

static bool put_clock_data(const struct feature_input *in, struct buf *out)
{
	perf_data_features_put_u32(out, CLOCK_DATA_VERSION);
	perf_data_features_put_u32(out, (uint32_t)in->f->clock_id);
	perf_data_features_put_u64(out, in->f->clock_wall_ns);
	perf_data_features_put_u64(out, in->f->clock_ns);
	return in->f->clock_id >= 0 && in->f->clock_wall_ns;
}

/* The features in ascending order, as in the index. `put` returns false if the value is unknown;
 * its output is then dropped. */
static const struct perf_data_features_feature_row {
	unsigned int bit;
	bool (*put)(const struct feature_input *in, struct buf *out);
} feature_rows[] = {
	{ FEATURE_BUILD_ID, put_build_ids },
	{ FEATURE_HOSTNAME, put_hostname },
	{ FEATURE_OSRELEASE, put_os_release },
	{ FEATURE_VERSION, put_version },
	{ FEATURE_ARCH, put_arch },
	{ FEATURE_NRCPUS, put_nr_cpus },
	{ FEATURE_CPUDESC, put_cpu_desc },
	{ FEATURE_TOTAL_MEM, put_total_mem },
	{ FEATURE_CMDLINE, perf_data_features_put_command },
	{ FEATURE_EVENT_DESC, put_event_desc },
	{ FEATURE_SAMPLE_TIME, put_sample_time },
	{ FEATURE_CLOCKID, put_clock_resolution },
	{ FEATURE_CLOCK_DATA, put_clock_data },
};

enum {
	NR_FEATURES = COUNT_OF(feature_rows)
};

void perf_data_put_features(const struct perf_data_features *features,
			    const struct perf_data_events *events, uint64_t offset,
			    struct buf *out, struct perf_data_header *header)
{
	struct feature_input in = { .f = features, .events = events };
	struct perf_data_section index[NR_FEATURES];
	struct buf payload = { 0 };
	size_t nr = 0;

	for (size_t i = 0; i < NR_FEATURES; i++) {
		unsigned int bit = feature_rows[i].bit;
		size_t before = payload.len;

		if (!feature_rows[i].put(&in, &payload)) {
			payload.len = before;
			continue;
		}
		header->features[bit / 64] |= 1ULL << bit % 64;
		index[nr++] =
			(struct perf_data_section){ before, payload.len - before };
	}
	for (size_t i = 0; i < nr; i++)
		index[i].offset += offset + nr * sizeof(index[0]);
	buf_put(out, index, nr * sizeof(index[0]));
	buf_put(out, payload.data, payload.len);
	out->failed |= payload.failed;
	buf_done(&payload);
}

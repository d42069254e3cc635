/* SPDX-License-Identifier: GPL-2.0-or-later */
/* input_features.c - parses the feature sections of a perf.data file, one table row each. */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/err.h"
#include "base/files/io.h"
#include "format/perfdata/input_priv.h"

/* The payload layouts are in tools/perf/util/header.c, process_*(). Features that are not in
 * the table are only recorded as present. */
enum {
	FEATURE_TRACING_DATA = 1,
	FEATURE_BUILD_ID = 2,
	FEATURE_HOSTNAME = 3,
	FEATURE_OSRELEASE = 4,
	FEATURE_VERSION = 5,
	FEATURE_ARCH = 6,
	FEATURE_NRCPUS = 7,
	FEATURE_CPUDESC = 8,
	FEATURE_CPUID = 9,
	FEATURE_TOTAL_MEM = 10,
	FEATURE_CMDLINE = 11,
	FEATURE_EVENT_DESC = 12,
	FEATURE_STAT = 19,
	FEATURE_SAMPLE_TIME = 21,
	FEATURE_DIR_FORMAT = 24,
	FEATURE_BPF_PROG_INFO = 25,
	FEATURE_CLOCK_DATA = 29,
	FEATURE_E_MACHINE = 33,
	FEATURE_CLN_SIZE = 34,
	FEATURE_SIMPLEPERF_FILE = 128,
	FEATURE_SIMPLEPERF_META = 129,
	FEATURE_SIMPLEPERF_FILE2 = 132,

	FEATURE_BYTES_MAX = 256 << 20,
	DESC_EVENTS_MAX = 1 << 16
};

int perf_text_set(char **field, const char *text, size_t len)
{
	char *copy = strndup(text, len);

	if (!copy)
		return -ENOMEM;
	free(*field);
	*field = copy;
	return 0;
}

/* Reads a u32 length, which includes the padding, and then the text. */
static const char *perf_input_features_take_text(struct cursor *c, size_t *ret_len)
{
	uint32_t len = cursor_u32(c);
	const char *text = cursor_take(c, len);

	*ret_len = text ? strnlen(text, len) : 0;
	return text ? text : "";
}

static int take_text_into(struct cursor *c, char **field)
{
	size_t len;
	const char *text = perf_input_features_take_text(c, &len);

	return c->failed ? -EBADMSG : perf_text_set(field, text, len);
}

static int parse_hostname(struct perf_input *in, struct cursor *c)
{
	return take_text_into(c, &in->info.hostname);
}

static int parse_os_release(struct perf_input *in, struct cursor *c)
{
	return take_text_into(c, &in->info.os_release);
}

static int parse_version(struct perf_input *in, struct cursor *c)
{
	return take_text_into(c, &in->info.version);
}

static int parse_arch(struct perf_input *in, struct cursor *c)
{
	return take_text_into(c, &in->info.arch);
}

static int parse_cpu_desc(struct perf_input *in, struct cursor *c)
{
	return take_text_into(c, &in->info.cpu_desc);
}

static int parse_cpu_id(struct perf_input *in, struct cursor *c)
{
	return take_text_into(c, &in->info.cpu_id);
}

static int parse_nr_cpus(struct perf_input *in, struct cursor *c)
{
	uint32_t available = cursor_u32(c);
	uint32_t online = cursor_u32(c);

	if (c->failed)
		return -EBADMSG;
	in->info.nr_cpus_available = available;
	in->info.nr_cpus_online = online;
	return 0;
}

static int parse_total_mem(struct perf_input *in, struct cursor *c)
{
	uint64_t kb = cursor_u64(c);

	if (c->failed)
		return -EBADMSG;
	in->info.total_mem_kb = kb;
	return 0;
}

static bool needs_quotes(const char *word, size_t len)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_{}";

	return len == 0 || strspn(word, plain) < len;
}

static void perf_input_features_put_word(struct buf *out, const char *word, size_t len)
{
	if (out->len)
		buf_put_u8(out, ' ');
	if (!needs_quotes(word, len)) {
		buf_put(out, word, len);
		return;
	}
	buf_put_u8(out, '\'');
	for (size_t i = 0; i < len; i++) {
		if (word[i] == '\'')
			buf_put(out, "'\\'", 3);
		buf_put_u8(out, (uint8_t)word[i]);
	}
	buf_put_u8(out, '\'');
}

static int parse_command(struct perf_input *in, struct cursor *c)
{
	struct buf line = { 0 };
	uint32_t nr = cursor_u32(c);
	int r = 0;

	for (uint32_t i = 0; i < nr && !c->failed; i++) {
		size_t len;
		const char *word = perf_input_features_take_text(c, &len);

		if (!c->failed)
			perf_input_features_put_word(&line, word, len);
	}
	if (c->failed)
		r = -EBADMSG;
	else if (line.failed)
		r = -ENOMEM;
	else if (line.len)
		r = perf_text_set(&in->info.command, (const char *)line.data, line.len);
	buf_done(&line);
	return r;
}

/* Parses EVENT_DESC. Assigns the names to the events by index, as perf does. */
static int parse_event_desc(struct perf_input *in, struct cursor *c)
{
	uint32_t nr = cursor_u32(c);
	uint32_t attr_bytes = cursor_u32(c);

	if (in->frozen)
		return 0;
	for (uint32_t i = 0; i < nr && i < DESC_EVENTS_MAX; i++) {
		uint32_t nr_ids;
		char *name = NULL;
		int r;

		cursor_take(c, attr_bytes);
		nr_ids = cursor_u32(c);
		r = take_text_into(c, &name);
		cursor_take(c, (size_t)nr_ids * sizeof(uint64_t));
		if (r == 0 && c->failed)
			r = -EBADMSG;
		if (r == 0 && !vec_push(&in->desc_names, name))
			r = -ENOMEM;
		if (r) {
			free(name);
			return r;
		}
	}
	return c->failed ? -EBADMSG : 0;
}

static int parse_sample_time(struct perf_input *in, struct cursor *c)
{
	uint64_t first = cursor_u64(c);
	uint64_t last = cursor_u64(c);

	if (c->failed)
		return -EBADMSG;
	in->info.first_ns = first;
	in->info.last_ns = last;
	return 0;
}

static int parse_clock_data(struct perf_input *in, struct cursor *c)
{
	uint32_t version = cursor_u32(c);
	uint32_t id = cursor_u32(c);
	uint64_t wall = cursor_u64(c);
	uint64_t clock = cursor_u64(c);

	if (c->failed || version != 1)
		return -EBADMSG;
	in->info.clock_id = (int32_t)id;
	in->info.clock_wall_ns = wall;
	in->info.clock_ns = clock;
	return 0;
}

/* Parses the machine type, which perf 7 stores as in an ELF header (EM_...), and converts it to
 * the name that uname(2) returns. The file can have it in addition to ARCH or, as after perf
 * inject of a guest, without ARCH. */
static int parse_e_machine(struct perf_input *in, struct cursor *c)
{
	static const struct {
		uint32_t machine;
		const char *little, *big;
	} rows[] = {
		{ EM_386, "i686", "" },
		{ EM_X86_64, "x86_64", "" },
		{ EM_ARM, "armv7l", "armv7b" },
		{ EM_AARCH64, "aarch64", "aarch64_be" },
		{ EM_S390, "", "s390x" },
		{ EM_PPC, "", "ppc" },
		{ EM_PPC64, "ppc64le", "ppc64" },
		{ EM_MIPS, "mips64", "mips64" },
		{ EM_RISCV, "riscv64", "" },
		{ EM_SPARCV9, "", "sparc64" },
		{ EM_LOONGARCH, "loongarch64", "" },
	};
	bool big = in->info.swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	uint32_t machine = cursor_u32(c);

	cursor_u32(c); /* e_flags */
	if (c->failed)
		return -EBADMSG;
	in->info.e_machine = machine;
	if (*in->info.arch)
		return 0;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const char *name = big ? rows[i].big : rows[i].little;

		if (rows[i].machine == machine)
			return perf_text_set(&in->info.arch, name, strlen(name));
	}
	return 0;
}

static int parse_cln_size(struct perf_input *in, struct cursor *c)
{
	uint32_t bytes = cursor_u32(c);

	if (c->failed)
		return -EBADMSG;
	in->info.cache_line_bytes = bytes;
	return 0;
}

static int parse_dir_format(struct perf_input *in, struct cursor *c)
{
	uint64_t version = cursor_u64(c);

	if (c->failed)
		return -EBADMSG;
	in->dir_version = version;
	return 0;
}

static const struct perf_input_features_feature_row {
	uint32_t bit;
	int (*parse)(struct perf_input *in, struct cursor *payload);
} feature_rows[] = {
	{ FEATURE_TRACING_DATA, perf_tracing_parse },
	{ FEATURE_BUILD_ID, perf_build_ids_parse },
	{ FEATURE_HOSTNAME, parse_hostname },
	{ FEATURE_OSRELEASE, parse_os_release },
	{ FEATURE_VERSION, parse_version },
	{ FEATURE_ARCH, parse_arch },
	{ FEATURE_NRCPUS, parse_nr_cpus },
	{ FEATURE_CPUDESC, parse_cpu_desc },
	{ FEATURE_CPUID, parse_cpu_id },
	{ FEATURE_TOTAL_MEM, parse_total_mem },
	{ FEATURE_CMDLINE, parse_command },
	{ FEATURE_EVENT_DESC, parse_event_desc },
	{ FEATURE_SAMPLE_TIME, parse_sample_time },
	{ FEATURE_CLOCK_DATA, parse_clock_data },
	{ FEATURE_DIR_FORMAT, parse_dir_format },
	{ FEATURE_BPF_PROG_INFO, perf_bpf_programs },
	{ FEATURE_E_MACHINE, parse_e_machine },
	{ FEATURE_CLN_SIZE, parse_cln_size },
	{ FEATURE_SIMPLEPERF_FILE, perf_simpleperf_files },
	{ FEATURE_SIMPLEPERF_META, perf_simpleperf_meta },
	{ FEATURE_SIMPLEPERF_FILE2, perf_simpleperf_files2 },
};

static const struct perf_input_features_feature_row *
perf_input_features_find_row(uint32_t bit)
{
	for (size_t i = 0; i < COUNT_OF(feature_rows); i++) {
		if (feature_rows[i].bit == bit)
			return &feature_rows[i];
	}
	return NULL;
}

int perf_feature_parse(struct perf_input *in, uint32_t bit, struct cursor *payload)
{
	const struct perf_input_features_feature_row *row =
		perf_input_features_find_row(bit);

	in->info.is_stat |= bit == FEATURE_STAT;
	if (bit < PERF_INPUT_FEATURES)
		in->info.features[bit / 64] |= 1ULL << bit % 64;
	/* A feature is empty if the recording machine does not have the value. For example,
	 * /proc/cpuinfo of many ARM CPUs has no model name. */
	return row && cursor_left(payload) ? row->parse(in, payload) : 0;
}

int perf_file_read(struct perf_input *in, uint64_t offset, uint64_t len,
		   struct buf *out)
{
	ssize_t n;

	buf_clear(out);
	if (offset > in->main_size || len > in->main_size - offset ||
	    len > FEATURE_BYTES_MAX)
		return -EBADMSG;
	if (!buf_reserve(out, len))
		return -ENOMEM;
	n = len ? io_pread_full(in->main_fd, out->data, len, offset) : 0;
	if (n < 0)
		return (int)n;
	out->len = (size_t)n;
	return out->len == len ? 0 : -EBADMSG;
}

static int read_feature(struct perf_input *in, uint32_t bit,
			const struct perf_data_section *at)
{
	struct buf payload = { 0 };
	struct cursor c;
	int r;

	in->info.is_stat |= bit == FEATURE_STAT;
	if (!at->size)
		return 0;
	if (!perf_input_features_find_row(bit)) {
		bool there = at->offset <= in->main_size &&
			     at->size <= in->main_size - at->offset;

		return there ? 0 : -EBADMSG;
	}
	r = perf_file_read(in, at->offset, at->size, &payload);
	c = cursor_of(payload.data, payload.len, in->info.swap);
	if (r == 0)
		r = perf_feature_parse(in, bit, &c);
	buf_done(&payload);
	return r;
}

/* Checks whether another recording was appended (`cat b.data >>a.data`) at `end`, where the
 * features of this one end. If so, counts its bytes. */
static int input_find_appended(struct perf_input *in, uint64_t end, struct err *err)
{
	struct buf magic = { 0 };
	int r = perf_file_read(in, end, sizeof(uint64_t), &magic);

	if (r == 0 && perf_input_is_magic(magic.data, magic.len))
		in->appended_bytes = in->main_size - end;
	buf_done(&magic);
	return r < 0 && r != -EBADMSG ? err_sys(err, r, "cannot read '%s'", in->name)
				      : 0;
}

/* Reads the features. Their index has one entry for each set bit, in ascending order. */
int perf_features_read(struct perf_input *in, const struct perf_data_header *header,
		       struct err *err)
{
	uint64_t offset = header->data.offset + header->data.size;
	uint64_t end = offset;

	for (uint32_t bit = 0; bit < PERF_INPUT_FEATURES; bit++) {
		struct perf_data_section at;
		struct buf entry = { 0 };
		struct cursor c;
		int r;

		if (!(in->info.features[bit / 64] >> bit % 64 & 1))
			continue;
		r = perf_file_read(in, offset, sizeof(at), &entry);
		c = cursor_of(entry.data, entry.len, in->info.swap);
		at.offset = cursor_u64(&c);
		at.size = cursor_u64(&c);
		buf_done(&entry);
		if (r == 0)
			r = read_feature(in, bit, &at);
		if (r == -EBADMSG)
			in->damage.bad_features++;
		else if (r)
			return err_sys(err, r, "cannot read '%s'", in->name);
		offset += sizeof(at);
		if (r == 0 && end < at.offset + at.size)
			end = at.offset + at.size;
	}
	return input_find_appended(in, end < offset ? offset : end, err);
}

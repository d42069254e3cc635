/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads header features, complete and damaged; those of simpleperf; and names of events. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/err.h"
#include "format/perfdata/input.h"
#include "format/perfdata/input_priv.h"
#include "format/perfdata/perf_maker.h"
#include "unit.h"

enum {
	SAMPLE = PERF_RECORD_SAMPLE,
	MISC_SIZE = 1 << 15
};

/* A feature's payload, and its bit. */
struct feature {
	unsigned int bit;
	struct perf_maker payload;
};

static void make_file(struct perf_maker *m, const struct feature *features, size_t nr)
{
	uint64_t offset;
	size_t data_end;

	maker_front(m, 128);
	put_record(m, SAMPLE, 24, 1);
	data_end = m->out.len;
	maker_data_end(m, 0);
	offset = data_end + nr * 16;
	for (size_t i = 0; i < nr; i++) {
		size_t len = features[i].payload.out.len;

		put_section(m, offset, len);
		offset += len;
	}
	for (size_t i = 0; i < nr; i++) {
		unsigned int bit = features[i].bit;
		size_t at = 72 + bit / 64 * 8;
		uint64_t word;

		memcpy(&word, m->out.data + at, sizeof(word));
		if (m->big)
			word = __builtin_bswap64(word);
		set8(m, at, word | 1ULL << bit % 64);
		buf_put(&m->out, features[i].payload.out.data,
			features[i].payload.out.len);
	}
}

static void free_features(struct feature *features, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		buf_done(&features[i].payload.out);
}

static void put_string(struct perf_maker *m, const char *text)
{
	size_t bytes = (strlen(text) / 64 + 1) * 64;

	put4(m, (uint32_t)bytes);
	put_text(m, text, bytes);
}

static void put_id_row(struct perf_maker *m, int32_t pid, uint16_t misc, uint8_t len,
		       const char *name)
{
	size_t name_bytes = (strlen(name) / 64 + 1) * 64;

	put_head(m, 0, misc, 8 + 4 + 24 + name_bytes);
	put4(m, (uint32_t)pid);
	for (uint8_t i = 0; i < 20; i++)
		buf_put_u8(&m->out, i < len ? (uint8_t)(0xa0 + i) : 0);
	buf_put_u8(&m->out, misc & MISC_SIZE ? len : 0);
	put_text(m, "", 3);
	put_text(m, name, name_bytes);
}

enum {
	NR_FEATURES = 14
};

static void make_features(struct feature *f, bool big)
{
	static const unsigned int bits[NR_FEATURES] = { 2, 3,  4,  5,  6,  7,  8,
							9, 10, 11, 12, 13, 21, 29 };
	static const char *const texts[NR_FEATURES] = {
		[1] = "host", [2] = "6.1", [3] = "6.2",
		[4] = "arch", [6] = "cpu", [7] = "id",
	};

	for (size_t i = 0; i < NR_FEATURES; i++) {
		f[i] = (struct feature){ .bit = bits[i], .payload = { .big = big } };
		if (texts[i])
			put_string(&f[i].payload, texts[i]);
	}
	put_id_row(&f[0].payload, -1, 1 | MISC_SIZE, 20, "[kernel.kallsyms]");
	put_id_row(&f[0].payload, 77, 2 | MISC_SIZE, 16, "/lib/x");
	put_id_row(&f[0].payload, -1, 2, 16, "/lib/old"); /* MD5, padded */
	put4(&f[5].payload, 8);
	put4(&f[5].payload, 6);
	put8(&f[8].payload, 123456);
	put4(&f[9].payload, 4);
	put_string(&f[9].payload, "perf");
	put_string(&f[9].payload, "record");
	put_string(&f[9].payload, "it's \"so\"");
	put_string(&f[9].payload, "");
	put4(&f[10].payload, 1); /* EVENT_DESC */
	put4(&f[10].payload, 128);
	put_attr(&f[10].payload, 128);
	put4(&f[10].payload, 2);
	put_string(&f[10].payload, "my-event");
	put8(&f[10].payload, 7);
	put8(&f[10].payload, 8);
	put4(&f[11].payload, 99); /* CPU_TOPOLOGY: not read here */
	put8(&f[12].payload, 1000);
	put8(&f[12].payload, 2000);
	put4(&f[13].payload, 1);
	put4(&f[13].payload, 4);
	put8(&f[13].payload, 5555);
	put8(&f[13].payload, 6666);
}

static void check_build_ids(const struct perf_input_info *info)
{
	const struct perf_input_build_id *row = info->build_ids.at;

	assert_int_equal(info->build_ids.nr, 3);
	assert_int_equal(row[0].pid, -1);
	assert_int_equal(row[0].misc, 1 | MISC_SIZE);
	assert_int_equal(row[0].id.len, 20);
	assert_int_equal(row[0].id.bytes[19], 0xa0 + 19);
	assert_string_equal(row[0].name, "[kernel.kallsyms]");
	assert_int_equal(row[1].pid, 77);
	assert_int_equal(row[1].id.len, 16);
	assert_string_equal(row[1].name, "/lib/x");
	assert_int_equal(row[2].id.len, 16);
	assert_int_equal(row[2].id.bytes[15], 0xa0 + 15);
	assert_string_equal(row[2].name, "/lib/old");
}

static void check_info(const struct perf_input_info *info)
{
	assert_string_equal(info->hostname, "host");
	assert_string_equal(info->os_release, "6.1");
	assert_string_equal(info->version, "6.2");
	assert_string_equal(info->arch, "arch");
	assert_string_equal(info->cpu_desc, "cpu");
	assert_string_equal(info->cpu_id, "id");
	assert_string_equal(info->command, "perf record 'it'\\''s \"so\"' ''");
	assert_int_equal(info->nr_cpus_available, 8);
	assert_int_equal(info->nr_cpus_online, 6);
	assert_int_equal(info->total_mem_kb, 123456);
	assert_int_equal(info->first_ns, 1000);
	assert_int_equal(info->last_ns, 2000);
	assert_int_equal(info->clock_id, 4);
	assert_int_equal(info->clock_wall_ns, 5555);
	assert_int_equal(info->clock_ns, 6666);
	assert_string_equal(info->events.at[0].name, "my-event");
	check_build_ids(info);
}

static void reads_all_features(void **state)
{
	(void)state;
	for (int big = 0; big < 2; big++) {
		struct feature f[NR_FEATURES];
		struct perf_maker m = { .big = big };
		struct perf_input *in = NULL;
		struct seen seen;

		make_features(f, big);
		make_file(&m, f, NR_FEATURES);
		maker_read(maker_fd(&m), &seen, &in);
		assert_int_equal(seen.opened, 0);
		assert_int_equal(seen.damage.bad_features, 0);
		assert_int_equal(seen.bytes, 24);
		assert_int_equal(perf_input_info(in)->features[0],
				 0x3ffcULL | 1ULL << 21 | 1ULL << 29);
		check_info(perf_input_info(in));
		perf_input_close(in);
		free_features(f, NR_FEATURES);
		buf_done(&seen.all);
		buf_done(&m.out);
	}
}

/* A feature that is cut is lost and counted; those before it are read. */
static void handles_features_truncated_anywhere(void **state)
{
	struct feature f[NR_FEATURES];
	struct perf_maker m = { 0 };
	size_t index_at;
	uint64_t last = NR_FEATURES + 1;

	(void)state;
	make_features(f, false);
	make_file(&m, f, NR_FEATURES);
	index_at = MAKER_ATTRS + 144 + 24;
	for (size_t len = index_at; len <= m.out.len; len++) {
		struct perf_input *in = NULL;
		struct seen seen;
		uint64_t lost = 0;
		size_t end = index_at + NR_FEATURES * 16UL;

		for (size_t i = 0; i < NR_FEATURES; i++) {
			end += f[i].payload.out.len;
			lost += end > len || index_at + (i + 1) * 16 > len;
		}
		maker_read(maker_fd_of(m.out.data, len), &seen, &in);
		assert_int_equal(seen.opened, 0);
		assert_int_equal(seen.bytes, 24);
		assert_int_equal(seen.damage.bad_features, lost);
		assert_true(lost <= last);
		last = lost;
		assert_int_equal(perf_input_info(in)->build_ids.nr,
				 lost < NR_FEATURES ? 3 : 0);
		perf_input_close(in);
		buf_done(&seen.all);
	}
	assert_int_equal(last, 0);
	free_features(f, NR_FEATURES);
	buf_done(&m.out);
}

/* Each feature's payload is shorter than its own lengths claim. */
static void rejects_too_short_features(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR_FEATURES; i++) {
		struct feature f[NR_FEATURES];
		struct perf_maker m = { 0 };
		struct seen seen;

		make_features(f, false);
		f[i].payload.out.len -= 3;
		make_file(&m, f, NR_FEATURES);
		maker_read(maker_fd(&m), &seen, NULL);
		assert_int_equal(seen.opened, 0);
		/* The reader only records that CPU_TOPOLOGY is present. */
		assert_int_equal(seen.damage.bad_features, f[i].bit == 13 ? 0 : 1);
		free_features(f, NR_FEATURES);
		buf_done(&seen.all);
		buf_done(&m.out);
	}
}

/* A 32-bit big-endian machine: bits 0 to 31 come first in the file. */
static void reads_feature_words_of_32_bits(void **state)
{
	struct feature f = { .bit = 3, .payload = { .big = true } };
	struct perf_maker m = { .big = true };
	struct perf_input *in = NULL;
	struct seen seen;

	(void)state;
	put_string(&f.payload, "mips");
	make_file(&m, &f, 1);
	set8(&m, 72, 8ULL << 32);
	maker_read(maker_fd(&m), &seen, &in);
	assert_int_equal(perf_input_info(in)->features[0], 8);
	assert_string_equal(perf_input_info(in)->hostname, "mips");
	assert_int_equal(seen.damage.bad_features, 0);
	perf_input_close(in);
	free_features(&f, 1);
	buf_done(&seen.all);
	buf_done(&m.out);
}

/* Old rows that do not contain a pid. */
static void reads_build_ids_without_pid(void **state)
{
	struct feature f = { .bit = 2 };
	struct perf_maker m = { 0 };
	struct perf_input *in = NULL;
	static const char *const names[] = { "[kernel.kallsyms]", "/lib/y" };
	const struct perf_input_build_id *row;
	struct seen seen;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		put_head(&f.payload, 0, 1, 8 + 24 + 64);
		for (uint8_t j = 0; j < 20; j++)
			buf_put_u8(&f.payload.out, (uint8_t)(j + 1));
		put_text(&f.payload, "", 4);
		put_text(&f.payload, names[i], 64);
	}
	make_file(&m, &f, 1);
	maker_read(maker_fd(&m), &seen, &in);
	assert_int_equal(seen.damage.bad_features, 0);
	assert_int_equal(perf_input_info(in)->build_ids.nr, 2);
	row = perf_input_info(in)->build_ids.at;
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(row[i].pid, -1);
		assert_int_equal(row[i].id.len, 20);
		assert_int_equal(row[i].id.bytes[0], 1);
		assert_int_equal(row[i].id.bytes[19], 20);
		assert_string_equal(row[i].name, names[i]);
	}
	perf_input_close(in);
	free_features(&f, 1);
	buf_done(&seen.all);
	buf_done(&m.out);
}

/* ---- BPF programs ---- */

enum {
	BPF_FEATURE = 25,
	BPF_INFO =
		128, /* bytes of struct bpf_prog_info up to its arrays of functions */
	BPF_DATA = 32
};

/* One program with two functions of 3 and 5 bytes at 0x1000 and 0x2000: its code is at 0 of the
 * data, then come addresses and lengths. */
static void put_bpf_program(struct perf_maker *m, uint64_t second)
{
	put4(m, BPF_INFO);
	put4(m, BPF_DATA);
	put8(m, 0); /* which arrays exist */
	put8(m, 0); /* type, id */
	put8(m, 0); /* tag */
	put4(m, 8); /* jited_prog_len */
	put4(m, 0);
	put8(m, 0); /* jited_prog_insns */
	while (m->out.len < 4 + 16 + 104)
		buf_put_u8(&m->out, 0);
	put4(m, 2); /* nr_jited_ksyms, nr_jited_func_lens */
	put4(m, 2);
	put8(m, 8);  /* jited_ksyms */
	put8(m, 24); /* jited_func_lens */
	buf_put(&m->out, "abcdefgh", 8);
	put8(m, 0x1000);
	put8(m, second);
	put4(m, 3);
	put4(m, 5);
}

static void reads_bpf_programs(void **state)
{
	(void)state;
	for (int big = 0; big < 2; big++) {
		struct feature f = { .bit = BPF_FEATURE, .payload.big = big };
		struct perf_maker m = { .big = big };
		const struct perf_input_info *info;
		struct perf_input *in = NULL;
		struct seen seen;

		put4(&f.payload, 1);
		put_bpf_program(&f.payload, 0x2000);
		make_file(&m, &f, 1);
		maker_read(maker_fd(&m), &seen, &in);
		assert_int_equal(seen.damage.bad_features, 0);
		info = perf_input_info(in);
		assert_int_equal(info->codes.nr, 2);
		assert_int_equal(info->codes.at[0].address, 0x1000);
		assert_int_equal(info->codes.at[0].len, 3);
		assert_memory_equal(info->codes.at[0].bytes, "abc", 3);
		assert_int_equal(info->codes.at[1].address, 0x2000);
		assert_memory_equal(info->codes.at[1].bytes, "defgh", 5);
		perf_input_close(in);
		free_features(&f, 1);
		buf_done(&seen.all);
		buf_done(&m.out);
	}
}

/* Makes each number wrong: nothing is read beyond the data, and intact programs stay. */
static void rejects_damaged_bpf_programs(void **state)
{
	(void)state;
	for (size_t at = 0; at < 4 + 16 + BPF_INFO + BPF_DATA; at++) {
		struct feature f = { .bit = BPF_FEATURE };
		struct perf_maker m = { 0 };
		struct perf_input *in = NULL;
		struct seen seen;

		put4(&f.payload, 1);
		put_bpf_program(&f.payload, 0x2000);
		f.payload.out.data[at] = 0xff;
		make_file(&m, &f, 1);
		maker_read(maker_fd(&m), &seen, &in);
		assert_int_equal(seen.opened, 0);
		assert_true(perf_input_info(in)->codes.nr <= 2);
		perf_input_close(in);
		free_features(&f, 1);
		buf_done(&seen.all);
		buf_done(&m.out);
	}
}

/* ---- simpleperf ---- */

/* Hand-made protocol buffers: "\12" is field 1 with bytes, "\20" field 2 with a number ... */
#define SYMBOL "\x08\xb0\x02\x10\x10\x1a\x04main"
#define FILE2                                                                          \
	"\x0a\x05/a.so\x10\x02\x18\x80\x20"                                            \
	"\x22\x0b" SYMBOL "\x32\x03\x08\x80\x10"

static void make_simpleperf(struct feature *f, bool big)
{
	static const char meta[] = "simpleperf_version\0"
				   "1.build.7\0event_type_info\0"
				   "other,1,9\ncpu-clock:x,1,0";
	static const char message[] = FILE2;

	for (size_t i = 0; i < 3; i++)
		f[i] = (struct feature){ .bit = i == 2 ? 132 : 128 + (unsigned int)i,
					 .payload = { .big = big } };
	put4(&f[0].payload, 5 + 4 + 8 + 4 + (8 + 4 + 3) + 8); /* FILE */
	put_text(&f[0].payload, "/old", 5);
	put4(&f[0].payload, 2);
	put8(&f[0].payload, 0x7000);
	put4(&f[0].payload, 1);
	put8(&f[0].payload, 0x7100);
	put4(&f[0].payload, 32);
	put_text(&f[0].payload, "fn", 3);
	put8(&f[0].payload, 0x123);
	buf_put(&f[1].payload.out, meta, sizeof(meta));
	put4(&f[2].payload, sizeof(message) - 1);
	buf_put(&f[2].payload.out, message, sizeof(message) - 1);
}

static void check_symbol_files(const struct perf_input_info *info)
{
	const struct perf_input_symbol_file *file = info->symbol_files.at;

	assert_int_equal(info->symbol_files.nr, 2);
	assert_string_equal(file->path, "/old");
	assert_int_equal(file->type, 2);
	assert_int_equal(file->min_vaddr, 0x7000);
	assert_int_equal(file->min_vaddr_offset, 0x123);
	assert_int_equal(file->symbols.nr, 1);
	assert_int_equal(file->symbols.at[0].vaddr, 0x7100);
	assert_int_equal(file->symbols.at[0].len, 32);
	assert_string_equal(file->symbols.at[0].name, "fn");
	file++;
	assert_string_equal(file->path, "/a.so");
	assert_int_equal(file->type, 2);
	assert_int_equal(file->min_vaddr, 0x1000);
	assert_int_equal(file->min_vaddr_offset, 0x800);
	assert_int_equal(file->symbols.nr, 1);
	assert_int_equal(file->symbols.at[0].vaddr, 0x130);
	assert_int_equal(file->symbols.at[0].len, 16);
	assert_string_equal(file->symbols.at[0].name, "main");
}

static void reads_simpleperf_files(void **state)
{
	(void)state;
	for (int big = 0; big < 2; big++) {
		struct feature f[3];
		struct perf_maker m = { .big = big };
		struct perf_input *in = NULL;
		struct seen seen;

		make_simpleperf(f, big);
		make_file(&m, f, 3);
		maker_read(maker_fd(&m), &seen, &in);
		assert_int_equal(seen.opened, 0);
		assert_int_equal(seen.damage.bad_features, 0);
		assert_true(perf_input_info(in)->is_simpleperf);
		assert_string_equal(perf_input_info(in)->version, "1.build.7");
		assert_string_equal(perf_input_info(in)->events.at[0].name,
				    "cpu-clock:x");
		check_symbol_files(perf_input_info(in));
		perf_input_close(in);
		free_features(f, 3);
		buf_done(&seen.all);
		buf_done(&m.out);
	}
}

/* Reads any prefix of the messages: never beyond its end. */
static void handles_simpleperf_files_truncated_anywhere(void **state)
{
	static const char message[] = FILE2;
	(void)state;
	for (size_t len = 0; len < sizeof(message) - 1; len++) {
		struct feature f = { .bit = 132 };
		struct perf_maker m = { 0 };
		struct perf_input *in = NULL;
		struct seen seen;

		put4(&f.payload, (uint32_t)len);
		buf_put(&f.payload.out, message, len);
		make_file(&m, &f, 1);
		maker_read(maker_fd(&m), &seen, &in);
		assert_int_equal(seen.opened, 0);
		assert_int_equal(seen.bytes, 24);
		/* A message can end between two fields. */
		assert_int_equal(seen.damage.bad_features,
				 len != 0 && len != 7 && len != 9 && len != 12 &&
					 len != 25);
		perf_input_close(in);
		free_features(&f, 1);
		buf_done(&seen.all);
		buf_done(&m.out);
	}
}

static void knows_simpleperfs_records(void **state)
{
	struct feature f[3];
	struct perf_maker m = { 0 };
	struct seen seen;

	(void)state;
	make_simpleperf(f, false);
	make_file(&m, f, 3);
	/* Overwrites the sample with 24 bytes: two of its records. */
	m.out.data[MAKER_ATTRS + 144] = 1;
	m.out.data[MAKER_ATTRS + 144 + 1] = 0x80;
	maker_read(maker_fd(&m), &seen, NULL);
	assert_int_equal(seen.bytes, 24);
	assert_int_equal(seen.damage.unknown_records, 0);
	free_features(f, 3);
	buf_done(&seen.all);
	buf_done(&m.out);
}

/* ---- names ---- */

/* Names as `perf evlist` prints them for events without a name in the file. */
static void invents_missing_event_names(void **state)
{
	static const struct {
		const char *name;
		struct perf_event_attr attr;
	} rows[] = {
		{ "cycles", { .type = 0, .exclude_guest = 1 } },
		{ "cycles:HG", { .type = 0 } },
		{ "instructions:u",
		  { .type = 0,
		    .config = 1,
		    .exclude_kernel = 1,
		    .exclude_hv = 1,
		    .exclude_guest = 0 } },
		{ "cpu-clock:uH",
		  { .type = 1,
		    .exclude_kernel = 1,
		    .exclude_hv = 1,
		    .exclude_guest = 1 } },
		{ "cycles:ppp", { .type = 0, .precise_ip = 3, .exclude_guest = 0 } },
		{ "cpu-clock:k", { .type = 1, .exclude_user = 1, .exclude_hv = 1 } },
		{ "page-faults", { .type = 1, .config = 2, .exclude_guest = 1 } },
		{ "dummy:HG", { .type = 1, .config = 9 } },
		{ "raw 0x1a8", { .type = 4, .config = 0x1a8, .exclude_guest = 1 } },
		{ "L1-dcache-load-misses",
		  { .type = 3, .config = 0x10000, .exclude_guest = 1 } },
		{ "dTLB-stores", { .type = 3, .config = 0x103, .exclude_guest = 1 } },
		{ "unknown tracepoint", { .type = 2, .config = 77 } },
		{ "mem:0x1000:rw",
		  { .type = 5, .bp_addr = 0x1000, .bp_type = 3, .exclude_guest = 1 } },
		{ "unknown attr type: 11", { .type = 11 } },
		{ "unknown-hardware", { .type = 0, .config = 99, .exclude_guest = 1 } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char *name = perf_event_name_make(&rows[i].attr);

		assert_string_equal(name, rows[i].name);
		free(name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_all_features),
		cmocka_unit_test(handles_features_truncated_anywhere),
		cmocka_unit_test(rejects_too_short_features),
		cmocka_unit_test(reads_feature_words_of_32_bits),
		cmocka_unit_test(reads_build_ids_without_pid),
		cmocka_unit_test(reads_bpf_programs),
		cmocka_unit_test(rejects_damaged_bpf_programs),
		cmocka_unit_test(reads_simpleperf_files),
		cmocka_unit_test(handles_simpleperf_files_truncated_anywhere),
		cmocka_unit_test(knows_simpleperfs_records),
		cmocka_unit_test(invents_missing_event_names),
	};

	return UNIT_RUN(tests);
}

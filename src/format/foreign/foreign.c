/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/foreign/foreign.h"

#include <string.h>

#include "base/array.h"
#include "format/foreign/head.h"
#include "format/foreign/named.h"

#define MAGIC(text)                                                                    \
	{                                                                              \
		(text), sizeof(text) - 1                                               \
	}

/* The formats in the order in which they are tried: first formats with a magic number, then
 * formats with a fixed header, then the others, of which those that accept the fewest other
 * texts come first. */
static const struct foreign_format formats[] = {
	{ .name = "elf",
	  .title = "an ELF binary",
	  .magic = MAGIC("\177ELF"),
	  .advice = "give a recording of it",
	  .can_be_image = true },
	{ .name = "pe",
	  .title = "a Windows program",
	  .is = foreign_is_pe,
	  .advice = "give a recording of it",
	  .can_be_image = true },
	{ .name = "gzip",
	  .title = "a gzip file",
	  .magic = MAGIC("\x1f\x8b"),
	  .advice = "its content is not a known profile, or is damaged",
	  .can_be_image = true },
	{ .name = "xz",
	  .title = "an xz file",
	  .magic = MAGIC("\xfd"
			 "7zXZ"),
	  .advice = "unpack it with unxz",
	  .can_be_image = true },
	{ .name = "zstd",
	  .title = "a zstd file",
	  .magic = MAGIC("\x28\xb5\x2f\xfd"),
	  .advice = "unpack it with unzstd",
	  .can_be_image = true },
	{ .name = "bzip2",
	  .title = "a bzip2 file",
	  .magic = MAGIC("BZh"),
	  .advice = "unpack it with bunzip2",
	  .can_be_image = true },
	{ .name = "zip",
	  .title = "a zip archive",
	  .magic = MAGIC("PK\3\4"),
	  .advice = "unpack it and give the profile in it",
	  .can_be_image = true },
	{ .name = "jfr",
	  .title = "a Java Flight Recording",
	  .magic = MAGIC("FLR\0"),
	  .read = foreign_read_jfr },
	{ .name = "hprof",
	  .title = "a Java heap dump",
	  .magic = MAGIC("JAVA PROFILE "),
	  .advice = "it contains objects, not samples" },
	{ .name = "simpleperf",
	  .title = "a protobuf report of simpleperf",
	  .magic = MAGIC("SIMPLEPERF\1"),
	  .read = foreign_read_simpleperf },
	{ .name = "gmon",
	  .title = "a gprof profile (gmon.out)",
	  .is = foreign_is_gmon,
	  .advice = "'gprof PROGRAM FILE' prints it" },
	{ .name = "nettrace",
	  .title = "a .NET trace",
	  .magic = MAGIC("Nettrace"),
	  .advice = "'dotnet-trace convert --format Speedscope' converts it" },
	{ .name = "llvm-profraw",
	  .title = "an LLVM instrumentation profile",
	  .is = foreign_is_llvm_profile,
	  .advice = "llvm-profdata reads it" },
	{ .name = "gcda",
	  .title = "a gcc coverage or AutoFDO file",
	  .is = foreign_is_gcov,
	  .advice = "gcov and gcc read it" },
	{ .name = "jitdump",
	  .title = "a jitdump, which contains code but no samples",
	  .is = foreign_is_jitdump,
	  .advice = "give the perf.data that was recorded with it" },
	{ .name = "go-trace",
	  .title = "a Go execution trace",
	  .is = foreign_is_go_trace,
	  .advice = "'go tool trace -pprof=sched FILE' converts it to pprof" },
	{ .name = "trace-cmd",
	  .title = "a trace-cmd recording",
	  .magic = MAGIC("\x17\x08\x44tracing"),
	  .advice = "'trace-cmd report' prints it" },
	{ .name = "sqlite",
	  .title = "an SQLite database",
	  .magic = MAGIC("SQLite format 3\0"),
	  .advice = "export it to folded stacks or pprof" },
	{ .name = "gperftools-cpu",
	  .title = "a legacy CPU profile of gperftools",
	  .is = foreign_is_gperftools_cpu,
	  .advice = "'pprof -proto PROGRAM FILE' converts it to pprof" },
	{ .name = "heap-profile",
	  .title = "a legacy heap profile",
	  .is = foreign_is_heap_profile,
	  .advice = "'pprof -proto PROGRAM FILE' converts it to pprof" },
	{ .name = "go-text",
	  .title = "a Go profile as text",
	  .is = foreign_is_go_text,
	  .advice = "fetch it without debug=1" },
	{ .name = "cachegrind",
	  .title = "a cachegrind profile",
	  .is = foreign_is_cachegrind,
	  .read = foreign_read_callgrind },
	{ .name = "callgrind",
	  .title = "a callgrind profile",
	  .is = foreign_is_callgrind,
	  .read = foreign_read_callgrind },
	{ .name = "massif",
	  .title = "a massif profile",
	  .is = foreign_is_massif,
	  .advice = "ms_print prints it" },
	{ .name = "gprof-text",
	  .title = "the text of gprof",
	  .is = foreign_is_gprof_text,
	  .advice = "it has no stacks" },
	{ .name = "perf-report-text",
	  .title = "the text of perf report",
	  .is = foreign_is_perf_report_text,
	  .advice = "give the perf.data, or the output of perf script" },
	{ .name = "perf-dump-text",
	  .title = "the raw records that perf prints with -D",
	  .is = foreign_is_perf_dump_text,
	  .advice = "give the perf.data, or the output of perf script without -D" },
	{ .name = "opreport-text",
	  .title = "the text of opreport",
	  .is = foreign_is_opreport_text,
	  .advice = "give the recording" },
	{ .name = "bpftrace",
	  .title = "stacks of bpftrace",
	  .is = foreign_is_bpftrace,
	  .advice = "stackcollapse-bpftrace.pl converts them to folded stacks" },
	{ .name = "perf-map",
	  .title = "a perf map, which contains names but no samples",
	  .is = foreign_is_perf_map,
	  .advice = "give the perf.data that was recorded with it" },
	{ .name = "svg",
	  .title = "a picture",
	  .is = foreign_is_svg,
	  .advice = "give the profile that it was drawn from" },
	{ .name = "markup",
	  .title = "an XML or HTML file",
	  .is = foreign_is_markup,
	  .advice = "export it to folded stacks, pprof or the text of perf script" },
	{ .name = "speedscope",
	  .title = "a speedscope profile",
	  .is = foreign_is_speedscope,
	  .read = foreign_read_speedscope },
	{ .name = "firefox",
	  .title = "a Firefox Profiler profile",
	  .is = foreign_is_firefox,
	  .read = foreign_read_firefox },
	{ .name = "chrome-trace",
	  .title = "a Chrome trace",
	  .is = foreign_is_chrome_trace,
	  .read = foreign_read_chrome_trace },
	{ .name = "cpuprofile",
	  .title = "a Chrome CPU profile",
	  .is = foreign_is_cpuprofile,
	  .read = foreign_read_cpuprofile },
	{ .name = "json",
	  .title = "a JSON file",
	  .is = foreign_is_json,
	  .advice = "it is not a known profile; export it to folded stacks or pprof" },
	{ .name = "pprof",
	  .title = "a pprof profile",
	  .is = foreign_is_pprof,
	  .read = foreign_read_pprof },
	{ .name = "perf-script",
	  .title = "the text of perf script",
	  .is = foreign_is_perf_script,
	  .read = foreign_read_perf_script },
	{ .name = "difffolded",
	  .title = "a comparison of folded stacks with two counts per line",
	  .is = foreign_is_difffolded,
	  .read = foreign_read_difffolded },
	{ .name = "folded",
	  .title = "folded stacks",
	  .is = foreign_is_folded,
	  .read = foreign_read_folded },
};

struct foreign_head foreign_head_of(const char *bytes, size_t len)
{
	struct foreign_head h = { bytes, len, len };

	if (len <= FOREIGN_HEAD_BYTES)
		return h;
	h.len = h.lines_len = FOREIGN_HEAD_BYTES;
	while (h.lines_len && bytes[h.lines_len - 1] != '\n')
		h.lines_len--;
	return h;
}

static bool foreign_row_fits(const struct foreign_format *f,
			     const struct foreign_head *head)
{
	if (f->is)
		return f->is(head);
	return head->len >= f->magic.len &&
	       !memcmp(head->bytes, f->magic.at, f->magic.len);
}

const struct foreign_format *foreign_recognise(const void *bytes, size_t len)
{
	const struct foreign_head head = foreign_head_of(bytes, len);

	for (size_t i = 0; i < COUNT_OF(formats); i++)
		if (foreign_row_fits(&formats[i], &head))
			return &formats[i];
	return NULL;
}

const struct foreign_format *foreign_find(const void *bytes, size_t len)
{
	const struct foreign_format *f = foreign_recognise(bytes, len);

	return f && f->read ? f : NULL;
}

void foreign_info_begin(struct foreign_info *info)
{
	*info = (struct foreign_info){ .passed = info->passed,
				       .passed_ctx = info->passed_ctx };
}

void foreign_info_passed(const struct foreign_info *info, const void *at)
{
	if (info->passed)
		info->passed(info->passed_ctx, at);
}

bool foreign_agrees(size_t nr_good, size_t nr_bad)
{
	return nr_good && nr_bad <= 1 + nr_good / 8;
}

bool foreign_line(const char **at, const char *end, struct foreign_word *ret_line)
{
	const char *stop;

	if (*at >= end)
		return false;
	stop = memchr(*at, '\n', (size_t)(end - *at));
	if (!stop)
		stop = end;
	*ret_line = (struct foreign_word){ *at, (size_t)(stop - *at) };
	*at = stop < end ? stop + 1 : end;
	if (ret_line->len && ret_line->at[ret_line->len - 1] == '\r')
		ret_line->len--;
	return true;
}

bool foreign_number(struct foreign_word w, uint64_t *ret_v)
{
	uint64_t v = 0;

	for (size_t i = 0; i < w.len; i++) {
		unsigned int digit = (unsigned int)(w.at[i] - '0');

		if (digit > 9 || __builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, digit, &v))
			return false;
	}
	*ret_v = v;
	return w.len;
}

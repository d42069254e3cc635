/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "recordings/sources.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "format/session/session.h"

#include "unit.h"

static char top[] = "/tmp/report-source-XXXXXX";
static char away[512];

/* Creates top/samples/NAME with a segment that was recorded with these flags. */
static void make_session(const char *name, uint32_t flags)
{
	const struct session_info info = { .tool_version = "",
					   .hostname = "",
					   .os_release = "",
					   .machine = "",
					   .cpu_desc = "",
					   .boot_id = "",
					   .command = "",
					   .vmlinux = "",
					   .flags = flags,
					   .start_ns = 1 };
	const struct session_totals totals = { .finished = true };
	struct segment_writer *writer;
	struct dict d;
	char path[600];

	snprintf(path, sizeof(path), "%s/samples/%s", top, name);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/samples/%s/segment-000001", top, name);
	assert_int_equal(dict_init(&d), 0);
	assert_int_equal(segment_writer_open(path, &info, &d, &writer, NULL), 0);
	assert_int_equal(segment_writer_close(writer, &totals, NULL), 0);
	dict_done(&d);
}

static int set_up(void **state)
{
	char path[512];

	(void)state;
	if (!mkdtemp(top))
		return -1;
	snprintf(path, sizeof(path), "%s/samples", top);
	if (mkdir(path, 0700))
		return -1;
	make_session("current", 0);
	make_session("threads", SESSION_SEPARATE_THREAD | SESSION_SYSTEM_WIDE);
	make_session("cpus", SESSION_SEPARATE_CPU);
	snprintf(away, sizeof(away), "%s/samples/cpus", top);
	return 0;
}

static int tear_down(void **state)
{
	static const char *const paths[] = { "samples/current/segment-000001",
					     "samples/threads/segment-000001",
					     "samples/cpus/segment-000001",
					     "samples/current",
					     "samples/threads",
					     "samples/cpus",
					     "samples",
					     "" };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(paths); i++) {
		char path[512];

		snprintf(path, sizeof(path), "%s/%s", top, paths[i]);
		if (remove(path))
			return -1;
	}
	return 0;
}

static void finds_sessions_by_their_arguments(void **state)
{
	static const struct {
		const char *words[3];
		const char *
			sessions; /* sessions, each with a trailing blank; or part of the error */
		uint32_t flags;
		bool fails;
	} rows[] = {
		{ { NULL }, "current ", 0, false },
		{ { "session:threads,cpus,threads" },
		  "threads cpus ",
		  SESSION_SEPARATE_THREAD | SESSION_SYSTEM_WIDE | SESSION_SEPARATE_CPU,
		  false },
		{ { "session:threads,cpus", "session-exclude:cp*" },
		  "threads ",
		  SESSION_SEPARATE_THREAD | SESSION_SYSTEM_WIDE,
		  false },
		{ { "session-exclude:cpus" }, "current ", 0, false },
		{ { away }, away, SESSION_SEPARATE_CPU, false },
		{ { away, away }, away, SESSION_SEPARATE_CPU, false },
		{ { "session-exclude:current" },
		  "No session given: session-exclude:current excludes all",
		  0,
		  true },
		{ { "session:cpus,nowhere" }, "No sample found", 0, true },
		{ { away, "session:cpus" }, "the session is already given", 0, true },
		{ { away, "session-exclude:x" },
		  "the session is already given",
		  0,
		  true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct report_sources sources = { 0 };
		struct spec spec = { 0 };
		struct err err = { 0 };
		char names[600] = "";
		char *words[3] = { 0 };
		uint32_t flags;
		int r;

		for (size_t k = 0; k < 3 && rows[i].words[k]; k++)
			words[k] = strdup(rows[i].words[k]);
		r = report_sources_find(top, words, &spec, &sources, &err);
		assert_int_equal(r < 0, rows[i].fails);
		for (size_t k = 0; !r && k < sources.sessions.nr; k++)
			snprintf(names + strlen(names), sizeof(names) - strlen(names),
				 rows[i].words[0] == away ? "%s" : "%s ",
				 sources.sessions.at[k].name);
		if (r)
			assert_non_null(strstr(err.text, rows[i].sessions));
		else
			assert_string_equal(names, rows[i].sessions);
		if (!r) {
			assert_int_equal(report_sources_flags(&sources, &flags, NULL),
					 0);
			assert_int_equal(flags, rows[i].flags);
		}
		for (size_t k = 0; k < 3; k++)
			free(words[k]);
		report_sources_done(&sources);
		spec_done(&spec);
	}
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test_setup_teardown(finds_sessions_by_their_arguments,
						set_up, tear_down),
	};

	return UNIT_RUN(cases);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the JSON formats: complete profiles with all their members, in any order, and damaged
 * ones. */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/err.h"
#include "format/foreign/json_walk.h"
#include "reading.h"
#include "unit.h"

static void check_json(reading_fn read, const char *text, const char *samples,
		       uint64_t skipped)
{
	const struct reading r = { .read = read,
				   .bytes = text,
				   .len = strlen(text),
				   .samples = samples,
				   .skipped = skipped };

	if (!json_walk_version())
		skip();
	reading_check(&r);
	reading_check_damage(&r);
}

/* ---- the walk ---- */

struct walked {
	char text[512];
	size_t len;
};

static int note_value(void *ctx, size_t at, const struct json_value *v)
{
	static const char kinds[] = "0b#s{}";
	struct walked *w = ctx;

	assert_true(w->len + v->text.len + 4 < sizeof(w->text));
	w->text[w->len++] = (char)('A' + at);
	w->text[w->len++] = kinds[v->kind];
	if (v->text.len)
		memcpy(w->text + w->len, v->text.at, v->text.len);
	w->len += v->text.len;
	w->text[w->len++] = ' ';
	w->text[w->len] = 0;
	return 0;
}

static int walk_text(const char *text, struct walked *w, struct err *err)
{
	static const char *const paths[] = { "a", "a/*", "b/c", "l/*/x", "" };
	const struct json_walk_paths list = { paths, COUNT_OF(paths), NULL };

	*w = (struct walked){ .len = 0 };
	return json_walk((struct foreign_word){ text, strlen(text) }, &list, note_value,
			 w, err);
}

static void a_walk_delivers_the_requested_paths(void **state)
{
	struct walked w;
	struct err err = { 0 };

	(void)state;
	if (!json_walk_version())
		skip();
	assert_int_equal(
		walk_text("\xef\xbb\xbf{\"a\": [1, \"\\u00e9\", null, true, [2]], "
			  "\"z\": {\"a\": 9}, \"b\": {\"c\": -1.5e2, \"d\": 3}, "
			  "\"l\": [{\"x\": 4}, {\"y\": 5}, 6, {\"x\": \"\"}]}",
			  &w, &err),
		0);
	assert_string_equal(w.text, "E{ A{ B#1 Bs\xc3\xa9 B0 Bbtrue B{ B} A} C#-1.5e2 "
				    "D#4 Ds E} ");
	assert_int_equal(walk_text("{\"a\": [1, 2", &w, &err), 1);
	assert_string_equal(w.text, "E{ A{ B#1 ");
	assert_int_equal(walk_text("{\"a\": [1 2]}", &w, &err), -EBADMSG);
	assert_string_equal(err.text, "malformed JSON at byte 10");
}

static void rejects_a_text_beyond_the_limits(void **state)
{
	const size_t depth = JSON_WALK_DEPTH_MAX + 1;
	char *text = test_malloc(depth + 1);
	struct walked w;
	struct err err = { 0 };

	(void)state;
	if (!json_walk_version())
		skip();
	memset(text, '[', depth);
	text[depth] = 0;
	assert_int_equal(walk_text(text, &w, &err), -E2BIG);
	assert_non_null(strstr(err.text, "16384 levels"));
	test_free(text);
}

static int64_t scaled(const char *text, unsigned int digits)
{
	const struct json_value v = { JSON_NUMBER, { text, strlen(text) } };
	int64_t n;

	return json_value_scaled(&v, digits, &n) ? n : INT64_MIN;
}

static void scales_numbers_without_loss(void **state)
{
	(void)state;
	assert_int_equal(scaled("12", 0), 12);
	assert_int_equal(scaled("-12.5", 0), -13);
	assert_int_equal(scaled("12.49", 0), 12);
	assert_int_equal(scaled("1234567.890123", 6), 1234567890123);
	assert_int_equal(scaled("0.1", 9), 100000000);
	assert_int_equal(scaled("1.5e3", 0), 1500);
	assert_int_equal(scaled("15E-1", 0), 2);
	assert_int_equal(scaled("1e-400", 3), 0);
	assert_int_equal(scaled("9223372036854775807", 0), INT64_MAX);
	assert_int_equal(scaled("9223372036854775808", 0), INT64_MIN);
	assert_int_equal(scaled("0.00000000000000000000000000000000001", 0), 0);
	assert_int_equal(scaled("1e30", 0), INT64_MIN);
	assert_int_equal(scaled("0e1000", 6), 0);
}

/* ---- speedscope ---- */

static void reads_sampled_profiles_of_speedscope(void **state)
{
	static const char text[] =
		"{\"profiles\": [{\"type\": \"sampled\", \"name\": \"main thread\", "
		"\"unit\": \"milliseconds\", \"startValue\": 2, \"endValue\": 10, "
		"\"samples\": [[0, 1], [0], [0, 7], []], \"weights\": [1.5, 2, 3, 0.25]}, "
		"{\"type\": \"sampled\", \"name\": \"heap\", \"unit\": \"bytes\", "
		"\"weights\": [4096, -1], \"samples\": [[1], [0]]}, "
		"{\"type\": \"sampled\", \"name\": \"n\", \"samples\": [[1], [0, 0]]}], "
		"\"shared\": {\"frames\": [{\"name\": \"main\", \"file\": \"a.py\", \"line\": 3}, "
		"{\"file\": \"b.py\", \"name\": \"work \\\"x\\\"\"}]}}";

	(void)state;
	check_json(
		foreign_read_speedscope, text,
		"time main thread -1/-1 2000000 1 1500000: work \"x\"(b.py) main(a.py)\n"
		"time main thread -1/-1 3500000 1 2000000: main(a.py)\n"
		"time main thread -1/-1 5500000 1 3000000: main(a.py)\n"
		"time main thread -1/-1 8500000 1 250000:\n"
		"bytes heap -1/-1 0 1 4096: work \"x\"(b.py)\n"
		" n -1/-1 0 1 0: work \"x\"(b.py)\n"
		" n -1/-1 0 1 0: main(a.py) main(a.py)\n",
		2);
}

static void reads_evented_profiles_of_speedscope(void **state)
{
	static const char text[] =
		"{\"$schema\": \"https://www.speedscope.app/file-format-schema.json\", "
		"\"shared\": {\"frames\": [{\"name\": \"a\"}, {\"name\": \"b\"}]}, "
		"\"profiles\": [{\"type\": \"evented\", \"name\": \"t\", \"unit\": \"seconds\", "
		"\"startValue\": 0, \"endValue\": 9, \"events\": ["
		"{\"type\": \"O\", \"frame\": 0, \"at\": 1}, "
		"{\"type\": \"O\", \"frame\": 1, \"at\": 1.5}, "
		"{\"type\": \"C\", \"frame\": 0, \"at\": 2}, "
		"{\"type\": \"C\", \"frame\": 1, \"at\": 3}, "
		"{\"type\": \"C\", \"frame\": 0, \"at\": 5}, "
		"{\"type\": \"O\", \"frame\": 1, \"at\": 7}, "
		"{\"type\": \"C\", \"frame\": 1, \"at\": 9}]}]}";

	(void)state;
	check_json(foreign_read_speedscope, text,
		   "time t -1/-1 1000000000 1 500000000: a()\n"
		   "time t -1/-1 1500000000 1 500000000: b() a()\n"
		   "time t -1/-1 2000000000 1 1000000000: b() a()\n"
		   "time t -1/-1 3000000000 1 2000000000: a()\n"
		   "time t -1/-1 7000000000 1 2000000000: b()\n",
		   1);
}

static void reads_our_export_to_speedscope(void **state)
{
	static const char text[] =
		"{\"exporter\": \"oprofile\", \"shared\": {\"frames\": [{\"name\": \"f\", "
		"\"file\": \"/bin/x\"}, {\"name\": \"[truncated]\"}, {\"name\": \"x\"}]}, "
		"\"profiles\": [{\"type\": \"sampled\", \"name\": \"cycles\", \"unit\": \"none\", "
		"\"samples\": [[2, 0], [2, 1, 0], [2]], \"weights\": [3, 4, 5]}]}";

	(void)state;
	check_json(foreign_read_speedscope, text,
		   "cycles x -1/-1 0 3 0: f(/bin/x)\n"
		   "cycles x -1/-1 0 4 0: f(/bin/x) [truncated]\n"
		   "cycles x -1/-1 0 5 0:\n",
		   0);
	reading_refuses(foreign_read_speedscope, "{\"shared\": {}}", "no profiles");
}

/* ---- Firefox Profiler ---- */

#define TABLES                                                                         \
	"\"stackTable\": {\"prefix\": [null, 0, 1, 9], \"frame\": [0, 1, 2, 0]}, "     \
	"\"frameTable\": {\"func\": [0, 1, 2], \"inlineDepth\": [0, 0, 1]}, "          \
	"\"funcTable\": {\"name\": [0, 1, 2], \"resource\": [0, 1, -1], "              \
	"\"fileName\": [null, null, 5]}, "                                             \
	"\"resourceTable\": {\"lib\": [1, null], \"name\": [3, 4]}, "                  \
	"\"stringArray\": [\"main\", \"work\", \"inlined\", \"lib\", \"host\", \"a.js\"]"

static void reads_profiles_of_samply(void **state)
{
	static const char text[] =
		"{\"meta\": {\"startTime\": 1700000000123.5, \"interval\": 1}, "
		"\"libs\": [{\"name\": \"x\"}, {\"name\": \"prog\", \"path\": \"/bin/prog\"}], "
		"\"threads\": [{\"name\": \"worker\", \"pid\": \"12.1\", \"tid\": 13, "
		"\"samples\": {\"stack\": [0, 2, null, 1, 3, 8], \"time\": [0.5, 1, 2, 3.25, 4, 5], "
		"\"weight\": [1, 2, 1, 3, 1, 1], \"weightType\": \"samples\"}, " TABLES
		"}, {\"pid\": 12, \"tid\": \"14\", \"samples\": {\"stack\": [2], "
		"\"timeDeltas\": [7], \"weight\": null}, " TABLES "}]}";
	static const char samples[] =
		" worker 12/13 500000 1 0: main(/bin/prog)\n"
		" worker 12/13 1000000 2 0: inlined(a.js) work(host) main(/bin/prog)\n"
		" worker 12/13 3250000 3 0: work(host) main(/bin/prog)\n"
		" worker 12/13 4000000 1 0: main(/bin/prog)\n"
		"  12/14 7000000 1 0: inlined(a.js) work(host) main(/bin/prog)\n";

	(void)state;
	check_json(foreign_read_firefox, text, samples, 3);
}

static void reads_tables_shared_by_threads(void **state)
{
	static const char text[] =
		"{\"threads\": [{\"name\": \"a\", \"pid\": 1, \"tid\": 1, "
		"\"samples\": {\"weightType\": \"bytes\", \"weight\": [100], \"stack\": [1]}}, "
		"{\"name\": \"b\", \"pid\": 1, \"tid\": 2, \"samples\": {\"stack\": [0, 2], "
		"\"timeDeltas\": [1, 2.5], \"weight\": [0.5, 2], \"weightType\": \"tracing-ms\"}}], "
		"\"shared\": {" TABLES "}, \"libs\": [{}, {\"name\": \"/lib/y\"}]}";

	(void)state;
	check_json(
		foreign_read_firefox, text,
		"bytes a 1/1 0 1 100: work(host) main(/lib/y)\n"
		"time b 1/2 1000000 1 500000: main(/lib/y)\n"
		"time b 1/2 3500000 1 2000000: inlined(a.js) work(host) main(/lib/y)\n",
		1);
	reading_refuses(foreign_read_firefox, "{\"meta\": {}, \"threads\": []}",
			"no threads");
	reading_refuses(
		foreign_read_firefox,
		"{\"threads\": [{\"samples\": {\"schema\": {\"stack\": 0}, \"data\": []}}]}",
		"unprocessed Firefox profile");
}

/* ---- V8 ---- */

static void reads_profiles_of_node(void **state)
{
	static const char text[] =
		"{\"nodes\": [{\"id\": 1, \"callFrame\": {\"functionName\": \"(root)\"}, "
		"\"children\": [2, 4]}, "
		"{\"id\": 2, \"callFrame\": {\"functionName\": \"main\", \"url\": \"file:///a/b.js\"}, "
		"\"hitCount\": 1, \"children\": [3]}, "
		"{\"id\": 3, \"callFrame\": {\"functionName\": \"\", \"url\": \"node:fs\"}}, "
		"{\"id\": 4, \"callFrame\": {\"functionName\": \"(idle)\"}}, "
		"{\"id\": 5, \"callFrame\": {\"functionName\": \"x\"}, \"parent\": 6}, "
		"{\"id\": 6, \"callFrame\": {\"functionName\": \"y\"}, \"parent\": 5}], "
		"\"startTime\": 1000, \"endTime\": 1500, "
		"\"samples\": [2, 3, 3, 77, 4, 5], \"timeDeltas\": [10, 20, 30, 40, 50, 60]}";

	(void)state;
	check_json(foreign_read_cpuprofile, text,
		   "  -1/-1 1010000 1 20000: main(/a/b.js)\n"
		   "  -1/-1 1030000 1 30000: (anonymous)(node:fs) main(/a/b.js)\n"
		   "  -1/-1 1060000 1 40000: (anonymous)(node:fs) main(/a/b.js)\n"
		   "  -1/-1 1150000 1 60000: (idle)()\n"
		   "  -1/-1 1210000 1 290000: x() y()\n",
		   2);
}

#define CHUNKS                                                                         \
	"[{\"args\": {\"data\": {\"cpuProfile\": {\"nodes\": [{\"id\": 1, "            \
	"\"callFrame\": {\"functionName\": \"(root)\"}}, {\"id\": 2, \"parent\": 1, "  \
	"\"callFrame\": {\"functionName\": \"f\", \"url\": \"http://h/x.js\"}}], "     \
	"\"samples\": [2]}, \"timeDeltas\": [5]}}, \"id\": \"0x1\", \"name\": "        \
	"\"ProfileChunk\", \"ph\": \"P\", \"pid\": 7, \"tid\": 9, \"ts\": 1}, "        \
	"{\"name\": \"Profile\", \"ph\": \"P\", \"id\": \"0x1\", \"pid\": 7, "         \
	"\"tid\": 8, \"args\": {\"data\": {\"startTime\": 100}}}, "                    \
	"{\"name\": \"work\", \"ph\": \"X\", \"pid\": 7, \"tid\": 8, \"dur\": 3}, "    \
	"{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": 7, \"tid\": 8, "          \
	"\"args\": {\"name\": \"CrRendererMain\"}}, "                                  \
	"{\"args\": {\"data\": {\"cpuProfile\": {\"nodes\": [{\"id\": 3, "             \
	"\"parent\": 2, \"callFrame\": {\"functionName\": \"g\"}}], "                  \
	"\"samples\": [3, 2]}, \"timeDeltas\": [6, 7]}}, \"id\": \"0x1\", \"name\": "  \
	"\"ProfileChunk\", \"ph\": \"P\", \"pid\": 7, \"tid\": 9, \"ts\": 2}"
#define CHUNK_SAMPLES                                                                  \
	" CrRendererMain 7/8 105000 1 6000: f(http://h/x.js)\n"                        \
	" CrRendererMain 7/8 111000 1 7000: g() f(http://h/x.js)\n"                    \
	" CrRendererMain 7/8 118000 1 7000: f(http://h/x.js)\n"

static void reads_samples_in_traces_of_chrome(void **state)
{
	(void)state;
	check_json(foreign_read_chrome_trace, CHUNKS "]", CHUNK_SAMPLES, 0);
	check_json(foreign_read_chrome_trace,
		   "{\"metadata\": {\"name\": \"x\"}, \"traceEvents\": " CHUNKS "]}",
		   CHUNK_SAMPLES, 0);
	/* The end of the list may be missing. */
	check_json(foreign_read_chrome_trace, CHUNKS ",\n", CHUNK_SAMPLES, 0);
	reading_refuses(foreign_read_chrome_trace,
			"[{\"name\": \"x\", \"ph\": \"X\", \"ts\": 1}]",
			"no CPU samples");
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(a_walk_delivers_the_requested_paths),
		cmocka_unit_test(rejects_a_text_beyond_the_limits),
		cmocka_unit_test(scales_numbers_without_loss),
		cmocka_unit_test(reads_sampled_profiles_of_speedscope),
		cmocka_unit_test(reads_evented_profiles_of_speedscope),
		cmocka_unit_test(reads_our_export_to_speedscope),
		cmocka_unit_test(reads_profiles_of_samply),
		cmocka_unit_test(reads_tables_shared_by_threads),
		cmocka_unit_test(reads_profiles_of_node),
		cmocka_unit_test(reads_samples_in_traces_of_chrome),
	};

	return UNIT_RUN(cases);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flame graphs and heat maps with more data than a browser can show: details are merged, but no
 * sample is lost. */
#include "present/export/export_writers.h"
#include "present/lines/options.h"

#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "aggregate/read/profile_feed.h"

#include "unit.h"

enum {
	NR_IMAGES = 500,
	NR_THREADS = 600, /* times NR_IMAGES is more rows than a page has */
	THREADS_A_PROCESS = 10,
	NR_SAMPLES = NR_IMAGES * NR_THREADS,
	NS_A_SECOND = 1000000000
};

/* Each thread has one sample in each image, and its own second. */
struct made {
	struct dict dict;
	uint64_t time_ns[NR_SAMPLES];
	uint32_t thread[NR_SAMPLES];
	uint32_t event[NR_SAMPLES];
	uint32_t stack[NR_SAMPLES];
};

static uint32_t make_stack(struct dict *d, int number)
{
	char name[] = { 'i', (char)('0' + number / 100), (char)('0' + number / 10 % 10),
			(char)('0' + number % 10), 0 };
	struct image image = { .kind = IMAGE_FILE, .name = dict_string(d, name) };

	return dict_stack(d, STACK_ROOT, dict_frame(d, dict_image(d, &image), 0));
}

static void make(struct made *m)
{
	const struct event_desc event = { .count = 1 };
	size_t at = 0;

	assert_int_equal(dict_init(&m->dict), 0);
	for (int t = 0; t < NR_THREADS; t++) {
		struct thread thread = { .pid = 1 + t / THREADS_A_PROCESS,
					 .tid = 1 + t,
					 .comm = dict_string(&m->dict, "comm"),
					 .app = DICT_NONE };

		for (int i = 0; i < NR_IMAGES; i++, at++) {
			m->thread[at] = dict_thread(&m->dict, &thread);
			m->stack[at] = make_stack(&m->dict, i);
			m->event[at] = dict_event(&m->dict, &event);
			m->time_ns[at] = (uint64_t)t * NS_A_SECOND;
		}
	}
}

typedef int write_page(FILE *out, struct profile *p,
		       const struct present_options *options, struct err *err);

static char *page(const struct made *m, const char *by, write_page *write)
{
	const struct present_options present = { .threshold = 0 };
	const struct session_info info = { .hostname = "h",
					   .vmlinux = "",
					   .cpu_desc = "" };
	struct profile_source source = { .dict = &m->dict,
					 .info = &info,
					 .session = "s" };
	struct sample_batch batch = { .nr = NR_SAMPLES,
				      .time_ns = (uint64_t *)m->time_ns,
				      .thread = (uint32_t *)m->thread,
				      .event = (uint32_t *)m->event,
				      .stack = (uint32_t *)m->stack };
	struct key_list keys = { 0 };
	struct profile_options options = { .keys = &keys,
					   .timeline = write == write_heatmap };
	struct profile p;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_int_equal(keys_parse(&keys, by, NULL), 0);
	assert_int_equal(profile_init(&p, &options), 0);
	assert_int_equal(profile_begin(&p, &source), 0);
	assert_int_equal(profile_add(&p, &batch, NULL), 0);
	assert_int_equal(profile_end(&p, NULL), 0);
	profile_finish(&p);
	assert_int_equal(write(out, &p, &present, NULL), 0);
	profile_done(&p);
	keys_done(&keys);
	fclose(out);
	return text;
}

static size_t count(const char *text, const char *what)
{
	size_t nr = 0;

	while ((text = strstr(text, what))) {
		text += strlen(what);
		nr++;
	}
	return nr;
}

/* Returns the text after a member's name. */
static const char *member(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	assert_non_null(at);
	return at + strlen(name);
}

static void merges_many_threads_of_a_process(void **state)
{
	static struct made m;
	char *text;

	(void)state;
	make(&m);
	text = page(&m, "host,session,comm,pid,tid,stack", write_flamegraph);
	assert_int_equal(strtoul(member(text, "\"levels\":"), NULL, 10), 4);
	assert_int_equal(count(text, "\"comm\","), NR_THREADS / THREADS_A_PROCESS);
	/* A node after the previous one, the only event, THREADS_A_PROCESS samples. */
	assert_int_equal(count(member(text, "\"rows\":"), "1,0,10"),
			 NR_SAMPLES / THREADS_A_PROCESS);
	free(text);
	dict_done(&m.dict);
}

/* Each callee has 0.2 % of the samples, which is less than the smallest share that is shown if
 * everything fits. */
static void merges_many_callees_into_their_caller(void **state)
{
	static struct made m;
	char *text;

	(void)state;
	make(&m);
	text = page(&m, "time:20ms,stack", write_heatmap);
	/* All samples of a second are at the root. */
	assert_int_equal(count(member(text, "\"rows\":["), "[0,0,500]"), NR_THREADS);
	free(text);
	dict_done(&m.dict);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(merges_many_threads_of_a_process),
		cmocka_unit_test(merges_many_callees_into_their_caller),
	};

	return UNIT_RUN(cases);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model_maker.h - models of recordings that tests write as the text of `perf script`. */
#pragma once
#include "aggregate/selection/spec.h"
#include "recordings/sources.h"
#include "view/model.h"
#include "view/params.h"

enum {
	TEST_STACK_MAX = 6
};

/* A sample of a test's recording. */
struct test_sample {
	unsigned int thread; /* tid; the pid is its tens digit */
	int cpu;
	unsigned int ms;
	const char *event;
	const char *stack[TEST_STACK_MAX]; /* innermost first; ends with NULL */
};

struct test_recording {
	char path[64];
	struct spec spec;
	struct report_sources sources;
};

/* Writes the samples to a file and finds it as a source.  Every name is in the image "/bin/lower",
 * those that begin with a capital letter in "/bin/UPPER". */
void test_recording_make(struct test_recording *r, const struct test_sample *samples,
			 size_t nr);
void test_recording_done(struct test_recording *r);
struct view_model *test_model_open(const struct test_recording *base,
				   const struct test_recording *new);
/* Returns the answer to a query (malloc'd) with parameters such as "by=symbol&top=1". */
char *test_query(struct view_model *m, const char *name, const char *params);
/* Returns the error code of a query, and its message in `text`. */
int test_query_fails(struct view_model *m, const char *name, const char *params,
		     char text[512]);

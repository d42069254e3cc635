/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/model_maker.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "view/query.h"

#include "unit.h"

static void write_sample(FILE *out, const struct test_sample *s)
{
	fprintf(out, "comm%u %u/%u [%03d] 100.%03u000: 1 %s: \n", s->thread % 3,
		s->thread / 10, s->thread, s->cpu, s->ms, s->event);
	for (size_t i = 0; i < TEST_STACK_MAX && s->stack[i]; i++)
		fprintf(out, "\t%lx %s+0x1 (/bin/%s)\n",
			0x1000UL + (unsigned char)s->stack[i][0] * 16, s->stack[i],
			isupper((unsigned char)s->stack[i][0]) ? "UPPER" : "lower");
	fprintf(out, "\n");
}

void test_recording_make(struct test_recording *r, const struct test_sample *samples,
			 size_t nr)
{
	struct err err = { 0 };
	char *words[] = { r->path, NULL };
	FILE *out;
	int fd;

	*r = (struct test_recording){ .path = "/tmp/view-model-XXXXXX" };
	fd = mkstemp(r->path);
	assert_true(fd >= 0);
	out = fdopen(fd, "w");
	assert_non_null(out);
	for (size_t i = 0; i < nr; i++)
		write_sample(out, &samples[i]);
	assert_int_equal(fclose(out), 0);
	if (report_sources_find(NULL, words, &r->spec, &r->sources, &err))
		fail_msg("%s", err.text);
}

void test_recording_done(struct test_recording *r)
{
	report_sources_done(&r->sources);
	spec_done(&r->spec);
	unlink(r->path);
}

struct view_model *test_model_open(const struct test_recording *base,
				   const struct test_recording *new)
{
	struct view_options o = { .sides = { { &base->sources, "first" } },
				  .nr_sides = new ? 2 : 1,
				  .no_inline = true };
	struct view_model *m;
	struct err err = { 0 };

	if (new)
		o.sides[1] = (struct view_side){ &new->sources, "second" };
	if (view_model_open(&o, &m, &err))
		fail_msg("%s", err.text);
	return m;
}

/* Splits "a=b&c=d" in place. */
static size_t split_params(char *text, struct view_param *params, size_t most)
{
	size_t nr = 0;
	char *save;

	for (char *at = strtok_r(text, "&", &save); at && nr < most;
	     at = strtok_r(NULL, "&", &save)) {
		char *equal = strchr(at, '=');

		assert_non_null(equal);
		*equal = '\0';
		params[nr++] = (struct view_param){ at, equal + 1 };
	}
	return nr;
}

static int ask(struct view_model *m, const char *name, const char *params,
	       struct buf *out, struct err *err)
{
	struct view_param list[16];
	char *copy = strdup(params);
	size_t nr;
	int r;

	assert_non_null(copy);
	nr = split_params(copy, list, 16);
	r = view_query(m, name, list, nr, out, err);
	free(copy);
	return r;
}

/* Lines are for people who read an answer. */
static void remove_newlines(char *text)
{
	char *to = text;

	for (; *text; text++)
		if (*text != '\n')
			*to++ = *text;
	*to = '\0';
}

char *test_query(struct view_model *m, const char *name, const char *params)
{
	struct buf out = { 0 };
	struct err err = { 0 };

	if (ask(m, name, params, &out, &err))
		fail_msg("%s?%s: %s", name, params, err.text);
	buf_put_u8(&out, 0);
	assert_false(out.failed);
	remove_newlines((char *)out.data);
	return (char *)out.data;
}

int test_query_fails(struct view_model *m, const char *name, const char *params,
		     char text[512])
{
	struct buf out = { 0 };
	struct err err = { 0 };
	int r = ask(m, name, params, &out, &err);

	buf_done(&out);
	assert_true(r < 0);
	snprintf(text, 512, "%s", err.text);
	return r;
}

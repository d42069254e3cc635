/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests the registries of columns and writers, and that a report does not depend on the order
 * of its samples. */
#include "base/array.h"
#include "present/export/writers.h"
#include "present/lines/options.h"

#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "aggregate/read/profile_feed.h"
#include "present/lines/columns.h"

#include "unit.h"

enum {
	NR_SAMPLES = 2000,
	NR_THINGS = 7
};

static void every_writer_is_complete_and_found_by_name(void **state)
{
	(void)state;
	for (const struct writer *w = writers; w->name; w++) {
		assert_ptr_equal(writer_find(w->name), w);
		assert_true(w->help && *w->help);
		assert_non_null(w->write);
	}
	for (const struct column *c = columns; c->name; c++) {
		assert_ptr_equal(column_find(c->name), c);
		assert_true(c->help && *c->help);
		assert_true(c->title && *c->title);
		assert_true(c->width > 0);
		assert_non_null(c->print);
		if (c->key != KEY_ID_COUNT)
			assert_non_null(c->sort);
	}
	assert_null(writer_find("nothing"));
	assert_null(column_find("nothing"));
}

static void every_key_has_a_column(void **state)
{
	(void)state;
	for (const struct key_row *row = key_rows; row->name; row++) {
		const struct column *c = column_of_key(row->id);

		if (row->refusal || row->id == KEY_EVENT)
			continue;
		assert_non_null(c);
		assert_int_equal(c->needs, row->needs);
	}
}

struct made {
	struct dict dict;
	uint64_t time_ns[NR_SAMPLES];
	uint64_t period[NR_SAMPLES];
	uint32_t thread[NR_SAMPLES];
	uint32_t event[NR_SAMPLES];
	uint32_t stack[NR_SAMPLES];
	uint32_t cpu[NR_SAMPLES];
};

/* Numbers the entries upwards or downwards, with the same meaning. */
static void make(struct made *m, bool downwards)
{
	uint32_t threads[NR_THINGS];
	uint32_t stacks[NR_THINGS];
	uint32_t events[2];

	assert_int_equal(dict_init(&m->dict), 0);
	for (int n = 0; n < NR_THINGS; n++) {
		int i = downwards ? NR_THINGS - 1 - n : n;
		char name[] = { (char)('a' + i), 0 };
		struct image image = { .kind = IMAGE_FILE,
				       .name = dict_string(&m->dict, name) };
		uint32_t number = dict_image(&m->dict, &image);
		struct thread t = { .pid = 10 + i / 2,
				    .tid = 10 + i,
				    .comm = dict_string(&m->dict, name),
				    .app = number };

		threads[i] = dict_thread(&m->dict, &t);
		stacks[i] = dict_stack(&m->dict, STACK_ROOT,
				       dict_frame(&m->dict, number, (uint64_t)i));
	}
	for (int n = 0; n < 2; n++) {
		int i = downwards ? 1 - n : n;
		struct event_desc e = { .name = dict_string(&m->dict, "event"),
					.count = i ? 50000 : 100000 };

		events[i] = dict_event(&m->dict, &e);
	}
	for (size_t n = 0; n < NR_SAMPLES; n++) {
		size_t at = downwards ? NR_SAMPLES - 1 - n : n;
		uint64_t dice = n * 2654435761u;

		m->time_ns[at] = n * 1000;
		m->period[at] = 1 + n % 3;
		m->thread[at] = threads[(dice >> 7) % NR_THINGS];
		m->stack[at] = stacks[(dice >> 13) % NR_THINGS];
		m->event[at] = events[(dice >> 19) % 2];
		m->cpu[at] = (uint32_t)(dice >> 23) % 3;
	}
}

static char *written(const struct made *m, const char *writer, const char *by,
		     struct present_options present)
{
	const struct session_info info = { .hostname = "h",
					   .vmlinux = "",
					   .cpu_desc = "" };
	struct profile_source source = { .dict = &m->dict,
					 .info = &info,
					 .session = "s" };
	struct sample_batch batch = { NR_SAMPLES, m->time_ns, m->period, m->thread,
				      m->event,   m->stack,   m->cpu };
	struct key_list keys = { 0 };
	struct profile_options options = { .keys = &keys,
					   .periods = true,
					   .functions_apart =
						   !strcmp(writer, "symbols"),
					   .quality = true };
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
	assert_int_equal(writer_find(writer)->write(out, &p, &present, NULL), 0);
	profile_done(&p);
	keys_done(&keys);
	fclose(out);
	return text;
}

static void the_order_of_samples_does_not_matter(void **state)
{
	static const struct {
		const char *writer, *by;
		struct present_options present;
	} rows[] = {
		{ "summary", "app,image", { .reverse = false } },
		{ "symbols", "app,image,symbol", { .reverse = false } },
		{ "symbols", "app,image,symbol", { .accumulated = true } },
		{ "symbols",
		  "app,image,symbol,address",
		  { .details = true,
		    .order = { .keys = { ORDER_APP, ORDER_SYMBOL }, .nr = 2 } } },
		{ "symbols",
		  "app,image,symbol,address,cpu",
		  { .details = true, .global_percent = true } },
		{ "summary", "app,image,tid", { .reverse = true } },
		{ "table",
		  "app,image",
		  { .order = { .keys = { ORDER_IMAGE }, .nr = 1 } } },
		{ "table", "comm,tid,cpu,time:1ms", { .reverse = false } },
		{ "csv", "image,comm,pid", { .reverse = false } },
		{ "csv", "cpu,event,address", { .reverse = false } },
		{ "json", "tid,symbol,session,host", { .reverse = false } },
	};
	static struct made up;
	static struct made down;

	(void)state;
	make(&up, false);
	make(&down, true);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char *one = written(&up, rows[i].writer, rows[i].by, rows[i].present);
		char *other =
			written(&down, rows[i].writer, rows[i].by, rows[i].present);

		assert_string_equal(one, other);
		assert_true(strlen(one) > 100);
		free(one);
		free(other);
	}
	dict_done(&up.dict);
	dict_done(&down.dict);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(every_writer_is_complete_and_found_by_name),
		cmocka_unit_test(every_key_has_a_column),
		cmocka_unit_test(the_order_of_samples_does_not_matter),
	};

	return UNIT_RUN(cases);
}

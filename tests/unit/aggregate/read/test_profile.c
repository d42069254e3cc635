/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares the engine with a model that examines every sample and every row. */
#include "aggregate/profile/profile.h"
#include "aggregate/read/profile_feed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/count/dense.h"
#include "aggregate/count/tally.h"
#include "aggregate/views/quality.h"
#include "base/array.h"

#include "unit.h"

enum {
	NR_SAMPLES = 5000,
	NR_IMAGES = 6,
	NR_THREADS = 9,
	NR_STACKS = 40,
	START_NS = 1000,
	OFTEN = 40
};

struct world {
	struct dict dict;
	struct session_info info;
	uint32_t threads[NR_THREADS];
	uint32_t stacks[NR_STACKS];
	uint32_t events[2];
	uint64_t time_ns[NR_SAMPLES];
	uint64_t period[NR_SAMPLES];
	uint32_t thread[NR_SAMPLES];
	uint32_t event[NR_SAMPLES];
	uint32_t stack[NR_SAMPLES];
	uint32_t cpu[NR_SAMPLES];
};

static uint32_t roll(uint64_t *seed, uint32_t sides)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33) % sides;
}

static void make_things(struct world *w)
{
	uint32_t images[NR_IMAGES];
	char name[32];

	for (uint32_t i = 0; i < NR_IMAGES; i++) {
		struct image image = { .kind = i ? IMAGE_FILE : IMAGE_KERNEL };

		snprintf(name, sizeof(name), "/image/%c", 'a' + (char)i);
		image.name = dict_string(&w->dict, i ? name : "[kernel.kallsyms]");
		images[i] = dict_image(&w->dict, &image);
	}
	for (uint32_t i = 0; i < NR_THREADS; i++) {
		struct thread t = { .pid = (int32_t)i / 2 - 1, .tid = (int32_t)i - 1 };

		snprintf(name, sizeof(name), "comm%u", i % 4);
		t.comm = dict_string(&w->dict, name);
		t.app = i % 5 ? images[i % NR_IMAGES] : DICT_NONE;
		w->threads[i] = dict_thread(&w->dict, &t);
	}
	for (uint32_t i = 0; i < NR_STACKS; i++) {
		uint32_t frame = dict_frame(&w->dict, images[i % NR_IMAGES], i * 16);

		w->stacks[i] = dict_stack(&w->dict,
					  i % 3 ? STACK_ROOT : STACK_TRUNCATED, frame);
	}
	for (uint32_t i = 0; i < 2; i++) {
		struct event_desc e = {
			.name = dict_string(&w->dict, i ? "cycles" : "TIMER"),
			.flags = i ? 0 : EVENT_TIMER,
		};

		w->events[i] = dict_event(&w->dict, &e);
	}
}

static int make_world(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	uint64_t seed = 42;

	if (!w || dict_init(&w->dict))
		return -1;
	w->info =
		(struct session_info){ .hostname = "h", .vmlinux = "", .cpu_desc = "" };
	make_things(w);
	for (size_t i = 0; i < NR_SAMPLES; i++) {
		w->time_ns[i] = START_NS + roll(&seed, 100000);
		w->period[i] = roll(&seed, 1000);
		w->thread[i] = w->threads[roll(&seed, NR_THREADS)];
		w->event[i] = w->events[roll(&seed, 2)];
		w->stack[i] = w->stacks[roll(&seed, NR_STACKS)];
		w->cpu[i] = roll(&seed, 4);
		/* References that a damaged file leaves invalid. */
		if (roll(&seed, 100) == 0)
			w->stack[i] = DICT_NONE;
		if (roll(&seed, 100) == 0)
			w->thread[i] = DICT_NONE;
		if (roll(&seed, 100) == 0)
			w->cpu[i] = DICT_NONE;
	}
	*state = w;
	return 0;
}

static int free_world(void **state)
{
	struct world *w = *state;

	dict_done(&w->dict);
	free(w);
	return 0;
}

/* Returns the value of a key for one sample as text, computed without the engine. */
static void model_value(const struct world *w, size_t i, enum key_id id, char *out,
			size_t size)
{
	const struct dict *d = &w->dict;
	static const struct thread nobody = { .pid = -1, .tid = -1 };
	const struct thread *t =
		w->thread[i] == DICT_NONE ? &nobody : &d->threads.at[w->thread[i]];
	const struct frame *f = NULL;

	if (w->stack[i] != DICT_NONE)
		f = &d->frames.at[d->stacks.at[w->stack[i]].frame];
	if (id == KEY_COMM)
		snprintf(out, size, "%s", dict_str(d, t->comm));
	else if (id == KEY_PID)
		snprintf(out, size, "%d", t->pid);
	else if (id == KEY_TID)
		snprintf(out, size, "%d", t->tid);
	else if (id == KEY_CPU)
		snprintf(out, size, "%d", (int)w->cpu[i]);
	else if (id == KEY_TIME)
		snprintf(
			out, size, "%llu",
			(unsigned long long)((w->time_ns[i] - START_NS) / 7000 * 7000));
	else if (id == KEY_ADDRESS)
		snprintf(out, size, "%llu", (unsigned long long)(f ? f->offset : 0));
	else
		snprintf(out, size, "%s",
			 f ? dict_str(d, d->images.at[f->image].name) : "[damaged]");
}

static void engine_value(struct profile *p, uint32_t group, size_t k, char *out,
			 size_t size)
{
	uint64_t value = profile_value(p, group, k);

	switch (p->options.keys->keys.at[k].row->kind) {
	case KEY_TEXT:
		snprintf(out, size, "%s", profile_text(p, group, k));
		break;
	case KEY_INTEGER:
		snprintf(out, size, "%lld", (long long)value);
		break;
	case KEY_HEX:
	case KEY_TIMES:
	default:
		snprintf(out, size, "%llu", (unsigned long long)value);
		break;
	}
}

static void run_engine(struct world *w, const struct profile_options *options,
		       struct profile *p)
{
	struct profile_source source = {
		.dict = &w->dict, .info = &w->info, .session = "s", .start_ns = START_NS
	};

	assert_int_equal(profile_init(p, options), 0);
	/* Adds the samples in two halves, the second one as a separate source. */
	for (size_t half = 0; half < 2; half++) {
		size_t from = half * NR_SAMPLES / 2;
		struct sample_batch b = { NR_SAMPLES / 2,   w->time_ns + from,
					  w->period + from, w->thread + from,
					  w->event + from,  w->stack + from,
					  w->cpu + from };

		assert_int_equal(profile_begin(p, &source), 0);
		assert_int_equal(profile_add(p, &b, NULL), 0);
		assert_int_equal(profile_end(p, NULL), 0);
	}
	profile_finish(p);
}

static bool sample_is_in(struct world *w, size_t i, struct profile *p,
			 const struct profile_row *row)
{
	char want[64];
	char got[64];

	if (strcmp(dict_str(&w->dict, w->dict.events.at[w->event[i]].name),
		   profile_event_name(p, row->event)) != 0)
		return false;
	for (size_t k = 0; k < p->nr_keys; k++) {
		model_value(w, i, p->options.keys->keys.at[k].row->id, want,
			    sizeof(want));
		engine_value(p, row->group, k, got, sizeof(got));
		if (strcmp(want, got) != 0)
			return false;
	}
	return true;
}

static void rows_agree_with_a_model(void **state)
{
	static const char *const groupings[] = {
		"comm",           "image",    "tid,cpu",
		"cpu,image,comm", "time:7us", "address,image",
	};
	struct world *w = *state;

	for (size_t g = 0; g < COUNT_OF(groupings); g++) {
		struct key_list keys = { 0 };
		struct profile_options options = { .keys = &keys,
						   .names = NAMES_PERF,
						   .periods = true };
		struct profile p;
		uint64_t all = 0;

		assert_int_equal(keys_parse(&keys, groupings[g], NULL), 0);
		run_engine(w, &options, &p);
		for (size_t r = 0; r < p.rows.nr; r++) {
			uint64_t samples = 0;
			uint64_t period = 0;

			for (size_t i = 0; i < NR_SAMPLES; i++) {
				if (!sample_is_in(w, i, &p, &p.rows.at[r]))
					continue;
				samples++;
				period += w->period[i];
			}
			assert_int_equal(p.rows.at[r].samples, samples);
			assert_int_equal(p.rows.at[r].period, period);
			all += samples;
		}
		assert_int_equal(all, NR_SAMPLES);
		assert_int_equal(p.samples, NR_SAMPLES);
		profile_done(&p);
		keys_done(&keys);
	}
}

/* Adds all samples many times as two sources, so that notes are summed up in between. */
static void count_often(struct world *w, const struct profile_options *options,
			struct profile *p)
{
	struct profile_source source = {
		.dict = &w->dict, .info = &w->info, .session = "s", .start_ns = START_NS
	};
	struct sample_batch b = { NR_SAMPLES, w->time_ns, w->period, w->thread,
				  w->event,   w->stack,   w->cpu };

	assert_int_equal(profile_init(p, options), 0);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(profile_begin(p, &source), 0);
		for (size_t again = 0; again < OFTEN / 2; again++)
			assert_int_equal(profile_add(p, &b, NULL), 0);
		assert_int_equal(profile_end(p, NULL), 0);
	}
	profile_finish(p);
}

/* One counted row: the values of all keys as text, and the number of samples. */
struct counted {
	char *text;
	uint64_t samples;
};

struct counts {
	VEC(struct counted) all;
};

static void count_one(struct counts *c, struct profile *p, uint32_t group,
		      uint32_t event, uint64_t time_ns, uint32_t node, uint64_t samples)
{
	size_t comm = (size_t)keys_find(p->options.keys, KEY_COMM);
	size_t tid = (size_t)keys_find(p->options.keys, KEY_TID);
	size_t cpu = (size_t)keys_find(p->options.keys, KEY_CPU);
	struct counted counted = { .samples = samples };

	assert_true(asprintf(&counted.text, "%s %s %lld %lld %llu %s",
			     profile_event_name(p, event), profile_text(p, group, comm),
			     (long long)profile_value(p, group, tid),
			     (long long)profile_value(p, group, cpu),
			     (unsigned long long)time_ns, call_tree_text(p, node)) > 0);
	assert_true(vec_push(&c->all, counted));
}

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct counted *)a)->text,
		      ((const struct counted *)b)->text);
}

/* Each text occurs once. */
static void sum_counts(struct counts *c)
{
	size_t nr = 0;

	qsort(c->all.at, c->all.nr, sizeof(*c->all.at), by_text);
	for (size_t i = 0; i < c->all.nr; i++) {
		if (nr && !strcmp(c->all.at[nr - 1].text, c->all.at[i].text)) {
			c->all.at[nr - 1].samples += c->all.at[i].samples;
			free(c->all.at[i].text);
			continue;
		}
		c->all.at[nr++] = c->all.at[i];
	}
	c->all.nr = nr;
}

static void free_counts(struct counts *c)
{
	for (size_t i = 0; i < c->all.nr; i++)
		free(c->all.at[i].text);
	vec_done(&c->all);
}

static void count_rows_of(struct profile *p, struct counts *c)
{
	size_t time = (size_t)keys_find(p->options.keys, KEY_TIME);

	for (size_t i = 0; i < p->rows.nr; i++) {
		const struct profile_row *row = &p->rows.at[i];

		count_one(c, p, row->group, row->event,
			  profile_value(p, row->group, time),
			  profile_node(p, row->group), row->samples);
	}
	sum_counts(c);
}

static void count_timeline(struct profile *p, struct counts *c)
{
	const struct timeline *t = &p->timeline;
	const struct tuples *positions = &p->tuples[GROUP_WHERE];
	size_t time = (size_t)keys_find(p->options.keys, KEY_TIME);

	for (size_t i = 0; i < t->spans.nr; i++) {
		const struct timeline_track *track =
			&t->tracks.at[t->spans.at[i].track];
		uint32_t at = t->spans.at[i].at;

		assert_true(at < timeline_span_end(t, i));
		while (at < timeline_span_end(t, i)) {
			uint32_t samples, position = timeline_next(t, &at, &samples);

			count_one(
				c, p, track->who, track->what,
				t->spans.at[i].bucket *
					p->options.keys->keys.at[time].width_ns,
				(uint32_t)positions->values
					.at[position * positions->width + p->node_slot],
				samples);
		}
	}
	sum_counts(c);
}

/* Checks that the rows of a timeline add up to the rows of the actors. */
static void check_sums(const struct profile *p, const struct profile *model)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < p->rows.nr; i++)
		sum += p->rows.at[i].samples;
	assert_int_equal(sum, model->samples);
	assert_int_equal(p->samples, model->samples);
	assert_int_equal(p->events.nr, model->events.nr);
	for (size_t i = 0; i < p->events.nr; i++)
		assert_int_equal(p->events.at[i].samples, model->events.at[i].samples);
}

static void a_timeline_has_the_counts_of_the_rows(void **state)
{
	static const struct {
		const char *word;
		bool exclude_dependent;
	} asked[] = {
		{ NULL, false },
		{ "event:TIMER", false },
		{ "lib-image:/image/b", false },
		{ "/image/c", false },
		{ "time:0-0.00005s", false },
		/* Without symbols, a function has the name of its image. */
		{ "symbol:*/b", false },
		{ "symbol-exclude:*/b,*/c", false },
		{ NULL, true },
		{ "symbol:*/b,*/d", true },
	};
	struct world *w = *state;

	for (size_t i = 0; i < COUNT_OF(asked); i++) {
		struct key_list keys = { 0 };
		struct spec spec = { 0 };
		struct profile_options options = {
			.keys = &keys,
			.spec = &spec,
			.exclude_dependent = asked[i].exclude_dependent,
		};
		struct profile p, model;
		struct counts got = { 0 }, want = { 0 };

		assert_int_equal(keys_parse(&keys, "comm,time:7us,tid,cpu,stack", NULL),
				 0);
		if (asked[i].word)
			assert_int_equal(spec_add(&spec, asked[i].word, NULL), 0);
		count_often(w, &options, &model);
		assert_int_equal(model.samples == NR_SAMPLES * OFTEN, i == 0);
		options.timeline = true;
		count_often(w, &options, &p);
		count_rows_of(&model, &want);
		count_timeline(&p, &got);
		assert_true(want.all.nr);
		assert_int_equal(got.all.nr, want.all.nr);
		for (size_t n = 0; n < want.all.nr; n++) {
			assert_string_equal(got.all.at[n].text, want.all.at[n].text);
			assert_int_equal(got.all.at[n].samples, want.all.at[n].samples);
		}
		check_sums(&p, &model);
		free_counts(&got);
		free_counts(&want);
		profile_done(&p);
		profile_done(&model);
		spec_done(&spec);
		keys_done(&keys);
	}
}

/* Compares the rows with those of a profile that never knew more keys. */
static void check_given_up(struct world *w, bool plain, size_t most_cells,
			   unsigned int want)
{
	static const unsigned int give_up[] = { NEED_TID, NEED_CPU, NEED_PID, 0 };
	struct key_list all = { 0 }, few = { 0 };
	struct profile_options options = { .keys = &all, .periods = !plain };
	struct profile p, model;

	assert_int_equal(
		keys_parse(&all, plain ? "comm,pid,tid" : "comm,pid,cpu,tid", NULL), 0);
	assert_int_equal(keys_parse(&few, want & NEED_PID ? "comm" : "comm,pid", NULL),
			 0);
	options.most_cells = most_cells;
	options.give_up = give_up;
	count_often(w, &options, &p);
	assert_int_equal(p.given_up, want);
	options = (struct profile_options){ .keys = &few, .periods = !plain };
	count_often(w, &options, &model);
	assert_int_equal(p.samples, model.samples);
	assert_int_equal(p.rows.nr, model.rows.nr);
	for (size_t r = 0; r < p.rows.nr; r++) {
		bool found = false;

		for (size_t m = 0; m < model.rows.nr && !found; m++) {
			found = p.rows.at[r].event == model.rows.at[m].event &&
				p.rows.at[r].samples == model.rows.at[m].samples &&
				p.rows.at[r].period == model.rows.at[m].period;
			for (size_t k = 0; found && k < model.nr_keys; k++)
				found = profile_value(&p, p.rows.at[r].group, k) ==
					profile_value(&model, model.rows.at[m].group,
						      k);
		}
		assert_true(found);
		for (size_t k = model.nr_keys; k < p.nr_keys; k++)
			assert_int_equal(profile_value(&p, p.rows.at[r].group, k),
					 UINT64_MAX);
	}
	profile_done(&p);
	profile_done(&model);
	keys_done(&all);
	keys_done(&few);
}

static void too_many_cells_are_merged_by_fewer_keys(void **state)
{
	struct world *w = *state;

	/* 10 threads with different names or processes, 5 CPUs, 2 events. */
	check_given_up(w, false, 50, NEED_TID | NEED_CPU);
	check_given_up(w, false, 15, NEED_TID | NEED_CPU | NEED_PID);
	/* Samples are counted in plain counters, before and after keys are given up. */
	check_given_up(w, true, 15, NEED_TID | NEED_CPU | NEED_PID);
}

static uint64_t count_with(struct world *w, const char *word, const char *second)
{
	struct key_list keys = { 0 };
	struct spec spec = { 0 };
	struct profile_options options = { .keys = &keys, .spec = &spec };
	struct profile p;
	uint64_t samples;

	assert_int_equal(keys_parse(&keys, "event", NULL), 0);
	assert_int_equal(spec_add(&spec, word, NULL), 0);
	if (second)
		assert_int_equal(spec_add(&spec, second, NULL), 0);
	run_engine(w, &options, &p);
	samples = p.samples;
	profile_done(&p);
	keys_done(&keys);
	spec_done(&spec);
	return samples;
}

static void selections_agree_with_a_model(void **state)
{
	struct world *w = *state;
	uint64_t want_comm = 0;
	uint64_t want_kernel = 0;

	for (size_t i = 0; i < NR_SAMPLES; i++) {
		char comm[64];
		char image[64];
		char tid[64];

		model_value(w, i, KEY_COMM, comm, sizeof(comm));
		model_value(w, i, KEY_IMAGE, image, sizeof(image));
		model_value(w, i, KEY_TID, tid, sizeof(tid));
		want_comm += !strcmp(comm, "comm1") && w->event[i] == w->events[0];
		want_kernel += !strcmp(image, "[kernel.kallsyms]") && !strcmp(tid, "3");
	}
	assert_true(want_comm && want_kernel);
	assert_int_equal(count_with(w, "comm:comm1", "event:TIM*"), want_comm);
	assert_int_equal(count_with(w, "[kernel.kallsyms]", "tid:3"), want_kernel);
	assert_int_equal(count_with(w, "image:/image/nothing", NULL), 0);
}

static void quality_counts_unreliable_samples(void **state)
{
	struct world *w = *state;
	struct key_list keys = { 0 };
	struct profile_options options = { .keys = &keys, .quality = true };
	struct profile p;
	uint64_t truncated = 0;
	uint64_t exiting = 0;

	for (size_t i = 0; i < NR_SAMPLES; i++) {
		uint32_t s = w->stack[i];
		uint32_t t = w->thread[i];

		truncated += s != DICT_NONE &&
			     w->dict.stacks.at[s].parent == STACK_TRUNCATED;
		exiting += t == DICT_NONE || w->dict.threads.at[t].pid == -1;
	}
	assert_int_equal(keys_parse(&keys, "comm", NULL), 0);
	run_engine(w, &options, &p);
	assert_int_equal(p.quality.samples, NR_SAMPLES);
	assert_int_equal(p.quality.unresolved, NR_SAMPLES);
	assert_int_equal(p.quality.truncated, truncated);
	assert_int_equal(p.quality.exiting, exiting);
	profile_done(&p);
	keys_done(&keys);
}

static void recognizes_functions_that_enable_interrupts(void **state)
{
	(void)state;
	assert_true(quality_enables_irqs("_raw_spin_unlock_irqrestore"));
	assert_true(quality_enables_irqs("finish_task_switch.isra.0"));
	assert_true(quality_enables_irqs("pv_native_safe_halt"));
	assert_false(quality_enables_irqs("_raw_spin_lock"));
	assert_false(quality_enables_irqs("memcpy"));
}

/* Adds pairs twice in a mixed order, and looks up each one. */
static void check_tally(size_t nr, unsigned int shift_a, unsigned int shift_b,
			uint64_t more_b, uint64_t first_period, uint64_t step)
{
	struct tally t = { 0 };

	for (uint64_t round = 0; round <= 1; round++) {
		for (uint64_t i = 0; i < nr; i++) {
			uint64_t n = i * 7919 % nr; /* a prime that divides no size */

			assert_int_equal(tally_add(&t, n << shift_a,
						   n % 3 << shift_b | more_b,
						   first_period + round * step),
					 0);
		}
	}
	assert_int_equal(tally_finish(&t), 0);
	assert_int_equal(t.nr_cells, nr);
	for (size_t i = 0; i < nr; i++) {
		uint64_t n = t.cells[i].a >> shift_a;

		assert_int_equal(t.cells[i].b, n % 3 << shift_b | more_b);
		assert_int_equal(t.cells[i].samples, 2);
		assert_int_equal(t.cells[i].period, 2 * first_period + step);
		/* Cells are sorted by the bits above those of the event first, then by `a`. */
		if (i && t.cells[i].b >> TALLY_EVENT_BITS ==
				 t.cells[i - 1].b >> TALLY_EVENT_BITS)
			assert_true(t.cells[i].a > t.cells[i - 1].a);
		else if (i)
			assert_true(t.cells[i].b > t.cells[i - 1].b);
	}
	tally_done(&t);
}

static void a_tally_keeps_all_keys_in_order(void **state)
{
	(void)state;
	check_tally(20000, 32, 0, 0, 0, 0);
	check_tally(20000, 32, 0, 0, 5, 1);
	check_tally(20000, 3, TALLY_EVENT_BITS, 1, 9, 0);
	check_tally(1, 0, 0, 0, 1, 0);
	/* More notes than are kept at once, several times over. */
	check_tally(1500000, 0, 40, 2, 1, 1);
	check_tally(1500000, 0, 1, 0, 7, 0);
	/* 19 and 30 bits: packed, without room for the number of a note. */
	check_tally(300000, 32, 60, 0, 3, 4);
	/* 21 and 64 bits: too wide to be packed. */
	check_tally(700000, 43, 62, 0x3fffffffffffffff, 3, 4);
}

static void sums_few_cells(void **state)
{
	struct tally t = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 3000000; i++)
		assert_int_equal(tally_add(&t, i % 5 << 32, i % 2, i), 0);
	assert_int_equal(tally_add_many(&t, 7, 1, 1000, 10), 0);
	assert_int_equal(tally_finish(&t), 0);
	assert_int_equal(t.nr_cells, 11);
	assert_int_equal(t.cells[0].samples, 300000);
	/* 0, 10, 20 ... 2999990 */
	assert_int_equal(t.cells[0].period, 10ull * 299999 * 300000 / 2);
	assert_int_equal(t.cells[2].a, 7);
	assert_int_equal(t.cells[2].samples, 1000);
	assert_int_equal(t.cells[10].a, 4ull << 32);
	assert_int_equal(t.cells[10].b, 1);
	/* 9, 19, 29 ... */
	assert_int_equal(t.cells[10].period, 10ull * 299999 * 300000 / 2 + 9 * 300000);
	tally_done(&t);
}

/* The sources share many cells, so only their union gives the number of cells. */
static void a_finished_tally_knows_its_size(void **state)
{
	enum {
		CELLS = 1500000,
		NR = 3000000
	};
	struct tally t = { 0 };
	uint64_t seed = 7;
	bool were_parts = false;

	(void)state;
	for (size_t i = 0; i < NR; i++) {
		assert_int_equal(tally_add(&t, roll(&seed, CELLS), 0, 1), 0);
		were_parts |= t.nr_runs > 1;
		if (i % 900000)
			continue;
		assert_int_equal(tally_settle(&t), 0);
		assert_true(t.nr_summed <= CELLS);
		assert_int_equal(t.nr_summed, t.nr_runs ? t.run_nr[0] : 0);
	}
	assert_true(were_parts);
	assert_int_equal(tally_finish(&t), 0);
	assert_true(t.nr_cells <= CELLS && t.nr_cells > CELLS / 2);
	tally_done(&t);
}

static void an_empty_tally_is_valid(void **state)
{
	struct tally t = { 0 };

	(void)state;
	assert_int_equal(tally_finish(&t), 0);
	assert_int_equal(t.nr_cells, 0);
	tally_done(&t);
}

/* Times and actors are far from 0. The first notes all have the same samples and period; later
 * ones have different periods. */
static void sums_notes_of_different_units(void **state)
{
	enum {
		NR = 300000,
		APART = 100000,
		DIFFERENT = 50000
	};
	const uint64_t actor = (uint64_t)70001 << 32;
	const uint64_t time = (uint64_t)0xfffe0000
			      << (TALLY_EVENT_BITS + TALLY_CPU_BITS);
	struct tally t = { 0 };
	uint64_t samples = 0;

	(void)state;
	for (uint64_t i = 0; i < NR; i++) {
		uint64_t position = i % DIFFERENT;

		assert_int_equal(tally_add_many(&t, actor | position,
						time | position % 3, i < APART ? 2 : 3,
						i < APART ? 7 : position),
				 0);
	}
	assert_int_equal(tally_finish(&t), 0);
	assert_int_equal(t.nr_cells, DIFFERENT);
	for (size_t i = 0; i < t.nr_cells; i++) {
		uint64_t position = (uint32_t)t.cells[i].a;

		assert_int_equal(t.cells[i].a >> 32, actor >> 32);
		assert_int_equal(t.cells[i].b, time | position % 3);
		assert_int_equal(t.cells[i].period, 2 * 7 + 4 * position);
		samples += t.cells[i].samples;
	}
	assert_int_equal(samples, 2 * APART + 3 * (NR - APART));
	tally_done(&t);
}

static void large_dense_counts_move_to_the_tally(void **state)
{
	struct dense d = { .on = true };
	struct tally t = { 0 };
	uint64_t seen = 0;
	int r = 0;

	(void)state;
	for (size_t row = 0; row < 8; row++) {
		assert_int_equal(dense_extend(&d, &t, row, 5000), 0);
		d.rows[row][5000] = (dense_count)(row + 1);
	}
	for (size_t row = 8; !r && row < 1 << 20; row += 4)
		r = dense_extend(&d, &t, row, 5000);
	assert_int_equal(r, 1);
	assert_false(d.on);
	assert_int_equal(tally_finish(&t), 0);
	for (size_t i = 0; i < t.nr_cells; i++) {
		const struct tally_cell *c = &t.cells[i];

		assert_int_equal((uint32_t)c->a, 5000);
		assert_int_equal((c->a >> 32 << DENSE_EVENT_BITS) + c->b + 1,
				 c->samples);
		seen += c->samples;
	}
	assert_int_equal(seen, 36);
	tally_done(&t);
}

/* Compares with a tally that counts everything itself: small counts, counts that overflow, and
 * finally more cells than plain arrays can hold. */
static void dense_adds_many_samples_at_once(void **state)
{
	static const uint64_t counts[] = { 1, 255, 256, 3, 1000 };
	struct dense d = { .on = true };
	struct tally t = { 0 }, model = { 0 };
	bool was_big = false;

	(void)state;
	for (uint64_t i = 0; i < 4000; i++) {
		uint64_t actor = i * 7 % 5, event = i % 2;
		uint64_t position = i % 20 + (i > 3000 ? i << 10 : 0);
		uint64_t samples = counts[i % 5];

		assert_int_equal(dense_add(&d, &t, actor << DENSE_EVENT_BITS | event,
					   position, samples),
				 0);
		assert_int_equal(tally_add_many(&model, actor << 32 | position, event,
						samples, 0),
				 0);
		assert_int_equal(d.on, !was_big && (i <= 3000 || d.on));
		was_big = !d.on;
	}
	assert_true(was_big);
	assert_int_equal(dense_flush(&d, &t), 0);
	assert_int_equal(tally_finish(&t), 0);
	assert_int_equal(tally_finish(&model), 0);
	assert_int_equal(t.nr_cells, model.nr_cells);
	assert_memory_equal(t.cells, model.cells, t.nr_cells * sizeof(*t.cells));
	tally_done(&t);
	tally_done(&model);
}

static void dense_counts_of_buckets_stay_apart(void **state)
{
	enum {
		NR = 100000,
		BUCKET_SHIFT = TALLY_EVENT_BITS + TALLY_CPU_BITS
	};
	struct dense d = { .on = true };
	struct tally t = { 0 }, model = { 0 };

	(void)state;
	for (uint64_t i = 0; i < NR; i++) {
		const uint32_t bucket = (uint32_t)(i / 1000 % 7);
		const uint64_t position = i * i % 1500, samples = 1 + i % 300;

		if (bucket != d.bucket)
			assert_int_equal(dense_change(&d, &t, bucket), 0);
		assert_int_equal(dense_add(&d, &t, 1, position, samples), 0);
		assert_int_equal(tally_add_many(&model, position,
						1 | (uint64_t)bucket << BUCKET_SHIFT,
						samples, 0),
				 0);
	}
	assert_true(d.on);
	assert_int_equal(dense_flush(&d, &t), 0);
	assert_int_equal(tally_finish(&t), 0);
	assert_int_equal(tally_finish(&model), 0);
	assert_int_equal(t.nr_cells, model.nr_cells);
	assert_memory_equal(t.cells, model.cells, t.nr_cells * sizeof(*t.cells));
	tally_done(&t);
	tally_done(&model);
}

/* Samples whose buckets alternate: in long stretches, then in stretches too short for a change of
 * the dense counts, which are counted in the tally. */
static void counts_stretches_of_any_length(void **state)
{
	enum {
		NR = 1000,
		BUCKETS = 3,
		ROUNDS = 60
	};
	struct world *w = *state;
	static uint32_t zeros[NR];
	uint64_t times[NR], expected[BUCKETS] = { 0 };
	struct key_list keys = { 0 };
	struct profile_options options = { .keys = &keys };
	struct profile_source source = { .dict = &w->dict,
					 .info = &w->info,
					 .session = "s" };
	struct sample_batch b = { .nr = NR,
				  .thread = zeros,
				  .stack = zeros,
				  .event = zeros,
				  .time_ns = times };
	struct profile p;

	assert_int_equal(keys_parse(&keys, "image,time:1us", NULL), 0);
	assert_int_equal(profile_init(&p, &options), 0);
	assert_int_equal(profile_begin(&p, &source), 0);
	for (size_t round = 0; round < ROUNDS; round++) {
		const size_t stretch = round < ROUNDS / 2 ? NR : 1 + round % 5;

		for (size_t i = 0; i < NR; i++) {
			const size_t bucket = (round + i / stretch) % BUCKETS;

			times[i] = bucket * 1000 + i % 1000;
			expected[bucket]++;
		}
		assert_int_equal(profile_add(&p, &b, NULL), 0);
	}
	assert_int_equal(profile_end(&p, NULL), 0);
	assert_int_equal(p.rows.nr, BUCKETS);
	for (uint32_t i = 0; i < BUCKETS; i++) {
		const uint64_t time = profile_value(&p, p.rows.at[i].group, 1);

		assert_int_equal(p.rows.at[i].samples, expected[time / 1000]);
	}
	profile_done(&p);
	keys_done(&keys);
}

/* Many samples of one cell, in batches of odd lengths; every other source has one sample of an
 * event too many for plain arrays. */
static void carries_overflowing_counts(void **state)
{
	enum {
		NR_BATCHES = 250,
		NR = 997
	};
	struct world *w = *state;
	static uint32_t zeros[NR];
	struct key_list keys = { 0 };
	struct profile_options options = { .keys = &keys };
	struct profile_source source = { .dict = &w->dict,
					 .info = &w->info,
					 .session = "s" };
	struct sample_batch b = { .nr = NR, .thread = zeros, .stack = zeros };
	uint32_t late[NR] = { 0 };
	uint64_t sum = 0;
	struct profile p;

	assert_int_equal(keys_parse(&keys, "app,image", NULL), 0);
	assert_int_equal(profile_init(&p, &options), 0);
	assert_int_equal(profile_begin(&p, &source), 0);
	b.event = zeros;
	assert_int_equal(profile_add(&p, &b, NULL), 0);
	for (uint32_t i = 2; i <= 1 << DENSE_EVENT_BITS; i++) {
		struct event_desc e = { .name = dict_string(&w->dict, "cycles"),
					.count = i };

		late[NR / 2] = dict_event(&w->dict, &e);
	}
	for (size_t i = 1; i < NR_BATCHES; i++) {
		b.event = i % 2 ? zeros : late;
		assert_int_equal(profile_add(&p, &b, NULL), 0);
	}
	assert_int_equal(profile_end(&p, NULL), 0);
	for (size_t i = 0; i < p.rows.nr; i++)
		sum += p.rows.at[i].samples;
	assert_int_equal(p.rows.nr, 2);
	assert_int_equal(sum, NR * NR_BATCHES);
	assert_int_equal(p.samples, NR * NR_BATCHES);
	profile_done(&p);
	keys_done(&keys);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test_setup_teardown(rows_agree_with_a_model, make_world,
						free_world),
		cmocka_unit_test_setup_teardown(a_timeline_has_the_counts_of_the_rows,
						make_world, free_world),
		cmocka_unit_test_setup_teardown(too_many_cells_are_merged_by_fewer_keys,
						make_world, free_world),
		cmocka_unit_test_setup_teardown(selections_agree_with_a_model,
						make_world, free_world),
		cmocka_unit_test_setup_teardown(quality_counts_unreliable_samples,
						make_world, free_world),
		cmocka_unit_test(recognizes_functions_that_enable_interrupts),
		cmocka_unit_test(a_tally_keeps_all_keys_in_order),
		cmocka_unit_test(sums_few_cells),
		cmocka_unit_test(a_finished_tally_knows_its_size),
		cmocka_unit_test(an_empty_tally_is_valid),
		cmocka_unit_test(sums_notes_of_different_units),
		cmocka_unit_test_setup_teardown(carries_overflowing_counts, make_world,
						free_world),
		cmocka_unit_test(large_dense_counts_move_to_the_tally),
		cmocka_unit_test(dense_adds_many_samples_at_once),
		cmocka_unit_test(dense_counts_of_buckets_stay_apart),
		cmocka_unit_test_setup_teardown(counts_stretches_of_any_length,
						make_world, free_world),
	};

	return UNIT_RUN(cases);
}

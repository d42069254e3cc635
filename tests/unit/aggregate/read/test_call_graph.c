/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares call graphs and sums of call trees with a model that examines each stack separately.
 * Without symbols, the function of a frame is its image. */
#include "aggregate/profile/call_graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/call_sums.h"
#include "aggregate/profile/profile.h"
#include "aggregate/read/profile_feed.h"
#include "alloc_fail.h"
#include "unit.h"

enum {
	NR_IMAGES = 5,
	NR_COMMS = 2,
	NR_EVENTS = 2,
	NR_SAMPLES = 400,
	DEPTH_MAX = 9,
	TRUNCATED = NR_IMAGES, /* as a caller */
	PERIOD = 10
};

/* A stack as text: its images from the outermost inwards, 'a' etc.; a leading '-' marks a
 * truncated stack. */
struct world {
	struct dict dict;
	struct session_info info;
	uint32_t images[NR_IMAGES];
	char stacks[NR_SAMPLES][DEPTH_MAX + 2];
	uint32_t thread[NR_SAMPLES];
	uint32_t event[NR_SAMPLES];
	uint32_t stack[NR_SAMPLES];
	uint64_t period[NR_SAMPLES];
	uint64_t time_ns[NR_SAMPLES];
	uint32_t cpu[NR_SAMPLES];
	size_t nr;
};

struct counts {
	uint64_t self[NR_COMMS][NR_EVENTS][NR_IMAGES];
	uint64_t total[NR_COMMS][NR_EVENTS][NR_IMAGES];
	uint64_t arcs[NR_COMMS][NR_EVENTS][NR_IMAGES + 1][NR_IMAGES];
};

static uint32_t roll(uint64_t *seed, uint32_t sides)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33) % sides;
}

static int make_world(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	if (!w || dict_init(&w->dict))
		return -1;
	w->info =
		(struct session_info){ .hostname = "h", .vmlinux = "", .cpu_desc = "" };
	for (uint32_t i = 0; i < NR_IMAGES; i++) {
		const char name[] = { '/', (char)('a' + i), 0 };
		/* The last image is the kernel. */
		struct image image = { .kind = i + 1 < NR_IMAGES ? IMAGE_FILE
								 : IMAGE_KERNEL };

		image.name = dict_string(&w->dict, name);
		w->images[i] = dict_image(&w->dict, &image);
	}
	for (uint32_t i = 0; i < NR_COMMS; i++) {
		struct thread t = { .pid = 7, .tid = (int32_t)i, .app = DICT_NONE };

		t.comm = dict_string(&w->dict, i ? "two" : "one");
		assert_int_equal(dict_thread(&w->dict, &t), i);
	}
	for (uint32_t i = 0; i < NR_EVENTS; i++) {
		struct event_desc e = { .name = dict_string(&w->dict,
							    i ? "misses" : "cycles") };

		assert_int_equal(dict_event(&w->dict, &e), i);
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

static void add_sample(struct world *w, const char *stack, uint32_t thread,
		       uint32_t event)
{
	uint32_t at = *stack == '-' ? STACK_TRUNCATED : STACK_ROOT;

	assert_true(w->nr < NR_SAMPLES);
	snprintf(w->stacks[w->nr], sizeof(w->stacks[w->nr]), "%s", stack);
	for (const char *c = stack + (*stack == '-'); *c; c++)
		at = dict_stack(&w->dict, at,
				dict_frame(&w->dict, w->images[*c - 'a'],
					   (uint64_t)(c - stack) * 16));
	w->stack[w->nr] = at;
	w->thread[w->nr] = thread;
	w->event[w->nr] = event;
	w->period[w->nr] = PERIOD;
	w->nr++;
}

/* Examines each stack separately, and counts each function in it once. */
static void model(const struct world *w, struct counts *m)
{
	memset(m, 0, sizeof(*m));
	for (size_t i = 0; i < w->nr; i++) {
		uint32_t t = w->thread[i], e = w->event[i];
		bool in[NR_IMAGES] = { false };
		bool called[NR_IMAGES + 1][NR_IMAGES] = { { false } };
		int caller = -1;

		for (const char *c = w->stacks[i]; *c; c++) {
			int image = *c == '-' ? TRUNCATED : *c - 'a';

			if (image < NR_IMAGES)
				in[image] = true;
			if (caller >= 0)
				called[caller][image] = true;
			caller = image;
		}
		m->self[t][e][caller]++;
		for (int a = 0; a <= NR_IMAGES; a++)
			for (int b = 0; b < NR_IMAGES; b++)
				m->arcs[t][e][a][b] += called[a][b];
		for (int a = 0; a < NR_IMAGES; a++)
			m->total[t][e][a] += in[a];
	}
}

static void read_world(struct world *w, const struct profile_options *options,
		       struct profile *p)
{
	struct profile_source source = { .dict = &w->dict,
					 .info = &w->info,
					 .session = "s" };
	struct sample_batch b = { w->nr,    w->time_ns, w->period, w->thread,
				  w->event, w->stack,   w->cpu };

	assert_int_equal(profile_init(p, options), 0);
	/* Adds the samples twice, as two sources. */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(profile_begin(p, &source), 0);
		assert_int_equal(profile_add(p, &b, NULL), 0);
		assert_int_equal(profile_end(p, NULL), 0);
	}
	profile_finish(p);
}

/* Returns the image and the command of a row. */
static void look_at_row(struct profile *p, uint32_t row, uint32_t *ret_comm,
			uint32_t *ret_image)
{
	uint32_t group = p->rows.at[row].group;
	const char *name = profile_text(p, group, 1);

	*ret_comm = !strcmp(profile_text(p, group, 0), "two");
	/* The kernel has a different name here. */
	*ret_image = strlen(name) == 2 ? (uint32_t)(name[1] - 'a') : NR_IMAGES - 1;
}

static void compare(struct profile *p, const struct counts *want)
{
	struct counts got;
	uint32_t comm, image, caller = 0;

	memset(&got, 0, sizeof(got));
	assert_int_equal(p->graph.totals.nr, p->rows.nr);
	for (uint32_t i = 0; i < p->rows.nr; i++) {
		const struct profile_row *row = &p->rows.at[i];

		look_at_row(p, i, &comm, &image);
		got.self[comm][row->event][image] += row->samples / 2;
		got.total[comm][row->event][image] += p->graph.totals.at[i].samples / 2;
		assert_int_equal(p->graph.totals.at[i].period,
				 p->graph.totals.at[i].samples * PERIOD);
	}
	for (size_t i = 0; i < p->graph.arcs.nr; i++) {
		const struct call_arc *arc = &p->graph.arcs.at[i];

		caller = TRUNCATED;
		if (arc->caller != CALL_BY_UNKNOWN)
			look_at_row(p, arc->caller, &comm, &caller);
		look_at_row(p, arc->callee, &comm, &image);
		got.arcs[comm][p->rows.at[arc->callee].event][caller][image] +=
			arc->samples / 2;
	}
	assert_memory_equal(&got, want, sizeof(got));
}

static void check(struct world *w)
{
	struct key_list keys = { 0 };
	struct profile_options options = { .keys = &keys,
					   .call_graph = true,
					   .periods = true };
	struct counts want;
	struct profile p;

	assert_int_equal(keys_parse(&keys, "comm,image", NULL), 0);
	read_world(w, &options, &p);
	assert_int_equal(call_graph_make(&p), 0);
	model(w, &want);
	compare(&p, &want);
	profile_done(&p);
	keys_done(&keys);
}

static void recursion_counts_once(void **state)
{
	struct world *w = *state;

	add_sample(w, "abbb", 0, 0);
	add_sample(w, "abcbc", 0, 0);
	add_sample(w, "a", 0, 0);
	check(w);
}

static void marks_truncated_stacks(void **state)
{
	struct world *w = *state;

	add_sample(w, "-bc", 0, 0);
	add_sample(w, "abc", 0, 0);
	add_sample(w, "-c", 1, 1);
	add_sample(w, "abe", 0, 0); /* the kernel interrupts */
	check(w);
}

static void agrees_with_a_model_on_random_stacks(void **state)
{
	struct world *w = *state;
	uint64_t seed = 5;

	for (size_t i = 0; i < NR_SAMPLES; i++) {
		char stack[DEPTH_MAX + 2];
		size_t nr = 1 + roll(&seed, DEPTH_MAX), at = 0;

		if (!roll(&seed, 4))
			stack[at++] = '-';
		while (nr-- && at < DEPTH_MAX)
			stack[at++] = (char)('a' + roll(&seed, NR_IMAGES - 1));
		if (!roll(&seed, 3))
			stack[at++] = 'a' + NR_IMAGES - 1;
		stack[at] = '\0';
		add_sample(w, stack, roll(&seed, NR_COMMS), roll(&seed, NR_EVENTS));
	}
	check(w);
}

/* Returns the node of the path in a tree; CALL_ROOT: none. */
static uint32_t find_node(struct profile *p, const char *path)
{
	for (uint32_t n = CALL_FIRST; n < p->calls.nodes.nr; n++)
		if (!strcmp(call_tree_text(p, n), path))
			return n;
	return CALL_ROOT;
}

static void sums_the_counts_of_nodes(void **state)
{
	struct world *w = *state;
	struct key_list keys = { 0 };
	struct profile_options options = { .keys = &keys, .calls = true };
	struct call_sums s;
	struct profile p;
	uint32_t a, ab, nr_roots = 0;

	add_sample(w, "ab", 0, 0);
	add_sample(w, "abc", 0, 0);
	add_sample(w, "abc", 1, 1);
	add_sample(w, "-bc", 0, 0);
	assert_int_equal(keys_parse(&keys, "comm", NULL), 0);
	read_world(w, &options, &p);
	assert_int_equal(call_sums_make(&s, &p, NULL, p.events.nr), 0);
	a = find_node(&p, "[a]");
	ab = find_node(&p, "[a];[b]");
	assert_int_equal(call_sums_at(&s, ab, 0)->self, 2);
	assert_int_equal(call_sums_at(&s, ab, 0)->samples, 4);
	assert_int_equal(call_sums_at(&s, ab, 1)->self, 0);
	assert_int_equal(call_sums_at(&s, ab, 1)->samples, 2);
	assert_int_equal(call_sums_at(&s, a, 0)->samples, 4);
	assert_int_equal(call_sums_at(&s, CALL_ROOT, 0)->samples, 4);
	assert_int_equal(call_sums_at(&s, CALL_TRUNCATED, 0)->samples, 2);
	for (uint32_t n = s.first[CALL_ROOT]; n != DICT_NONE; n = s.next[n])
		nr_roots++;
	assert_int_equal(nr_roots, 1);
	assert_int_equal(s.first[a], ab);
	call_sums_done(&s);
	profile_done(&p);
	keys_done(&keys);
}

/* Frames that are deeper than the limit are dropped, one by one. */
static void limits_the_depth(void **state)
{
	struct world *w = *state;
	struct key_list keys = { 0 };
	struct profile_options options = { .keys = &keys, .calls = true };
	struct profile p;

	add_sample(w, "abc", 0, 0);
	add_sample(w, "ab", 0, 0);
	add_sample(w, "-b", 0, 0);
	assert_int_equal(keys_parse(&keys, "comm", NULL), 0);
	options.max_stack = 2;
	read_world(w, &options, &p);
	assert_int_not_equal(find_node(&p, "[truncated];[b];[c]"), CALL_ROOT);
	assert_int_not_equal(find_node(&p, "[truncated];[b]"), CALL_ROOT);
	assert_int_not_equal(find_node(&p, "[a];[b]"), CALL_ROOT);
	assert_int_equal(find_node(&p, "[a];[b];[c]"), CALL_ROOT);
	profile_done(&p);
	keys_done(&keys);
}

static void handles_allocation_failure(void **state)
{
	struct world *w = *state;
	struct key_list keys = { 0 };
	struct profile_options options = { .keys = &keys, .call_graph = true };
	struct call_sums s;
	struct profile p;
	int r = -1;

	add_sample(w, "abbb", 0, 0);
	add_sample(w, "-bc", 1, 1);
	assert_int_equal(keys_parse(&keys, "comm,image", NULL), 0);
	for (unsigned int n = 1; r; n++) {
		read_world(w, &options, &p);
		alloc_fail_at(n);
		r = call_graph_make(&p);
		(void)alloc_fail_off();
		profile_done(&p);
		assert_true(n < 1000);
	}
	r = -1;
	for (unsigned int n = 1; r; n++) {
		read_world(w, &options, &p);
		alloc_fail_at(n);
		r = call_sums_make(&s, &p, NULL, p.events.nr);
		(void)alloc_fail_off();
		call_sums_done(&s);
		profile_done(&p);
		assert_true(n < 1000);
	}
	keys_done(&keys);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test_setup_teardown(recursion_counts_once, make_world,
						free_world),
		cmocka_unit_test_setup_teardown(marks_truncated_stacks, make_world,
						free_world),
		cmocka_unit_test_setup_teardown(agrees_with_a_model_on_random_stacks,
						make_world, free_world),
		cmocka_unit_test_setup_teardown(sums_the_counts_of_nodes, make_world,
						free_world),
		cmocka_unit_test_setup_teardown(limits_the_depth, make_world,
						free_world),
		cmocka_unit_test_setup_teardown(handles_allocation_failure, make_world,
						free_world),
	};

	return UNIT_RUN(cases);
}

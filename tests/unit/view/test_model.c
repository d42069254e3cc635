/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares the answers of a model with counts of the same samples by simple means. */
#include "view/model_maker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/err.h"
#include "view/selection.h"
#include "view/table.h"
#include "view/times.h"
#include "view/tree.h"

#include "unit.h"

enum {
	NR_SAMPLES = 3000
};

static const char *const names[] = { "main", "work", "sort", "Copy", "Move", "read" };

/* A selection, and a function that decides about a sample. */
struct test_case {
	const char *params;
	bool (*wants)(const struct test_sample *s);
};

static struct test_sample samples[NR_SAMPLES];
static struct test_recording recording;
static struct view_model *model;

/* A generator with reproducible results. */
static unsigned int next_random(unsigned int below)
{
	static uint64_t state = 42;

	state = state * 6364136223846793005U + 1442695040888963407U;
	return (unsigned int)(state >> 33) % below;
}

static int set_up(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR_SAMPLES; i++) {
		struct test_sample *s = &samples[i];
		unsigned int depth = 1 + next_random(TEST_STACK_MAX - 1);

		s->thread = 10 + next_random(25);
		s->cpu = (int)next_random(4);
		s->ms = (unsigned int)(i * 900 / NR_SAMPLES);
		s->event = next_random(4) ? "cycles" : "faults";
		for (unsigned int d = 0; d < depth; d++)
			s->stack[d] = names[next_random(COUNT_OF(names))];
	}
	samples[0].event = "cycles";
	test_recording_make(&recording, samples, NR_SAMPLES);
	model = test_model_open(&recording, NULL);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	view_model_close(model);
	test_recording_done(&recording);
	return 0;
}

static bool is_on_stack(const struct test_sample *s, const char *name)
{
	for (size_t i = 0; i < TEST_STACK_MAX && s->stack[i]; i++)
		if (!strcmp(s->stack[i], name))
			return true;
	return false;
}

static bool wants_cycles(const struct test_sample *s)
{
	return !strcmp(s->event, "cycles");
}

static bool wants_faults(const struct test_sample *s)
{
	return !strcmp(s->event, "faults");
}

static bool wants_comm(const struct test_sample *s)
{
	return wants_cycles(s) && s->thread % 3 == 1;
}

static bool wants_threads(const struct test_sample *s)
{
	return wants_cycles(s) && (s->thread == 12 || s->thread == 27) && s->cpu == 2;
}

static bool wants_pid(const struct test_sample *s)
{
	return wants_cycles(s) && s->thread / 10 == 2;
}

static bool wants_times(const struct test_sample *s)
{
	/* The first sample is at the start. */
	return wants_cycles(s) && s->ms >= 100 && s->ms < 250;
}

static bool wants_image(const struct test_sample *s)
{
	return wants_cycles(s) &&
	       (!strcmp(s->stack[0], "Copy") || !strcmp(s->stack[0], "Move"));
}

static bool wants_symbol(const struct test_sample *s)
{
	return wants_faults(s) && !strcmp(s->stack[0], "sort");
}

static bool wants_through(const struct test_sample *s)
{
	return wants_cycles(s) && is_on_stack(s, "read");
}

static bool wants_text(const struct test_sample *s)
{
	return wants_cycles(s) && (is_on_stack(s, "Copy") || is_on_stack(s, "Move"));
}

static const struct test_case cases_of_selection[] = {
	{ "", wants_cycles },
	{ "event=faults", wants_faults },
	{ "comm=comm1", wants_comm },
	{ "tid=12&tid=27&cpu=2", wants_threads },
	{ "pid=2", wants_pid },
	{ "from=100000000&to=250000000", wants_times },
	{ "image=/bin/UPPER", wants_image },
	{ "symbol=sort&event=faults", wants_symbol },
	{ "through=read", wants_through },
	{ "text=upper", wants_text },
};

/* Makes a selection of "a=b&c=d". */
static void select_samples(struct view_selection *s, const char *params, char *room)
{
	struct view_param list[8];
	struct view_params all = { list, 0 };
	struct err err = { 0 };
	char *save;

	strcpy(room, params);
	for (char *at = strtok_r(room, "&", &save); at;
	     at = strtok_r(NULL, "&", &save)) {
		char *equal = strchr(at, '=');

		*equal = '\0';
		list[all.nr++] = (struct view_param){ at, equal + 1 };
	}
	if (view_selection_make(s, model, &all, &err))
		fail_msg("%s", err.text);
}

static uint64_t count_all(const struct test_case *c)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < NR_SAMPLES; i++)
		nr += c->wants(&samples[i]);
	return nr;
}

/* ---- table ---- */

static const struct view_row *find_row(const struct view_table *t, const char *value)
{
	for (size_t i = 0; i < t->rows.nr; i++) {
		char room[VIEW_VALUE_ROOM];

		if (!strcmp(view_table_text(t, &t->rows.at[i], 0, room), value))
			return &t->rows.at[i];
	}
	return NULL;
}

static void check_functions(const struct test_case *c, const struct view_table *t)
{
	for (size_t f = 0; f < COUNT_OF(names); f++) {
		const struct view_row *row = find_row(t, names[f]);
		uint64_t self = 0, total = 0;

		for (size_t i = 0; i < NR_SAMPLES; i++) {
			if (!c->wants(&samples[i]))
				continue;
			self += !strcmp(samples[i].stack[0], names[f]);
			total += is_on_stack(&samples[i], names[f]);
		}
		assert_int_equal(row ? row->self : 0, self);
		assert_int_equal(row ? row->total : 0, total);
	}
}

static void test_functions(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases_of_selection); i++) {
		const struct test_case *c = &cases_of_selection[i];
		struct view_selection s;
		struct view_table t;
		char room[128];

		select_samples(&s, c->params, room);
		assert_int_equal(view_table_make(&t, &s, "symbol", NULL), 0);
		check_functions(c, &t);
		assert_int_equal(t.samples[0], count_all(c));
		view_table_done(&t);
		view_selection_done(&s);
	}
}

static void test_threads(void **state)
{
	const struct test_case *c = &cases_of_selection[0];
	struct view_selection s;
	struct view_table t;
	uint64_t sum = 0;
	char room[128];

	(void)state;
	select_samples(&s, c->params, room);
	assert_int_equal(view_table_make(&t, &s, "tid,symbol", NULL), 0);
	for (size_t i = 0; i < t.rows.nr; i++) {
		const struct view_row *row = &t.rows.at[i];
		char tid[VIEW_VALUE_ROOM], unused[VIEW_VALUE_ROOM];
		const char *thread = view_table_text(&t, row, 0, tid);
		const char *name = view_table_text(&t, row, 1, unused);
		uint64_t self = 0, total = 0;

		for (size_t k = 0; k < NR_SAMPLES; k++) {
			if (!c->wants(&samples[k]) ||
			    samples[k].thread != (unsigned int)atoi(thread))
				continue;
			self += !strcmp(samples[k].stack[0], name);
			total += is_on_stack(&samples[k], name);
		}
		assert_int_equal(row->self, self);
		assert_int_equal(row->total, total);
		sum += row->self;
	}
	assert_int_equal(sum, count_all(c));
	view_table_done(&t);
	view_selection_done(&s);
}

/* ---- trees ---- */

/* Checks that each node has the samples of its callees and its own. */
static void check_sums(const struct view_tree *t)
{
	uint64_t *below = calloc(t->nodes.nr + 1, sizeof(*below));
	uint64_t roots = 0;

	assert_non_null(below);
	for (size_t i = t->nodes.nr; i-- > 0;) {
		const struct view_tree_node *n = &t->nodes.at[i];

		assert_int_equal(view_tree_total(n), n->self + below[i]);
		if (n->up)
			below[i - n->up] += view_tree_total(n);
		else
			roots += view_tree_total(n);
	}
	assert_int_equal(roots, t->total[0] + t->total[1]);
	assert_int_equal(t->omitted, 0);
	free(below);
}

/* Returns the name of the caller `levels` above a node, or "". */
static const char *name_above(const struct view_tree *t, size_t node, size_t levels)
{
	const struct view_tree_node *n = &t->nodes.at[node];

	while (levels-- > 0) {
		if (!n->up)
			return "";
		n -= n->up;
	}
	return view_function_name(&model->data, n->function);
}

/* Returns whether a stack begins at the leaf (`callers`) or at the root with the path of a node. */
static bool has_path(const struct test_sample *s, const struct view_tree *t,
		     size_t node, bool callers)
{
	size_t depth = 0, length = 0;

	while (length < TEST_STACK_MAX && s->stack[length])
		length++;
	for (const char *name; *(name = name_above(t, node, depth)); depth++)
		;
	if (depth > length)
		return false;
	for (size_t i = 0; i < depth; i++) {
		size_t at = callers ? depth - 1 - i : length - depth + i;

		if (strcmp(s->stack[at], name_above(t, node, i)) != 0)
			return false;
	}
	return true;
}

static void check_paths(const struct test_case *c, const struct view_tree *t,
			bool callers)
{
	for (size_t i = 0; i < t->nodes.nr; i++) {
		uint64_t total = 0;

		for (size_t k = 0; k < NR_SAMPLES; k++)
			total += c->wants(&samples[k]) &&
				 has_path(&samples[k], t, i, callers);
		assert_int_equal(view_tree_total(&t->nodes.at[i]), total);
	}
}

static void test_trees(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases_of_selection); i++) {
		const struct test_case *c = &cases_of_selection[i];
		struct view_tree_options o = { .limit = 100000 };
		struct view_selection s;
		struct view_tree t;
		char room[128];

		select_samples(&s, c->params, room);
		for (o.kind = VIEW_TREE_CALLS; o.kind <= VIEW_TREE_TIME; o.kind++) {
			assert_int_equal(view_tree_make(&t, &s, &o), 0);
			assert_int_equal(t.total[0], count_all(c));
			check_sums(&t);
			if (o.kind != VIEW_TREE_TIME)
				check_paths(c, &t, o.kind == VIEW_TREE_CALLERS);
			view_tree_done(&t);
		}
		view_selection_done(&s);
	}
}

/* The tree of time, merged, is the tree of calls. */
static void test_time_tree_functions(void **state)
{
	struct view_tree_options o = { .kind = VIEW_TREE_TIME, .limit = 100000 };
	uint64_t self[COUNT_OF(names)] = { 0 };
	struct view_selection s;
	struct view_tree t;
	char room[128];

	(void)state;
	select_samples(&s, "", room);
	assert_int_equal(view_tree_make(&t, &s, &o), 0);
	for (size_t i = 0; i < t.nodes.nr; i++)
		self[t.nodes.at[i].function] += t.nodes.at[i].self;
	for (uint32_t f = 0; f < COUNT_OF(names); f++) {
		uint64_t expected = 0;

		for (size_t k = 0; k < NR_SAMPLES; k++)
			expected += wants_cycles(&samples[k]) &&
				    !strcmp(samples[k].stack[0],
					    view_function_name(&model->data, f));
		assert_int_equal(self[f], expected);
	}
	view_tree_done(&t);
	view_selection_done(&s);
}

static uint32_t function_of(const char *name)
{
	uint32_t i = 0;

	while (i < model->data.functions.nr && !view_function_is(model, i, name))
		i++;
	assert_true(i < model->data.functions.nr);
	return i;
}

/* Callers and callees of a function have the samples with the function on their stack. */
static void test_sandwich(void **state)
{
	(void)state;
	for (size_t f = 0; f < COUNT_OF(names); f++) {
		struct view_tree_options o = { .limit = 100000,
					       .function = function_of(names[f]) };
		struct view_selection s;
		struct view_tree t;
		uint64_t total = 0, end = 0, no_caller = 0;
		char room[128];

		for (size_t i = 0; i < NR_SAMPLES; i++)
			total += wants_comm(&samples[i]) &&
				 is_on_stack(&samples[i], names[f]);
		select_samples(&s, "comm=comm1", room);
		for (o.kind = VIEW_TREE_FUNCTION_CALLEES;
		     o.kind <= VIEW_TREE_FUNCTION_CALLERS; o.kind++) {
			assert_int_equal(view_tree_make(&t, &s, &o), 0);
			check_sums(&t);
			assert_int_equal(view_tree_total(&t.nodes.at[0]), total);
			assert_int_equal(t.nodes.at[0].function, o.function);
			end = t.nodes.at[0].self;
			view_tree_done(&t);
		}
		/* `end` is of the callers: stacks that begin with the function. */
		for (size_t i = 0; i < NR_SAMPLES; i++) {
			const struct test_sample *sample = &samples[i];
			size_t last = 0;

			while (last + 1 < TEST_STACK_MAX && sample->stack[last + 1])
				last++;
			no_caller += wants_comm(sample) &&
				     !strcmp(sample->stack[last], names[f]);
		}
		assert_int_equal(end, no_caller);
		view_selection_done(&s);
	}
}

static void test_limits(void **state)
{
	struct view_tree_options o = { .limit = 50 };
	struct view_selection s;
	struct view_tree t;
	char room[128];

	(void)state;
	select_samples(&s, "", room);
	for (o.kind = VIEW_TREE_CALLS; o.kind <= VIEW_TREE_TIME; o.kind++) {
		uint64_t shown = 0;

		assert_int_equal(view_tree_make(&t, &s, &o), 0);
		assert_in_range(t.nodes.nr, 1, o.limit);
		for (size_t i = 0; i < t.nodes.nr; i++) {
			assert_true(t.nodes.at[i].up <= i);
			shown += t.nodes.at[i].self;
		}
		assert_int_equal(t.omitted, t.total[0] - shown);
		view_tree_done(&t);
	}
	o = (struct view_tree_options){ .limit = 100000, .min = 0.05 };
	assert_int_equal(view_tree_make(&t, &s, &o), 0);
	for (size_t i = 0; i < t.nodes.nr; i++)
		assert_true(view_tree_total(&t.nodes.at[i]) * 20 + 20 > t.total[0]);
	view_tree_done(&t);
	view_selection_done(&s);
}

/* ---- times ---- */

static void test_timeline(void **state)
{
	const struct view_timeline_options o = { .bins = 30,
						 .lanes = VIEW_LANES_CPU,
						 .top = 10 };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases_of_selection); i++) {
		const struct test_case *c = &cases_of_selection[i];
		struct view_selection s;
		struct view_timeline t;
		uint64_t sum = 0, of_lanes = 0;
		char room[128];

		select_samples(&s, c->params, room);
		assert_int_equal(view_timeline_make(&t, &s, &o), 0);
		assert_in_range(t.nr_bins, 1, o.bins);
		for (size_t bin = 0; bin < t.nr_bins; bin++) {
			uint64_t from = t.from_ns + bin * t.bin_ns, nr = 0;

			for (size_t k = 0; k < NR_SAMPLES; k++) {
				uint64_t at = samples[k].ms * 1000000ULL;

				nr += c->wants(&samples[k]) && at >= from &&
				      at < from + t.bin_ns;
			}
			assert_int_equal(t.total[0][bin], nr);
			sum += nr;
			for (size_t lane = 0; lane < t.lanes.nr; lane++)
				of_lanes += t.lanes.at[lane].bins[bin];
		}
		assert_int_equal(sum, count_all(c));
		assert_int_equal(of_lanes, sum);
		view_timeline_done(&t);
		view_selection_done(&s);
	}
}

static void test_heat(void **state)
{
	struct view_selection s;
	struct view_heat h;
	uint64_t sum = 0;
	char room[128];

	(void)state;
	select_samples(&s, "", room);
	assert_int_equal(view_heat_make(&h, &s, 600, 50), 0);
	/* A second is not a thin stripe. */
	assert_in_range(h.columns, 10, 600);
	assert_in_range(h.rows, 10, 50);
	for (size_t i = 0; i < h.columns * h.rows; i++)
		sum += h.cells[i];
	assert_int_equal(sum, count_all(&cases_of_selection[0]));
	view_heat_done(&h);
	view_selection_done(&s);
}

/* ---- queries ---- */

static void assert_contains(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' is not in: %s", part, text);
}

static void test_answers(void **state)
{
	char *text = test_query(model, "info", "");

	(void)state;
	assert_contains(text, "\"version\":1");
	assert_contains(text, "\"name\":\"cycles\"");
	assert_contains(text, "\"cpus\":[0,1,2,3]");
	assert_contains(text, "\"duration_ns\":900000000");
	free(text);
	text = test_query(model, "values", "of=comm&prefix=M1");
	assert_contains(text, "[\"comm1\",");
	assert_null(strstr(text, "comm2"));
	free(text);
	text = test_query(model, "function", "symbol=work&image=/bin/lower");
	assert_contains(text, "\"symbol\":\"work\"");
	assert_contains(text, "\"callers\"");
	free(text);
	text = test_query(model, "table", "by=event");
	assert_contains(text, "\"rows_total\":2");
	free(text);
	text = test_query(model, "tree", "by=callers&min=0.01");
	assert_contains(text, "\"images\":[\"/bin/UPPER\",\"/bin/lower\"]");
	free(text);
	text = test_query(model, "quality", "");
	assert_contains(text, "{\"what\":\"samples\",\"value\":3000,");
	free(text);
	text = test_query(model, "source", "symbol=work");
	assert_contains(text, "\"image\":\"/bin/lower\"");
	assert_contains(text, "\"missing\":\"");
	free(text);
	text = test_query(model, "heat", "");
	assert_contains(text, "\"cells\":[[0,0,");
	free(text);
}

static void test_errors(void **state)
{
	static const struct {
		const char *name, *params, *text;
		int code;
	} rows[] = {
		{ "nothing", "", "unknown query 'nothing'", -ENOENT },
		{ "tree", "event=x", "there is no event 'x'", -ENOENT },
		{ "tree", "by=x", "by: invalid value 'x'", -EINVAL },
		{ "tree", "min=2", "min: invalid share '2'", -EINVAL },
		{ "tree", "from=-1", "from: invalid number '-1'", -EINVAL },
		{ "table", "by=line", "views cannot group by line", -EINVAL },
		{ "table", "sort=x", "sort: invalid value 'x'", -EINVAL },
		{ "values", "", "of: give one of", -EINVAL },
		{ "function", "symbol=x", "there is no function 'x'", -ENOENT },
		{ "function", "", "the parameter 'symbol' is missing", -EINVAL },
		{ "timeline", "tracks=x", "tracks: invalid value 'x'", -EINVAL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char text[512];

		assert_int_equal(
			test_query_fails(model, rows[i].name, rows[i].params, text),
			rows[i].code);
		assert_contains(text, rows[i].text);
	}
}

static void test_hostile_names(void **state)
{
	static const struct test_sample hostile[] = {
		{ 11, 0, 1, "cycles", { "a\"b<script>\\", "c\xff\x01", NULL } }
	};
	struct test_recording r;
	struct view_model *m;
	char *text;

	(void)state;
	test_recording_make(&r, hostile, 1);
	m = test_model_open(&r, NULL);
	text = test_query(m, "tree", "");
	assert_contains(text, "a\\\"b");
	for (const char *at = text; *at; at++)
		assert_true((unsigned char)*at >= 0x20 || *at == '\n');
	assert_null(strchr(text, '\xff'));
	free(text);
	view_model_close(m);
	test_recording_done(&r);
}

static void test_compare(void **state)
{
	struct test_recording half;
	struct view_model *m;
	char *text;

	(void)state;
	test_recording_make(&half, samples, NR_SAMPLES / 2);
	m = test_model_open(&recording, &half);
	for (size_t i = 0; i < m->data.events.nr; i++)
		assert_true(m->data.events.at[i].samples);
	assert_int_equal(m->data.facts[0].samples, NR_SAMPLES);
	assert_int_equal(m->data.facts[1].samples, NR_SAMPLES / 2);
	assert_int_equal(m->data.functions.nr, model->data.functions.nr);
	assert_int_equal(m->data.nodes.nr, model->data.nodes.nr);
	text = test_query(m, "tree", "side=new");
	assert_contains(text, "\"base_total\":0");
	free(text);
	text = test_query(m, "info", "");
	assert_contains(text, "\"compare\":true");
	assert_contains(text, "\"title\":\"first");
	free(text);
	view_model_close(m);
	test_recording_done(&half);
}

static void test_update(void **state)
{
	(void)state;
	assert_int_equal(view_model_update(model, NULL), 0);
	assert_int_equal(view_model_generation(model), 1);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_trees),
		cmocka_unit_test(test_time_tree_functions),
		cmocka_unit_test(test_sandwich),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_timeline),
		cmocka_unit_test(test_heat),
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_hostile_names),
		cmocka_unit_test(test_compare),
		cmocka_unit_test(test_update),
	};

	return cmocka_run_group_tests(cases, set_up, tear_down);
}

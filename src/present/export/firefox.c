/* SPDX-License-Identifier: GPL-2.0-or-later */
/* firefox.c - writes the Firefox Profiler's processed profile, version 47
 * (github.com/firefox-devtools/profiler, src/types/profile.js and CHANGELOG-formats.md).  The
 * profile is a timeline; its keys are pid, tid, comm, time and stack.  A thread has its own
 * tables, stored as columns; a frame is a function.  Samples of the same stack in the same span
 * of time are merged, with their number as weight.  If there are several events, a thread
 * appears once per event. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "base/containers/sort_numbers.h"
#include "base/err.h"
#include "present/calls/spans.h"
#include "present/export/export_writers.h"
#include "present/lines/json.h"
#include "present/lines/options.h"

enum {
	CATEGORY_OTHER,
	CATEGORY_USER,
	CATEGORY_KERNEL,
	VERSION = 47,
	GECKO_VERSION = 27,
	US_A_MS = 1000,
	NS_A_US = 1000,
	NS_A_MS = 1000000,
	NODE_SHIFT = 32,
	WORD_BITS = 64
};

/* Maps numbers of the whole profile to numbers in a thread's tables. */
struct write_firefox_numbers {
	uint32_t *of;          /* DICT_NONE: not in the tables */
	VEC(uint32_t) members; /* in table order */
};

/* A set of nodes that is iterated in order: a bitmap with one bit per node, and a second bitmap
 * with one bit per word of the first. */
struct node_set {
	uint64_t *bits;
	uint64_t *words;
	size_t nr_words; /* of `words` */
};

/* Texts as JSON strings. */
struct texts {
	struct buf buf;
	size_t *at; /* by number: offset in `buf`; and the end */
};

struct firefox {
	struct profile *p;
	struct call_table calls;
	struct json json;
	struct node_set node_set; /* of the current thread */
	/* Numbers of the nodes of the current thread; the root has no number. */
	struct write_firefox_numbers nodes;
	struct write_firefox_numbers symbols;
	struct write_firefox_numbers images;
	size_t pid, tid, comm;
	uint64_t width_ns;       /* of KEY_TIME: whole milliseconds */
	struct call_spans spans; /* grouped by thread */
	VEC(uint32_t) column;    /* the current column */
	/* The samples of the current thread, as columns. */
	VEC(uint32_t) stacks;
	VEC(uint64_t) times; /* ms */
	VEC(uint64_t) weights;
	VEC(uint64_t) moment; /* (node, samples) pairs at the current time */
	VEC(uint64_t) room;   /* scratch space for sorting */
	struct texts image_texts;
	struct texts symbol_texts;
	uint8_t *categories; /* by symbol */
	bool failed;         /* memory is short */
};

static int numbers_init(struct write_firefox_numbers *n, size_t nr)
{
	n->of = malloc((nr + 1) * sizeof(*n->of));
	for (size_t i = 0; n->of && i < nr; i++)
		n->of[i] = DICT_NONE;
	return n->of ? 0 : -ENOMEM;
}

static void numbers_clear(struct write_firefox_numbers *n)
{
	for (size_t i = 0; i < n->members.nr; i++)
		n->of[n->members.at[i]] = DICT_NONE;
	n->members.nr = 0;
}

static void numbers_done(struct write_firefox_numbers *n)
{
	free(n->of);
	vec_done(&n->members);
}

static void write_firefox_number_of(struct firefox *f, struct write_firefox_numbers *n,
				    uint32_t thing)
{
	if (n->of[thing] != DICT_NONE)
		return;
	n->of[thing] = (uint32_t)n->members.nr;
	if (!vec_push(&n->members, thing))
		f->failed = true;
}

/* ---- columns ---- */

static void put_bool(struct json *j, const char *name, bool value)
{
	json_name(j, name);
	json_bool(j, value);
}

/* Writes a column in which all values are equal. */
static void put_same(struct json *j, const char *name, const char *value, size_t nr)
{
	json_name(j, name);
	json_repeated(j, value, nr);
}

static void put_empty(struct json *j, const char *name)
{
	put_same(j, name, "", 0);
}

static void put_empty_table(struct json *j, const char *name,
			    const char *const *columns)
{
	json_name(j, name);
	json_begin_object(j);
	for (; *columns; columns++)
		put_empty(j, *columns);
	json_member_u64(j, "length", 0);
	json_end_object(j);
}

/* Returns a column of `nr` elements, which the caller fills. */
static uint32_t *column(struct firefox *f, size_t nr)
{
	f->column.nr = 0;
	if (!vec_reserve(&f->column, nr + 1)) {
		f->failed = true;
		return NULL;
	}
	f->column.nr = nr;
	return f->column.at;
}

static void write_firefox_put_column(struct firefox *f, const char *name,
				     const char *none)
{
	json_name(&f->json, name);
	json_u32s(&f->json, f->column.at, f->column.nr, none);
}

/* Writes a column of consecutive numbers. */
static void put_counting(struct firefox *f, const char *name, size_t from, size_t nr)
{
	uint32_t *to = column(f, nr);

	for (size_t i = 0; to && i < nr; i++)
		to[i] = (uint32_t)(from + i);
	write_firefox_put_column(f, name, "null");
}

/* ---- tables of a thread ---- */

static const struct call_symbol *symbol_at(const struct firefox *f, size_t i)
{
	return &f->calls.symbols.at[f->symbols.members.at[i]];
}

static uint8_t category_of(const struct firefox *f, uint32_t symbol)
{
	if (f->calls.symbols.at[symbol].image == DICT_NONE)
		return CATEGORY_OTHER;
	return call_symbol_in_kernel(&f->calls, symbol) ? CATEGORY_KERNEL
							: CATEGORY_USER;
}

static int node_set_init(struct node_set *s, size_t nr_nodes)
{
	size_t nr_bits = nr_nodes / WORD_BITS + 1;

	s->nr_words = nr_bits / WORD_BITS + 1;
	s->bits = calloc(nr_bits, sizeof(*s->bits));
	s->words = calloc(s->nr_words, sizeof(*s->words));
	return s->bits && s->words ? 0 : -ENOMEM;
}

static void node_set_done(struct node_set *s)
{
	free(s->bits);
	free(s->words);
}

/* Adds a node to a set. Returns false if the set already has the node. */
static bool node_set_add(struct node_set *s, uint32_t node)
{
	size_t at = node / WORD_BITS;
	uint64_t bit = (uint64_t)1 << node % WORD_BITS;

	if (s->bits[at] & bit)
		return false;
	s->bits[at] |= bit;
	s->words[at / WORD_BITS] |= (uint64_t)1 << at % WORD_BITS;
	return true;
}

/* Numbers the nodes of a word. */
static void write_firefox_number_nodes(struct firefox *f, size_t at)
{
	struct write_firefox_numbers *n = &f->nodes;
	uint64_t *word = &f->node_set.bits[at];

	for (; *word; *word &= *word - 1) {
		uint32_t node =
			(uint32_t)(at * WORD_BITS) + (uint32_t)__builtin_ctzll(*word);

		n->of[node] = (uint32_t)n->members.nr;
		if (!vec_push(&n->members, node))
			f->failed = true;
	}
}

/* Numbers the nodes of the set, and empties it. */
static void take_nodes(struct firefox *f)
{
	struct node_set *s = &f->node_set;

	f->nodes.members.nr = 0;
	for (size_t i = 0; i < s->nr_words; i++)
		for (; s->words[i]; s->words[i] &= s->words[i] - 1)
			write_firefox_number_nodes(
				f,
				i * WORD_BITS + (size_t)__builtin_ctzll(s->words[i]));
}

/* Collects the nodes of the samples, callers first; their symbols, and the images of these. */
static void write_firefox_collect(struct firefox *f)
{
	const struct call_tree_node *nodes = f->calls.nodes.at;

	numbers_clear(&f->symbols);
	numbers_clear(&f->images);
	for (size_t i = 0; i < f->stacks.nr; i++)
		for (uint32_t node = f->stacks.at[i];
		     node && node_set_add(&f->node_set, node);)
			node = nodes[node].parent;
	take_nodes(f);
	for (uint32_t i = 0; i < f->nodes.members.nr; i++) {
		uint32_t symbol = nodes[f->nodes.members.at[i]].symbol;

		write_firefox_number_of(f, &f->symbols, symbol);
		if (f->calls.symbols.at[symbol].image != DICT_NONE)
			write_firefox_number_of(f, &f->images,
						f->calls.symbols.at[symbol].image);
	}
}

static void write_firefox_put_stacks(struct firefox *f)
{
	const struct call_tree_node *nodes = f->calls.nodes.at;
	const uint32_t *members = f->nodes.members.at;
	size_t nr = f->nodes.members.nr;
	struct json *j = &f->json;
	uint32_t *to = column(f, nr);

	json_name(j, "stackTable");
	json_begin_object(j);
	for (size_t i = 0; to && i < nr; i++) {
		uint32_t parent = nodes[members[i]].parent;

		to[i] = parent ? f->nodes.of[parent] : JSON_NONE;
	}
	write_firefox_put_column(f, "prefix", "null");
	for (size_t i = 0; to && i < nr; i++)
		to[i] = f->symbols.of[nodes[members[i]].symbol];
	write_firefox_put_column(f, "frame", "null");
	for (size_t i = 0; to && i < nr; i++)
		to[i] = f->categories[nodes[members[i]].symbol];
	write_firefox_put_column(f, "category", "null");
	put_same(j, "subcategory", "0", nr);
	json_member_u64(j, "length", nr);
	json_end_object(j);
}

static void write_firefox_put_frames(struct firefox *f)
{
	size_t nr = f->symbols.members.nr;
	struct json *j = &f->json;
	uint32_t *to = column(f, nr);

	json_name(j, "frameTable");
	json_begin_object(j);
	for (size_t i = 0; to && i < nr; i++)
		to[i] = f->categories[f->symbols.members.at[i]];
	write_firefox_put_column(f, "category", "null");
	put_counting(f, "func", 0, nr);
	put_same(j, "address", "-1", nr);
	put_same(j, "inlineDepth", "0", nr);
	put_same(j, "subcategory", "0", nr);
	put_same(j, "nativeSymbol", "null", nr);
	put_same(j, "innerWindowID", "0", nr);
	put_same(j, "implementation", "null", nr);
	put_same(j, "line", "null", nr);
	put_same(j, "column", "null", nr);
	json_member_u64(j, "length", nr);
	json_end_object(j);
}

/* Writes the functions of a thread. Its string table contains the names of its images, then those
 * of its symbols. */
static void write_firefox_put_functions(struct firefox *f)
{
	size_t nr = f->symbols.members.nr;
	struct json *j = &f->json;
	uint32_t *to;

	json_name(j, "funcTable");
	json_begin_object(j);
	put_counting(f, "name", f->images.members.nr, nr);
	to = column(f, nr);
	for (size_t i = 0; to && i < nr; i++) {
		uint32_t image = symbol_at(f, i)->image;

		to[i] = image == DICT_NONE ? JSON_NONE : f->images.of[image];
	}
	write_firefox_put_column(f, "resource", "-1");
	put_same(j, "isJS", "false", nr);
	put_same(j, "relevantForJS", "false", nr);
	put_same(j, "fileName", "null", nr);
	put_same(j, "lineNumber", "null", nr);
	put_same(j, "columnNumber", "null", nr);
	json_member_u64(j, "length", nr);
	json_end_object(j);
}

static void put_resources(struct firefox *f)
{
	size_t nr = f->images.members.nr;
	struct json *j = &f->json;

	json_name(j, "resourceTable");
	json_begin_object(j);
	json_name(j, "lib");
	json_u32s(j, f->images.members.at, nr, "null");
	put_counting(f, "name", 0, nr);
	put_same(j, "host", "null", nr);
	put_same(j, "type", "1", nr);
	json_member_u64(j, "length", nr);
	json_end_object(j);
}

static void write_firefox_put_text(struct json_row *row, const struct texts *t,
				   uint32_t number)
{
	size_t at = t->at[number];

	json_put_in_row(row, t->buf.data + at, t->at[number + 1] - at);
}

static void write_firefox_put_strings(struct firefox *f)
{
	struct json_row row;

	json_name(&f->json, "stringArray");
	json_begin_row(&row, &f->json);
	for (size_t i = 0; i < f->images.members.nr; i++)
		write_firefox_put_text(&row, &f->image_texts, f->images.members.at[i]);
	for (size_t i = 0; i < f->symbols.members.nr; i++)
		write_firefox_put_text(&row, &f->symbol_texts,
				       f->symbols.members.at[i]);
	json_end_row(&row);
}

/* Writes milliseconds, with three decimals if they are not all zero. */
static void put_ms(struct json *j, uint64_t ns)
{
	char text[48];

	if (ns % NS_A_MS / NS_A_US == 0) {
		json_u64(j, ns / NS_A_MS);
		return;
	}
	snprintf(text, sizeof(text), "%" PRIu64 ".%03" PRIu64, ns / NS_A_MS,
		 ns / NS_A_US % US_A_MS);
	json_number(j, text);
}

/* ---- samples of a thread ---- */

static uint64_t time_of(const struct firefox *f, size_t span)
{
	return call_spans_at(&f->spans, span).bucket * f->width_ns;
}

static void write_firefox_add_sample(struct firefox *f, uint32_t node, uint64_t ms,
				     uint64_t weight)
{
	if (!vec_push(&f->stacks, node) || !vec_push(&f->times, ms) ||
	    !vec_push(&f->weights, weight))
		f->failed = true;
}

/* Adds the samples of a point in time, sorted by node and merged. */
static void add_moment(struct firefox *f, uint64_t ms)
{
	size_t nr = f->moment.nr;
	const uint64_t *sorted = NULL;

	if (vec_reserve(&f->room, nr))
		sorted = sort_numbers(f->moment.at, f->room.at, nr, NODE_SHIFT);
	else
		f->failed = true;
	for (size_t i = 0; sorted && i < nr; i++) {
		uint32_t node = (uint32_t)(sorted[i] >> NODE_SHIFT);
		uint64_t weight = (uint32_t)sorted[i];

		for (; i + 1 < nr && sorted[i + 1] >> NODE_SHIFT == node; i++)
			weight += (uint32_t)sorted[i + 1];
		write_firefox_add_sample(f, node, ms, weight);
	}
	f->moment.nr = 0;
}

static void write_firefox_note_span(struct firefox *f, struct call_span span)
{
	while (span.at < span.end) {
		uint32_t samples;
		uint64_t node = call_spans_next(&f->spans, &span, &samples);

		if (!vec_push(&f->moment, node << NODE_SHIFT | samples))
			f->failed = true;
	}
}

/* Fills the columns of an event's samples, by time. */
static void write_firefox_take_samples(struct firefox *f, size_t at, size_t end,
				       uint32_t event)
{
	uint32_t bucket = 0;

	f->moment.nr = f->stacks.nr = f->times.nr = f->weights.nr = 0;
	for (; at < end; at++) {
		struct call_span span = call_spans_at(&f->spans, at);

		if (span.event != event)
			continue;
		if (span.bucket != bucket && f->moment.nr)
			add_moment(f, bucket * f->width_ns / NS_A_MS);
		bucket = span.bucket;
		write_firefox_note_span(f, span);
	}
	add_moment(f, bucket * f->width_ns / NS_A_MS);
}

static void write_firefox_put_samples(struct firefox *f)
{
	struct json *j = &f->json;
	size_t nr = f->stacks.nr;

	for (size_t i = 0; i < nr; i++)
		f->stacks.at[i] = f->nodes.of[f->stacks.at[i]];
	json_name(j, "samples");
	json_begin_object(j);
	json_name(j, "stack");
	json_u32s(j, f->stacks.at, nr, "null");
	json_name(j, "time");
	json_u64s(j, f->times.at, nr);
	json_name(j, "weight");
	json_u64s(j, f->weights.at, nr);
	json_member_text(j, "weightType", "samples");
	json_member_u64(j, "length", nr);
	json_end_object(j);
}

/* ---- threads ---- */

static void put_thread_head(struct firefox *f, size_t at, size_t end, uint32_t event)
{
	uint32_t group = f->calls.whos.at[call_spans_at(&f->spans, at).who];
	int64_t pid = (int64_t)profile_value(f->p, group, f->pid);
	int64_t tid = (int64_t)profile_value(f->p, group, f->tid);
	const char *comm = profile_text(f->p, group, f->comm);
	struct json *j = &f->json;
	char number[32];
	char name[300];

	snprintf(name, sizeof(name), "%s%s%s%s", comm, event ? " (" : "",
		 event ? profile_event_name(f->p, f->calls.events.at[event]) : "",
		 event ? ")" : "");
	json_member_text(j, "processType", "default");
	json_member_text(j, "processName", comm);
	json_member_text(j, "name", name);
	put_bool(j, "isMainThread", pid == tid);
	snprintf(number, sizeof(number), "%" PRId64, pid);
	json_member_text(j, "pid", number);
	snprintf(number, sizeof(number), "%" PRId64, tid);
	json_name(j, "tid");
	json_number(j, number);
	json_name(j, "processStartupTime");
	put_ms(j, time_of(f, at));
	json_name(j, "processShutdownTime");
	json_number(j, "null");
	json_name(j, "registerTime");
	put_ms(j, time_of(f, at));
	json_name(j, "unregisterTime");
	put_ms(j, time_of(f, end - 1) + NS_A_MS);
	put_empty(j, "pausedRanges");
}

static void write_firefox_put_thread(struct firefox *f, size_t at, size_t end,
				     uint32_t event)
{
	static const char *const markers[] = { "data",    "name",  "startTime",
					       "endTime", "phase", "category",
					       NULL };
	static const char *const symbols[] = { "libIndex", "address", "name",
					       "functionSize", NULL };

	write_firefox_take_samples(f, at, end, event);
	write_firefox_collect(f);
	if (f->failed)
		return;
	json_begin_object(&f->json);
	put_thread_head(f, at, end, event);
	write_firefox_put_samples(f);
	put_empty_table(&f->json, "markers", markers);
	write_firefox_put_stacks(f);
	write_firefox_put_frames(f);
	write_firefox_put_functions(f);
	put_resources(f);
	put_empty_table(&f->json, "nativeSymbols", symbols);
	write_firefox_put_strings(f);
	json_end_object(&f->json);
}

static bool has_event(const struct firefox *f, size_t at, size_t end, uint32_t event)
{
	for (; at < end; at++)
		if (call_spans_at(&f->spans, at).event == event)
			return true;
	return false;
}

static void write_firefox_put_threads(struct firefox *f)
{
	size_t nr = f->spans.nr;

	json_name(&f->json, "threads");
	json_begin_array(&f->json);
	for (size_t at = 0, end; at < nr; at = end) {
		uint32_t who = call_spans_at(&f->spans, at).who;

		for (end = at; end < nr && call_spans_at(&f->spans, end).who == who;)
			end++;
		for (uint32_t i = 0; i < f->calls.events.nr; i++)
			if (has_event(f, at, end, i))
				write_firefox_put_thread(f, at, end, i);
	}
	json_end_array(&f->json);
}

/* ---- the whole profile ---- */

static void put_category(struct json *j, const char *name, const char *color)
{
	json_begin_object(j);
	json_member_text(j, "name", name);
	json_member_text(j, "color", color);
	json_name(j, "subcategories");
	json_begin_array(j);
	json_text(j, "Other");
	json_end_array(j);
	json_end_object(j);
}

static void put_meta(struct firefox *f)
{
	const struct profile_event *e = &f->p->events.at[f->calls.events.at[0]];
	const uint64_t hz = profile_event_hz(e);
	struct json *j = &f->json;

	json_name(j, "meta");
	json_begin_object(j);
	json_name(j, "categories");
	json_begin_array(j);
	put_category(j, "Other", "grey");
	put_category(j, "User", "yellow");
	put_category(j, "Kernel", "orange");
	json_end_array(j);
	json_name(j, "interval");
	put_ms(j, hz ? 1000 * (uint64_t)NS_A_MS / hz : NS_A_MS);
	put_empty(j, "markerSchema");
	json_member_u64(j, "preprocessedProfileVersion", VERSION);
	json_member_u64(j, "version", GECKO_VERSION);
	json_member_u64(j, "processType", 0);
	json_member_text(j, "product", "oprofile");
	json_member_u64(j, "stackwalk", 1);
	json_member_u64(j, "startTime", 0);
	put_bool(j, "symbolicated", true);
	put_bool(j, "debug", false);
	json_end_object(j);
}

static void put_libs(struct firefox *f)
{
	static const char digits[] = "0123456789ABCDEF";
	struct json *j = &f->json;

	json_name(j, "libs");
	json_begin_array(j);
	for (size_t i = 0; i < f->p->images.nr; i++) {
		const struct profile_image *image = &f->p->images.at[i];
		const char *path = strtab_get(&f->p->strings, image->name);
		char id[2 * BUILD_ID_MAX + 1] = "";

		for (size_t n = 0; n < image->build_id.len; n++) {
			id[2 * n] = digits[image->build_id.bytes[n] >> 4];
			id[2 * n + 1] = digits[image->build_id.bytes[n] & 15];
			id[2 * n + 2] = 0;
		}
		json_begin_object(j);
		json_member_text(j, "arch", "");
		json_member_text(j, "name", path);
		json_member_text(j, "path", path);
		json_member_text(j, "debugName", path);
		json_member_text(j, "debugPath", path);
		json_member_text(j, "breakpadId", "");
		json_member_text(j, "codeId", id);
		json_end_object(j);
	}
	json_end_array(j);
}

/* Creates the table of encoded names. A name appears in the tables of many threads, so each is
 * encoded once. Returns 0 or -ENOMEM. */
static int texts_init(struct texts *t, size_t nr)
{
	t->at = calloc(nr + 1, sizeof(*t->at));
	return t->at ? 0 : -ENOMEM;
}

static void add_text(struct texts *t, uint32_t number, const char *text)
{
	json_put_string(&t->buf, text, strlen(text));
	t->at[number + 1] = t->buf.len;
}

static void texts_done(struct texts *t)
{
	buf_done(&t->buf);
	free(t->at);
}

/* Encodes the names of symbols and images, and computes the categories. */
static int make_texts(struct firefox *f)
{
	const struct profile *p = f->p;

	f->categories = calloc(f->calls.symbols.nr + 1, sizeof(*f->categories));
	if (!f->categories || texts_init(&f->symbol_texts, f->calls.symbols.nr) ||
	    texts_init(&f->image_texts, p->images.nr))
		return -ENOMEM;
	for (uint32_t i = 0; i < f->calls.symbols.nr; i++) {
		add_text(&f->symbol_texts, i, call_symbol_name(&f->calls, i));
		f->categories[i] = category_of(f, i);
	}
	for (uint32_t i = 0; i < p->images.nr; i++)
		add_text(&f->image_texts, i,
			 strtab_get(&p->strings, p->images.at[i].name));
	return f->symbol_texts.buf.failed || f->image_texts.buf.failed ? -ENOMEM : 0;
}

static void write_firefox_put_all(struct firefox *f)
{
	json_begin_object(&f->json);
	put_meta(f);
	put_libs(f);
	write_firefox_put_threads(f);
	json_end_object(&f->json);
	putc_unlocked('\n', f->json.out);
}

int write_firefox(FILE *out, struct profile *p, const struct present_options *options,
		  struct err *err)
{
	const struct key_list *keys = p->options.keys;
	struct firefox f = {
		.p = p,
		.json = { .out = out },
		.pid = (size_t)keys_find(keys, KEY_PID),
		.tid = (size_t)keys_find(keys, KEY_TID),
		.comm = (size_t)keys_find(keys, KEY_COMM),
		.width_ns = keys->keys.at[keys_find(keys, KEY_TIME)].width_ns,
	};
	int r = call_table_make(&f.calls, p, options->threshold);

	if (!r)
		r = call_spans_make(&f.spans, &f.calls, SPANS_BY_WHO);
	if (!r && (node_set_init(&f.node_set, f.calls.nodes.nr) ||
		   numbers_init(&f.nodes, f.calls.nodes.nr) ||
		   numbers_init(&f.symbols, f.calls.symbols.nr) ||
		   numbers_init(&f.images, p->images.nr) || make_texts(&f)))
		r = -ENOMEM;
	if (!r)
		write_firefox_put_all(&f);
	call_spans_done(&f.spans);
	vec_done(&f.column);
	vec_done(&f.stacks);
	vec_done(&f.times);
	vec_done(&f.weights);
	vec_done(&f.moment);
	vec_done(&f.room);
	texts_done(&f.image_texts);
	texts_done(&f.symbol_texts);
	free(f.categories);
	node_set_done(&f.node_set);
	numbers_done(&f.nodes);
	numbers_done(&f.symbols);
	numbers_done(&f.images);
	call_table_done(&f.calls);
	return r || f.failed ? err_set(err, -ENOMEM, "out of memory") : 0;
}

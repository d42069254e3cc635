/* SPDX-License-Identifier: GPL-2.0-or-later */
/* firefox.c - processed profiles of the Firefox Profiler, which samply and others write
 * (github.com/firefox-devtools/profiler, docs-developer/processed-profile-format.md).  Each
 * thread has a table of samples.  The tables of stacks, frames, functions, resources and strings
 * belong to the thread, or to `shared` in newer versions.  All tables are stored as columns. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/err.h"
#include "base/files/path.h"
#include "format/foreign/head.h"
#include "format/foreign/json_walk.h"
#include "format/foreign/named.h"
#include "format/foreign/number_queue.h"
#include "format/foreign/stack_tree.h"

enum firefox_column {
	STACK_PREFIX,
	STACK_FRAME,
	FRAME_FUNC,
	FRAME_ADDRESS, /* relative to the start of the library; none: -1 */
	FRAME_LIB,     /* only newer versions write this column */
	FUNC_NAME,
	FUNC_RESOURCE,
	FUNC_FILE,
	RESOURCE_LIB,
	RESOURCE_NAME,
	STRING,
	NR_COLUMNS
};

enum firefox_weight {
	FIREFOX_SAMPLES,
	FIREFOX_TIME,
	FIREFOX_BYTES
};

enum {
	MS_DIGITS = 6, /* decimal digits between milliseconds and nanoseconds */
	MS = 1000000
};

struct firefox_tables {
	/* Values of the column STRING are numbers of names in the tree. */
	VEC(uint32_t) columns[NR_COLUMNS];
	VEC(uint32_t) nodes; /* the tree's node of each stack */
};

struct firefox_thread {
	uint32_t name;
	int64_t pid, tid;
	enum firefox_weight weight;
	int64_t time_ns; /* sum of timeDeltas */
	bool has_length;
	uint32_t length; /* of the columns of samples, as stated */
};

/* Numbers of the tree's names. */
struct firefox_lib {
	uint32_t path;
	uint32_t code_id; /* for ELF files: the build-id */
};

struct firefox_reader {
	struct stack_tree tree;
	VEC(struct firefox_lib) libs;
	struct firefox_tables shared, own;
	struct firefox_thread thread;
	/* The samples of the thread. */
	struct number_queue stacks; /* STACK_TREE_NONE: none */
	struct number_queue times;
	/* Weights times 10^MS_DIGITS, because the type of the weights can follow them. */
	struct number_queue weights;
	size_t nr_threads;
	bool is_raw; /* an unprocessed profile, as Firefox itself records it */
	foreign_fn fn;
	void *ctx;
	struct foreign_info *info;
};

/* ---- columns ---- */

static int firefox_add_to_column(struct firefox_reader *f, struct firefox_tables *t,
				 size_t column, const struct json_value *v)
{
	uint32_t number = STACK_TREE_NONE;

	if (column == STRING && v->kind == JSON_STRING) {
		number = stack_tree_name(&f->tree, v->text);
		if (number == STRTAB_FAILED)
			return -ENOMEM;
	} else if (column != STRING && v->kind == JSON_NUMBER) {
		/* Out of range, such as -1: no resource. */
		if (!json_value_u32(v, &number))
			number = STACK_TREE_NONE;
	}
	return vec_push(&t->columns[column], number) ? 0 : -ENOMEM;
}

static void firefox_clear(struct firefox_tables *t)
{
	for (size_t i = 0; i < NR_COLUMNS; i++)
		t->columns[i].nr = 0;
	t->nodes.nr = 0;
}

static void firefox_tables_done(struct firefox_tables *t)
{
	for (size_t i = 0; i < NR_COLUMNS; i++)
		vec_done(&t->columns[i]);
	vec_done(&t->nodes);
}

/* Returns the number in a row of the thread's own column or, if the thread has no such column,
 * of the shared one. Returns STACK_TREE_NONE for null and for rows out of range. */
static uint32_t firefox_cell(const struct firefox_reader *f, enum firefox_column column,
			     uint32_t row)
{
	const struct firefox_tables *t =
		f->own.columns[column].nr ? &f->own : &f->shared;

	return row < t->columns[column].nr ? t->columns[column].at[row]
					   : STACK_TREE_NONE;
}

/* ---- stacks ---- */

/* Returns the library of a frame or function, or NULL. */
static const struct firefox_lib *firefox_lib_of(const struct firefox_reader *f,
						uint32_t frame, uint32_t func)
{
	uint32_t lib = firefox_cell(f, FRAME_LIB, frame);

	if (lib == STACK_TREE_NONE)
		lib = firefox_cell(f, RESOURCE_LIB,
				   firefox_cell(f, FUNC_RESOURCE, func));
	return lib < f->libs.nr ? &f->libs.at[lib] : NULL;
}

static uint32_t firefox_image_of(const struct firefox_reader *f,
				 const struct firefox_lib *lib, uint32_t func)
{
	const uint32_t resource = firefox_cell(f, FUNC_RESOURCE, func);
	uint32_t text;

	if (lib)
		return lib->path;
	text = firefox_cell(f, STRING, firefox_cell(f, FUNC_FILE, func));
	if (text == STACK_TREE_NONE)
		text = firefox_cell(f, STRING,
				    firefox_cell(f, RESOURCE_NAME, resource));
	return text == STACK_TREE_NONE ? 0 : text;
}

/* Returns whether a function has no symbol: its name is then empty or its address, "0x1a2b". */
static bool firefox_is_unnamed(struct foreign_word name)
{
	size_t digits = 2;

	if (!name.len)
		return true;
	if (name.len < 3 || name.at[0] != '0' || name.at[1] != 'x')
		return false;
	while (digits < name.len && isxdigit((unsigned char)name.at[digits]))
		digits++;
	return digits == name.len;
}

/* Returns a frame for code of which the profile has only the address, or STACK_TREE_NONE if
 * memory is short. */
static uint32_t firefox_position(struct firefox_reader *f,
				 const struct firefox_lib *lib, uint32_t address)
{
	const struct foreign_frame position = { .kind = FOREIGN_ADDRESS,
						.offset = address,
						.build_id = stack_tree_text(
							&f->tree, lib->code_id) };
	const char *path = stack_tree_text(&f->tree, lib->path).at;
	char text[NAME_MAX + sizeof("+0x") + 2 * sizeof(address)];
	int len = snprintf(text, sizeof(text), "%.*s+0x%x", NAME_MAX, path_base(path),
			   address);
	uint32_t name =
		stack_tree_name(&f->tree, (struct foreign_word){ text, (size_t)len });

	return name == STRTAB_FAILED
		       ? STACK_TREE_NONE
		       : stack_tree_position(&f->tree, name, lib->path, &position);
}

/* Returns the node of a stack whose caller has been resolved, or STACK_TREE_NONE if memory is
 * short. */
static uint32_t firefox_resolve(struct firefox_reader *f, const uint32_t *nodes,
				uint32_t stack)
{
	const uint32_t prefix = firefox_cell(f, STACK_PREFIX, stack);
	const uint32_t frame = firefox_cell(f, STACK_FRAME, stack);
	const uint32_t func = firefox_cell(f, FRAME_FUNC, frame);
	const uint32_t address = firefox_cell(f, FRAME_ADDRESS, frame);
	const struct firefox_lib *lib = firefox_lib_of(f, frame, func);
	const uint32_t string = firefox_cell(f, FUNC_NAME, func);
	uint32_t name = firefox_cell(f, STRING, string);
	uint32_t made;
	const bool is_bad = prefix != STACK_TREE_NONE && prefix >= stack;

	if (func == STACK_TREE_NONE || is_bad ||
	    (name == STACK_TREE_NONE && string != STACK_TREE_NONE))
		f->info->skipped++;
	if (name == STACK_TREE_NONE)
		name = 0;
	if (lib && lib->path && address != STACK_TREE_NONE &&
	    firefox_is_unnamed(stack_tree_text(&f->tree, name)))
		made = firefox_position(f, lib, address);
	else
		made = stack_tree_frame(&f->tree, name, firefox_image_of(f, lib, func));
	return stack_tree_child(&f->tree,
				prefix == STACK_TREE_NONE || is_bad ? STACK_TREE_EMPTY
								    : nodes[prefix],
				made);
}

/* Resolves all stacks of the current thread.  A caller precedes its callees in the table. */
static int firefox_resolve_all(struct firefox_reader *f)
{
	struct firefox_tables *t =
		f->own.columns[STACK_FRAME].nr ? &f->own : &f->shared;
	const size_t nr = t->columns[STACK_FRAME].nr;

	for (size_t i = t->nodes.nr; i < nr; i++) {
		uint32_t node = firefox_resolve(f, t->nodes.at, (uint32_t)i);

		if (node == STACK_TREE_NONE || !vec_push(&t->nodes, node))
			return -ENOMEM;
	}
	return 0;
}

/* ---- samples ---- */

/* A sample of the current thread. */
struct firefox_sample {
	int64_t stack;
	int64_t time_ns; /* 0: unknown */
	int64_t weight;
};

static void firefox_set_weight(const struct firefox_reader *f, int64_t weight,
			       struct foreign_sample *s)
{
	s->count = 1;
	s->value_only = f->thread.weight != FIREFOX_SAMPLES;
	if (f->thread.weight == FIREFOX_SAMPLES)
		s->count = (uint64_t)weight / MS;
	else
		s->period = f->thread.weight == FIREFOX_TIME ? (uint64_t)weight
							     : (uint64_t)weight / MS;
	if (f->thread.weight == FIREFOX_BYTES)
		s->event = (struct foreign_word){ "bytes", 5 };
	else if (f->thread.weight == FIREFOX_TIME)
		s->event = (struct foreign_word){ "time", 4 };
}

static int firefox_give(struct firefox_reader *f, const struct firefox_sample *sample)
{
	const struct firefox_tables *t = f->own.nodes.nr ? &f->own : &f->shared;
	struct foreign_sample s = { .comm = stack_tree_text(&f->tree, f->thread.name),
				    .pid = f->thread.pid,
				    .tid = f->thread.tid,
				    .cpu = -1,
				    .time_ns = (uint64_t)sample->time_ns };
	uint32_t one;

	/* A sample without a stack: the thread did not run, or only its CPU use was measured. */
	if (sample->stack == STACK_TREE_NONE)
		return 0;
	if ((uint64_t)sample->stack >= t->nodes.nr || sample->weight < 0) {
		f->info->skipped++;
		return 0;
	}
	firefox_set_weight(f, sample->weight, &s);
	if (f->thread.weight == FIREFOX_SAMPLES) {
		if (stack_tree_add_fraction(&f->tree, t->nodes.at[sample->stack],
					    (uint32_t)(sample->weight % MS), &one))
			return -ENOMEM;
		s.count += one;
	}
	if (!stack_tree_fill(&f->tree, t->nodes.at[sample->stack], &s))
		return -ENOMEM;
	return s.count ? f->fn(f->ctx, &s) : 0;
}

static int firefox_give_all(struct firefox_reader *f)
{
	const bool has_times = f->times.nr, has_weights = f->weights.nr;
	int r = 0;

	if (f->thread.has_length && f->thread.length > f->stacks.nr)
		f->info->skipped += f->thread.length - f->stacks.nr;

	while (!r && f->stacks.nr) {
		struct firefox_sample s = { .weight = MS };

		r = number_queue_pop(&f->stacks, &s.stack);
		if (!r && f->times.nr) {
			r = number_queue_pop(&f->times, &s.time_ns);
			if (s.time_ns <= 0)
				s.time_ns = 1;
		}
		if (!r && f->weights.nr)
			r = number_queue_pop(&f->weights, &s.weight);
		else if (has_weights)
			s.weight = -1;
		f->info->skipped += has_times && !s.time_ns;
		if (!r)
			r = firefox_give(f, &s);
	}
	/* The columns must have the same length. */
	f->info->skipped += f->times.nr + f->weights.nr;
	return r;
}

static void firefox_clear_samples(struct firefox_reader *f)
{
	number_queue_clear(&f->stacks);
	number_queue_clear(&f->times);
	number_queue_clear(&f->weights);
}

static int firefox_take_thread(struct firefox_reader *f, enum json_kind kind)
{
	int r;

	if (kind == JSON_BEGIN) {
		firefox_clear(&f->own);
		firefox_clear_samples(f);
		f->thread = (struct firefox_thread){ .pid = -1, .tid = -1 };
		f->nr_threads++;
	}
	if (kind != JSON_END)
		return 0;
	r = firefox_resolve_all(f);
	return r ? r : firefox_give_all(f);
}

/* ---- the first pass: what threads share ---- */

enum {
	SHARED_LIB = NR_COLUMNS,
	SHARED_LIB_PATH,
	SHARED_LIB_NAME,
	SHARED_LIB_CODE_ID,
	SHARED_START,
	NR_SHARED
};

static const char *const firefox_shared[NR_SHARED] = {
	[STACK_PREFIX] = "shared/stackTable/prefix/*",
	[STACK_FRAME] = "shared/stackTable/frame/*",
	[FRAME_FUNC] = "shared/frameTable/func/*",
	[FRAME_ADDRESS] = "shared/frameTable/address/*",
	[FRAME_LIB] = "shared/frameTable/lib/*",
	[FUNC_NAME] = "shared/funcTable/name/*",
	[FUNC_RESOURCE] = "shared/funcTable/resource/*",
	[FUNC_FILE] = "shared/funcTable/fileName/*",
	[RESOURCE_LIB] = "shared/resourceTable/lib/*",
	[RESOURCE_NAME] = "shared/resourceTable/name/*",
	[STRING] = "shared/stringArray/*",
	[SHARED_LIB] = "libs/*",
	[SHARED_LIB_PATH] = "libs/*/path",
	[SHARED_LIB_NAME] = "libs/*/name",
	[SHARED_LIB_CODE_ID] = "libs/*/codeId",
	[SHARED_START] = "meta/startTime",
};

/* Adds the path of a library or, if it has none, the name. */
static int firefox_take_lib(struct firefox_reader *f, size_t at,
			    const struct json_value *v)
{
	const struct firefox_lib none = { 0 };
	struct firefox_lib *last = f->libs.nr ? &f->libs.at[f->libs.nr - 1] : NULL;
	uint32_t text;

	if (at == SHARED_LIB)
		return v->kind != JSON_BEGIN || vec_push(&f->libs, none) ? 0 : -ENOMEM;
	if (v->kind != JSON_STRING || !v->text.len || !last ||
	    (at == SHARED_LIB_NAME && last->path))
		return 0;
	text = stack_tree_name(&f->tree, v->text);
	if (text == STRTAB_FAILED)
		return -ENOMEM;
	if (at == SHARED_LIB_CODE_ID)
		last->code_id = text;
	else
		last->path = text;
	return 0;
}

static int firefox_take_shared(void *ctx, size_t at, const struct json_value *v)
{
	struct firefox_reader *f = ctx;
	int64_t start;

	if (at < NR_COLUMNS)
		return firefox_add_to_column(f, &f->shared, at, v);
	if (at != SHARED_START)
		return firefox_take_lib(f, at, v);
	if (json_value_scaled(v, MS_DIGITS, &start) && start > 0)
		f->info->start_wall_ns = (uint64_t)start;
	return 0;
}

/* ---- the second pass: threads ---- */

enum {
	THREAD = NR_COLUMNS,
	THREAD_NAME,
	THREAD_PID,
	THREAD_TID,
	SAMPLE_STACK,
	SAMPLE_TIME,
	SAMPLE_DELTA,
	SAMPLE_WEIGHT,
	SAMPLE_WEIGHT_TYPE,
	SAMPLE_SCHEMA,
	SAMPLE_LENGTH,
	NR_THREAD
};

static const char *const firefox_threads[NR_THREAD] = {
	[STACK_PREFIX] = "threads/*/stackTable/prefix/*",
	[STACK_FRAME] = "threads/*/stackTable/frame/*",
	[FRAME_FUNC] = "threads/*/frameTable/func/*",
	[FRAME_ADDRESS] = "threads/*/frameTable/address/*",
	[FRAME_LIB] = "threads/*/frameTable/lib/*",
	[FUNC_NAME] = "threads/*/funcTable/name/*",
	[FUNC_RESOURCE] = "threads/*/funcTable/resource/*",
	[FUNC_FILE] = "threads/*/funcTable/fileName/*",
	[RESOURCE_LIB] = "threads/*/resourceTable/lib/*",
	[RESOURCE_NAME] = "threads/*/resourceTable/name/*",
	[STRING] = "threads/*/stringArray/*",
	[THREAD] = "threads/*",
	[THREAD_NAME] = "threads/*/name",
	[THREAD_PID] = "threads/*/pid",
	[THREAD_TID] = "threads/*/tid",
	[SAMPLE_STACK] = "threads/*/samples/stack/*",
	[SAMPLE_TIME] = "threads/*/samples/time/*",
	[SAMPLE_DELTA] = "threads/*/samples/timeDeltas/*",
	[SAMPLE_WEIGHT] = "threads/*/samples/weight/*",
	[SAMPLE_WEIGHT_TYPE] = "threads/*/samples/weightType",
	[SAMPLE_SCHEMA] = "threads/*/samples/schema",
	[SAMPLE_LENGTH] = "threads/*/samples/length",
};

/* Converts the id of a process or thread, or returns -1. The file contains a number or a string,
 * such as "12.1" for a process whose number was used before. */
static int64_t firefox_id(const struct json_value *v)
{
	struct foreign_word w = v->text;
	const char *dot = v->text.len ? memchr(w.at, '.', w.len) : NULL;
	uint64_t id;

	if (dot)
		w.len = (size_t)(dot - w.at);
	return foreign_number(w, &id) && id <= INT32_MAX ? (int64_t)id : -1;
}

static bool firefox_is_text(struct foreign_word w, const char *text)
{
	return w.len == strlen(text) && !memcmp(w.at, text, w.len);
}

static int firefox_take_name(struct firefox_reader *f, const struct json_value *v)
{
	const uint32_t name = stack_tree_name(&f->tree, v->text);

	if (name == STRTAB_FAILED)
		return -ENOMEM;
	f->thread.name = name;
	return 0;
}

static int firefox_take_time(struct firefox_reader *f, bool is_delta,
			     const struct json_value *v)
{
	int64_t ns;

	if (!json_value_scaled(v, MS_DIGITS, &ns))
		ns = 0;
	if (is_delta && __builtin_add_overflow(f->thread.time_ns, ns, &ns))
		ns = INT64_MAX;
	f->thread.time_ns = ns;
	return number_queue_push(&f->times, ns);
}

static int firefox_take_weight(struct firefox_reader *f, const struct json_value *v)
{
	int64_t weight;

	if (!json_value_scaled(v, MS_DIGITS, &weight))
		weight = -1;
	return number_queue_push(&f->weights, weight);
}

static int firefox_take_member(void *ctx, size_t at, const struct json_value *v)
{
	struct firefox_reader *f = ctx;
	uint32_t stack = STACK_TREE_NONE;

	if (at < NR_COLUMNS)
		return firefox_add_to_column(f, &f->own, at, v);
	switch (at) {
	case THREAD:
		return firefox_take_thread(f, v->kind);
	case THREAD_NAME:
		return firefox_take_name(f, v);
	case THREAD_PID:
		f->thread.pid = firefox_id(v);
		return 0;
	case THREAD_TID:
		f->thread.tid = firefox_id(v);
		return 0;
	case SAMPLE_STACK:
		if (v->kind == JSON_NUMBER && !json_value_u32(v, &stack))
			f->info->skipped++;
		return number_queue_push(&f->stacks, stack);
	case SAMPLE_TIME:
	case SAMPLE_DELTA:
		return firefox_take_time(f, at == SAMPLE_DELTA, v);
	case SAMPLE_WEIGHT:
		return firefox_take_weight(f, v);
	case SAMPLE_LENGTH:
		f->thread.has_length = json_value_u32(v, &f->thread.length);
		return 0;
	case SAMPLE_WEIGHT_TYPE:
		if (firefox_is_text(v->text, "tracing-ms"))
			f->thread.weight = FIREFOX_TIME;
		else if (firefox_is_text(v->text, "bytes"))
			f->thread.weight = FIREFOX_BYTES;
		return 0;
	default:
		f->is_raw = true;
		return 0;
	}
}

static int firefox_walk(struct firefox_reader *f, struct foreign_word text,
			struct err *err)
{
	const struct json_walk_paths shared = { firefox_shared, NR_SHARED, f->info };
	const struct json_walk_paths threads = { firefox_threads, NR_THREAD, f->info };
	int r = json_walk(text, &shared, firefox_take_shared, f, err);

	if (r >= 0)
		r = json_walk(text, &threads, firefox_take_member, f, err);
	if (r < 0)
		return r;
	f->info->cut = r;
	if (f->is_raw)
		return err_set(
			err, -EBADMSG,
			"unprocessed Firefox profile: load it at profiler.firefox.com and save it there");
	return f->nr_threads
		       ? 0
		       : err_set(err, -EBADMSG,
				 "it contains no threads; only profiles saved in profiler.firefox.com are read");
}

bool foreign_is_firefox(const struct foreign_head *head)
{
	return foreign_is_json(head) && foreign_head_has_key(head, "meta") &&
	       (foreign_head_has_key(head, "preprocessedProfileVersion") ||
		(foreign_head_has_key(head, "interval") &&
		 foreign_head_has_key(head, "stackwalk")));
}

int foreign_read_firefox(const void *bytes, size_t len, foreign_fn fn, void *ctx,
			 struct foreign_info *ret_info, struct err *err)
{
	struct firefox_reader f = { .fn = fn, .ctx = ctx, .info = ret_info };
	int r;

	foreign_info_begin(ret_info);
	r = stack_tree_init(&f.tree);
	if (!r)
		r = firefox_walk(&f, (struct foreign_word){ bytes, len }, err);
	(void)number_queue_explain(&f.stacks, r, err);
	(void)number_queue_explain(&f.times, r, err);
	(void)number_queue_explain(&f.weights, r, err);
	stack_tree_done(&f.tree);
	firefox_tables_done(&f.shared);
	firefox_tables_done(&f.own);
	vec_done(&f.libs);
	number_queue_done(&f.stacks);
	number_queue_done(&f.times);
	number_queue_done(&f.weights);
	return r == -ENOMEM ? err_set(err, r, "out of memory") : r;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* chrome_trace.c - the CPU samples in traces of Chrome and Node.js (Trace Event Format, as a list
 * of events or as an object with the list "traceEvents"). An event "Profile" begins a profile of
 * V8, and events "ProfileChunk" with its id continue it; "thread_name" names threads. The first
 * pass reads the threads and profiles, because chunks can precede the events that describe them.
 * The end of the list may be missing. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "format/foreign/head.h"
#include "format/foreign/json_walk.h"
#include "format/foreign/named.h"
#include "format/foreign/v8_profile.h"

/* The paths of values, once for each of the two forms of the file. */
enum {
	NR_FORMS = 2
};

enum {
	HEAD_EVENT,
	HEAD_NAME,
	HEAD_PID,
	HEAD_TID,
	HEAD_ID,
	HEAD_THREAD_NAME,
	HEAD_START,
	NR_HEADS
};

enum {
	CHUNK_DELTA = NR_V8_PARTS,
	CHUNK_EVENT,
	CHUNK_PID,
	CHUNK_TID,
	CHUNK_ID,
	NR_CHUNKS
};

struct chrome_event {
	uint32_t name; /* number in the tree's names */
	uint32_t id;
	uint32_t thread_name;
	int64_t pid, tid;
	int64_t start_us;
};

struct chrome_profile {
	struct v8_profile v8;
	int64_t pid, tid;
};

struct chrome_trace {
	struct stack_tree tree;
	uint32_t name_thread, name_profile; /* numbers of the events' names */
	struct chrome_event event;
	bool in_event;
	struct map thread_by;  /* (pid, tid): number of the name */
	struct map profile_by; /* (pid, id): index of `profiles` */
	VEC(struct chrome_profile) profiles;
	struct v8_chunk chunk;
	bool has_samples;
	foreign_fn fn;
	void *ctx;
	struct foreign_info *info;
};

#define HEAD_PATHS(form, prefix)                                                       \
	[(form)*NR_HEADS +                                                             \
		HEAD_EVENT] = prefix "*",                                              \
		[(form)*NR_HEADS + HEAD_NAME] = prefix "*/name",                       \
		[(form)*NR_HEADS + HEAD_PID] = prefix "*/pid",                         \
		[(form)*NR_HEADS + HEAD_TID] = prefix "*/tid",                         \
		[(form)*NR_HEADS + HEAD_ID] = prefix "*/id",                           \
		[(form)*NR_HEADS + HEAD_THREAD_NAME] = prefix "*/args/name",           \
		[(form)*NR_HEADS + HEAD_START] = prefix "*/args/data/startTime"

#define CHUNK_PATHS(form, prefix)                                                      \
	V8_PATHS((form)*NR_CHUNKS, prefix "*/args/data/cpuProfile/"),                  \
		[(form)*NR_CHUNKS + CHUNK_DELTA] = prefix "*/args/data/timeDeltas/*",  \
				    [(form)*NR_CHUNKS + CHUNK_EVENT] = prefix "*",     \
				    [(form)*NR_CHUNKS + CHUNK_PID] = prefix "*/pid",   \
				    [(form)*NR_CHUNKS + CHUNK_TID] = prefix "*/tid",   \
				    [(form)*NR_CHUNKS + CHUNK_ID] = prefix "*/id"

static const char *const chrome_heads[] = { HEAD_PATHS(0, ""),
					    HEAD_PATHS(1, "traceEvents/") };
static const char *const chrome_chunks[] = { CHUNK_PATHS(0, ""),
					     CHUNK_PATHS(1, "traceEvents/") };

/* ---- members of both passes ---- */

static int64_t chrome_id(const struct json_value *v)
{
	int64_t id;

	return json_value_scaled(v, 0, &id) && id >= 0 && id <= INT32_MAX ? id : -1;
}

static int chrome_take_text(struct chrome_trace *t, uint32_t *to,
			    const struct json_value *v)
{
	const uint32_t text = stack_tree_name(&t->tree, v->text);

	if (text == STRTAB_FAILED)
		return -ENOMEM;
	*to = text;
	return 0;
}

static void chrome_begin_event(struct chrome_trace *t, enum json_kind kind)
{
	t->in_event = kind == JSON_BEGIN;
	if (t->in_event)
		t->event = (struct chrome_event){ .pid = -1, .tid = -1 };
}

/* ---- the first pass ---- */

static int chrome_add_profile(struct chrome_trace *t, uint32_t *ret_at)
{
	const struct chrome_event *e = &t->event;
	const struct chrome_profile p = { .v8 = v8_profile_start(e->start_us),
					  .pid = e->pid,
					  .tid = e->tid };

	if (!vec_push(&t->profiles, p))
		return -ENOMEM;
	*ret_at = (uint32_t)t->profiles.nr - 1;
	return e->id ? map_set(&t->profile_by, (uint64_t)e->pid, e->id, *ret_at) : 0;
}

static int chrome_note_event(struct chrome_trace *t)
{
	const struct chrome_event *e = &t->event;
	uint32_t at;

	if (e->name == t->name_thread && e->thread_name)
		return map_set(&t->thread_by, (uint64_t)e->pid, (uint64_t)e->tid,
			       e->thread_name);
	if (e->name == t->name_profile && e->id &&
	    map_get(&t->profile_by, (uint64_t)e->pid, e->id) == MAP_NONE)
		return chrome_add_profile(t, &at);
	return 0;
}

static int chrome_take_head(void *ctx, size_t at, const struct json_value *v)
{
	struct chrome_trace *t = ctx;

	switch (at % NR_HEADS) {
	case HEAD_EVENT:
		chrome_begin_event(t, v->kind);
		return v->kind == JSON_END ? chrome_note_event(t) : 0;
	case HEAD_NAME:
		return chrome_take_text(t, &t->event.name, v);
	case HEAD_PID:
		t->event.pid = chrome_id(v);
		return 0;
	case HEAD_TID:
		t->event.tid = chrome_id(v);
		return 0;
	case HEAD_ID:
		return chrome_take_text(t, &t->event.id, v);
	case HEAD_THREAD_NAME:
		return chrome_take_text(t, &t->event.thread_name, v);
	default:
		if (!json_value_scaled(v, 0, &t->event.start_us))
			t->event.start_us = 0;
		return 0;
	}
}

/* ---- the second pass ---- */

static struct foreign_sample chrome_sample_like(const struct chrome_trace *t,
						const struct chrome_profile *p)
{
	const uint32_t name =
		map_get(&t->thread_by, (uint64_t)p->pid, (uint64_t)p->tid);

	return (struct foreign_sample){ .comm = stack_tree_text(
						&t->tree, name == MAP_NONE ? 0 : name),
					.pid = p->pid,
					.tid = p->tid,
					.cpu = -1 };
}

static int chrome_add_chunk(struct chrome_trace *t)
{
	const struct chrome_event *e = &t->event;
	uint32_t at =
		e->id ? map_get(&t->profile_by, (uint64_t)e->pid, e->id) : MAP_NONE;
	struct foreign_sample like;
	int r = 0;

	if (!t->chunk.nodes.nr && !t->chunk.samples.nr)
		return 0;
	t->has_samples |= t->chunk.samples.nr;
	/* No event "Profile" precedes this chunk: the profile is a single event, or the trace
	 * begins after that event. */
	if (at == MAP_NONE)
		r = chrome_add_profile(t, &at);
	if (r)
		return r;
	like = chrome_sample_like(t, &t->profiles.at[at]);
	return v8_profile_add(
		&t->profiles.at[at].v8, &t->chunk,
		&(struct v8_target){ &t->tree, &like, t->fn, t->ctx, t->info });
}

static int chrome_take_chunk(void *ctx, size_t at, const struct json_value *v)
{
	struct chrome_trace *t = ctx;

	at %= NR_CHUNKS;
	switch (at) {
	case CHUNK_EVENT:
		chrome_begin_event(t, v->kind);
		return v->kind == JSON_END ? chrome_add_chunk(t) : 0;
	case CHUNK_PID:
		t->event.pid = chrome_id(v);
		return 0;
	case CHUNK_TID:
		t->event.tid = chrome_id(v);
		return 0;
	case CHUNK_ID:
		return chrome_take_text(t, &t->event.id, v);
	default:
		return v8_chunk_take(&t->chunk, &t->tree,
				     at == CHUNK_DELTA ? V8_DELTA : (enum v8_part)at,
				     v);
	}
}

static int chrome_finish(struct chrome_trace *t)
{
	int r = 0;

	for (size_t i = 0; !r && i < t->profiles.nr; i++) {
		const struct foreign_sample like =
			chrome_sample_like(t, &t->profiles.at[i]);

		r = v8_profile_finish(
			&t->profiles.at[i].v8, 0,
			&(struct v8_target){ &t->tree, &like, t->fn, t->ctx, t->info });
	}
	return r;
}

static int chrome_walk(struct chrome_trace *t, struct foreign_word text,
		       struct err *err)
{
	const struct json_walk_paths heads = { chrome_heads, NR_FORMS * NR_HEADS,
					       t->info };
	const struct json_walk_paths chunks = { chrome_chunks, NR_FORMS * NR_CHUNKS,
						t->info };
	int r = json_walk(text, &heads, chrome_take_head, t, err);

	if (r >= 0)
		r = json_walk(text, &chunks, chrome_take_chunk, t, err);
	if (r < 0)
		return r;
	t->info->cut = r && t->in_event;
	if (!t->has_samples)
		return err_set(
			err, -EBADMSG,
			"it has no CPU samples: record it with the category disabled-by-default-v8.cpu_profiler");
	return chrome_finish(t);
}

static int chrome_init(struct chrome_trace *t)
{
	static const struct foreign_word thread = { "thread_name", 11 };
	static const struct foreign_word profile = { "Profile", 7 };
	int r = stack_tree_init(&t->tree);

	if (r)
		return r;
	t->name_thread = stack_tree_name(&t->tree, thread);
	t->name_profile = stack_tree_name(&t->tree, profile);
	return t->name_thread == STRTAB_FAILED || t->name_profile == STRTAB_FAILED
		       ? -ENOMEM
		       : 0;
}

bool foreign_is_chrome_trace(const struct foreign_head *head)
{
	return foreign_is_json(head) &&
	       (foreign_head_has_key(head, "traceEvents") ||
		(foreign_head_has_key(head, "ph") && foreign_head_has_key(head, "ts")));
}

int foreign_read_chrome_trace(const void *bytes, size_t len, foreign_fn fn, void *ctx,
			      struct foreign_info *ret_info, struct err *err)
{
	struct chrome_trace t = { .fn = fn, .ctx = ctx, .info = ret_info };
	int r;

	foreign_info_begin(ret_info);
	r = chrome_init(&t);
	if (!r)
		r = chrome_walk(&t, (struct foreign_word){ bytes, len }, err);
	for (size_t i = 0; i < t.profiles.nr; i++)
		v8_profile_done(&t.profiles.at[i].v8);
	vec_done(&t.profiles);
	(void)v8_chunk_explain(&t.chunk, r, err);
	v8_chunk_done(&t.chunk);
	map_done(&t.thread_by);
	map_done(&t.profile_by);
	stack_tree_done(&t.tree);
	return r == -ENOMEM ? err_set(err, r, "out of memory") : r;
}

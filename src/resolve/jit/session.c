/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/jit/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/files/tree.h"
#include "base/parse.h"
#include "format/session/checksums.h"
#include "format/session/dict_merge.h"
#include "resolve/jit/files.h"
#include "resolve/jit/stage.h"

enum {
	TIME_TEXT_MAX = 64
};

struct jit_session {
	struct dict dict;
	struct dict_merge merge;
	struct jit_stage *stage;
	VEC(uint32_t) threads;
	VEC(uint32_t) events;
	VEC(uint32_t) stacks;
};

/* ---- the files ---- */

/* Reads the time at which the dump at `path` was mapped, if the session has another clock. Returns
 * false if the time is not known. */
static bool read_time(const char *path, uint64_t *ret_ns)
{
	struct buf text = { 0 };
	char *name;
	bool is;

	if (asprintf(&name, "%s.mapped", path) < 0)
		return false;
	is = !checksums_read_file(name, &text, TIME_TEXT_MAX) && text.len &&
	     text.data[text.len - 1] == '\n';
	if (is) {
		text.data[text.len - 1] = '\0';
		is = parse_u64((const char *)text.data, ret_ns);
	}
	buf_done(&text);
	free(name);
	return is;
}

/* The dumps of a directory that are being added. */
struct jit_session_adding {
	struct jit_session *session;
	const char *dir;
	enum jit_clock clock;
	int32_t pid; /* of the process, if the directory contains its dumps */
};

static int add_dump(void *ctx, const char *name)
{
	const struct jit_session_adding *a = ctx;
	struct jit_dump_source from = { .pid = a->pid, .clock = a->clock };
	char *path;
	int r = 0;

	if (!jit_is_dump_name(name))
		return 0;
	if (asprintf(&path, "%s/%s", a->dir, name) < 0)
		return -ENOMEM;
	from.path = path;
	if (a->clock == JIT_CLOCK_NONE && read_time(path, &from.mapped_ns))
		from.clock = JIT_CLOCK_MAPPED;
	from.fd = jit_open_kept(path);
	if (from.fd >= 0) {
		r = jit_stage_add(a->session->stage, &from);
		close(from.fd);
	}
	free(path);
	return r == -ENOMEM ? r : 0;
}

static int jit_session_add_process(void *ctx, const char *number)
{
	const struct jit_session_adding *all = ctx;
	struct jit_session_adding one = *all;
	uint64_t pid;
	char *dir;
	int r;

	if (!parse_u64_max(number, INT32_MAX, &pid))
		return 0;
	if (asprintf(&dir, "%s/%s", all->dir, number) < 0)
		return -ENOMEM;
	one.dir = dir;
	one.pid = (int32_t)pid;
	r = tree_list(dir, add_dump, &one);
	free(dir);
	return r;
}

static int jit_session_add_all(struct jit_session *s, const char *session_dir,
			       const struct session_info *info)
{
	struct jit_session_adding all = {
		.session = s,
		.clock = info->clock_id == CLOCK_MONOTONIC ? JIT_CLOCK_SAME
							   : JIT_CLOCK_NONE,
	};
	char *dir;
	int r;

	if (asprintf(&dir, "%s/jit", session_dir) < 0)
		return -ENOMEM;
	all.dir = dir;
	r = tree_list(dir, jit_session_add_process, &all);
	free(dir);
	return r;
}

int jit_session_new(const char *session_dir, const struct dict *dict,
		    const struct session_info *info, struct jit_session **ret_session)
{
	struct jit_session *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	r = dict_init(&s->dict);
	dict_merge_init(&s->merge, dict, &s->dict);
	if (!r)
		r = jit_stage_new(&s->dict, &s->stage);
	if (!r && info->start_wall_ns)
		jit_stage_set_wall(s->stage,
				   (int64_t)(info->start_ns - info->start_wall_ns));
	if (!r)
		r = jit_session_add_all(s, session_dir, info);
	if (r || !jit_stage_is_needed(s->stage)) {
		jit_session_free(s);
		s = NULL;
	}
	if (!r)
		*ret_session = s;
	return r;
}

void jit_session_free(struct jit_session *s)
{
	if (!s)
		return;
	jit_stage_free(s->stage);
	dict_merge_done(&s->merge);
	dict_done(&s->dict);
	vec_done(&s->threads);
	vec_done(&s->events);
	vec_done(&s->stacks);
	free(s);
}

const struct dict *jit_session_dict(const struct jit_session *s)
{
	return &s->dict;
}

/* ---- samples ---- */

static int jit_session_take_sample(struct jit_session *s, struct sample *sample)
{
	int r = dict_merge_sample(&s->merge, sample);

	if (r == -EINVAL) {
		sample->event = sample->thread = sample->stack = DICT_NONE;
		return 0;
	}
	if (!r)
		sample->stack =
			jit_stage_stack(s->stage, sample->stack, sample->time_ns);
	return r || sample->stack == DICT_NONE ? -ENOMEM : 0;
}

int jit_session_batch(struct jit_session *s, const struct sample_batch *batch,
		      struct sample_batch *ret_batch)
{
	if (!vec_reserve(&s->threads, batch->nr) ||
	    !vec_reserve(&s->events, batch->nr) || !vec_reserve(&s->stacks, batch->nr))
		return -ENOMEM;
	for (size_t i = 0; i < batch->nr; i++) {
		struct sample sample = { .time_ns = batch->time_ns[i],
					 .thread = batch->thread[i],
					 .event = batch->event[i],
					 .stack = batch->stack[i] };

		if (jit_session_take_sample(s, &sample))
			return -ENOMEM;
		s->threads.at[i] = sample.thread;
		s->events.at[i] = sample.event;
		s->stacks.at[i] = sample.stack;
	}
	*ret_batch = *batch;
	ret_batch->thread = s->threads.at;
	ret_batch->event = s->events.at;
	ret_batch->stack = s->stacks.at;
	return 0;
}

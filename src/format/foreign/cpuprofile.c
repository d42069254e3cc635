/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpuprofile.c - .cpuprofile files, which Node.js (--cpu-prof) and Chrome write. */
#include <errno.h>

#include "base/err.h"
#include "format/foreign/head.h"
#include "format/foreign/json_walk.h"
#include "format/foreign/named.h"
#include "format/foreign/v8_profile.h"

struct cpuprofile {
	struct stack_tree tree;
	struct v8_chunk chunk;
};

static const char *const cpuprofile_paths[NR_V8_PARTS] = { V8_PATHS(0, "") };

static int cpuprofile_take(void *ctx, size_t at, const struct json_value *v)
{
	struct cpuprofile *c = ctx;

	return v8_chunk_take(&c->chunk, &c->tree, (enum v8_part)at, v);
}

static int cpuprofile_give(struct cpuprofile *c, const struct v8_target *to)
{
	const int64_t end_us = c->chunk.end_us;
	struct v8_profile profile = v8_profile_start(0);
	int r = v8_profile_add(&profile, &c->chunk, to);

	if (!r)
		r = v8_profile_finish(&profile, end_us, to);
	v8_profile_done(&profile);
	return r;
}

bool foreign_is_cpuprofile(const struct foreign_head *head)
{
	return foreign_is_json(head) &&
	       (foreign_head_has_key(head, "nodes") ||
		foreign_head_has_key(head, "head")) &&
	       foreign_head_has_key(head, "callFrame");
}

int foreign_read_cpuprofile(const void *bytes, size_t len, foreign_fn fn, void *ctx,
			    struct foreign_info *ret_info, struct err *err)
{
	static const struct foreign_sample like = { .pid = -1, .tid = -1, .cpu = -1 };
	const struct json_walk_paths paths = { cpuprofile_paths, NR_V8_PARTS,
					       ret_info };
	struct cpuprofile c = { 0 };
	const struct v8_target to = { &c.tree, &like, fn, ctx, ret_info };
	int r = stack_tree_init(&c.tree);

	foreign_info_begin(ret_info);
	if (!r)
		r = json_walk((struct foreign_word){ bytes, len }, &paths,
			      cpuprofile_take, &c, err);
	ret_info->cut = r > 0;
	if (r >= 0)
		r = cpuprofile_give(&c, &to);
	(void)v8_chunk_explain(&c.chunk, r, err);
	v8_chunk_done(&c.chunk);
	stack_tree_done(&c.tree);
	return r == -ENOMEM ? err_set(err, r, "out of memory") : r;
}

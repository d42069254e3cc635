/* SPDX-License-Identifier: GPL-2.0-or-later */
/* session.h - passes the samples of a session through jit/stage.h if the session has jitdumps.
 * Layer: resolve. Not thread-safe.
 *
 * The indices in its batches refer to its own dict. */
#pragma once
#include "format/session/dict.h"
#include "format/session/session.h"

struct err;
struct jit_session;

/* The columns that its input batches must have. */
enum {
	JIT_SESSION_COLUMNS = COLUMN_TIME | COLUMN_THREAD | COLUMN_EVENT | COLUMN_STACK
};

/* `session_dir` is the session; `dict` (which may grow) and `info` are those of the segment,
 * and must outlive the object. Returns 0 or -ENOMEM; *ret_session is NULL if there is no
 * jitdump. */
int jit_session_new(const char *session_dir, const struct dict *dict,
		    const struct session_info *info, struct jit_session **ret_session);
void jit_session_free(struct jit_session *s); /* accepts NULL */
const struct dict *jit_session_dict(const struct jit_session *s);
/* Converts a batch; the result is valid until the next call. Samples that refer to a stack outside
 * of the dict get no stack. Returns 0 or -ENOMEM. */
int jit_session_batch(struct jit_session *s, const struct sample_batch *batch,
		      struct sample_batch *ret_batch);

/* session.h - the samples of a session through jit/stage.h, where the session has jitdumps.
 * Layer: resolve.  Not thread safe.
 *
 * The numbers in its batches are those of a dict of its own. */
#pragma once
#include "format/session/dict.h"
#include "format/session/session.h"

struct err;
struct jit_session;

/* The columns that batches given to it must have. */
enum {
	JIT_SESSION_COLUMNS = COLUMN_TIME | COLUMN_THREAD | COLUMN_EVENT | COLUMN_STACK
};

/* For a segment of `session_dir` with this dict, which may grow, and info; both outlive it.
 * 0; *ret_session is NULL if there is no jitdump.  Or -ENOMEM. */
int jit_session_new(const char *session_dir, const struct dict *dict,
		    const struct session_info *info, struct jit_session **ret_session);
void jit_session_free(struct jit_session *s); /* NULL is fine */
const struct dict *jit_session_dict(const struct jit_session *s);
/* The batch in its own numbers, borrowed until the next call.  Samples that refer to what was
 * damaged refer to nothing.  0 or -ENOMEM. */
int jit_session_batch(struct jit_session *s, const struct sample_batch *batch,
		      struct sample_batch *ret_batch);

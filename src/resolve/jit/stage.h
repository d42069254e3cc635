/* stage.h - stacks in memory without a file, by the jitdumps of its processes: which code was
 * there when the sample was taken (docs/jit.md).
 * Layer: resolve.  Not thread safe.
 *
 * Frames in memory that a jitdump tells of become frames of an image of kind JIT, the dump; their
 * offsets are those of format/jit/jitdump.h.  What the dump does not know stays as it is. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "format/session/dict.h"
#include "format/session/session.h"

struct err;
struct jit_stage;

/* `dict` is that of the stacks; what is new is added to it.  0 or -ENOMEM. */
int jit_stage_new(struct dict *dict, struct jit_stage **ret_stage);
void jit_stage_free(struct jit_stage *s); /* NULL is fine */

/* The time of the samples at the beginning of 1970: for dumps that have the time of day. */
void jit_stage_set_wall(struct jit_stage *s, int64_t shift_ns);

/* How a dump's times become those of the samples. */
enum jit_clock {
	JIT_CLOCK_SAME,   /* both are CLOCK_MONOTONIC */
	JIT_CLOCK_MAPPED, /* by when the dump was mapped, which is when it was begun */
	JIT_CLOCK_NONE    /* not at all: what came last counts */
};
struct jit_dump_source {
	int32_t pid;
	const char *path; /* as the process called it */
	uint64_t inode;
	int fd; /* stays the caller's */
	enum jit_clock clock;
	uint64_t mapped_ns; /* for JIT_CLOCK_MAPPED, in time of the samples */
};
/* Takes a dump.  One that is damaged is taken as far as it goes, and that is said (log_say()).
 * 0, -EBADMSG (it is none), another negative errno of reading it, or -ENOMEM. */
int jit_stage_add(struct jit_stage *s, const struct jit_dump_source *from);
/* Whether there is any. */
bool jit_stage_is_needed(const struct jit_stage *s);

/* The stack as it was at that time; DICT_NONE when memory is short. */
uint32_t jit_stage_stack(struct jit_stage *s, uint32_t stack, uint64_t time_ns);
/* The same for one place: *image and *offset are changed if they are in such code.  0 or
 * -ENOMEM. */
int jit_stage_place(struct jit_stage *s, uint32_t *image, uint64_t *offset,
		    uint64_t time_ns);

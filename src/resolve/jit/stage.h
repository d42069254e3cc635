/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stage.h - resolves stacks in JIT code with the jitdumps of the processes, which contain the
 * code at the time of each sample (docs/jit.md).
 * Layer: resolve. Not thread-safe.
 *
 * A frame whose address a jitdump describes becomes a frame of an IMAGE_JIT image, which
 * represents the dump; its offset is that of struct jitdump_code. Other frames do not change. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "format/session/dict.h"
#include "format/session/session.h"

struct err;
struct jit_stage;

/* `dict` is that of the stacks; new entries are added to it. Returns 0 or -ENOMEM. */
int jit_stage_new(struct dict *dict, struct jit_stage **ret_stage);
void jit_stage_free(struct jit_stage *s); /* accepts NULL */

/* For dumps whose times are wall-clock times: sets the nanoseconds to add to a wall-clock time
 * (since 1970) to convert it to the samples' clock. */
void jit_stage_set_wall(struct jit_stage *s, int64_t shift_ns);

/* How to convert a dump's times to those of the samples. */
enum jit_clock {
	JIT_CLOCK_SAME, /* both are CLOCK_MONOTONIC */
	/* By the time at which the dump was mapped, which is its start. */
	JIT_CLOCK_MAPPED,
	JIT_CLOCK_NONE /* not possible: the last code wins */
};
struct jit_dump_source {
	int32_t pid;
	const char *path; /* as seen by the process */
	uint64_t inode;
	int fd; /* the caller keeps it */
	enum jit_clock clock;
	uint64_t mapped_ns; /* for JIT_CLOCK_MAPPED, in the samples' clock */
};
/* Adds a dump. If it is damaged, the part before the damage is used, and the damage is reported
 * with log_say(). Returns 0, -EBADMSG (not a jitdump), another negative errno of reading it, or
 * -ENOMEM. */
int jit_stage_add(struct jit_stage *s, const struct jit_dump_source *from);
/* Returns whether there are any dumps. */
bool jit_stage_is_needed(const struct jit_stage *s);

/* Returns the stack of a sample at that time, with its frames in JIT code replaced as described
 * above; DICT_NONE if out of memory. */
uint32_t jit_stage_stack(struct jit_stage *s, uint32_t stack, uint64_t time_ns);
/* Like jit_stage_stack(), for one location: changes *image and *offset if they are in code that a
 * jitdump describes. Returns 0 or -ENOMEM. */
int jit_stage_position(struct jit_stage *s, uint32_t *image, uint64_t *offset,
		       uint64_t time_ns);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* side.h - side-band records among the samples of `oprofile script`, as perf script's
 * --show-mmap-events and --show-task-events print them.
 * Layer: script. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "decode/record.h"
#include "present/export/script.h"

struct script_side {
	bool mmaps; /* which ones are wanted */
	bool tasks;
	struct map comm_of; /* by thread: number of its name */
	VEC(char *) comms;
};

void script_side_done(struct script_side *s);
/* Appends the record's line to `out` if it is wanted; to be told of all, in order of time.
 * 0 or -ENOMEM. */
int script_side_write(struct script_side *s, const struct script_writer *w,
		      const struct record *rec, struct buf *out);

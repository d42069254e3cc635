/* SPDX-License-Identifier: GPL-2.0-or-later */
/* side.h - prints side-band records between the samples of `oprofile script`, like perf script's
 * --show-mmap-events and --show-task-events.
 * Layer: script. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "decode/record.h"
#include "present/export/script.h"

struct script_side {
	bool mmaps; /* which types of records to print */
	bool tasks;
	struct map comm_of; /* thread -> index of its name in `comms` */
	VEC(char *) comms;
};

void script_side_done(struct script_side *s);
/* Appends the record's line to `out` if its type is printed.  Call it for all records in order
 * of time.  Returns 0 or -ENOMEM. */
int script_side_write(struct script_side *s, const struct script_writer *w,
		      const struct record *rec, struct buf *out);

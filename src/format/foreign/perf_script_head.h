/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf_script_head.h - the first line of a sample in the output of perf script.
 * Layer: format, private to it.
 *
 * perf prints the fields that -F selects, always in this order:
 *
 *     VM: N VCPU:N COMM PID/TID [CPU] MISC DATE TIME-OF-DAY TIME: PERIOD EVENT: OTHER
 *
 * OTHER are fields of a tracepoint, a data address, a weight and the like; if no stack follows, the
 * last of them is "ADDRESS NAME (IMAGE)". */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "format/foreign/foreign.h"

/* How a text separates its samples. */
enum script_layout {
	SCRIPT_LAYOUT_NONE,
	/* The first line of each sample has a time or an event; other lines do not. */
	SCRIPT_LAYOUT_MARKED,
	SCRIPT_LAYOUT_STACKS, /* the first line of a sample is the line before "\tADDRESS ..." */
	SCRIPT_LAYOUT_LINES /* each line is a sample; perf's column widths distinguish the fields */
};

struct script_head {
	enum script_layout layout;
	/* The text has no PID and TID: a number at their position is part of the command. */
	bool no_ids;
};

/* Parses the first line of a sample. Sets all fields of *ret_sample except the frames and the
 * count, and *ret_other to the rest of the line. Texts are borrowed from `line`. Returns false if
 * the line does not begin a sample. */
bool script_head_parse(const struct script_head *head, struct foreign_word line,
		       struct foreign_sample *ret_sample,
		       struct foreign_word *ret_other);
/* Returns true if a line is a record that is not a sample, as --show-mmap-events and others
 * print. */
bool script_head_is_record(struct foreign_word line);
/* Returns how many samples are lost according to a PERF_RECORD_LOST; 0 for another record. */
uint64_t script_head_lost(struct foreign_word line);
/* Finds "ADDRESS NAME (IMAGE)" at the end of a first line. Returns an empty word if there is
 * none. */
struct foreign_word script_head_last_frame(struct foreign_word other);
/* Returns true if a line can be "\tADDRESS ..." with perf's column width. */
bool script_head_is_wide_frame(struct foreign_word line);
/* Returns true if the first word is a hexadecimal number. */
bool script_head_is_hex(struct foreign_word text);

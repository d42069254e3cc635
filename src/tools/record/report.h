/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report.h - prints operf's messages at the start and the end, on stderr.
 * Layer: tools. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/session/session.h"

struct event_request;

enum record_target {
	RECORD_COMMAND,
	RECORD_PROCESSES,
	RECORD_SYSTEM
};

struct record_summary {
	const char *dir; /* NULL: temporary */
	struct session_totals totals;
	uint64_t file_bytes;
	enum record_target target;
	bool delayed; /* the recording ended before --delay was over */
};

/* Prints the messages at the start. `until_stopped`: only a signal or --duration ends the
 * recording. */
void record_report_start(const struct event_request *events, size_t nr_events,
			 uint32_t session_flags, bool until_stopped);
/* Prints one line with the amounts of data, statistics of unwound stacks, and OProfile's
 * warnings. */
void record_report_end(const struct record_summary *summary,
		       const struct event_request *events, size_t nr_events);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* outline.h - facts about a recording that are known without its samples: the machine, the
 * time of the first and last sample, and when it began.
 * Layer: recordings.  recordings/facts reads everything instead. */
#pragma once
#include <stdint.h>

struct err;
struct report_session;
struct report_sources;

struct recording_outline {
	/* times of the first and last sample; both 0: unknown */
	uint64_t first_ns, last_ns;
	uint64_t start_wall_ns; /* start of the recording, ns since 1970; 0: unknown */
	/* malloc'd; NULL: unknown */
	char *hostname;
	char *os_release;
	char *cpu_desc;
	char *command; /* the recorder's command line, quoted for a shell */
};

/* Reads the facts of a recording. For standard input, which can be read only once, leaves all of
 * them unknown. Returns 0 or a negative errno with a message in *err; call
 * recording_outline_done() after success. */
int recording_outline_read(const struct report_session *from,
			   struct recording_outline *ret_outline, struct err *err);
void recording_outline_done(struct recording_outline *o);
/* Computes the width of the blocks of time that statistics use (aggregate/profile/blocks.h) from
 * the total duration of these recordings. Returns 0 or a negative errno with a message in *err. */
int recordings_block_width(const struct report_sources *sources, uint64_t *ret_width_ns,
			   struct err *err);

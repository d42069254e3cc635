/* SPDX-License-Identifier: GPL-2.0-or-later */
/* foreign.h - reads profiles of other tools: stacks of names with counts.
 * Layer: format.  State is kept only while one profile is read.
 *
 *     folded      one stack per line, "COMMAND;OUTERMOST;...;INNERMOST COUNT", as printed by
 *                 FlameGraph's stackcollapse*.pl and read by flamegraph.pl
 *     pprof       a Profile message (github.com/google/pprof, proto/profile.proto)
 *     perf-script the output of perf script, for samples with and without stacks
 *
 * All input is untrusted. A malformed line or sample is skipped and counted. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

enum {
	/* in one stack; the outermost frames are cut off */
	FOREIGN_FRAMES_MAX = 1 << 14,
	FOREIGN_EVENTS_MAX = 64
};

struct foreign_word {
	const char *at; /* not NUL-terminated; borrowed from the input */
	size_t len;     /* 0: unknown */
};

struct foreign_frame {
	struct foreign_word name;
	struct foreign_word image;
};

/* `count` samples that are equal in all known fields. */
struct foreign_sample {
	struct foreign_word event;
	struct foreign_word comm;
	int64_t pid; /* -1: unknown */
	int64_t tid;
	int64_t cpu;
	uint64_t time_ns; /* 0: unknown */
	uint64_t count;
	uint64_t period;                    /* the sum over all of them; 0: unknown */
	const struct foreign_frame *frames; /* innermost first */
	size_t nr_frames;
	bool truncated; /* the outermost callers are missing */
};

/* Properties of the whole profile. */
struct foreign_info {
	struct foreign_word main_image; /* binary of the main program; empty: unknown */
	/* one sample was taken each time this event ... */
	struct foreign_word period_event;
	uint64_t period;        /* ... occurred `period` times; 0: unknown */
	uint64_t start_wall_ns; /* ns since 1970; 0: unknown */
	uint64_t skipped;       /* malformed lines or samples */
	bool cut;               /* the input ends within a sample */
};

/* Receives one sample. Returns 0, or a negative errno to stop reading. */
typedef int (*foreign_fn)(void *ctx, const struct foreign_sample *sample);

struct foreign_format {
	const char *name;
	/* Returns true if a file that begins with these bytes can be such a profile. */
	bool (*is)(const void *bytes, size_t len);
	/* Reads the profile and calls `fn` for each sample. Returns 0; -EBADMSG with a message
	 * in *err if it contains nothing usable; -ENOMEM; or the error of `fn`. */
	int (*read)(const void *bytes, size_t len, foreign_fn fn, void *ctx,
		    struct foreign_info *ret_info, struct err *err);
};

/* Detects the format by the beginning of a file. Returns NULL if it is unknown. */
const struct foreign_format *foreign_find(const void *bytes, size_t len);

bool foreign_is_folded(const void *bytes, size_t len);
int foreign_read_folded(const void *bytes, size_t len, foreign_fn fn, void *ctx,
			struct foreign_info *ret_info, struct err *err);
bool foreign_is_pprof(const void *bytes, size_t len);
int foreign_read_pprof(const void *bytes, size_t len, foreign_fn fn, void *ctx,
		       struct foreign_info *ret_info, struct err *err);
bool foreign_is_perf_script(const void *bytes, size_t len);
int foreign_read_perf_script(const void *bytes, size_t len, foreign_fn fn, void *ctx,
			     struct foreign_info *ret_info, struct err *err);

/* ---- helpers of the text formats ---- */

/* Returns the line at *at without its line end, and moves *at past it. Returns false at the
 * end. */
bool foreign_line(const char **at, const char *end, struct foreign_word *ret_line);
/* Returns the first line that is neither empty nor a comment ("#"); an empty word if none is. */
struct foreign_word foreign_first_line(const void *bytes, size_t len);
/* Parses a decimal number that makes up the whole word. */
bool foreign_number(struct foreign_word w, uint64_t *ret_v);

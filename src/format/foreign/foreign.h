/* SPDX-License-Identifier: GPL-2.0-or-later */
/* foreign.h - reads profiles of other tools: stacks of names with counts.
 * Layer: format. State is kept only while one profile is read.
 *
 * Among the formats with a reader:
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
	/* A format is recognised by this many bytes from the start of a file. */
	FOREIGN_HEAD_BYTES = 256 << 10,
	/* maximum frames of a stack; further outer frames are dropped */
	FOREIGN_FRAMES_MAX = 1 << 14,
	FOREIGN_EVENTS_MAX = 64
};

struct foreign_word {
	const char *at; /* not NUL-terminated; borrowed from the input */
	size_t len;     /* 0: unknown */
};

enum foreign_position {
	FOREIGN_NAMED,       /* a function */
	FOREIGN_FILE_OFFSET, /* an offset in the file of the image */
	/* an address relative to the start of the page with the image's first segment */
	FOREIGN_ADDRESS
};

/* A function, or a position in a binary, if the profile does not name the function there. The
 * position in a caller is in its call instruction, not after it. */
struct foreign_frame {
	struct foreign_word name; /* for a position: shown if the binary is not found */
	struct foreign_word image;
	struct foreign_word build_id; /* hexadecimal */
	enum foreign_position kind;
	uint64_t offset;
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
	uint64_t period; /* sum of the periods of all `count` samples; 0: unknown */
	bool value_only; /* `period` is the measured value, and `count` has no meaning */
	const struct foreign_frame *frames; /* innermost first */
	size_t nr_frames;
	bool truncated; /* the outermost callers are missing */
	/* Not 0: samples with the same number have the same frames. */
	uint64_t stack_id;
};

/* Properties of the whole profile. Zero-initialize it before setting fields. */
struct foreign_info {
	/* ---- set by the caller, kept by readers ---- */
	/* Called as the reader proceeds, with the position in the input up to which it has read.
	 * May be NULL. */
	void (*passed)(void *ctx, const char *at);
	void *passed_ctx;
	/* ---- set by readers ---- */
	struct foreign_word main_image; /* binary of the main program; empty: unknown */
	/* The profiler took one sample each time this event had occurred `period` times. */
	struct foreign_word period_event;
	uint64_t period;        /* see `period_event`; 0: unknown */
	uint64_t start_wall_ns; /* ns since 1970; 0: unknown */
	uint64_t skipped;       /* number of malformed lines or samples */
	/* Number of sums, ids and references that contradict other data of the profile. */
	uint64_t contradictions;
	uint64_t lost; /* samples that the profiler lost */
	bool cut;      /* the input ends within a sample */
};

/* Receives one sample. Returns 0, or a negative errno to stop reading. */
typedef int (*foreign_fn)(void *ctx, const struct foreign_sample *sample);

/* The beginning of a file. Recognisers of text must ignore a last line that is incomplete. */
struct foreign_head {
	const char *bytes;
	size_t len;
	size_t lines_len; /* length of the complete lines; all bytes if the file ends here */
};

/* A row describes either a format with a reader, or a format that is only named in an error
 * message together with advice. */
struct foreign_format {
	const char *name;
	const char *title; /* noun phrase for messages: "a callgrind profile" */
	/* The first bytes of a file in this format; empty: `is` decides. */
	struct foreign_word magic;
	/* Returns true if the whole head agrees with the format. */
	bool (*is)(const struct foreign_head *head);
	/* Reads the profile and calls `fn` for each sample. Returns 0; -EBADMSG with a message
	 * in *err if it contains nothing usable; -ENOMEM; or the error of `fn`. NULL: the
	 * format is only named. */
	int (*read)(const void *bytes, size_t len, foreign_fn fn, void *ctx,
		    struct foreign_info *ret_info, struct err *err);
	const char *advice; /* for formats without a reader: advice to the user */
	/* Files of this format can be binaries with samples, so an argument that names one can
	 * select samples instead of a recording. */
	bool can_be_image;
};

/* Detects the format. `bytes` are the first FOREIGN_HEAD_BYTES + 1 bytes of a file, or the whole
 * file if it is shorter. Returns NULL if the format is unknown. */
const struct foreign_format *foreign_recognise(const void *bytes, size_t len);
/* Like foreign_recognise(), but returns NULL for a format without a reader. */
const struct foreign_format *foreign_find(const void *bytes, size_t len);

bool foreign_is_folded(const struct foreign_head *head);
int foreign_read_folded(const void *bytes, size_t len, foreign_fn fn, void *ctx,
			struct foreign_info *ret_info, struct err *err);
bool foreign_is_difffolded(const struct foreign_head *head);
bool foreign_is_pprof(const struct foreign_head *head);
int foreign_read_pprof(const void *bytes, size_t len, foreign_fn fn, void *ctx,
		       struct foreign_info *ret_info, struct err *err);
bool foreign_is_perf_script(const struct foreign_head *head);
int foreign_read_perf_script(const void *bytes, size_t len, foreign_fn fn, void *ctx,
			     struct foreign_info *ret_info, struct err *err);
bool foreign_is_speedscope(const struct foreign_head *head);
int foreign_read_speedscope(const void *bytes, size_t len, foreign_fn fn, void *ctx,
			    struct foreign_info *ret_info, struct err *err);
bool foreign_is_firefox(const struct foreign_head *head);
int foreign_read_firefox(const void *bytes, size_t len, foreign_fn fn, void *ctx,
			 struct foreign_info *ret_info, struct err *err);
bool foreign_is_cpuprofile(const struct foreign_head *head);
int foreign_read_cpuprofile(const void *bytes, size_t len, foreign_fn fn, void *ctx,
			    struct foreign_info *ret_info, struct err *err);
bool foreign_is_chrome_trace(const struct foreign_head *head);
int foreign_read_chrome_trace(const void *bytes, size_t len, foreign_fn fn, void *ctx,
			      struct foreign_info *ret_info, struct err *err);
bool foreign_is_callgrind(const struct foreign_head *head);
bool foreign_is_cachegrind(const struct foreign_head *head);
int foreign_read_callgrind(const void *bytes, size_t len, foreign_fn fn, void *ctx,
			   struct foreign_info *ret_info, struct err *err);
int foreign_read_simpleperf(const void *bytes, size_t len, foreign_fn fn, void *ctx,
			    struct foreign_info *ret_info, struct err *err);
int foreign_read_jfr(const void *bytes, size_t len, foreign_fn fn, void *ctx,
		     struct foreign_info *ret_info, struct err *err);
int foreign_read_difffolded(const void *bytes, size_t len, foreign_fn fn, void *ctx,
			    struct foreign_info *ret_info, struct err *err);

/* Resets the properties that readers set; readers call it first. */
void foreign_info_begin(struct foreign_info *info);
/* Calls info->passed(), if it is set; readers call this as they proceed. */
void foreign_info_passed(const struct foreign_info *info, const void *at);

/* ---- helpers of the text formats ---- */

/* Returns the line at *at without its line end, and moves *at past it. Returns false at the
 * end. */
bool foreign_line(const char **at, const char *end, struct foreign_word *ret_line);
/* Returns whether enough lines agree with a format: at least one, and at most one bad line plus
 * one for every eight good ones. */
bool foreign_agrees(size_t nr_good, size_t nr_bad);
/* Parses a decimal number that makes up the whole word. Returns false if the word is not a number
 * or does not fit. */
bool foreign_number(struct foreign_word w, uint64_t *ret_v);

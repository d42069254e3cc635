/* foreign.h - profiles that other tools made: stacks of names with counts.
 * Layer: format.  Nothing is kept but what one profile needs while it is read.
 *
 *	folded      a line a stack, "COMMAND;OUTERMOST;...;INNERMOST COUNT", as stackcollapse*.pl
 *	            of FlameGraph print it and flamegraph.pl reads it
 *	pprof       a Profile message (github.com/google/pprof, proto/profile.proto)
 *	perf-script what perf script prints, of samples with and without stacks
 *
 * All of it is hostile: what is wrong with a line or a sample costs that one, and is counted. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

enum {
	FOREIGN_FRAMES_MAX = 1 << 14, /* of one stack; the outermost are cut off */
	FOREIGN_EVENTS_MAX = 64
};

struct foreign_word {
	const char *at; /* not ended by a zero; borrowed from what is parsed */
	size_t len;     /* 0: unknown */
};

struct foreign_frame {
	struct foreign_word name;
	struct foreign_word image;
};

/* `count` samples that are the same in all that is known. */
struct foreign_sample {
	struct foreign_word event;
	struct foreign_word comm;
	int64_t pid; /* -1: unknown */
	int64_t tid;
	int64_t cpu;
	uint64_t time_ns; /* 0: unknown */
	uint64_t count;
	uint64_t period;                    /* of all of them together; 0: unknown */
	const struct foreign_frame *frames; /* innermost first */
	size_t nr_frames;
	bool truncated; /* callers are missing */
};

/* What the whole profile says. */
struct foreign_info {
	struct foreign_word main_image;   /* the program's own binary; empty: unknown */
	struct foreign_word period_event; /* of this event a sample was taken ... */
	uint64_t period;                  /* ... so often; 0: unknown */
	uint64_t start_wall_ns;           /* since 1970; 0: unknown */
	uint64_t skipped; /* lines or samples that were not understood */
};

/* A negative errno ends the reading with it. */
typedef int (*foreign_fn)(void *ctx, const struct foreign_sample *sample);

struct foreign_format {
	const char *name;
	/* Whether the beginning of a file may be such a profile. */
	bool (*is)(const void *bytes, size_t len);
	/* 0; -EBADMSG with a line: there is nothing of use in it; -ENOMEM, or what `fn` says. */
	int (*read)(const void *bytes, size_t len, foreign_fn fn, void *ctx,
		    struct foreign_info *ret_info, struct err *err);
};

/* The format of a file, by its beginning; NULL: it is none of these. */
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

/* ---- what the text formats share ---- */

/* Takes the line at *at, without its end, and steps behind it.  False: there is none. */
bool foreign_line(const char **at, const char *end, struct foreign_word *ret_line);
/* The first line of a text that is neither empty nor a comment ("#"); empty: there is none. */
struct foreign_word foreign_first_line(const void *bytes, size_t len);
/* A decimal number that is all of the word. */
bool foreign_number(struct foreign_word w, uint64_t *ret_v);

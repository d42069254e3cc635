/* governor.h - keeps what the daemon costs under a share of one CPU, by the rate of its samples.
 * Layer: daemon.  The times are the caller's. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct governor {
	double max_share; /* of one CPU; 0: no bound */
	uint64_t wanted_hz;
	uint64_t rate_hz; /* at most as wanted, at least a tenth of it */
	double share;     /* what it cost in the last window */
	bool is_known;    /* there was one */
	bool was_new;     /* the window began with a new recording, which costs more */
	uint64_t begin_ns;
	uint64_t begin_cpu_ns;
	unsigned int nr_calm; /* windows in a row that cost less than half */
};

/* "1%", "0.5%", "0.01" as a share.  0, or -1 with `*ret_share` untouched. */
int governor_parse(const char *text, double *ret_share);
/* A recording begins; `cpu_ns` is what all processes of the daemon have used so far. */
void governor_begin(struct governor *g, uint64_t now_ns, uint64_t cpu_ns);
/* To be called now and then.  True: from now on `rate_hz` is another. */
bool governor_look(struct governor *g, uint64_t now_ns, uint64_t cpu_ns);
/* What it does, in a line. */
void governor_text(const struct governor *g, char *ret_text, size_t len);

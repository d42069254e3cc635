/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jit.h - copies the files in which JIT compilers describe their code into a session that is
 * imported from a perf.data of this machine.
 * Layer: import. */
#pragma once
#include <stdint.h>

#include "format/session/dict.h"
#include "format/session/session.h"
#include "resolve/jit/files.h"

struct naming;
struct naming_locations;
struct record_mmap;

struct import_jit {
	const char *dir; /* the session's directory */
	const struct session_info *info;
	struct naming *naming;
	struct jit_locations locations;
	/* total size of the copied files that other users own */
	uint64_t bytes_of_others;
};

/* The recording whose files are copied. */
struct import_jit_source {
	const char *dir;  /* destination: a session */
	const char *path; /* the perf.data */
	const struct session_info *info;
};

/* Initializes `j`. Searches for the files in `locations` (--root or an archive); NULL: at their
 * original paths. The arguments must outlive `j`. Returns 0 or -ENOMEM. Call import_jit_done() in
 * every case. */
int import_jit_init(struct import_jit *j, const struct import_jit_source *from,
		    const struct dict *dict, struct naming_locations *locations);
void import_jit_done(struct import_jit *j);
/* Copies a jitdump that a process mapped, if it is found. `time_ns` is the time of the mapping
 * in the clock of the samples (0: they have no times). `ctx` is a struct import_jit, because
 * this is a callback of struct replay_options. */
void import_jit_mapped(void *ctx, const struct record_mmap *m, uint64_t time_ns);
/* Copies the perf maps of all processes with samples outside of files. */
void import_jit_maps(struct import_jit *j, const struct dict *dict);

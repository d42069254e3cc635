/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jit.h - takes along what just-in-time compilers told of their code, for the session that
 * a perf.data of this machine becomes.
 * Layer: import. */
#pragma once
#include <stdint.h>

#include "format/session/dict.h"
#include "format/session/session.h"
#include "resolve/jit/files.h"

struct naming;
struct naming_places;
struct record_mmap;

struct import_jit {
	const char *dir; /* of the session */
	const struct session_info *info;
	struct naming *naming;
	struct jit_places places;
};

/* The recording whose files are copied. */
struct import_jit_source {
	const char *dir;  /* where they go: a session */
	const char *path; /* the perf.data */
	const struct session_info *info;
};

/* `places`: where the files are looked for, below --root or in an archive; NULL: where they were.
 * What is borrowed outlives it.  0 or -ENOMEM; import_jit_done() in any case. */
int import_jit_init(struct import_jit *j, const struct import_jit_source *from,
		    const struct dict *dict, struct naming_places *places);
void import_jit_done(struct import_jit *j);
/* A process mapped a jitdump, in time of the samples (0: they have none): it is copied if it is
 * found.  `ctx`: struct import_jit.  (struct replay_options) */
void import_jit_mapped(void *ctx, const struct record_mmap *m, uint64_t time_ns);
/* The maps of all processes with hits outside of files. */
void import_jit_maps(const struct import_jit *j, const struct dict *dict);

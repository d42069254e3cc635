/* SPDX-License-Identifier: GPL-2.0-or-later */
/* held_file.h - what a recorder holds of a file that may be needed at the end: the file itself only where that
 * keeps no mount busy, else a copy (docs/decisions/0016).
 * Layer: record.  Single-threaded, as the recorder. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/containers/shares.h"
#include "record/keep/image_open.h"
#include "record/keep/lasting_mounts.h"

struct session_dir;

enum held_kind {
	HELD_NOTHING,
	HELD_FILE, /* its mount lasts */
	HELD_WITH_PROCESS, /* its mount is the root of a process: it lasts as long as that lives */
	HELD_COPY /* a private copy */
};

struct held_file {
	enum held_kind kind;
	int fd;         /* negative: nothing */
	int32_t pid;    /* of HELD_WITH_PROCESS, ... */
	bool has_ended; /* ... as of the last look */
	struct stat st; /* of the file itself, as it was opened */
};

struct file_holder {
	const struct session_dir *dir; /* where copies are; borrowed */
	struct lasting_mounts mounts;
	struct shares copied; /* bytes, by user of the process */
	/* It is always there: what was installed long ago is left to its path, where it would copy that again and
	 * again. */
	bool is_patient;
};

/* Looks up which mounts last; `dir` outlives it. */
void file_holder_init(struct file_holder *h, const struct session_dir *dir);
void file_holder_done(struct file_holder *h);
/* Takes the descriptor of `opened`, and holds what may be held of the file at `at`. */
void held_file_take(struct file_holder *h, const struct image_place *at,
		    const struct image_opened *opened, struct held_file *ret_held);
/* Whether it is HELD_WITH_PROCESS and that had ended at the last look already: it is to be let go.  To be called
 * after a drain of the rings. */
bool held_file_is_over(struct held_file *f);
/* Copies what is HELD_WITH_PROCESS, and closes it. */
void held_file_copy(struct file_holder *h, struct held_file *f);
void held_file_close(struct held_file *f);

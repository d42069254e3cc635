/* SPDX-License-Identifier: GPL-2.0-or-later */
/* held_file.h - holds a file that a recorder may need at the end: the file itself if that keeps
 * no mount busy, or else a copy (docs/decisions/0016).
 * Layer: record.  Single-threaded, like the recorder. */
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
	HELD_FILE,         /* the file itself, which is on a permanent mount */
	HELD_WITH_PROCESS, /* the file itself, on the root mount of a process, which cannot be
			    * unmounted while the process lives */
	HELD_COPY          /* a private copy */
};

struct held_file {
	enum held_kind kind;
	int fd;      /* negative: holds nothing */
	int32_t pid; /* for HELD_WITH_PROCESS: the process whose root mount it is */
	bool has_ended; /* for HELD_WITH_PROCESS: that process had ended at the last check */
	struct stat st; /* attributes of the file itself when it was opened */
};

struct file_holder {
	const struct session_dir *dir; /* directory for copies; borrowed */
	struct lasting_mounts mounts;
	struct shares copied; /* bytes of private copies, by user of the process */
	/* For a recorder that always runs: does not copy files that were installed long ago,
	 * because each recording would copy them again; their paths suffice. */
	bool is_patient;
};

/* Finds the permanent mounts; `dir` must outlive the holder. */
void file_holder_init(struct file_holder *h, const struct session_dir *dir);
void file_holder_done(struct file_holder *h);
/* Holds a file that was opened at location `at`: keeps it open if its mount permits that, or else
 * makes a private copy, or holds nothing if a copy is not possible or not worthwhile. Takes
 * ownership of the descriptor of `opened`. */
void held_file_take(struct file_holder *h, const struct image_location *at,
		    const struct image_opened *opened, struct held_file *ret_held);
/* Checks whether the process of a HELD_WITH_PROCESS file has ended. Returns true if it had already
 * ended at the previous check, so that the file must be released. Call after draining the rings. */
bool held_file_is_over(struct held_file *f);
/* Replaces a HELD_WITH_PROCESS file by a private copy, and closes the file. */
void held_file_copy(struct file_holder *h, struct held_file *f);
void held_file_close(struct held_file *f);

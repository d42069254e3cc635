/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jit_keeper.h - what just-in-time compilers tell of their code, kept in the session: the maps
 * /tmp/perf-PID.map of processes with hits outside of all files, and the jitdump files that
 * processes map to be found by (tools/perf/Documentation/jit-interface.txt and
 * jitdump-specification.txt in Linux).
 * Layer: record.  Files are held open when they are first seen, as the process, and with it a
 * container's /tmp, may be gone at the end; on a mount that could go away only until the process has ended. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/containers/shares.h"
#include "base/containers/vec.h"

struct copy_list;
struct dict;
struct lasting_mounts;
struct record_mmap;

struct kept_jit {
	int32_t pid;
	char *name; /* perf-7.map, jit-7.dump: the number is the one it knows itself by */
	uint32_t user; /* of the process, UINT32_MAX: unknown */
	int fd;        /* -1: it is being copied */
	bool lasts; /* the file may be held until the end: its mount cannot go away */
	bool has_ended; /* the process, at the last look */
};

/* A process in a container, whose files can still be had when it is gone. */
struct jit_process {
	int32_t pid;
	int32_t own_pid; /* the number it knows itself by */
	int64_t uid;     /* whose its files are */
	int tmp_fd;      /* its /tmp; its root directory if that alone may be held */
	int ns_fd; /* its mount namespace then, else -1: mounts in it stay, and can be unmounted there */
	bool gone;
};

struct jit_keeper {
	/* Of a full list, the user with the most entries loses the last one. */
	VEC(struct kept_jit) kept;
	struct shares kept_by; /* number, by user */
	VEC(struct jit_process) inside;
	struct shares inside_by;
	size_t nr_images; /* of the dict, seen so far */
	bool again;       /* what is there now counts, also for images seen before */
	const struct lasting_mounts
		*mounts; /* borrowed; NULL: any mount may be kept busy */
};

/* If it is a jitdump that was mapped, it is held. */
void jit_keeper_mapped(struct jit_keeper *k, const struct record_mmap *m);
/* A process in a container runs a new program: holds its /tmp until the look after its end. */
void jit_keeper_began(struct jit_keeper *k, int32_t pid);
/* Looks for the maps of what the dict has new. */
void jit_keeper_look(struct jit_keeper *k, const struct dict *dict);
/* Copies an open file to DIR/jit/PID/NAME, in place of a copy that it has outgrown.  0 or a
 * negative errno (-EFBIG: it is too large, or nearly all holes). */
int jit_keeper_copy(int fd, const char *dir, int32_t pid, const char *name);
/* What would keep a mount busy though its process has ended, as of the last call already, is to be copied into
 * DIR/jit/PID/NAME and is not held any more. */
void jit_keeper_save_gone(struct jit_keeper *k, const char *dir,
			  struct copy_list *copies);
/* All is to be copied into DIR/jit/PID/NAME; for the end of a recording. */
void jit_keeper_save(struct jit_keeper *k, const char *dir, struct copy_list *copies);
void jit_keeper_done(struct jit_keeper *k);

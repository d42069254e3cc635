/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jit_store.h - stores the files in which just-in-time compilers describe their code in the
 * session: the maps /tmp/perf-PID.map of processes with samples outside all files, and the
 * jitdump files that processes map to announce them (tools/perf/Documentation/jit-interface.txt
 * and jitdump-specification.txt in Linux).
 * Layer: record.  Opens files when they are first seen and holds them, because the process, and
 * with it a container's /tmp, may not exist at the end.  On a removable mount, releases them when
 * the process has ended. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/containers/map.h"
#include "base/containers/shares.h"
#include "base/containers/vec.h"

struct copy_list;
struct dict;
struct lasting_mounts;
struct record_mmap;

struct kept_jit {
	int32_t pid;
	char *name; /* for example perf-7.map or jit-7.dump; 7 is the pid in the process's own pid
		     * namespace */
	uint32_t user; /* user of the process; UINT32_MAX: unknown */
	int fd;        /* -1: being copied */
	bool lasts; /* the mount is permanent, so the file may be held until the end */
	bool has_ended; /* the process had ended at the last check */
};

/* A process in a container, whose files stay accessible after it has ended. */
struct jit_process {
	int32_t pid;
	int32_t own_pid; /* the pid as the process itself sees it */
	int64_t uid;     /* owner of its files */
	int tmp_fd; /* its /tmp directory, or its root directory if only that may be held */
	/* The process's mount namespace if tmp_fd is the root directory, else -1. Holding it keeps
	 * the mounts accessible, but lets them be unmounted there. */
	int ns_fd;
	bool gone;
};

struct jit_store {
	/* When a list is full, the user with the most entries loses the last one. */
	VEC(struct kept_jit) kept;
	struct shares kept_by; /* number of files of each user */
	VEC(struct jit_process) inside;
	struct shares inside_by;
	/* pid -> start time of the first process with that pid. Files of later processes are
	 * ignored, because samples contain only the pid, and the names would also apply to the
	 * first process. */
	struct map started;
	size_t nr_images; /* number of the dict's images seen so far */
	bool again;       /* search also for maps of images seen before */
	const struct lasting_mounts
		*mounts; /* borrowed; NULL: any mount may be kept busy */
};

/* Opens the mapped file and keeps it open, if it is a jitdump. */
void jit_store_mapped(struct jit_store *k, const struct record_mmap *m);
/* Call when a process in a container executes a program. Holds its /tmp directory open until the
 * second check after the process has ended. */
void jit_store_began(struct jit_store *k, int32_t pid);
/* Opens and holds the perf maps of processes that have new anonymous images in the dict. */
void jit_store_look(struct jit_store *k, const struct dict *dict);
/* Returns the descriptor of the jitdump that a process mapped last; the store owns it. Returns
 * -1 if it holds none. */
int jit_store_dump_of(const struct jit_store *k, int32_t pid);
/* Copies the file open at `fd` to DIR/jit/PID/NAME and replaces an outdated copy. Returns 0 or a
 * negative errno (-EFBIG: it is too large, or nearly all holes). */
int jit_store_copy(int fd, const char *dir, int32_t pid, const char *name);
/* Adds to `copies` the files that keep a mount busy although their process had already ended at
 * the last call, for copying into DIR/jit/PID/NAME, and releases them. */
void jit_store_save_gone(struct jit_store *k, const char *dir,
			 struct copy_list *copies);
/* Call at the end of a recording. Adds all held files to `copies`, for copying into
 * DIR/jit/PID/NAME. */
void jit_store_save(struct jit_store *k, const char *dir, struct copy_list *copies);
void jit_store_done(struct jit_store *k);

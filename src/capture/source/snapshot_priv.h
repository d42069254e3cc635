/* SPDX-License-Identifier: GPL-2.0-or-later */
/* snapshot_priv.h - the snapshot's state, shared by its files.
 * Layer: capture. */
#pragma once
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "capture/source/snapshot.h"
#include "capture/system/cgroups.h"
#include "capture/system/proc_maps.h"

struct snapshot {
	struct snapshot_config config;
	struct buf text;   /* contents of the current file */
	struct buf record; /* the record being built */
	struct cgroups cgroups;
	/* time of the records being built; taken before reading any file */
	uint64_t time_ns;
};

/* Reads an open /proc file to its end into s->text, with a NUL that is not counted in len.
 * Returns 0 or a negative errno. */
int snapshot_read_fd(struct snapshot *s, int fd);

/* These build a record and pass it to the sink. They return 0, -ENOMEM or the result of the
 * sink. */
int snapshot_put_fork(struct snapshot *s, pid_t pid, pid_t ppid);
int snapshot_put_comm(struct snapshot *s, pid_t pid, pid_t tid, const char *comm);
int snapshot_put_mmap2(struct snapshot *s, pid_t pid, const struct proc_map *map);
int snapshot_put_cgroup(struct snapshot *s, uint64_t id, const char *path);
int snapshot_put_kernel_mmap(struct snapshot *s, uint64_t start, uint64_t len,
			     uint64_t pgoff, const char *name);
/* Adds kernel code that was generated at run time, such as that of a BPF program. */
int snapshot_put_ksymbol(struct snapshot *s, uint64_t address, uint32_t bytes,
			 const char *name);

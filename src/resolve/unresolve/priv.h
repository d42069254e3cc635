/* SPDX-License-Identifier: GPL-2.0-or-later */
/* priv.h - shared by the files of unresolve.h.
 * Layer: resolve, only for these files. */
#pragma once
#include "base/buf.h"
#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "resolve/space/space.h"
#include "resolve/unresolve/unresolve.h"

/* The assigned address of an image. */
struct unresolve_image {
	/* Address of offset 0; for FILE and VDSO: of their first chunk. */
	uint64_t base;
	bool placed; /* base is set */
	bool moved;  /* kernel of another machine, moved to another address */
	/* For a placed image of kind KERNEL: the first image of the same kernel, whose address it
	 * shares. */
	uint32_t kernel;
};

/* The state of a process as perf knows it so far. */
struct unresolve_process {
	int32_t pid;
	bool known;
	uint32_t app;
	uint64_t start_ns;
	/* Incremented at each FORK: its threads must be written again. */
	uint32_t epoch;
	struct space_node *mapped; /* since the last FORK */
};

struct unresolve_thread {
	uint32_t said; /* dict thread whose name was written; DICT_NONE: none */
	int32_t pid;
	uint32_t epoch;
};

struct unresolve {
	const struct dict *dict;
	const struct unresolve_ops *ops;
	bool cgroups;
	struct space_pool pool;
	struct space_node *kernel; /* BPF programs, which can be loaded and unloaded */
	struct space_node *fixed;  /* kernels and modules */
	VEC(struct unresolve_image) images;
	struct map chunks; /* (image, chunk of the offset) -> slot */
	uint32_t nr_slots;
	VEC(struct unresolve_process) processes;
	struct map by_pid;
	VEC(struct unresolve_thread) threads;
	struct map by_tid; /* perf identifies a thread only by its tid */
	struct map cgroup_said;
	VEC(uint64_t) chain;
	struct buf record;
	char name[64];
};

/* Process, thread and time of records that are not samples. */
struct unresolve_id {
	int32_t pid, tid;
	uint64_t time_ns;
};

/* The cpu mode of an address, as cpumode and as marker in a chain. */
struct unresolve_mode {
	uint16_t cpumode; /* PERF_RECORD_MISC_... */
	uint64_t mark;    /* PERF_CONTEXT_... */
};

/* ---- unresolve/records.c: writes the records. The functions return 0 or a negative errno. ---- */
int unresolve_write_mmap(struct unresolve *u, const struct unresolve_id *id,
			 const struct mapping *m, const struct image *image,
			 const char *path);
/* Writes the mapping of a kernel. `mode`: PERF_RECORD_MISC_KERNEL or _GUEST_KERNEL. */
int unresolve_write_kernel(struct unresolve *u, uint16_t mode, const struct mapping *m,
			   const char *path);
int unresolve_write_ksymbol(struct unresolve *u, const struct unresolve_id *id,
			    const struct image *image, bool unregister);
int unresolve_write_comm(struct unresolve *u, const struct unresolve_id *id,
			 const char *comm, bool exec);
/* Writes the start of a process or thread. `known`: it existed before, and inherits nothing. */
int unresolve_write_fork(struct unresolve *u, const struct unresolve_id *id,
			 int32_t ppid, bool known);
int unresolve_write_cgroup(struct unresolve *u, const struct unresolve_id *id,
			   uint64_t cgroup, const char *path);
/* Writes the sample whose chain is in u->chain. */
int unresolve_write_sample(struct unresolve *u, const struct sample *s,
			   const struct unresolve_id *id, uint16_t cpumode, uint64_t ip,
			   uint64_t cgroup);

/* ---- unresolve/maps.c: assigns addresses ---- */
/* Stores the address of a frame, which is mapped if necessary, in *ret_ip. Returns 0 or a negative
 * errno. */
int unresolve_address(struct unresolve *u, struct unresolve_process *p, uint32_t frame,
		      uint64_t time_ns, uint64_t *ret_ip);
struct unresolve_mode unresolve_mode_of(const struct unresolve *u, uint32_t frame);
/* Maps the beginning of a process's main binary. Returns 0 or a negative errno. */
int unresolve_map_app(struct unresolve *u, struct unresolve_process *p, uint32_t app,
		      uint64_t time_ns);

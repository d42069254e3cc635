/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sample_filter.h - selects the samples that the daemon keeps: those of certain binaries, of one
 * process, or of a process group.
 * Layer: daemon.  Single-threaded. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "format/session/dict.h"
#include "format/session/session.h"

struct err;

/* Zero-initialized, it keeps all samples. */
struct sample_filter {
	VEC(char *) images; /* paths, as given and without links; empty: any */
	char *vmlinux;      /* the kernel's image under another name, or NULL */
	int32_t pid;        /* 0: any */
	int32_t pgrp;       /* 0: any */
	struct map groups;  /* pid -> pgrp, 0: unknown; used only with `pgrp` */
	/* For each image number of the dict: whether it is selected; 0: not decided yet. */
	VEC(uint8_t) verdicts;
};

/* Parses the setup's values; NULL or "" means unset.  `images`: a comma-separated list of paths
 * (links are followed), names of modules, and `vmlinux` for the kernel; "all" selects every
 * binary.  `vmlinux`: its file or "no-vmlinux".  `pid`, `pgrp`: numbers of a process and a process
 * group, or "none". `f` is empty.  Returns 0, or -EINVAL or -ENOMEM with a message in *err. */
int sample_filter_set(struct sample_filter *f, const char *images, const char *vmlinux,
		      const char *pid, const char *pgrp, struct err *err);
/* Call when process `ppid` forks `pid`. Stores the child's process group from /proc, or the
 * parent's group if the child has ended. Later changes of the group are ignored. */
void sample_filter_forked(struct sample_filter *f, int32_t pid, int32_t ppid);
/* Returns whether to keep a sample: its location or its process's program is one of the images,
 * and its process matches (as in drivers and opd_sfile.c of OProfile 0.9). */
bool sample_filter_keeps(struct sample_filter *f, const struct dict *dict,
			 const struct sample *sample);
/* Forgets which images are selected. Call it when another dict is used, because image numbers then
 * refer to other images. */
void sample_filter_forget(struct sample_filter *f);
void sample_filter_done(struct sample_filter *f);

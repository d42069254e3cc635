/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sample_filter.h - which samples the daemon keeps: those of some binaries, of one process, or of a group of them.
 * Layer: daemon.  Single-threaded. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "format/session/dict.h"
#include "format/session/session.h"

struct err;

/* All zero keeps all. */
struct sample_filter {
	VEC(char *) images;    /* paths, as given and without links; empty: any */
	char *vmlinux;         /* the kernel by another name, or NULL */
	int32_t pid;           /* 0: any */
	int32_t pgrp;          /* 0: any */
	struct map groups;     /* pid -> pgrp, 0: not known; if one is asked for */
	VEC(uint8_t) verdicts; /* by image number of the dict; 0: not known yet */
};

/* Takes the setup's values, each NULL or "" for none: paths with commas between them, links in them are followed ("all": any;
 * modules by name, the kernel as `vmlinux`, its file or "no-vmlinux"), and the numbers of a
 * process and of a process group, or "none".  `f` is empty.  0, or -EINVAL or -ENOMEM with a line. */
int sample_filter_set(struct sample_filter *f, const char *images, const char *vmlinux,
		      const char *pid, const char *pgrp, struct err *err);
/* A process was forked.  Its group is what /proc says, else, if it has ended, its parent's; who changes
 * his group later stays in the first one. */
void sample_filter_forked(struct sample_filter *f, int32_t pid, int32_t ppid);
/* Whether a sample is kept: its place, or its process' program, is one of the images, and its
 * process that one (drivers and opd_sfile.c of OProfile 0.9 had it so). */
bool sample_filter_keeps(struct sample_filter *f, const struct dict *dict,
			 const struct sample *sample);
/* Another dict comes. */
void sample_filter_forget(struct sample_filter *f);
void sample_filter_done(struct sample_filter *f);

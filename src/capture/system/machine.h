/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine.h - collects the facts about this machine that a session stores.
 * Layer: capture. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "format/session/dict.h"

enum {
	MACHINE_TEXT_MAX = 128
};

struct machine {
	char hostname[MACHINE_TEXT_MAX];
	char os_release[MACHINE_TEXT_MAX]; /* uname -r */
	char arch[MACHINE_TEXT_MAX];       /* uname -m */
	char cpu_desc[MACHINE_TEXT_MAX];   /* "": unknown */
	char boot_id[MACHINE_TEXT_MAX];
	double cpu_mhz; /* 0: unknown */
	uint32_t nr_cpus_online;
	uint32_t nr_cpus_available;
	uint64_t total_mem_kb;
	struct build_id kernel_build_id; /* len 0: unknown */
};

/* Fills in all fields. Those that are unavailable stay empty. */
void machine_read(struct machine *ret_machine);
/* Appends the arguments of a command line, quoted for a shell, and a NUL. Sets out->failed if
 * memory is short. */
void machine_quote_command(char *const *argv, int argc, struct buf *out);

/* machine.h - the facts about this machine that a session states.
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
	char cpu_desc[MACHINE_TEXT_MAX];   /* "" unknown */
	char boot_id[MACHINE_TEXT_MAX];
	double cpu_mhz; /* 0 unknown */
	uint32_t nr_cpus_online;
	uint32_t nr_cpus_available;
	uint64_t total_mem_kb;
	struct build_id kernel_build_id; /* len 0 unknown */
};

/* What cannot be found out stays empty. */
void machine_read(struct machine *ret_machine);
/* Appends the words of a command line, quoted so that a shell would read them back, and a
 * terminating NUL.  buf_...() remembers a failed allocation. */
void machine_quote_command(char *const *argv, int argc, struct buf *out);

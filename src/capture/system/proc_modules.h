/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proc_modules.h - parses the lines of /proc/modules.
 * Layer: capture.  Source of the format: proc(5), kernel/module/procfs.c: "NAME BYTES USERS
 * DEPENDENTS STATE 0xADDRESS [TAINTS]". */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum {
	PROC_MODULE_NAME_MAX = 128 /* including the NUL; the kernel's limit is 56 */
};

struct proc_module {
	char name[PROC_MODULE_NAME_MAX]; /* valid as a file name */
	uint64_t address;                /* 0: hidden by the kernel */
	uint64_t bytes;
	bool live; /* not being loaded or unloaded */
};

/* Parses the next module in the text at *at, and moves *at past its line. Skips malformed
 * lines. Returns false at the end. */
bool proc_modules_next(const char **at, struct proc_module *ret_module);

/* proc_modules.h - the lines of /proc/modules.
 * Layer: capture.  Source of the format: proc(5), kernel/module/procfs.c:
 * "NAME BYTES USERS DEPENDENTS STATE 0xADDRESS [TAINTS]". */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum {
	PROC_MODULE_NAME_MAX = 128 /* with its NUL; the kernel's own limit is 56 */
};

struct proc_module {
	char name[PROC_MODULE_NAME_MAX]; /* fit to be a file's name */
	uint64_t address;                /* 0: the kernel hides it */
	uint64_t bytes;
	bool live; /* neither being loaded nor unloaded */
};

/* The next module in the text at *at, which is moved behind its line.  Lines that are none
 * are skipped.  False: the text is over. */
bool proc_modules_next(const char **at, struct proc_module *ret_module);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* opagent.h - lets virtual machines and libraries that generate code at run time report it to
 * profilers.  Link with -lopagent.
 *
 * The reports go to the file jit-PID.dump in the directory named by the environment variable
 * JITDUMPDIR, or by default in /tmp/.oprofile/jitdump.  operf(1) and perf find it there.  The
 * functions are those of OProfile's libopagent: programs and libraries built for that one also
 * work with this one.
 *
 * All functions are thread safe.  Except for op_open_agent() and the versions, they return 0, or
 * -1 with the reason in errno.  EINVAL means that the handle is invalid, or belongs to the
 * process that this one was forked from. */
#ifndef OPAGENT_H
#define OPAGENT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void *op_agent_t;

/* The source line of an address. */
struct debug_line_info {
	unsigned long vma;
	unsigned int lineno;
	char const *filename; /* path in the form in which the compiler got it */
};

/* Call it first.  Returns a handle for the other functions, or NULL with the reason in errno. */
op_agent_t op_open_agent(void);
/* Closes the handle and the file, which stays in place. */
int op_close_agent(op_agent_t hdl);

/* Reports new code at [vma, vma + code_size), named `symbol_name`.  `code` points to its bytes,
 * or is NULL if they are not available yet. */
int op_write_native_code(op_agent_t hdl, char const *symbol_name, uint64_t vma,
			 void const *code, unsigned int const code_size);
/* Reports the source lines of code that has been reported before; `code` is its address. */
int op_write_debug_line_info(op_agent_t hdl, void const *code, size_t nr_entry,
			     struct debug_line_info const *compile_map);
/* Reports that the code at `vma` no longer exists. */
int op_unload_native_code(op_agent_t hdl, uint64_t vma);

/* Return the version of this library. */
int op_major_version(void);
int op_minor_version(void);

#ifdef __cplusplus
}
#endif

#endif

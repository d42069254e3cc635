/* SPDX-License-Identifier: GPL-2.0-or-later */
/* opagent.h - for virtual machines and libraries that make code at run time: tell profilers
 * what it is called.  Link with -lopagent.
 *
 * What is told goes into a file of its own, jit-PID.dump in the folder that the environment
 * variable JITDUMPDIR names, else in /tmp/.oprofile/jitdump; operf(1) finds it, and so does perf.
 * The functions are OProfile's, of its libopagent: programs and libraries made for that one work
 * with this one.
 *
 * Any thread may call any of them.  All but op_open_agent() and the versions return 0, or -1 with
 * the reason in errno; EINVAL: the handle is not one, or belongs to the process that this one was
 * forked from. */
#ifndef OPAGENT_H
#define OPAGENT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void *op_agent_t;

/* What line of which source an address belongs to. */
struct debug_line_info {
	unsigned long vma;
	unsigned int lineno;
	char const *filename; /* in whatever form the source was given */
};

/* To be called first.  A handle for the other functions, or NULL with the reason in errno. */
op_agent_t op_open_agent(void);
/* Ends it.  The file stays. */
int op_close_agent(op_agent_t hdl);

/* From now on there is code at [vma, vma + code_size): `symbol_name` of which `code` are the bytes, or
 * NULL if they are not there yet. */
int op_write_native_code(op_agent_t hdl, char const *symbol_name, uint64_t vma,
			 void const *code, unsigned int const code_size);
/* The lines of code that was told of before; `code` is where it runs. */
int op_write_debug_line_info(op_agent_t hdl, void const *code, size_t nr_entry,
			     struct debug_line_info const *compile_map);
/* The code that was told to be at `vma` is there no more. */
int op_unload_native_code(op_agent_t hdl, uint64_t vma);

/* Of this library. */
int op_major_version(void);
int op_minor_version(void);

#ifdef __cplusplus
}
#endif

#endif

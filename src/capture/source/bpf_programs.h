/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bpf_programs.h - lists the BPF programs that are currently loaded and compiled.
 * Layer: capture.  Requires CAP_SYS_ADMIN and visible kernel addresses. */
#pragma once
#include <stdint.h>

enum {
	BPF_FUNCTION_NAME_MAX = 512 /* KSYM_NAME_LEN of Linux's <linux/kallsyms.h> */
};

/* A program, or one of its functions. */
struct bpf_function {
	uint64_t address;
	uint32_t bytes;
	char name[BPF_FUNCTION_NAME_MAX]; /* as in /proc/kallsyms: bpf_prog_TAG_NAME */
};

/* Receives one function. A negative return value stops the iteration. */
typedef int (*bpf_function_fn)(void *ctx, const struct bpf_function *function);

/* Calls `fn` for each function. Omits programs that the kernel does not describe. Returns 0,
 * -ENOMEM, or the result of `fn`. */
int bpf_programs_each(bpf_function_fn fn, void *ctx);

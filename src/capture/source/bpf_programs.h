/* bpf_programs.h - the BPF programs that the kernel has compiled up to now.
 * Layer: capture.  Takes CAP_SYS_ADMIN and addresses that are not hidden. */
#pragma once
#include <stdint.h>

enum {
	BPF_FUNCTION_NAME_MAX = 512 /* KSYM_NAME_LEN of Linux's <linux/kallsyms.h> */
};

/* A program, or one of the functions that it has. */
struct bpf_function {
	uint64_t address;
	uint32_t bytes;
	char name[BPF_FUNCTION_NAME_MAX]; /* as in /proc/kallsyms: bpf_prog_TAG_NAME */
};

/* What takes one of them; a negative return ends the walk. */
typedef int (*bpf_function_fn)(void *ctx, const struct bpf_function *function);

/* Gives all of them to `fn`; what the kernel does not tell is left out.  0, -ENOMEM, or what `fn`
 * returned. */
int bpf_programs_each(bpf_function_fn fn, void *ctx);

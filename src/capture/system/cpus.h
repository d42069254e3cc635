/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpus.h - lists of CPUs in the kernel's format: "0-3,8".
 * Layer: capture. */
#pragma once
#include <stddef.h>

struct cpu_list {
	int *at;
	size_t nr;
	size_t cap;
};

/* Parses a list such as "0-3,8", which can end with a newline. Returns 0, -EINVAL or -ENOMEM. */
int cpu_list_parse(const char *text, struct cpu_list *ret_list);
/* Stores the list of online CPUs. Returns 0 or a negative errno. */
int cpu_list_online(struct cpu_list *ret_list);
void cpu_list_done(struct cpu_list *list);

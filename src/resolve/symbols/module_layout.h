/* SPDX-License-Identifier: GPL-2.0-or-later */
/* module_layout.h - computes where the sections of a kernel module were, from the address of
 * its code.
 * Layer: resolve.
 * For a module, a perf.data contains the address of .text (tools/perf: the MMAP's start is the
 * module's address, on s390 that of .text) and its length. The kernel places the executable
 * sections one after the other, in the order of the file, each with its alignment
 * (kernel/module/main.c, layout_sections()). The .init sections are elsewhere, and freed after
 * loading. */
#pragma once
#include <stdint.h>

#include "base/containers/vec.h"
#include "resolve/elf/file.h"
#include "resolve/symbols/symtab.h"

struct module_layout {
	struct elf_file f; /* owns the section names in `sections` */
	VEC(struct section_address) sections;
};

/* Reads the module's file at `fd`, which must stay open as long as the layout is used. `text`
 * is the address of its .text. Returns 0; -ENODATA (no .text), -EBADMSG, -ENOMEM or an I/O
 * error. The caller calls module_layout_done() only after 0. */
int module_layout_read(int fd, uint64_t text, struct module_layout *ret_layout);
void module_layout_done(struct module_layout *layout);

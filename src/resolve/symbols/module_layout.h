/* module_layout.h - where the sections of a kernel module's file were, when only the place
 * of its code is known.
 * Layer: resolve.
 * A perf.data says of a module where its .text began (tools/perf: the MMAP's start is the
 * module's address, on s390 that of .text) and how long it is.  The kernel lays the executable
 * sections out one behind the other, in the order of the file, each on its own alignment
 * (kernel/module/main.c, layout_sections()); those of .init lie elsewhere and are gone. */
#pragma once
#include <stdint.h>

#include "base/containers/vec.h"
#include "resolve/elf/file.h"
#include "resolve/symbols/symtab.h"

struct module_layout {
	struct elf_file f; /* the places' names are its own */
	VEC(struct symtab_place) places;
};

/* The file at `fd`, which stays open as long as the layout is used, is that of a module whose
 * .text was at `text`.  0: module_layout_done() is due; -ENODATA (no .text), -EBADMSG,
 * -ENOMEM, ... */
int module_layout_read(int fd, uint64_t text, struct module_layout *ret_layout);
void module_layout_done(struct module_layout *layout);

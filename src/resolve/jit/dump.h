/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dump.h - a jitdump file in memory, and the symbols of its code.
 * Layer: resolve. */
#pragma once
#include "base/files/mapped.h"
#include "format/jit/jitdump.h"
#include "resolve/symbols/symtab.h"

struct err;

/* Maps and reads the file at `fd`, which the caller keeps. Reports damage once, naming `path`.
 * Returns 0: the caller releases both with mapped_release() and jitdump_done(), in any order.
 * Otherwise neither is set: -EBADMSG (not a jitdump, which is also reported), -ENODATA (empty),
 * -ENOMEM, or another negative errno of mapping. */
int jit_dump_map(int fd, const char *path, struct mapped *ret_bytes,
		 struct jitdump *ret_dump);
/* Like jit_dump_map(), for a file that is still being written: reports nothing. */
int jit_dump_try(int fd, struct mapped *ret_bytes, struct jitdump *ret_dump,
		 struct err *err);
/* Makes a table of the symbols by the offsets of the code (struct jitdump_code), with their
 * first addresses. Returns 0, -ENODATA (no symbols, *ret_tab is not set) or -ENOMEM. */
int jit_dump_symtab(const struct jitdump *dump, const struct mapped *bytes,
		    struct symtab **ret_tab);

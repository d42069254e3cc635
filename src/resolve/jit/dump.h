/* dump.h - a jitdump file in memory, and the symbols of its code.
 * Layer: resolve. */
#pragma once
#include "base/files/mapped.h"
#include "format/jit/jitdump.h"
#include "resolve/symbols/symtab.h"

/* Maps the file at `fd`, which stays the caller's, and reads it; what is damaged is said of
 * `path`, once.  0: both are the caller's, mapped_release() before or behind jitdump_done().
 * -EBADMSG (it is none; that is said, too), -ENODATA (it is empty), another negative errno of
 * mapping it, -ENOMEM: neither is. */
int jit_dump_map(int fd, const char *path, struct mapped *ret_bytes,
		 struct jitdump *ret_dump);
/* Symbols by the code's places (struct jitdump_code), with its first addresses.  0, -ENODATA
 * (none: no table) or -ENOMEM. */
int jit_dump_symtab(const struct jitdump *dump, const struct mapped *bytes,
		    struct symtab **ret_tab);

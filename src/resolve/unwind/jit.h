/* jit.h - the unwind table of a jitdump, whose compiler told of the frames of its code.
 * Layer: resolve. */
#pragma once
#include <stddef.h>

struct jitdump;
struct unwind_table;

/* By the places of the code (struct jitdump_code).  0, -ENODATA (nothing was told), -EOPNOTSUPP (an
 * unknown machine) or -ENOMEM. */
int unwind_jit_table(const struct jitdump *dump, const void *bytes, size_t len,
		     struct unwind_table **ret_table);

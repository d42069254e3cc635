/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jit.h - makes the unwind table of a jitdump that contains unwind information.
 * Layer: resolve. */
#pragma once
#include <stddef.h>

struct jitdump;
struct unwind_arch;
struct unwind_table;

/* Makes the table; its offsets are those of the code (struct jitdump_code). `recorded` is the
 * machine of the recording (NULL: unknown). It is used if the dump does not name a machine, as
 * those of CPython. Returns 0, -ENODATA (no unwind information), -EOPNOTSUPP (unknown machine)
 * or -ENOMEM. */
int unwind_jit_table(const struct jitdump *dump, const void *bytes, size_t len,
		     const struct unwind_arch *recorded,
		     struct unwind_table **ret_table);

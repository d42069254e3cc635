/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spool.h - unnamed temporary files, for data that is too large for memory.
 * Layer: base. */
#pragma once

/* Returns an empty unnamed temporary file in *ret_dir ($TMPDIR, or else /var/tmp), or a negative
 * errno. */
int spool_open(const char **ret_dir);

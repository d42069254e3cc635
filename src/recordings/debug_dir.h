/* SPDX-License-Identifier: GPL-2.0-or-later */
/* debug_dir.h - locates perf's cache of binaries: $PERF_BUILDID_DIR, or else ~/.debug.
 * Layer: recordings. */
#pragma once

/* Returns the directory (malloc'd), which need not exist.  Returns NULL if no home directory is
 * known, memory is short, or other users can change it, which a warning reports.
 * An empty PERF_BUILDID_DIR counts as unset. */
char *debug_dir(void);

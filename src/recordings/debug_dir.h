/* SPDX-License-Identifier: GPL-2.0-or-later */
/* debug_dir.h - where perf's cache of binaries is: $PERF_BUILDID_DIR, else ~/.debug.
 * Layer: recordings. */
#pragma once

/* The folder, malloc'd, whether it exists or not; NULL: no home is known, no
 * memory, or others can change it: then a warning names it.
 * An empty PERF_BUILDID_DIR counts as none given. */
char *debug_dir(void);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* debug_dir.h - locates perf's cache of binaries: $PERF_BUILDID_DIR, or else ~/.debug.
 * Layer: recordings. */
#pragma once

/* Returns the path of the directory (malloc'd), which need not exist. Returns NULL if no home
 * directory is known or memory is short. Also returns NULL, with a warning, if other users can
 * change the directory. An empty PERF_BUILDID_DIR counts as unset. */
char *debug_dir(void);

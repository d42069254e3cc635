/* SPDX-License-Identifier: GPL-2.0-or-later */
/* side_files.h - checks that all files that accompany the segments of a session exist.
 * Layer: format. */
#pragma once
#include <stdint.h>

/* Counts and reports (base/files/faults.h) the files and directories that the lists in session
 * `dir` promise but that are missing. Returns 0 or a negative errno. */
int side_files_check(const char *dir, uint64_t *ret_nr_missing);

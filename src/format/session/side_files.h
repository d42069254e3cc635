/* side_files.h - whether the files beside the segments of a session are all there.
 * Layer: format. */
#pragma once
#include <stdint.h>

/* Counts and reports (base/files/faults.h) the files and directories of the session `dir` that its lists promise, and
 * that are not there.  0 or a negative errno. */
int side_files_check(const char *dir, uint64_t *ret_nr_missing);

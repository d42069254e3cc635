/* failures.h - allocations, and calls on files, that failed without a message.
 * Layer: tools.  Any thread.
 *
 * A layer that cannot read a file, or has no memory for a symbol, continues without it where it can.  The
 * command must not pass for complete then.  So the program notes each allocation that fails, and each call on
 * a file that fails for another reason than that the file is missing or forbidden (failures_wrap.c).  At the
 * end main() reports those that no message named. */
#pragma once
#include <stdbool.h>

/* Notes that an allocation failed. */
void failures_note_memory(void);
/* Notes that a call on the file at `path` below the open directory `dir`, or AT_FDCWD, failed with `error`, an
 * errno.  Only errors of devices and a want of resources count: EIO, EMFILE, ENOMEM and the like. */
void failures_note_path(int dir, const char *path, int error);
/* The same of an open file, unless it is a pipe, a socket or the like. */
void failures_note_fd(int fd, int error);
/* A message was printed: the files that it names are reported. */
void failures_message(const char *text);
/* Reports what is left, one line per file.  The exit status: `status`, or 3 if that is 0; with
 * `is_recorder` it is not changed, because it is that of the recorded program. */
int failures_report(int status, bool is_recorder);

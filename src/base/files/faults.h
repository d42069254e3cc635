/* SPDX-License-Identifier: GPL-2.0-or-later */
/* faults.h - reports files that exist but cannot be used: read errors, and damage found by
 * checksums.
 * Layer: base. An unreadable file must not be treated as missing. Each file is reported once, as a
 * warning with its path and the reason, and counted. The list of reported files is process-wide.
 * Thread safe. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum fault {
	FAULT_UNREADABLE, /* opening, reading or mapping failed: EIO, EMFILE, ELOOP ... */
	FAULT_REFUSED,    /* opening or reading failed because of missing permission */
	FAULT_DAMAGED,    /* the contents are wrong according to a checksum */
	FAULT_MISSING,    /* it does not exist, but a list of a recording promises it */
	FAULT_INCOMPLETE, /* part of the contents is missing or cannot be parsed */
	FAULT_COUNT
};

/* Reports that a system call on the file at `path` failed with `code`, a negative errno. Reports
 * nothing if `code` is 0, means that the file (err_is_absent()) or process does not exist, or is
 * -EINVAL, which elf_open_regular() returns for a file that is not regular. Returns `code`. */
int fault_unreadable(const char *path, int code);
/* Like fault_unreadable(), but does not report EACCES and EPERM. For optional files. */
int fault_unreadable_try(const char *path, int code);
/* Like fault_unreadable(), for an open file. */
int fault_unreadable_fd(int fd, int code);
/* These call stat(2) and fstat(2), and report errors as fault_unreadable() does. They return 0 or
 * a negative errno. */
struct stat;
int fault_stat(const char *path, struct stat *st);
int fault_stat_fd(int fd, struct stat *st);
/* Like fault_unreadable(), for a stream, if its error flag is set. Call it directly after the call
 * that failed. */
void fault_unreadable_stream(FILE *f);
/* Reports that the file is not used because of its contents. `reason` is for example "it does
 * not match its checksum". */
void fault_damaged(const char *path, const char *reason);
/* Reports that a recording lacks the file or directory at `path`. */
void fault_missing(const char *path);
/* Reports that only part of the file is used. `shown` is its name in the message, which is
 * "SHOWN: REASON". */
void fault_incomplete(const char *shown, const char *reason);
/* Returns true if the file at `path` was reported as unreadable, for any reason. */
bool fault_is_reported(const char *path);
/* Returns the number of files that were reported as `kind`. */
uint64_t fault_count(enum fault kind);
/* Returns true if results can be incomplete because a file is damaged, incomplete, missing or could
 * not be read. Files without permission do not count: users know which files they cannot read. */
bool fault_any_loss(void);

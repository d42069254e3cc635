/* SPDX-License-Identifier: GPL-2.0-or-later */
/* faults.h - files that exist but cannot be used: read errors, and damage that a checksum shows.
 * Layer: base.  A file that cannot be read must not pass for a missing one: each is reported once, as a
 * warning with its path and the reason, and counted.  The list is process-wide, as that of
 * log_say_once(); any thread. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum fault {
	FAULT_UNREADABLE, /* opening, reading or mapping failed: EIO, EMFILE, ELOOP ... */
	FAULT_REFUSED,    /* likewise, for want of permission */
	FAULT_DAMAGED,    /* the contents are wrong, as a checksum shows */
	FAULT_MISSING,    /* it is not there, but a list of a recording has it */
	FAULT_COUNT
};

/* Reports that a system call on the file at `path` failed with `code`, a negative errno.  Not reported:
 * 0; codes that mean that there is no such file (err_is_absent()) or process; -EINVAL, which
 * elf_open_regular() has for what is no regular file.  Returns `code`. */
int fault_unreadable(const char *path, int code);
/* The same, but EACCES and EPERM are not reported: for files that were only worth a try. */
int fault_unreadable_try(const char *path, int code);
/* The same as fault_unreadable() for an open file. */
int fault_unreadable_fd(int fd, int code);
/* stat(2) and fstat(2), whose errors are reported likewise.  0 or a negative errno. */
struct stat;
int fault_stat(const char *path, struct stat *st);
int fault_stat_fd(int fd, struct stat *st);
/* The same for a stream, if its error flag is set; right after the call that failed. */
void fault_unreadable_stream(FILE *f);
/* Reports that the file is not used, because of its contents: "it does not match its checksum". */
void fault_damaged(const char *path, const char *reason);
/* Reports that a recording lacks the file or directory at `path`. */
void fault_missing(const char *path);
/* Whether the file at `path` was reported as unreadable, for whatever reason. */
bool fault_is_reported(const char *path);
/* How many files were reported. */
uint64_t fault_count(enum fault kind);
/* Whether results may lack what is in a file that is damaged, missing or failed to be read.  Files without
 * permission do not count: a user knows what he may not read. */
bool fault_any_loss(void);

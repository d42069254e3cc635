/* SPDX-License-Identifier: GPL-2.0-or-later */
/* writers.h - announces which index files are being written.
 * Layer: resolve.
 *
 * A command that leaves the writing to a background process announces it before it exits. The
 * next command that finds no index then waits for it instead of reading the debug information
 * again.
 * The announcement is a lock on the open directory (fcntl(2), "Open file description locks"),
 * which child processes inherit, and which the kernel removes with the last of them. The locked
 * byte identifies the key. If a file system has no such locks, no command waits. */
#pragma once
#include <stdbool.h>

struct index_key;

/* Opens the directory for line_writers_add(). Returns a file descriptor, which the caller
 * closes, or a negative errno. */
int line_writers_open(const char *dir);
/* Announces that the owner of `fd` will write the index of `key`. */
void line_writers_add(int fd, const struct index_key *key);
/* Waits, with a time limit, as long as another process announces that it will write the index of
 * `key` (NULL: any). Returns whether there was such a process. */
bool line_writers_wait(const char *dir, const struct index_key *key);

/* writers.h - whose index files are being written now.
 * Layer: resolve.
 *
 * A command that leaves the writing to a process of its own says so before it ends: who comes
 * next and finds no index waits for that one rather than reading the debug information again.
 * It is a lock of the open folder (fcntl(2), "Open file description locks"), which children
 * inherit and the kernel removes with the last of them; the byte that is locked stands for the
 * key.  Where a file system has no such locks, nobody waits. */
#pragma once
#include <stdbool.h>

struct index_key;

/* Opens the folder, for line_writers_add().  The caller closes it.  A file descriptor or a
 * negative errno. */
int line_writers_open(const char *dir);
/* Says that the index of `key` will be written by whoever has `fd`. */
void line_writers_add(int fd, const struct index_key *key);
/* Waits while somebody is about to write the index of `key`, or any if that is NULL, but not
 * longer than that should take.  True: somebody was. */
bool line_writers_wait(const char *dir, const struct index_key *key);

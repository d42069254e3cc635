/* SPDX-License-Identifier: GPL-2.0-or-later */
/* given_files.h - converts the paths of files in the daemon's settings. The user gives paths
 * relative to the directory where opcontrol or oprofiled was started. But the daemon runs in "/",
 * and compares them with paths from the kernel, which contain no symbolic links.
 * Layer: daemon. */
#pragma once

struct buf;
struct err;

/* Adds the arguments of --image to a comma-separated list: files by their real paths, the kernel
 * and loaded modules by name; "all" empties it.  Keeps files that do not exist, with a warning.
 * Returns 0 or -ENOMEM with a message in *err. */
int given_images_add(const char *words, struct buf *list, struct err *err);
/* Checks that a file can be the kernel's image: an ELF file that is not a user program.  Warns if
 * its build-id differs from the running kernel's.  Returns 0, -EINVAL or another negative errno
 * with a message in *err. */
int given_vmlinux_check(const char *file, struct err *err);
/* Checks the file like given_vmlinux_check() and stores its absolute path in *ret_path (malloc'd).
 * Keeps symbolic links, because each kernel update may change them. Error messages are those of
 * OProfile's opcontrol. */
int given_vmlinux(const char *file, char **ret_path, struct err *err);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* given_files.h - files that settings of the daemon name.  They are meant from where opcontrol or
 * oprofiled is called; the daemon works in "/" and compares with what the kernel tells: paths without
 * links.
 * Layer: daemon. */
#pragma once

struct buf;
struct err;

/* Adds the words of --image to a list with commas between them: files by their real paths, the kernel
 * and loaded modules by name; "all" empties it.  What is not there is kept, with a warning.
 * 0 or -ENOMEM with a line. */
int given_images_add(const char *words, struct buf *list, struct err *err);
/* Whether a file can be the kernel's image: an ELF file that is no program of a user's.  One with another
 * build-id than the kernel's that runs is warned of.  0, -EINVAL or another errno with a line. */
int given_vmlinux_check(const char *file, struct err *err);
/* The same of one that is absolute then, malloc'd; links in it may be set anew with each kernel, and
 * stay.  The line is opcontrol's. */
int given_vmlinux(const char *file, char **ret_path, struct err *err);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* build_id.h - reads build-ids from ELF files and notes, compares and prints them.
 * Layer: resolve. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "format/session/dict.h"

struct err;

/* Reads the GNU build-id note of an ELF file. Returns 0, -ENODATA if the file has none,
 * -EBADMSG if it is malformed, or another negative errno. */
int elf_build_id(const char *path, struct build_id *ret_id, struct err *err);
int elf_build_id_fd(int fd, struct build_id *ret_id, struct err *err);
int elf_build_id_bytes(const void *bytes, size_t len, struct build_id *ret_id);
/* Like elf_build_id_bytes(), for the bare content of a notes section, such as /sys/kernel/notes. */
int notes_build_id(const void *bytes, size_t len, struct build_id *ret_id);
/* Writes the build-id as hex digits to `ret_hex`, which has room for 2 * BUILD_ID_MAX + 1
 * bytes. */
void build_id_to_hex(const struct build_id *id, char *ret_hex);
bool build_id_equal(const struct build_id *a, const struct build_id *b);

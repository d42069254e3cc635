/* build_id.h - reads build-ids from ELF files and notes, compares and prints them.
 * Layer: resolve. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "format/session/dict.h"

struct err;

/* Reads the GNU build-id note of an ELF file.  0, -ENODATA (none), -EBADMSG, -errno. */
int elf_build_id(const char *path, struct build_id *ret_id, struct err *err);
int elf_build_id_fd(int fd, struct build_id *ret_id, struct err *err);
int elf_build_id_bytes(const void *bytes, size_t len, struct build_id *ret_id);
/* In a notes section alone, such as /sys/kernel/notes. */
int notes_build_id(const void *bytes, size_t len, struct build_id *ret_id);
/* Hex digits in a static-size caller's buffer of 2 * BUILD_ID_MAX + 1. */
void build_id_to_hex(const struct build_id *id, char *ret_hex);
bool build_id_equal(const struct build_id *a, const struct build_id *b);

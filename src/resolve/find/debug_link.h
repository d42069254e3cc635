/* SPDX-License-Identifier: GPL-2.0-or-later */
/* debug_link.h - finds the separate debug file that a binary names in .gnu_debuglink.
 * Layer: resolve.
 * Source of the format and of the locations: GDB manual, "Debugging Information in Separate
 * Files". The section contains a file name, zero bytes up to a multiple of four, then the
 * CRC-32 of that file in the binary's byte order. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct elf_file;

enum {
	DEBUG_LINK_NAME_MAX = 255
};

struct debug_link {
	char name[DEBUG_LINK_NAME_MAX + 1]; /* contains no '/' */
	uint32_t crc;
};

/* Reads the section headers and the .gnu_debuglink section. Returns 0, -ENODATA if there is no
 * such section, -EBADMSG, or another negative errno. */
int debug_link_read(struct elf_file *f, struct debug_link *ret_link);
/* Parses the content of a .gnu_debuglink section. `swap`: the byte order differs from this
 * machine's. */
int debug_link_parse(const void *bytes, size_t len, int swap,
		     struct debug_link *ret_link);
/* Searches DIR/, DIR/.debug/ and ROOT/usr/lib/debug/DIR/ for the file; DIR is the directory of
 * `binary` below `root` ("" for none). The file must have the right CRC and belong to the
 * caller, to root, or to the owner of the file open as `binary_fd`.
 * Returns 0: the caller owns *ret_fd (open for reading) and *ret_path (malloc'd); -ENOENT; or
 * -ENOMEM. */
int debug_link_find(const struct debug_link *link, int binary_fd, const char *root,
		    const char *binary, int *ret_fd, char **ret_path);
/* Returns the CRC-32 of zlib and Ethernet. `crc` is 0 for the first bytes, then the previous
 * result. */
uint32_t debug_link_crc(uint32_t crc, const void *bytes, size_t len);

/* debug_link.h - the separate debug file that a binary names in its .gnu_debuglink section.
 * Layer: resolve.
 * Source of the format and of the places: GDB manual, "Debugging Information in Separate
 * Files": a file name, zero bytes up to a multiple of four, then the CRC-32 of that file in
 * the binary's byte order. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct elf_file;

enum {
	DEBUG_LINK_NAME_MAX = 255
};

struct debug_link {
	char name[DEBUG_LINK_NAME_MAX + 1]; /* without any '/' */
	uint32_t crc;
};

/* 0, -ENODATA (no such section), -EBADMSG or another negative errno.  Reads the sections. */
int debug_link_read(struct elf_file *f, struct debug_link *ret_link);
/* The content of such a section. */
int debug_link_parse(const void *bytes, size_t len, int swap,
		     struct debug_link *ret_link);
/* Looks in DIR/, DIR/.debug/ and ROOT/usr/lib/debug/DIR/ for the file, where DIR is that of
 * `binary` below `root` ("" for none).  Only a file with the right CRC counts that belongs to the caller, to
 * root or to the owner of the open `binary_fd`.
 * 0: *ret_fd is open for reading and *ret_path malloc'd; -ENOENT, or -ENOMEM. */
int debug_link_find(const struct debug_link *link, int binary_fd, const char *root,
		    const char *binary, int *ret_fd, char **ret_path);
/* CRC-32 as in zlib and Ethernet; `crc` is 0 at the start, or that of what came before. */
uint32_t debug_link_crc(uint32_t crc, const void *bytes, size_t len);

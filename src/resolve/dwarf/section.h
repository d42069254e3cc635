/* SPDX-License-Identifier: GPL-2.0-or-later */
/* section.h - reads the bytes of a debug section on demand, decompressed.
 * Layer: resolve. Several threads may read one section concurrently.
 *
 * Large sections are read in pages (pread), so that only the needed parts of a debug file of
 * gigabytes are read. Sections compressed with zlib or zstd (SHF_COMPRESSED, and the older
 * .zdebug_*) are decompressed as a whole, very large ones into an unlinked file.
 * Source of the format: System V gABI, "Section Compression". A .zdebug_* section contains
 * "ZLIB", the decompressed size in eight big-endian bytes, and a zlib stream. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;
struct elf_section;
struct err;

enum {
	DWARF_PAGE_BYTES = 16 * 1024,
	/* Bytes that are read after each page, so that data that begins in a page and is not
	 * longer than this is contiguous. */
	DWARF_PAGE_TAIL = 4096,
	/* Maximum number of pages of a section that all threads share and that stay in memory.
	 * Further pages are in a small cache of each thread. */
	DWARF_PAGES_SHARED = 512,
	DWARF_SPARE_PAGES = 32,
	DWARF_UNPACKED_IN_MEMORY = 256 << 20
};

struct dwarf_section {
	int fd; /* the file to read from; -1: everything is in `whole` */
	bool own_fd;
	uint64_t file_off;
	uint64_t bytes; /* decompressed size; 0: no such section */
	uint8_t *whole;
	_Atomic(uint8_t *) *pages;
	atomic_size_t nr_shared;
};

/* The pages of large sections that only one thread uses. */
struct dwarf_spare {
	struct {
		const struct dwarf_section *section;
		uint64_t page;
		uint8_t *bytes;
	} pages[DWARF_SPARE_PAGES];
	uint8_t *long_text; /* for dwarf_section_text() */
	size_t long_text_cap;
};

/* Prepares `ret_section` to read section `e` of `f`, whose descriptor must stay open. `zdebug`:
 * it has the older compressed format. Returns 0, -ENODATA (no bytes in the file), -EBADMSG,
 * -EFBIG (implausibly large decompressed size), -EOPNOTSUPP, -ENOMEM, or another negative
 * errno. */
int dwarf_section_open(const struct elf_file *f, const struct elf_section *e,
		       bool zdebug, struct dwarf_section *ret_section);
/* Makes a section of bytes in memory, which are copied. Returns 0 or -ENOMEM. */
int dwarf_section_of_bytes(const void *bytes, size_t len,
			   struct dwarf_section *ret_section);
/* Loads the whole section into memory, where it may then be changed. Returns 0, -EFBIG,
 * -ENOMEM, or another negative errno. */
int dwarf_section_load(struct dwarf_section *s);
/* Appends the bytes of `more` to `s`, which is loaded into memory, and closes `more`. Returns 0,
 * -EFBIG (longer than `max_bytes`), -ENOMEM, or another negative errno. */
int dwarf_section_append(struct dwarf_section *s, struct dwarf_section *more,
			 uint64_t max_bytes);
void dwarf_section_close(struct dwarf_section *s);
/* Frees the pages, which are read again on demand. No thread may read meanwhile. */
void dwarf_section_forget(struct dwarf_section *s);

/* Returns the data at `off`: *ret_len contiguous bytes, at least DWARF_PAGE_TAIL or up to the
 * section's end. Returns NULL after the end or if it cannot be read. Valid until the next call
 * with the same `spare`. */
const uint8_t *dwarf_section_at(struct dwarf_section *s, struct dwarf_spare *spare,
				uint64_t off, size_t *ret_len);
/* Returns the NUL-terminated text at `off`, or NULL if none exists. Valid until the next call with
 * the same `spare`. */
const char *dwarf_section_text(struct dwarf_section *s, struct dwarf_spare *spare,
			       uint64_t off);
/* Reads the bytes [off, off + len): *ret_bytes points into memory of the section, or into *buf,
 * which is extended. Returns 0, -EBADMSG (beyond the end), -ENOMEM, or an I/O error. */
int dwarf_section_read(struct dwarf_section *s, uint64_t off, uint64_t len,
		       uint8_t **buf, size_t *cap, const uint8_t **ret_bytes);
void dwarf_spare_done(struct dwarf_spare *spare);

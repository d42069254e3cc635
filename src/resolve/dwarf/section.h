/* section.h - the bytes of one debug section, unpacked, read where they are asked for.
 * Layer: resolve.  Threads may read one section at the same time.
 *
 * Big sections are read in pages (pread), small parts at a time: a debug file of gigabytes
 * costs only what is looked at.  Sections packed with zlib or zstd (SHF_COMPRESSED, and the
 * older .zdebug_*) are unpacked as a whole, the very big ones into an unlinked file.
 * Source of the format: System V gABI, "Section Compression"; .zdebug: "ZLIB", the size as
 * eight bytes big-endian, a zlib stream. */
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
	/* Read behind each page: what begins in a page and is no longer than this is in
	 * one piece. */
	DWARF_PAGE_TAIL = 4096,
	/* Pages of a section that all threads share and that stay; with more of them each
	 * thread uses its own few. */
	DWARF_PAGES_SHARED = 512,
	DWARF_SPARE_PAGES = 32,
	DWARF_UNPACKED_IN_MEMORY = 256 << 20
};

struct dwarf_section {
	int fd; /* what it is read from; -1: all of it is in `whole` */
	bool own_fd;
	uint64_t file_off;
	uint64_t bytes; /* unpacked; 0: no such section */
	uint8_t *whole;
	_Atomic(uint8_t *) *pages;
	atomic_size_t nr_shared;
};

/* A thread's own pages of big sections. */
struct dwarf_spare {
	struct {
		const struct dwarf_section *section;
		uint64_t page;
		uint8_t *bytes;
	} pages[DWARF_SPARE_PAGES];
	uint8_t *long_text; /* of dwarf_section_text() */
	size_t long_text_cap;
};

/* Makes `ret_section` read section `e` of `f`, whose descriptor must stay open as long.
 * `zdebug`: it is of the older packed kind.  0, -ENODATA (no bytes in the file), -EBADMSG,
 * -EFBIG (it claims to unpack to more than is believed), -EOPNOTSUPP, -ENOMEM, ... */
int dwarf_section_open(const struct elf_file *f, const struct elf_section *e,
		       bool zdebug, struct dwarf_section *ret_section);
/* Of bytes in memory, which are copied.  0 or -ENOMEM. */
int dwarf_section_of_bytes(const void *bytes, size_t len,
			   struct dwarf_section *ret_section);
/* Brings all of it into memory, where it may then be changed.  0, -EFBIG, -ENOMEM, ... */
int dwarf_section_load(struct dwarf_section *s);
void dwarf_section_close(struct dwarf_section *s);
/* Frees the pages, which are read again when they are asked for; no thread may read. */
void dwarf_section_forget(struct dwarf_section *s);

/* What is at `off`: *ret_len bytes in one piece, at least DWARF_PAGE_TAIL of them or up to
 * the section's end.  NULL beyond the end or when it cannot be read.  Good until the thread
 * that owns `spare` asks again. */
const uint8_t *dwarf_section_at(struct dwarf_section *s, struct dwarf_spare *spare,
				uint64_t off, size_t *ret_len);
/* The NUL-terminated text at `off`; NULL if there is none.  Good for as long. */
const char *dwarf_section_text(struct dwarf_section *s, struct dwarf_spare *spare,
			       uint64_t off);
/* Bytes [off, off + len): in place, or read into *buf, which grows.  0, -EBADMSG (not
 * there), -ENOMEM, or an I/O error. */
int dwarf_section_read(struct dwarf_section *s, uint64_t off, uint64_t len,
		       uint8_t **buf, size_t *cap, const uint8_t **ret_bytes);
void dwarf_spare_done(struct dwarf_spare *spare);

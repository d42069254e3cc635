/* SPDX-License-Identifier: GPL-2.0-or-later */
/* file.h - reads the headers of an ELF file: ELF header, segments, sections.
 * Layer: resolve. Reads from a descriptor or from memory, of either class and byte order. Every
 * number in the file is untrusted. Reads only the requested parts (pread), never the whole
 * file. Reads PE files in the same form (resolve/elf/pe.h).
 * Source of the format: elf(5); System V gABI, chapters 4 and 5. An e_shnum or e_phnum that
 * does not fit its field is in section 0. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/vec.h"
#include "resolve/elf/pe.h"

struct err;

enum {
	ELF_HEAD_BYTES =
		4096, /* bytes read at once: usually contains all headers and the build-id */
	ELF_SEGMENTS_MAX = 128,
	ELF_SECTIONS_MAX = 1 << 20,
	/* Limit for the bytes of all section names together. */
	ELF_SECTION_NAMES_MAX = 1 << 24
};

struct elf_segment {
	uint32_t type;  /* PT_... */
	uint32_t flags; /* PF_... */
	uint64_t offset;
	uint64_t vaddr;
	uint64_t file_bytes;
	uint64_t mem_bytes;
};

struct elf_section {
	uint32_t name; /* offset in the section names: elf_file_section_name() */
	uint32_t type; /* SHT_... */
	uint32_t link;
	uint32_t info;  /* sh_info: for relocations, the section they change */
	uint64_t flags; /* SHF_... */
	uint64_t vaddr;
	uint64_t offset;
	uint64_t bytes;
	uint64_t align; /* sh_addralign, unchecked */
	uint64_t entry_bytes;
};

struct elf_file {
	int fd; /* -1: in memory; elf_file_done() does not close it */
	const uint8_t *bytes;
	uint64_t len;
	bool is64;
	bool swap;        /* the byte order differs from this machine's */
	uint16_t type;    /* ET_... */
	uint16_t machine; /* EM_... */
	bool is_pe;       /* type is then ET_DYN */
	struct pe_head pe;
	/* PT_LOAD, PT_NOTE and PT_GNU_EH_FRAME in file order */
	VEC(struct elf_segment) segments;
	/* Empty until elf_file_sections() is called. */
	VEC(struct elf_section) sections;
	uint64_t shoff;
	uint64_t nr_sections;   /* from the file, not yet checked */
	uint32_t section_bytes; /* size of a section header */
	/* Index of the section that contains the section names. */
	uint32_t names_section;
	char *section_names; /* NULL until first needed */
	size_t section_names_len;
	size_t head_len;
	uint8_t head[ELF_HEAD_BYTES];
};

/* Opens a regular file for reading, with O_CLOEXEC. Never waits for a FIFO and never opens a
 * device. In /proc and /sys, opens only /proc/kallsyms and /proc/kcore, because reading other
 * files there can consume data.
 * Returns the descriptor, -EINVAL if it is not a regular file, or another negative errno.
 * Here and below: if a file exists but cannot be opened or read, the failure is reported
 * (base/files/faults.h), except when permission is denied. */
int elf_open_regular(const char *path);
/* Like elf_open_regular(), without the report, for callers that report the error themselves. */
int elf_open_unreported(const char *path);

/* Reads the header and the segments of an ELF or PE file, from the file at `fd` or from memory. The
 * caller keeps ownership of `fd` and of the bytes, and must keep them as long as it uses `f`.
 * Returns 0, -EBADMSG if it is not a usable file, -ENOMEM, or an I/O error. The caller calls
 * elf_file_done() only after 0. */
int elf_file_init_fd(struct elf_file *f, int fd, struct err *err);
int elf_file_init_bytes(struct elf_file *f, const void *bytes, size_t len,
			struct err *err);
void elf_file_done(struct elf_file *f);
/* Reads the section headers. Returns 0 (also if the file has none), -EBADMSG, -ENOMEM, or an
 * I/O error. */
int elf_file_sections(struct elf_file *f, struct err *err);
/* Returns false if the file open at `fd` is shorter than its headers say, as after a download that
 * was cut: it lacks bytes of a section, or of a segment if it has no sections. */
bool elf_file_is_whole(int fd);
/* Copies the bytes [off, off + len). Returns 0, -EBADMSG if the file is shorter, or an I/O
 * error. */
int elf_file_read(const struct elf_file *f, uint64_t off, void *ret_bytes, size_t len);
/* Like elf_file_read(), but reads into new memory, followed by one zero byte. The caller frees
 * *ret_bytes. */
int elf_file_read_new(const struct elf_file *f, uint64_t off, uint64_t len,
		      uint8_t **ret_bytes);
/* Returns the name of a section in f->sections, or "" if it has none or it cannot be read. `f`
 * owns the text. */
const char *elf_file_section_name(struct elf_file *f, const struct elf_section *s);
/* Returns the first section with that name, or NULL. Call elf_file_sections() first. */
const struct elf_section *elf_file_find_section(struct elf_file *f, const char *name);
/* Copies the bytes of a section to newly allocated memory, followed by one zero byte. Returns
 * 0, -ENODATA if the section has no bytes in the file, -EFBIG if it has more than `max`, or an
 * error of elf_file_read_new(). */
int elf_file_section_bytes(const struct elf_file *f, const struct elf_section *s,
			   uint64_t max, uint8_t **ret_bytes);

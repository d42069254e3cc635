/* file.h - the skeleton of an ELF file: header, loadable segments, sections, read from
 * a descriptor or from memory, of any class and byte order, every number distrusted.
 * Layer: resolve.  Only what is asked for is read (pread), never the whole file.
 * Source of the format: elf(5); System V gABI, chapters 4 and 5 (e_shnum and e_phnum that
 * do not fit are in section 0). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/vec.h"

struct err;

enum {
	ELF_HEAD_BYTES =
		4096, /* read at once: most skeletons and build-ids lie in here */
	ELF_SEGMENTS_MAX = 128,
	ELF_SECTIONS_MAX = 1 << 20,
	ELF_SECTION_NAMES_MAX = 1 << 24 /* bytes of all section names together */
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
	uint32_t name; /* offset in the names: elf_file_section_name() */
	uint32_t type; /* SHT_... */
	uint32_t link;
	uint32_t info;  /* sh_info: of relocations the section that they change */
	uint64_t flags; /* SHF_... */
	uint64_t vaddr;
	uint64_t offset;
	uint64_t bytes;
	uint64_t align; /* sh_addralign, as the file says */
	uint64_t entry_bytes;
};

struct elf_file {
	int fd; /* -1: in memory; not closed by elf_file_done() */
	const uint8_t *bytes;
	uint64_t len;
	bool is64;
	bool swap;        /* of the other byte order than this machine */
	uint16_t type;    /* ET_... */
	uint16_t machine; /* EM_... */
	/* PT_LOAD, PT_NOTE and PT_GNU_EH_FRAME in file order */
	VEC(struct elf_segment) segments;
	VEC(struct elf_section) sections; /* empty until elf_file_sections() */
	uint64_t shoff;
	uint64_t nr_sections;   /* as the file says, not yet believed */
	uint32_t section_bytes; /* size of one header */
	uint32_t names_section; /* number of the section with the names of sections */
	char *section_names;    /* NULL until asked for */
	size_t section_names_len;
	size_t head_len;
	uint8_t head[ELF_HEAD_BYTES];
};

/* A regular file for reading, with O_CLOEXEC: never waits for a FIFO nor touches a device.
 * Of /proc and /sys only /proc/kallsyms and /proc/kcore are opened: other reads there can consume data.
 * The descriptor, -EINVAL if it is not a regular file, or another negative errno.  Here and below: a file that
 * exists but cannot be opened or read is reported (base/files/faults.h), but for want of permission. */
int elf_open_regular(const char *path);
/* The same for callers that report the error. */
int elf_open_unreported(const char *path);

/* Reads header and segments of the file at `fd`, which stays the caller's and open as long
 * as `f` is used; or of bytes in memory.  -EBADMSG: no usable ELF file; -ENOMEM; -EIO...
 * elf_file_done() is needed only after 0. */
int elf_file_init_fd(struct elf_file *f, int fd, struct err *err);
int elf_file_init_bytes(struct elf_file *f, const void *bytes, size_t len,
			struct err *err);
void elf_file_done(struct elf_file *f);
/* Reads the section headers; none at all is 0 too.  -EBADMSG, -ENOMEM, -EIO... */
int elf_file_sections(struct elf_file *f, struct err *err);
/* Copies [off, off + len).  0, -EBADMSG if the file does not have all of it, or an I/O
 * error. */
int elf_file_read(const struct elf_file *f, uint64_t off, void *ret_bytes, size_t len);
/* The same into new memory, with one zero byte behind it. */
int elf_file_read_new(const struct elf_file *f, uint64_t off, uint64_t len,
		      uint8_t **ret_bytes);
/* The name of one of f->sections, "" if it has none that can be read; borrowed from `f`. */
const char *elf_file_section_name(struct elf_file *f, const struct elf_section *s);
/* The first section of that name; NULL if there is none.  elf_file_sections() came before. */
const struct elf_section *elf_file_find_section(struct elf_file *f, const char *name);
/* The bytes of a section into new memory (one zero byte behind), at most `max` of them.
 * -ENODATA for one without bytes in the file, -EFBIG, and as elf_file_read_new(). */
int elf_file_section_bytes(const struct elf_file *f, const struct elf_section *s,
			   uint64_t max, uint8_t **ret_bytes);

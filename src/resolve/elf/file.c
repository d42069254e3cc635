/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/elf/file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cursor.h"
#include "base/err.h"
#include "base/files/faults.h"
#include "base/files/io.h"

/* The fields of the ELF header that locate the program headers. */
struct tables {
	uint64_t phoff;
	uint64_t nr_segments;
	uint32_t segment_bytes;
};

static bool is_under(const char *path, const char *folder)
{
	return strncmp(path, folder, strlen(folder)) == 0;
}

/* Returns whether the path is one of the kernel's files that are read as symbols or as an ELF
 * file. */
static bool elf_file_is_of_kernel(const char *path)
{
	return !strcmp(path, "/proc/kallsyms") || !strcmp(path, "/proc/kcore");
}

int elf_open_unreported(const char *path)
{
	int fd;

	if (is_under(path, "/dev/") && !is_under(path, "/dev/shm/"))
		return -EINVAL;
	if (elf_file_is_of_kernel(path))
		return io_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	fd = io_open_regular(path, 0);
	return fd == IO_NOT_REGULAR ? -EINVAL : fd;
}

/* Callers treat a failure as "not this file" and try another one, so the reason is reported
 * here. */
int elf_open_regular(const char *path)
{
	return fault_unreadable_try(path, elf_open_unreported(path));
}

int elf_file_read(const struct elf_file *f, uint64_t off, void *ret_bytes, size_t len)
{
	ssize_t n;

	if (off > f->len || len > f->len - off)
		return -EBADMSG;
	if (off + len <= f->head_len) {
		memcpy(ret_bytes, f->head + off, len);
		return 0;
	}
	if (f->fd < 0) {
		memcpy(ret_bytes, f->bytes + off, len);
		return 0;
	}
	n = io_pread_full(f->fd, ret_bytes, len, off);
	if (n < 0)
		return fault_unreadable_fd(f->fd, (int)n);
	return (size_t)n == len ? 0 : -EBADMSG;
}

int elf_file_read_new(const struct elf_file *f, uint64_t off, uint64_t len,
		      uint8_t **ret_bytes)
{
	uint8_t *bytes;
	int r;

	if (off > f->len || len > f->len - off)
		return -EBADMSG;
	bytes = malloc((size_t)len + 1);
	if (!bytes)
		return -ENOMEM;
	r = elf_file_read(f, off, bytes, (size_t)len);
	if (r) {
		free(bytes);
		return r;
	}
	bytes[len] = 0;
	*ret_bytes = bytes;
	return 0;
}

/* Reads an address, offset or size, whose width depends on the file's class. */
static uint64_t elf_file_take_word(struct cursor *c, bool is64)
{
	return is64 ? cursor_u64(c) : cursor_u32(c);
}

static struct elf_section decode_section(struct cursor *c, bool is64)
{
	struct elf_section s;

	s.name = cursor_u32(c);
	s.type = cursor_u32(c);
	s.flags = elf_file_take_word(c, is64);
	s.vaddr = elf_file_take_word(c, is64);
	s.offset = elf_file_take_word(c, is64);
	s.bytes = elf_file_take_word(c, is64);
	s.link = cursor_u32(c);
	s.info = cursor_u32(c);
	s.align = elf_file_take_word(c, is64);
	s.entry_bytes = elf_file_take_word(c, is64);
	return s;
}

static struct elf_segment decode_segment(struct cursor *c, bool is64)
{
	struct elf_segment s;

	s.type = cursor_u32(c);
	s.flags = is64 ? cursor_u32(c) : 0;
	s.offset = elf_file_take_word(c, is64);
	s.vaddr = elf_file_take_word(c, is64);
	elf_file_take_word(c, is64); /* p_paddr */
	s.file_bytes = elf_file_take_word(c, is64);
	s.mem_bytes = elf_file_take_word(c, is64);
	if (!is64)
		s.flags = cursor_u32(c);
	return s;
}

/* Counts that do not fit in 16 bits are in section 0, which is otherwise empty. */
static int take_extended_counts(struct elf_file *f, struct tables *t)
{
	uint8_t raw[sizeof(Elf64_Shdr)];
	uint32_t need = f->is64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	struct cursor c = cursor_of(raw, need, f->swap);
	struct elf_section first;

	if (f->section_bytes < need || elf_file_read(f, f->shoff, raw, need))
		return -EBADMSG;
	first = decode_section(&c, f->is64);
	if (f->nr_sections == 0)
		f->nr_sections = first.bytes;
	if (f->names_section == SHN_XINDEX)
		f->names_section = first.link;
	if (t->nr_segments == PN_XNUM) {
		struct cursor info = cursor_of(raw, need, f->swap);

		info.pos = f->is64 ? offsetof(Elf64_Shdr, sh_info)
				   : offsetof(Elf32_Shdr, sh_info);
		t->nr_segments = cursor_u32(&info);
	}
	return 0;
}

static int elf_file_read_header(struct elf_file *f, struct tables *ret_tables,
				struct err *err)
{
	static const uint16_t probe = 1;
	const uint8_t *ident = f->head;
	bool host_is_le = *(const uint8_t *)&probe == 1;
	struct tables t;
	struct cursor c;

	if (f->head_len < EI_NIDENT || memcmp(ident, ELFMAG, SELFMAG) != 0)
		return err_set(err, -EBADMSG, "not an ELF file");
	if ((ident[EI_CLASS] != ELFCLASS32 && ident[EI_CLASS] != ELFCLASS64) ||
	    (ident[EI_DATA] != ELFDATA2LSB && ident[EI_DATA] != ELFDATA2MSB))
		return err_set(err, -EBADMSG,
			       "ELF file of an unknown class or byte order");
	f->is64 = ident[EI_CLASS] == ELFCLASS64;
	f->swap = (ident[EI_DATA] == ELFDATA2LSB) != host_is_le;
	c = cursor_of(f->head, f->head_len, f->swap);
	c.pos = EI_NIDENT;
	f->type = cursor_u16(&c);
	f->machine = cursor_u16(&c);
	cursor_u32(&c);                  /* e_version */
	elf_file_take_word(&c, f->is64); /* e_entry */
	t.phoff = elf_file_take_word(&c, f->is64);
	f->shoff = elf_file_take_word(&c, f->is64);
	cursor_u32(&c); /* e_flags */
	cursor_u16(&c); /* e_ehsize */
	t.segment_bytes = cursor_u16(&c);
	t.nr_segments = cursor_u16(&c);
	f->section_bytes = cursor_u16(&c);
	f->nr_sections = cursor_u16(&c);
	f->names_section = cursor_u16(&c);
	if (c.failed)
		return err_set(err, -EBADMSG, "ELF header is truncated");
	if (f->shoff &&
	    (f->nr_sections == 0 || t.nr_segments == PN_XNUM ||
	     f->names_section == SHN_XINDEX) &&
	    take_extended_counts(f, &t))
		/* The limits of both tables are unknown, so no section is read. */
		f->shoff = 0;
	if (!f->shoff)
		f->nr_sections = 0;
	*ret_tables = t;
	return 0;
}

/* Keeps the loadable segments, the notes and the header of the unwind table. Reads them one by
 * one: there are about a dozen, and they usually are in the bytes that were read already. */
static int elf_file_read_segments(struct elf_file *f, const struct tables *t,
				  struct err *err)
{
	uint32_t need = f->is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	uint8_t raw[sizeof(Elf64_Phdr)];

	if (t->nr_segments && t->segment_bytes < need)
		return err_set(err, -EBADMSG,
			       "ELF program headers have an invalid size of %u bytes",
			       t->segment_bytes);
	for (uint64_t i = 0; i < t->nr_segments && f->segments.nr < ELF_SEGMENTS_MAX;
	     i++) {
		struct cursor c = cursor_of(raw, need, f->swap);
		struct elf_segment s;
		uint64_t off;

		if (__builtin_add_overflow(t->phoff, i * t->segment_bytes, &off) ||
		    elf_file_read(f, off, raw, need))
			return err_set(err, -EBADMSG,
				       "ELF program headers are truncated");
		s = decode_segment(&c, f->is64);
		if (s.type != PT_LOAD && s.type != PT_NOTE && s.type != PT_GNU_EH_FRAME)
			continue;
		if (!vec_push(&f->segments, s))
			return err_set(err, -ENOMEM, "out of memory");
	}
	return 0;
}

static int elf_file_init(struct elf_file *f, struct err *err)
{
	struct tables tables = { 0 };
	int r;

	if (pe_is_image(f)) {
		r = pe_init(f, err);
	} else {
		r = elf_file_read_header(f, &tables, err);
		if (!r)
			r = elf_file_read_segments(f, &tables, err);
	}
	if (r)
		elf_file_done(f);
	return r;
}

static void elf_file_init_empty(struct elf_file *f)
{
	memset(f, 0, offsetof(struct elf_file, head));
	f->fd = -1;
}

int elf_file_init_fd(struct elf_file *f, int fd, struct err *err)
{
	struct stat st;
	ssize_t n;
	int r;

	elf_file_init_empty(f);
	f->fd = fd;
	r = fault_stat_fd(fd, &st);
	if (r)
		return err_sys(err, r, "cannot read the size of the file");
	f->len = st.st_size > 0 ? (uint64_t)st.st_size : 0;
	n = io_pread_full(fd, f->head, sizeof(f->head), 0);
	if (n < 0)
		return err_sys(err, fault_unreadable_fd(fd, (int)n), "cannot read");
	if (f->len < (uint64_t)n) /* the file grew */
		f->len = (uint64_t)n;
	f->head_len = (size_t)n;
	return elf_file_init(f, err);
}

int elf_file_init_bytes(struct elf_file *f, const void *bytes, size_t len,
			struct err *err)
{
	elf_file_init_empty(f);
	f->bytes = bytes;
	f->len = len;
	f->head_len = len < sizeof(f->head) ? len : sizeof(f->head);
	if (f->head_len)
		memcpy(f->head, bytes, f->head_len);
	return elf_file_init(f, err);
}

void elf_file_done(struct elf_file *f)
{
	vec_done(&f->segments);
	vec_done(&f->sections);
	free(f->section_names);
	f->section_names = NULL;
}

int elf_file_sections(struct elf_file *f, struct err *err)
{
	uint32_t need = f->is64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	uint8_t *raw;
	int r;

	if (!f->nr_sections || f->sections.nr)
		return 0;
	if (f->section_bytes < need || f->nr_sections > ELF_SECTIONS_MAX)
		return err_set(
			err, -EBADMSG,
			"invalid ELF section headers: %llu sections of %u bytes each",
			(unsigned long long)f->nr_sections, f->section_bytes);
	r = elf_file_read_new(f, f->shoff, f->nr_sections * f->section_bytes, &raw);
	if (r)
		return err_set(err, r, "ELF section headers are truncated");
	if (!vec_reserve(&f->sections, f->nr_sections)) {
		free(raw);
		return err_set(err, -ENOMEM, "out of memory");
	}
	for (size_t i = 0; i < f->nr_sections; i++) {
		struct cursor c = cursor_of(raw + i * f->section_bytes, need, f->swap);

		f->sections.at[f->sections.nr++] = decode_section(&c, f->is64);
	}
	free(raw);
	return 0;
}

static bool elf_file_has_bytes(const struct elf_file *f, uint64_t offset,
			       uint64_t bytes)
{
	return offset <= f->len && bytes <= f->len - offset;
}

/* Returns whether the file contains the bytes of all sections or, without sections, of all
 * segments. A debug file has the segments of its binary without the bytes, so segments do not
 * count if there are sections. */
static bool elf_file_has_all(struct elf_file *f)
{
	bool has = !elf_file_sections(f, NULL);

	for (size_t i = 0; has && i < f->sections.nr; i++) {
		const struct elf_section *s = &f->sections.at[i];

		has = s->type == SHT_NOBITS || s->type == SHT_NULL ||
		      elf_file_has_bytes(f, s->offset, s->bytes);
	}
	for (size_t i = 0; has && !f->sections.nr && i < f->segments.nr; i++)
		has = elf_file_has_bytes(f, f->segments.at[i].offset,
					 f->segments.at[i].file_bytes);
	return has;
}

bool elf_file_is_whole(int fd)
{
	struct elf_file *f = malloc(sizeof(*f));
	bool is = f && !elf_file_init_fd(f, fd, NULL);

	if (is) {
		is = elf_file_has_all(f);
		elf_file_done(f);
	}
	free(f);
	return is;
}

int elf_file_section_bytes(const struct elf_file *f, const struct elf_section *s,
			   uint64_t max, uint8_t **ret_bytes)
{
	if (s->type == SHT_NOBITS || !s->bytes)
		return -ENODATA;
	if (s->bytes > max)
		return -EFBIG;
	return elf_file_read_new(f, s->offset, s->bytes, ret_bytes);
}

const char *elf_file_section_name(struct elf_file *f, const struct elf_section *s)
{
	if (!f->section_names) {
		const struct elf_section *names;
		uint8_t *text;

		if (f->names_section >= f->sections.nr)
			return "";
		names = &f->sections.at[f->names_section];
		if (elf_file_section_bytes(f, names, ELF_SECTION_NAMES_MAX, &text))
			return "";
		f->section_names = (char *)text;
		f->section_names_len = (size_t)names->bytes;
	}
	return s->name < f->section_names_len ? f->section_names + s->name : "";
}

const struct elf_section *elf_file_find_section(struct elf_file *f, const char *name)
{
	for (size_t i = 0; i < f->sections.nr; i++) {
		if (strcmp(elf_file_section_name(f, &f->sections.at[i]), name) == 0)
			return &f->sections.at[i];
	}
	return NULL;
}

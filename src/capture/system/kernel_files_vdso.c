/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kernel_files_vdso.c - saves a copy of the vdso with a session. */
#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/cursor.h"
#include "base/elf_note.h"
#include "base/err.h"
#include "base/files/io.h"
#include "capture/system/kernel_files.h"
#include "capture/system/process_memory.h"
#include "format/session/checksums.h"

enum {
	VDSO_BYTES_MAX = 1 << 20,
	NR_HEADERS_MAX = 64
};

/* The positions of the tables in an ELF file, either 32-bit or 64-bit. */
struct elf_tables {
	bool is_64;
	uint64_t segments_at, sections_at;
	uint16_t segment_bytes, nr_segments;
	uint16_t section_bytes, nr_sections;
};

struct kernel_files_vdso_elf_segment {
	uint32_t type;
	uint64_t offset, file_bytes;
};

static uint64_t kernel_files_vdso_take_word(struct cursor *c, bool is_64)
{
	return is_64 ? cursor_u64(c) : cursor_u32(c);
}

static int kernel_files_vdso_read_tables(const void *bytes, size_t len,
					 struct elf_tables *ret)
{
	struct cursor c = cursor_of(bytes, len, false);
	const unsigned char *ident = cursor_take(&c, EI_NIDENT);
	struct elf_tables t = { 0 };

	if (!ident || memcmp(ident, ELFMAG, SELFMAG) != 0)
		return -EBADMSG;
	t.is_64 = ident[EI_CLASS] == ELFCLASS64;
	(void)cursor_take(&c, 8);                       /* type, machine, version */
	(void)kernel_files_vdso_take_word(&c, t.is_64); /* entry */
	t.segments_at = kernel_files_vdso_take_word(&c, t.is_64);
	t.sections_at = kernel_files_vdso_take_word(&c, t.is_64);
	(void)cursor_take(&c, 6); /* flags, ehsize */
	t.segment_bytes = cursor_u16(&c);
	t.nr_segments = cursor_u16(&c);
	t.section_bytes = cursor_u16(&c);
	t.nr_sections = cursor_u16(&c);
	if (c.failed || t.nr_segments > NR_HEADERS_MAX)
		return -EBADMSG;
	*ret = t;
	return 0;
}

static int kernel_files_vdso_read_segment(const void *bytes, size_t len,
					  const struct elf_tables *t, unsigned int i,
					  struct kernel_files_vdso_elf_segment *ret)
{
	struct cursor c = cursor_of(bytes, len, false);
	uint64_t at = t->segments_at + (uint64_t)i * t->segment_bytes;
	struct kernel_files_vdso_elf_segment s;

	if (t->segments_at > len || at > len)
		return -EBADMSG;
	c.pos = (size_t)at;
	s.type = cursor_u32(&c);
	if (t->is_64)
		(void)cursor_u32(&c); /* flags */
	s.offset = kernel_files_vdso_take_word(&c, t->is_64);
	(void)kernel_files_vdso_take_word(&c, t->is_64); /* vaddr */
	(void)kernel_files_vdso_take_word(&c, t->is_64); /* paddr */
	s.file_bytes = kernel_files_vdso_take_word(&c, t->is_64);
	if (c.failed)
		return -EBADMSG;
	*ret = s;
	return 0;
}

/* Returns the size of the ELF file, which extends to the end of its last table or segment.
 * Returns 0 if it is not an ELF file. The first `len` bytes must contain its headers. */
static uint64_t kernel_files_vdso_file_bytes(const void *bytes, size_t len)
{
	struct elf_tables t;
	struct kernel_files_vdso_elf_segment s;
	uint64_t end;

	if (kernel_files_vdso_read_tables(bytes, len, &t) < 0)
		return 0;
	end = t.sections_at + (uint64_t)t.section_bytes * t.nr_sections;
	for (unsigned int i = 0; i < t.nr_segments; i++) {
		if (kernel_files_vdso_read_segment(bytes, len, &t, i, &s) == 0 &&
		    s.type == PT_LOAD && s.offset + s.file_bytes > end)
			end = s.offset + s.file_bytes;
	}
	return end;
}

static int find_build_id(const void *bytes, size_t len, struct build_id *ret_id)
{
	struct elf_tables t;
	int r = kernel_files_vdso_read_tables(bytes, len, &t);

	for (unsigned int i = 0; r == 0 && i < t.nr_segments; i++) {
		struct kernel_files_vdso_elf_segment s;
		const uint8_t *id;
		size_t id_len;

		r = kernel_files_vdso_read_segment(bytes, len, &t, i, &s);
		if (r < 0 || s.type != PT_NOTE || s.offset > len ||
		    s.file_bytes > len - s.offset)
			continue;
		if (elf_note_build_id((const uint8_t *)bytes + s.offset,
				      (size_t)s.file_bytes, false, &id, &id_len) < 0 ||
		    id_len > BUILD_ID_MAX)
			continue;
		ret_id->len = (uint8_t)id_len;
		memset(ret_id->bytes, 0, sizeof(ret_id->bytes));
		memcpy(ret_id->bytes, id, id_len);
		return 0;
	}
	return -EBADMSG;
}

int kernel_files_own_vdso(const void **ret_bytes, size_t *ret_len)
{
	unsigned long start = getauxval(AT_SYSINFO_EHDR);
	const void *bytes;
	uint64_t len;

	if (!start)
		return -ENODATA;
	/* The first page contains the ELF headers, from which the size follows. */
	bytes = (const void *)start; /* NOLINT(performance-no-int-to-ptr) */
	len = kernel_files_vdso_file_bytes(bytes, (size_t)sysconf(_SC_PAGESIZE));
	if (!len || len > VDSO_BYTES_MAX)
		return -ENODATA;
	*ret_bytes = bytes;
	*ret_len = (size_t)len;
	return 0;
}

/* Returns the path `vdso-` plus the build-id in hex. */
static char *vdso_path(const char *dir, const struct build_id *id)
{
	char hex[2 * BUILD_ID_MAX + 1] = "";
	char *path = NULL;

	for (unsigned int i = 0; i < id->len; i++)
		(void)snprintf(hex + 2 * i, 3, "%02x", id->bytes[i]);
	return asprintf(&path, "%s/vdso-%s", dir, hex) < 0 ? NULL : path;
}

int kernel_files_save_vdso(const char *current_dir, const void *bytes, size_t len,
			   struct build_id *ret_id, struct err *err)
{
	uint64_t whole = kernel_files_vdso_file_bytes(bytes, len);
	struct build_id id = { 0 };
	char *path;
	int r;

	r = find_build_id(bytes, len, &id);
	if (r < 0)
		return err_set(err, r, "the vdso has no build-id");
	path = vdso_path(current_dir, &id);
	if (!path)
		return err_sys(err, -ENOMEM, "cannot write '%s'", current_dir);
	if (access(path, F_OK) < 0)
		r = checksums_write_file(path, bytes, whole < len ? (size_t)whole : len,
					 RECORDING_FILE_MODE);
	if (r < 0)
		err_sys(err, r, "cannot write '%s'", path);
	else if (ret_id)
		*ret_id = id;
	free(path);
	return r;
}

int kernel_files_save_vdso_of(const char *current_dir, int pid, uint64_t start,
			      uint64_t end, struct build_id *ret_id, struct err *err)
{
	uint64_t len = end > start ? end - start : 0;
	void *bytes;
	size_t copied;
	int r;

	if (!len || len > VDSO_BYTES_MAX)
		return err_set(err, -EBADMSG,
			       "cannot read the vdso of process %d: invalid size", pid);
	bytes = malloc((size_t)len);
	if (!bytes)
		return err_sys(err, -ENOMEM, "cannot read the vdso");
	copied = process_memory_read(pid, start, bytes, (size_t)len);
	r = copied ? kernel_files_save_vdso(current_dir, bytes, copied, ret_id, err)
		   : err_set(err, -ESRCH, "cannot read the vdso of process %d", pid);
	free(bytes);
	return r;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/elf/build_id.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/elf_note.h"
#include "base/err.h"
#include "resolve/elf/file.h"

enum {
	/* Limit for one block of notes; real ones have some hundred bytes. */
	NOTES_MAX = 1 << 20
};

/* Ignores an id longer than BUILD_ID_MAX, as the kernel does. */
static int take_id(const void *notes, size_t len, bool swap, struct build_id *ret_id)
{
	struct build_id id = { 0 };
	const uint8_t *bytes;
	size_t nr;
	int r = elf_note_build_id(notes, len, swap, &bytes, &nr);

	if (r)
		return r;
	if (nr == 0 || nr > BUILD_ID_MAX)
		return -ENODATA;
	id.len = (uint8_t)nr;
	memcpy(id.bytes, bytes, nr);
	*ret_id = id;
	return 0;
}

static int id_in_notes(const struct elf_file *f, uint64_t off, uint64_t len,
		       struct build_id *ret_id)
{
	uint8_t *notes;
	int r;

	if (len == 0 || len > NOTES_MAX)
		return -ENODATA;
	r = elf_file_read_new(f, off, len, &notes);
	if (r)
		return r;
	r = take_id(notes, (size_t)len, f->swap, ret_id);
	free(notes);
	return r;
}

/* Searches the segments first: stripped files also have them, and they are near the start. Files
 * that contain only debug information have empty segments, but their note section is intact. */
static int find_id(struct elf_file *f, struct build_id *ret_id, struct err *err)
{
	struct build_id guid = { .len = PE_GUID_BYTES };
	int r;

	/* perf (with libbfd) uses the GUID of a PE file as its build-id. */
	if (f->is_pe && pe_read_guid(f, guid.bytes)) {
		*ret_id = guid;
		return 0;
	}
	for (size_t i = 0; i < f->segments.nr; i++) {
		const struct elf_segment *s = &f->segments.at[i];

		if (s->type == PT_NOTE &&
		    id_in_notes(f, s->offset, s->file_bytes, ret_id) == 0)
			return 0;
	}
	r = elf_file_sections(f, err);
	if (r)
		return r;
	for (size_t i = 0; i < f->sections.nr; i++) {
		const struct elf_section *s = &f->sections.at[i];

		if (s->type == SHT_NOTE &&
		    id_in_notes(f, s->offset, s->bytes, ret_id) == 0)
			return 0;
	}
	return err_set(err, -ENODATA, "no build-id");
}

int elf_build_id_fd(int fd, struct build_id *ret_id, struct err *err)
{
	struct elf_file f;
	int r = elf_file_init_fd(&f, fd, err);

	if (r)
		return r;
	r = find_id(&f, ret_id, err);
	elf_file_done(&f);
	return r;
}

int elf_build_id(const char *path, struct build_id *ret_id, struct err *err)
{
	int fd = elf_open_regular(path);
	int r;

	if (fd < 0)
		return err_sys(err, fd, "cannot open '%s'", path);
	r = elf_build_id_fd(fd, ret_id, err);
	close(fd);
	if (r)
		err_prefix(err, "%s", path);
	return r;
}

int elf_build_id_bytes(const void *bytes, size_t len, struct build_id *ret_id)
{
	struct elf_file f;
	int r = elf_file_init_bytes(&f, bytes, len, NULL);

	if (r)
		return r;
	r = find_id(&f, ret_id, NULL);
	elf_file_done(&f);
	return r;
}

int notes_build_id(const void *bytes, size_t len, struct build_id *ret_id)
{
	/* A notes section without its file does not show its byte order: try this machine's, then
	 * the other. */
	if (take_id(bytes, len, false, ret_id) == 0)
		return 0;
	return take_id(bytes, len, true, ret_id);
}

void build_id_to_hex(const struct build_id *id, char *ret_hex)
{
	static const char digits[] = "0123456789abcdef";
	size_t nr = id->len <= BUILD_ID_MAX ? id->len : 0;

	for (size_t i = 0; i < nr; i++) {
		ret_hex[2 * i] = digits[id->bytes[i] >> 4];
		ret_hex[2 * i + 1] = digits[id->bytes[i] & 15];
	}
	ret_hex[2 * nr] = '\0';
}

bool build_id_equal(const struct build_id *a, const struct build_id *b)
{
	return a->len == b->len && a->len <= BUILD_ID_MAX &&
	       memcmp(a->bytes, b->bytes, a->len) == 0;
}

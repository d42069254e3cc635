/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kernel_files_modules.c - saves the list of loaded modules with a session. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/containers/hash.h"
#include "base/elf_note.h"
#include "base/files/faults.h"
#include "base/files/io.h"
#include "base/parse.h"
#include "capture/system/kernel_files_priv.h"

enum {
	PATH_BYTES = 1024,
	VALUE_BYTES = 64,
	NOTE_BYTES_MAX = 4096
};

uint64_t kernel_files_modules_hash(const char *text)
{
	struct proc_module m;
	uint64_t hash = 0;

	while (proc_modules_next(&text, &m)) {
		hash = hash_bytes(m.name, sizeof(m.name), hash);
		hash = hash_pair(hash, m.address);
	}
	return hash;
}

static void kernel_files_modules_put_text(struct buf *out, const char *text)
{
	buf_put(out, text, strlen(text));
}

/* Appends the build-id in /sys/module/NAME/notes/.note.gnu.build-id in hex, or "-". */
static void kernel_files_modules_put_build_id(struct buf *out, const char *sys_module,
					      const char *name)
{
	char path[PATH_BYTES];
	struct buf notes = { 0 };
	const uint8_t *id;
	size_t len = 0;

	(void)snprintf(path, sizeof(path), "%s/%s/notes/.note.gnu.build-id", sys_module,
		       name);
	if (io_read_file(path, &notes, NOTE_BYTES_MAX) < 0 ||
	    elf_note_build_id(notes.data, notes.len, false, &id, &len) < 0)
		kernel_files_modules_put_text(out, "-");
	for (size_t i = 0; i < len; i++) {
		char hex[3];

		(void)snprintf(hex, sizeof(hex), "%02x", id[i]);
		kernel_files_modules_put_text(out, hex);
	}
	buf_done(&notes);
}

void kernel_files_put_section(const char *section, char *text, struct buf *out)
{
	uint64_t address;

	text[strcspn(text, "\n")] = '\0';
	if (!parse_u64(text, &address) || !address || strpbrk(section, " \n="))
		return;
	kernel_files_modules_put_text(out, " ");
	kernel_files_modules_put_text(out, section);
	kernel_files_modules_put_text(out, "=");
	kernel_files_modules_put_text(out, text);
}

static void kernel_files_modules_put_section(struct buf *out, const char *dir,
					     const char *section)
{
	char path[PATH_BYTES + 256];
	char text[VALUE_BYTES];
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", dir, section);
	fd = io_open(path, O_RDONLY, 0);
	if (fd < 0)
		return;
	n = io_pread_full(fd, text, sizeof(text) - 1, 0);
	(void)close(fd);
	text[n > 0 ? n : 0] = '\0';
	kernel_files_put_section(section, text, out);
}

static int kernel_files_modules_is_name(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/* Appends the sections of a module, sorted by name, so that the same modules always give the same
 * file. */
static void put_sections(struct buf *out, const char *sys_module, const char *name)
{
	struct dirent **entries;
	char dir[PATH_BYTES];
	int nr;

	(void)snprintf(dir, sizeof(dir), "%s/%s/sections", sys_module, name);
	nr = scandir(dir, &entries, kernel_files_modules_is_name, alphasort);
	if (nr < 0) {
		fault_unreadable_try(dir, -errno);
		return;
	}
	for (int i = 0; i < nr; i++) {
		kernel_files_modules_put_section(out, dir, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
}

void kernel_files_describe_module(const struct proc_module *m, const char *sys_module,
				  struct buf *out)
{
	char place[VALUE_BYTES];

	kernel_files_modules_put_text(out, m->name);
	(void)snprintf(place, sizeof(place), " 0x%016llx %llu ",
		       (unsigned long long)m->address, (unsigned long long)m->bytes);
	kernel_files_modules_put_text(out, place);
	kernel_files_modules_put_build_id(out, sys_module, m->name);
	put_sections(out, sys_module, m->name);
	kernel_files_modules_put_text(out, "\n");
}

void kernel_files_describe_modules(const char *text, const char *sys_module,
				   struct buf *out)
{
	struct proc_module m;

	while (proc_modules_next(&text, &m))
		kernel_files_describe_module(&m, sys_module, out);
}

/* Returns the length of "NAME 0xADDRESS " at the start of a line, or 0 if the line has another
 * form. */
static size_t load_len(const char *line, size_t len)
{
	const char *blank = memchr(line, ' ', len);
	const char *end =
		blank ? memchr(blank + 1, ' ', len - (size_t)(blank + 1 - line)) : NULL;

	return end ? (size_t)(end + 1 - line) : 0;
}

/* Returns true if a line in the first `out_len` bytes begins with `begin`. */
static bool has_line(const struct buf *out, size_t out_len, const char *begin,
		     size_t len)
{
	const char *text = (const char *)out->data;

	for (size_t pos = 0; pos < out_len;) {
		const char *newline = memchr(text + pos, '\n', out_len - pos);

		if (out_len - pos >= len && !memcmp(text + pos, begin, len))
			return true;
		pos = newline ? (size_t)(newline - text) + 1 : out_len;
	}
	return false;
}

void kernel_files_merge_modules(const char *older, size_t len, struct buf *out)
{
	size_t out_len = out->len;

	for (size_t pos = 0; pos < len && !out->failed;) {
		const char *newline = memchr(older + pos, '\n', len - pos);
		size_t line = newline ? (size_t)(newline - older) - pos : len - pos;
		size_t begin = load_len(older + pos, line);

		if (begin && !has_line(out, out_len, older + pos, begin)) {
			buf_put(out, older + pos, line);
			kernel_files_modules_put_text(out, "\n");
		}
		pos += line + 1;
	}
}

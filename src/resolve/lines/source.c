/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/lines/source.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files/path.h"
#include "base/log.h"
#include "resolve/dwarf/package.h"
#include "resolve/elf/build_id.h"
#include "resolve/go/table.h"
#include "resolve/lines/go_lines.h"

enum {
	ALT_LINK_MAX = 8192,
	HEX_BYTES = 2 * BUILD_ID_MAX + 1,
	DWO_PLACES = 4
};

/* Returns "DIR/NAME" in the directory of `path`, or NAME itself if it is absolute; malloc'd. */
static char *path_next_to(const char *path, const char *name)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	char *result = NULL;

	if (*name == '/' || !slash)
		return strdup(name);
	return asprintf(&result, "%.*s/%s", (int)(slash - path), path, name) < 0
		       ? NULL
		       : result;
}

/* Opens `path` if it is an ELF file with this build-id; frees `path`. */
static int open_with_id(char *path, const struct build_id *id)
{
	struct build_id found;
	int fd = path ? elf_open_regular(path) : -ENOMEM;

	free(path);
	if (fd < 0)
		return fd;
	if (elf_build_id_fd(fd, &found, NULL) || !build_id_equal(&found, id)) {
		close(fd);
		return -ESTALE;
	}
	return fd;
}

/* Searches for dwz's file: by the link, relative to the debug file's directory; in the common
 * directory of dwz; by build-id. */
static int find_alt(const struct line_source *s, const char *name,
		    const struct build_id *id)
{
	const char *base = strrchr(name, '/');
	char hex[HEX_BYTES];
	char *path = NULL;
	int fd = open_with_id(path_next_to(s->path, name), id);

	if (fd >= 0)
		return fd;
	base = base ? base + 1 : name;
	if (asprintf(&path, "/usr/lib/debug/.dwz/%s", base) >= 0)
		fd = open_with_id(path, id);
	if (fd >= 0)
		return fd;
	build_id_to_hex(id, hex);
	if (asprintf(&path, "/usr/lib/debug/.build-id/%.2s/%s.debug", hex, hex + 2) < 0)
		return -ENOMEM;
	return open_with_id(path, id);
}

/* Opens the debug sections of `fd`, which is the file at `path` or belongs to it. */
static int line_source_open_sections(struct dwarf_file *f, int fd, const char *path,
				     bool dwo, struct err *err)
{
	int r = dwarf_file_open_fd(f, fd, dwo, err);

	if (!r && f->too_large)
		log_say_once(
			LOG_WARNING,
			"'%s': debug section too large: skipping %s, which claims an implausible unpacked size",
			path, f->too_large);
	return r;
}

/* Reads .gnu_debugaltlink: a path, a zero byte, a build-id. */
static int read_alt_link(struct elf_file *f, char **ret_name, struct build_id *ret_id)
{
	const struct elf_section *s = elf_file_find_section(f, ".gnu_debugaltlink");
	uint8_t *bytes;
	size_t name_len;
	size_t id_len;
	int r;

	if (!s)
		return -ENODATA;
	r = elf_file_section_bytes(f, s, ALT_LINK_MAX, &bytes);
	if (r)
		return r;
	name_len = strlen((char *)bytes); /* the section is followed by a zero byte */
	id_len = name_len < s->bytes ? (size_t)s->bytes - name_len - 1 : 0;
	if (!name_len || !id_len || id_len > BUILD_ID_MAX) {
		free(bytes);
		return -EBADMSG;
	}
	*ret_id = (struct build_id){ .len = (uint8_t)id_len };
	memcpy(ret_id->bytes, bytes + name_len + 1, id_len);
	*ret_name = (char *)bytes;
	return 0;
}

static int open_alt(struct line_source *s)
{
	struct build_id id;
	char *name;
	int r = read_alt_link(&s->file.elf, &name, &id);

	if (r)
		return r == -ENOMEM ? r : 0;
	s->alt_missing = true;
	s->alt_fd = find_alt(s, name, &id);
	free(name);
	if (s->alt_fd < 0)
		return 0;
	r = line_source_open_sections(&s->alt_file, s->alt_fd, s->path, false, NULL);
	if (r)
		return r == -ENOMEM ? r : 0;
	s->has_alt = true;
	s->alt.file = &s->alt_file;
	r = dwarf_info_scan(&s->alt);
	if (!r) {
		s->alt_missing = false;
		s->info.alt = &s->alt;
	}
	return r;
}

/* Opens PROGRAM.dwp or DEBUGFILE.dwp. */
static void open_dwp(struct line_source *s, const char *path)
{
	char *name = NULL;

	if (s->has_dwp || !path || asprintf(&name, "%s.dwp", path) < 0)
		return;
	s->dwp_fd = elf_open_regular(name);
	free(name);
	if (s->dwp_fd < 0)
		return;
	if (line_source_open_sections(&s->dwp, s->dwp_fd, path, true, NULL)) {
		close(s->dwp_fd);
		s->dwp_fd = -1;
		return;
	}
	s->has_dwp = true;
	/* Load the index of the package before several threads read it. */
	(void)dwarf_section_load(&s->dwp.sections[DWARF_CU_INDEX]);
}

int line_source_open(struct line_source *s, int fd, const char *path,
		     const char *binary_path, struct err *err)
{
	int r;

	*s = (struct line_source){ .alt_fd = -1, .dwp_fd = -1 };
	r = line_source_open_sections(&s->file, fd, path ? path : "", false, err);
	if (r)
		return r;
	s->info.file = &s->file;
	s->path = strdup(path ? path : "");
	r = s->path ? open_alt(s) : -ENOMEM;
	if (!r && dwarf_file_has_info(&s->file)) {
		r = dwarf_info_scan(&s->info);
		open_dwp(s, binary_path);
		open_dwp(s, path);
	}
	if (r) {
		line_source_close(s);
		return err_set(err, r, "out of memory");
	}
	return 0;
}

int line_source_open_go(struct line_source *s, int fd)
{
	int r;

	if (s->info.units.nr || elf_file_init_fd(&s->go_file, fd, NULL))
		return 0;
	r = elf_file_sections(&s->go_file, NULL);
	if (!r)
		r = go_table_open(&s->go_file, true, &s->go);
	if (r)
		elf_file_done(&s->go_file);
	return r == -ENOMEM ? r : 0;
}

size_t line_source_count_units(const struct line_source *s)
{
	return s->go ? go_lines_count_units(s->go) : s->info.units.nr;
}

uint64_t line_source_unit_off(const struct line_source *s, size_t i)
{
	return s->go ? i : s->info.units.at[i].off;
}

void line_source_forget(struct line_source *s)
{
	dwarf_file_forget(&s->file);
	if (s->has_alt)
		dwarf_file_forget(&s->alt_file);
	if (s->has_dwp)
		dwarf_file_forget(&s->dwp);
}

void line_source_close(struct line_source *s)
{
	dwarf_info_done(&s->info);
	dwarf_info_done(&s->alt);
	dwarf_file_close(&s->file);
	if (s->has_alt)
		dwarf_file_close(&s->alt_file);
	if (s->has_dwp)
		dwarf_file_close(&s->dwp);
	if (s->alt_fd >= 0)
		close(s->alt_fd);
	if (s->dwp_fd >= 0)
		close(s->dwp_fd);
	free(s->path);
	if (s->go)
		elf_file_done(&s->go_file);
	go_table_free(s->go);
	*s = (struct line_source){ .alt_fd = -1, .dwp_fd = -1 };
}

bool line_source_is_split(const struct dwarf_unit *u)
{
	return u->type == DW_UT_skeleton || u->dwo_name.kind != DWARF_VALUE_NONE;
}

static int find_in_package(struct line_source *s, struct line_split *split,
			   struct dwarf_reader *rd, uint64_t id)
{
	if (!s->has_dwp)
		return -ENOENT;
	split->info.file = &s->dwp;
	return dwarf_package_find(&split->info, id, rd, &split->unit);
}

/* Opens a .dwo if it contains the unit with this id: after a partial build, the file can belong
 * to another binary. */
static int try_dwo(const char *path, uint64_t id, struct dwarf_reader *rd,
		   struct line_split *split)
{
	int r;

	split->fd = elf_open_regular(path);
	if (split->fd < 0)
		return split->fd;
	r = line_source_open_sections(&split->file, split->fd, path, true, NULL);
	split->own_file = !r;
	split->info.file = &split->file;
	if (!r)
		r = dwarf_unit_find_split(&split->info, 0,
					  split->file.sections[DWARF_INFO].bytes, id,
					  NULL, rd, &split->unit);
	if (r) {
		dwarf_reader_forget(rd);
		line_split_close(split);
	}
	return r;
}

/* Returns "DIR/NAME", or NAME if it is absolute or DIR is unknown; malloc'd. */
static char *dwo_join(const char *dir, const char *name)
{
	char *result = NULL;

	if (*name == '/' || !dir || !*dir)
		return strdup(name);
	return asprintf(&result, "%s/%s", dir, name) < 0 ? NULL : result;
}

/* Searches for the .dwo of a skeleton: at its recorded name in the compilation directory; then,
 * in case the files were moved, relative to the directory of the file with the debug
 * information: at the same path if it is relative, at the recorded name, and at the mere file
 * name. */
static int find_dwo(const struct line_source *s, const struct dwarf_unit *u,
		    struct dwarf_reader *rd, struct line_split *split)
{
	const char *text = dwarf_value_text(u, rd, u->dwo_name);
	char *name = text ? strdup(text) : NULL;
	const char *dir = name ? dwarf_value_text(u, rd, u->comp_dir) : NULL;
	char *whole = name ? dwo_join(dir, name) : NULL;
	char *paths[DWO_PLACES] = { 0 };
	int r = -ENOENT;

	if (whole) {
		paths[0] = strdup(whole);
		paths[1] = path_next_to(s->path, whole);
		paths[2] = path_next_to(s->path, name);
		paths[3] = path_next_to(s->path, path_base(name));
	}
	for (size_t i = 0; r && r != -ENOMEM && i < DWO_PLACES; i++)
		r = paths[i] ? try_dwo(paths[i], u->dwo_id, rd, split) : -ENOENT;
	for (size_t i = 0; i < DWO_PLACES; i++)
		free(paths[i]);
	free(whole);
	free(name);
	return r;
}

int line_source_split(struct line_source *s, const struct dwarf_unit *skeleton,
		      struct dwarf_reader *rd, struct line_split *split)
{
	int r;

	*split = (struct line_split){ .fd = -1 };
	r = find_in_package(s, split, rd, skeleton->dwo_id);
	if (r)
		r = find_dwo(s, skeleton, rd, split);
	if (r) {
		line_split_close(split);
		return r;
	}
	split->unit.skeleton = skeleton;
	return 0;
}

void line_split_close(struct line_split *split)
{
	if (split->own_file)
		dwarf_file_close(&split->file);
	if (split->fd >= 0)
		close(split->fd);
	*split = (struct line_split){ .fd = -1 };
}

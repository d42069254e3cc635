/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/find/debug_cache_store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/io.h"
#include "base/files/tree.h"
#include "resolve/elf/build_id.h"
#include "resolve/elf/file.h"

enum {
	HEX_BYTES = 2 * BUILD_ID_MAX + 1,
	FOLDER_MODE = 0755,
	FILE_MODE = 0644
};

static const char up[] = "../.."; /* from .build-id/XX up to the cache */

bool build_id_parse(const char *hex, struct build_id *ret_id)
{
	struct build_id id = { 0 };
	size_t len = strlen(hex);

	if (!len || len % 2 || len / 2 > BUILD_ID_MAX ||
	    strspn(hex, "0123456789abcdef") != len)
		return false;
	for (size_t i = 0; i < len; i++) {
		int digit = hex[i] <= '9' ? hex[i] - '0' : hex[i] - 'a' + 10;

		id.bytes[i / 2] = (uint8_t)(id.bytes[i / 2] << 4 | digit);
	}
	id.len = (uint8_t)(len / 2);
	*ret_id = id;
	return true;
}

/* Extracts the name from "../../NAME/BUILD-ID", in place: "/usr/bin/true" or "[vdso]". Returns
 * NULL if the text has another form or leads out of the cache. */
static char *name_in_link(char *text, const char *hex)
{
	char *slash = strrchr(text, '/');
	char *name = text + sizeof(up) - 1;

	if (strncmp(text, up, sizeof(up) - 1) != 0 || !slash || slash <= name ||
	    strcmp(slash + 1, hex) != 0)
		return NULL;
	*slash = '\0';
	if (*name != '/' || strstr(name, "/../") || !strcmp(name, "/.."))
		return NULL;
	return name[1] == '[' ? name + 1 : name;
}

static int debug_cache_store_add_entry(debug_cache_entries *entries, const char *dir,
				       const char *two, const char *rest)
{
	struct debug_cache_entry entry;
	char hex[NAME_MAX + 3];
	char *name, *text;
	int r;

	snprintf(hex, sizeof(hex), "%s%s", two, rest);
	if (!build_id_parse(hex, &entry.id))
		return 0;
	r = debug_cache_link(dir, &entry.id, &text);
	if (r)
		return r == -ENOMEM ? r : 0;
	name = name_in_link(text, hex);
	entry.name = name ? strdup(name) : NULL;
	free(text);
	if (!name)
		return 0;
	if (entry.name && vec_push(entries, entry))
		return 0;
	free(entry.name);
	return -ENOMEM;
}

static int list_folder(debug_cache_entries *entries, const char *dir, const char *two)
{
	const struct dirent *entry;
	char *path;
	DIR *folder;
	int r = 0;

	if (asprintf(&path, "%s/.build-id/%s", dir, two) < 0)
		return -ENOMEM;
	folder = tree_open(path);
	while (!r && folder && (entry = tree_next(folder)))
		if (entry->d_name[0] != '.')
			r = debug_cache_store_add_entry(entries, dir, two,
							entry->d_name);
	if (folder)
		closedir(folder);
	free(path);
	return r;
}

static int compare_entries(const void *a, const void *b)
{
	const struct debug_cache_entry *of_a = a;
	const struct debug_cache_entry *of_b = b;

	return memcmp(of_a->id.bytes, of_b->id.bytes, sizeof(of_a->id.bytes));
}

int debug_cache_list(const char *dir, debug_cache_entries *ret_entries)
{
	debug_cache_entries entries = { 0 };
	const struct dirent *entry;
	char *path;
	DIR *folder;
	int r = 0;

	if (asprintf(&path, "%s/.build-id", dir) < 0)
		return -ENOMEM;
	folder = tree_open(path);
	free(path);
	while (!r && folder && (entry = tree_next(folder)))
		if (strlen(entry->d_name) == 2 && entry->d_name[0] != '.')
			r = list_folder(&entries, dir, entry->d_name);
	if (folder)
		closedir(folder);
	if (r) {
		debug_cache_entries_done(&entries);
		return r;
	}
	if (entries.nr)
		qsort(entries.at, entries.nr, sizeof(*entries.at), compare_entries);
	*ret_entries = entries;
	return 0;
}

void debug_cache_entries_done(debug_cache_entries *entries)
{
	for (size_t i = 0; i < entries->nr; i++)
		free(entries->at[i].name);
	vec_done(entries);
}

static int debug_cache_store_copy_file(const char *from, const char *to)
{
	int fd = elf_open_regular(from);
	struct stat st;
	int r = fd < 0 ? fd : 0;

	if (!r && fstat(fd, &st))
		r = -errno;
	if (!r)
		r = io_copy(fd, to, (uint64_t)st.st_size, NULL);
	if (fd >= 0)
		close(fd);
	return r;
}

/* Copies through memory: sendfile() does not work for files of /proc. */
static int copy_text(const char *from, const char *to)
{
	enum {
		TEXT_MAX_BYTES = 256 << 20
	};
	struct buf text = { 0 };
	int r = io_read_file(from, &text, TEXT_MAX_BYTES);

	if (!r)
		r = io_write_file(to, text.data, text.len, FILE_MODE);
	buf_done(&text);
	return r;
}

/* Creates the directory of a binary with this build-id; the caller frees *ret_folder. A file at
 * this path is from the old layout and is replaced. */
static int debug_cache_store_make_folder(const char *dir, const char *name,
					 const char *hex, char **ret_folder)
{
	struct stat st;
	char *folder;
	int r;

	if (strstr(name, "/../") || asprintf(&folder, "%s%s%s/%s", dir,
					     name[0] == '/' ? "" : "/", name, hex) < 0)
		return -ENOMEM;
	if (!lstat(folder, &st) && S_ISREG(st.st_mode))
		(void)io_unlink(folder);
	r = io_make_dirs(folder, FOLDER_MODE);
	if (r)
		free(folder);
	else
		*ret_folder = folder;
	return r;
}

static int open_link_folder(const char *dir, const char *hex)
{
	char *folder;
	int r;

	if (asprintf(&folder, "%s/.build-id/%.2s", dir, hex) < 0)
		return -ENOMEM;
	r = io_make_dirs(folder, FOLDER_MODE);
	if (!r)
		r = io_open(folder, O_RDONLY | O_DIRECTORY, 0);
	free(folder);
	return r;
}

/* Makes .build-id/XX/REST a link to the binary, or corrects it. */
static int make_link(const char *dir, const char *name, const char *hex)
{
	char part[HEX_BYTES + sizeof("..part")];
	char *text;
	int fd, r = 0;

	if (asprintf(&text, "%s%s%s/%s", up, name[0] == '/' ? "" : "/", name, hex) < 0)
		return -ENOMEM;
	snprintf(part, sizeof(part), ".%s.part", hex + 2);
	fd = open_link_folder(dir, hex);
	if (fd >= 0) {
		unlinkat(fd, part, 0);
		if (symlinkat(text, fd, part) || renameat(fd, part, fd, hex + 2))
			r = -errno;
		if (r)
			unlinkat(fd, part, 0);
		close(fd);
	}
	free(text);
	return fd < 0 ? fd : r;
}

/* One file that is being added. */
struct addition {
	const char *dir;
	const char *name;
	char hex[HEX_BYTES];
	char *folder;
	char *path; /* of the part */
};

static int addition_begin(struct addition *a, const char *dir,
			  const struct build_id *id, enum debug_cache_part part,
			  const char *name)
{
	int r;

	*a = (struct addition){ .dir = dir, .name = name };
	build_id_to_hex(id, a->hex);
	if (id->len < 2 || (name[0] != '/' && name[0] != '['))
		return -EINVAL;
	r = debug_cache_store_make_folder(dir, name, a->hex, &a->folder);
	if (r)
		return r;
	if (asprintf(&a->path, "%s/%s", a->folder, debug_cache_part_file(part)) < 0) {
		free(a->folder);
		return -ENOMEM;
	}
	return 0;
}

static int addition_end(struct addition *a, int r)
{
	if (!r)
		r = make_link(a->dir, a->name, a->hex);
	free(a->path);
	free(a->folder);
	return r;
}

int debug_cache_add(const char *dir, const struct build_id *id,
		    enum debug_cache_part part, const char *name, const char *file)
{
	struct addition a;
	int r = addition_begin(&a, dir, id, part, name);

	if (r)
		return r;
	if (access(a.path, F_OK)) {
		if (part == DEBUG_CACHE_KALLSYMS)
			r = copy_text(file, a.path);
		else if ((r = io_link(file, a.path)) && r != -EEXIST)
			r = debug_cache_store_copy_file(file, a.path);
		if (r == -EEXIST)
			r = 0;
	}
	return addition_end(&a, r);
}

int debug_cache_add_bytes(const char *dir, const struct build_id *id,
			  enum debug_cache_part part, const char *name,
			  const void *bytes, size_t len)
{
	struct addition a;
	int r = addition_begin(&a, dir, id, part, name);

	if (r)
		return r;
	if (access(a.path, F_OK))
		r = io_write_file(a.path, bytes, len, FILE_MODE);
	return addition_end(&a, r);
}

/* Returns whether the resolved path is inside the cache. */
static bool is_inside(const char *dir, const char *path)
{
	char *real_dir = realpath(dir, NULL);
	char *real = realpath(path, NULL);
	size_t len = real_dir ? strlen(real_dir) : 0;
	bool is = real && len && !strncmp(real, real_dir, len) && real[len] == '/';

	free(real);
	free(real_dir);
	return is;
}

/* Removes the directory (or file) of the binary, and the parent directories that become empty. */
static int remove_target(const char *dir, const char *name, const char *hex)
{
	size_t dir_len = strlen(dir);
	char *path, *slash;
	int r = 0;

	if (asprintf(&path, "%s%s%s/%s", dir, name[0] == '/' ? "" : "/", name, hex) < 0)
		return -ENOMEM;
	if (!access(path, F_OK))
		r = is_inside(dir, path) ? io_remove_tree(path) : -EPERM;
	while (!r && (slash = strrchr(path, '/')) > path + dir_len) {
		*slash = '\0';
		if (io_rmdir(path))
			break;
	}
	free(path);
	return r;
}

int debug_cache_remove(const char *dir, const struct build_id *id)
{
	char hex[HEX_BYTES];
	char *text, *path, *name;
	int removed, r;

	build_id_to_hex(id, hex);
	if (id->len < 2)
		return -ENOENT;
	if (asprintf(&path, "%s/.build-id/%.2s/%s", dir, hex, hex + 2) < 0)
		return -ENOMEM;
	r = debug_cache_link(dir, id, &text);
	if (!r || r == -EINVAL) {
		name = r ? NULL : name_in_link(text, hex);
		r = name ? remove_target(dir, name, hex) : -EPERM;
		removed = io_unlink(path);
		r = r ? r : removed;
		free(text);
	}
	free(path);
	return r;
}

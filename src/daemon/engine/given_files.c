/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/engine/given_files.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/files/io.h"
#include "base/files/path.h"
#include "base/log.h"
#include "resolve/elf/build_id.h"
#include "resolve/elf/file.h"

enum {
	NOTES_BYTES_MAX = 1 << 20
};

/* Returns the absolute path, relative to the current directory (malloc'd).  NULL: out of memory,
 * or the current directory was removed. */
static char *path_from_here(const char *path)
{
	char *cwd = getcwd(NULL, 0);
	char *full = cwd ? path_full(path, cwd) : NULL;

	free(cwd);
	return full;
}

/* Returns whether `word` names the kernel or a loaded module (built-in modules have no file). */
static bool given_files_is_of_kernel(const char *word)
{
	char path[PATH_MAX];

	if (strchr(word, '/'))
		return false;
	if (!strcmp(word, "vmlinux") || !strcmp(word, "no-vmlinux"))
		return true;
	snprintf(path, sizeof(path), "/sys/module/%s/initstate", word);
	return !access(path, F_OK);
}

/* Returns the image name as it appears in samples (malloc'd), or NULL. */
static char *given_files_image_name(const char *word)
{
	struct stat st;
	char *path;

	if (given_files_is_of_kernel(word))
		return strdup(word);
	path = realpath(word, NULL);
	if (path && !stat(path, &st) && S_ISREG(st.st_mode))
		return path;
	log_say(LOG_WARNING,
		"--image: %s %s: kept, but no samples of it are recorded until the file exists",
		word, path ? "is not a file" : "does not exist");
	free(path);
	/* A name without a slash can be a module that is not loaded yet. */
	return strchr(word, '/') ? path_from_here(word) : strdup(word);
}

int given_images_add(const char *words, struct buf *list, struct err *err)
{
	while (*words) {
		size_t len = strcspn(words, ",");
		char *word = strndup(words, len);
		bool is_all = word && !strcmp(word, "all");
		char *name =
			word && len && !is_all ? given_files_image_name(word) : NULL;

		if (is_all)
			buf_clear(list);
		if (name && list->len)
			buf_put_u8(list, ',');
		if (name)
			buf_put(list, name, strlen(name));
		else if (len && !is_all)
			list->failed = true;
		free(word);
		free(name);
		words += len + (words[len] == ',');
	}
	return list->failed ? err_set(err, -ENOMEM, "out of memory") : 0;
}

/* ---- the kernel's image ---- */

/* Returns whether the file can be a kernel: an executable or shared object without an interpreter.
 * Modules and core dumps have no interpreter either, but have other types. */
static bool can_be_kernel(int fd)
{
	struct elf_file f;
	bool can;

	if (elf_file_init_fd(&f, fd, NULL))
		return false;
	can = (f.type == ET_EXEC || f.type == ET_DYN) && !elf_file_sections(&f, NULL) &&
	      !elf_file_find_section(&f, ".interp");
	elf_file_done(&f);
	return can;
}

/* Warns only: the user may want another kernel's image, to be used after a reboot. */
static void warn_of_other_kernel(const char *file, int fd)
{
	struct build_id id, running;
	struct buf notes = { 0 };

	if (!elf_build_id_fd(fd, &id, NULL) &&
	    !io_read_file("/sys/kernel/notes", &notes, NOTES_BYTES_MAX) &&
	    !notes_build_id(notes.data, notes.len, &running) &&
	    !build_id_equal(&id, &running))
		log_say(LOG_WARNING,
			"--vmlinux: %s is not the running kernel: the build-ids differ",
			file);
	buf_done(&notes);
}

int given_vmlinux_check(const char *file, struct err *err)
{
	int fd = io_open(file, O_RDONLY | O_NONBLOCK, 0);
	char magic[4] = "";
	bool is_elf, can;

	if (fd < 0)
		return err_sys(err, fd, "--vmlinux: %s", file);
	/* This also rejects directories and pipes, because pread(2) fails on them. */
	is_elf = io_pread_full(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
		 !memcmp(magic, "\177ELF", sizeof(magic));
	can = is_elf && can_be_kernel(fd);
	if (can)
		warn_of_other_kernel(file, fd);
	close(fd);
	if (can)
		return 0;
	return err_set(err, -EINVAL,
		       "The specified vmlinux file (%s) does not seem to be valid: %s",
		       file,
		       is_elf ? "it is a program, a module or a dump, not a kernel"
			      : "make sure you are using a non-compressed image file");
}

int given_vmlinux(const char *file, char **ret_path, struct err *err)
{
	struct err why = { 0 };
	int r = given_vmlinux_check(file, &why);

	if (r == -ENOENT || r == -ENOTDIR)
		return err_set(err, r,
			       "The specified vmlinux file \"%s\" doesn't exist.",
			       file);
	if (r) {
		*err = why;
		return r;
	}
	*ret_path = path_from_here(file);
	return *ret_path ? 0 : err_sys(err, -ENOMEM, "cannot use --vmlinux=%s", file);
}

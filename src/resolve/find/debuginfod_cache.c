/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/find/debuginfod_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/files/io.h"
#include "base/files/tree.h"
#include "base/files/trust.h"
#include "base/parse.h"
#include "resolve/elf/build_id.h"
#include "resolve/elf/file.h"

enum {
	HEX_BYTES = 2 * BUILD_ID_MAX + 1,
	NUMBER_MAX = 64, /* max. bytes of a file that contains a number */
	MISS_S = 600,    /* defaults, if the cache has no setting */
	SWEEP_EVERY_S = 86400,
	UNUSED_S = 7 * 86400
};

/* Prefix of the names of files that record a failure. */
static const char mark[] = "oprofile-failed-";

static const char *const kind_names[DEBUGINFOD_KINDS] = {
	[DEBUGINFOD_EXECUTABLE] = "executable",
	[DEBUGINFOD_DEBUGINFO] = "debuginfo",
	[DEBUGINFOD_SOURCE] = "source",
};

const char *debuginfod_kind_name(enum debuginfod_kind kind)
{
	return kind_names[kind];
}

/* Reads the number in one of the cache's setting files. Returns `otherwise` if the file is missing
 * or has no number. */
static uint64_t setting(const char *dir, const char *name, uint64_t otherwise)
{
	struct buf text = { 0 };
	uint64_t v = otherwise;
	char *path;
	int fd;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		return otherwise;
	fd = elf_open_regular(path);
	if (fd >= 0 && !io_read_fd(fd, &text, NUMBER_MAX)) {
		while (text.len && text.data[text.len - 1] == '\n')
			text.len--;
		buf_put_u8(&text, 0);
		if (text.failed || !parse_u64((const char *)text.data, &v))
			v = otherwise;
	}
	if (fd >= 0)
		close(fd);
	buf_done(&text);
	free(path);
	return v;
}

static void debuginfod_cache_put_text(struct buf *out, const char *text)
{
	buf_put(out, text, strlen(text));
}

/* Returns DIR/BUILD-ID/KIND (malloc'd), followed by `tail`. */
static char *debuginfod_cache_path_of(const char *dir,
				      const struct debuginfod_want *want,
				      const char *tail)
{
	char hex[HEX_BYTES];
	struct buf path = { 0 };

	build_id_to_hex(&want->id, hex);
	debuginfod_cache_put_text(&path, dir);
	debuginfod_cache_put_text(&path, "/");
	debuginfod_cache_put_text(&path, hex);
	debuginfod_cache_put_text(&path, "/");
	debuginfod_cache_put_text(&path, kind_names[want->kind]);
	for (const char *s = want->source; s && *s; s++) {
		if (*s == '/')
			debuginfod_cache_put_text(&path, "##");
		else if (*s == '#')
			debuginfod_cache_put_text(&path, "#_");
		else
			buf_put_u8(&path, (uint8_t)*s);
	}
	debuginfod_cache_put_text(&path, tail);
	buf_put_u8(&path, 0);
	if (!path.failed)
		return (char *)path.data;
	buf_done(&path);
	return NULL;
}

bool debuginfod_cache_is(int fd, const struct debuginfod_want *want)
{
	struct build_id id;

	if (want->kind == DEBUGINFOD_SOURCE)
		return true;
	return !elf_build_id_fd(fd, &id, NULL) && build_id_equal(&id, &want->id) &&
	       elf_file_is_whole(fd);
}

/* Returns the age of a file in seconds; -1 if its mtime is in the future. */
static int64_t age_s(const struct stat *st)
{
	int64_t age = (int64_t)time(NULL) - (int64_t)st->st_mtim.tv_sec;

	return age < 0 ? -1 : age;
}

static bool is_fresh(const char *dir, const struct stat *st)
{
	int64_t age = age_s(st);

	return age >= 0 && (uint64_t)age <= setting(dir, "cache_miss_s", MISS_S);
}

int debuginfod_cache_open(const char *dir, const struct debuginfod_want *want,
			  int *ret_fd, char **ret_path)
{
	char *path = debuginfod_cache_path_of(dir, want, "");
	struct stat st;
	int r = -EAGAIN;
	int fd;

	if (!path)
		return -ENOMEM;
	fd = elf_open_regular(path);
	if (fd >= 0 && !fstat(fd, &st)) {
		if (!st.st_size)
			r = is_fresh(dir, &st) ? -ENOENT : -EAGAIN;
		else if (trust_cache_file(fd, path) && debuginfod_cache_is(fd, want))
			r = 0;
	}
	if (!r) {
		*ret_fd = fd;
		*ret_path = path;
		return 0;
	}
	if (fd >= 0)
		close(fd);
	free(path);
	return r;
}

/* Creates directories as other clients do: accessible only by the user. */
static int debuginfod_cache_make_folder(const char *dir,
					const struct debuginfod_want *want)
{
	char hex[HEX_BYTES];
	char *path;
	int r = io_make_dirs(dir, 0700);

	if (r)
		return r;
	build_id_to_hex(&want->id, hex);
	if (asprintf(&path, "%s/%s", dir, hex) < 0)
		return -ENOMEM;
	r = io_mkdir(path, 0700);
	if (r == -EEXIST)
		r = 0;
	free(path);
	return r;
}

int debuginfod_cache_begin(const char *dir, const struct debuginfod_want *want,
			   struct debuginfod_part *ret_part)
{
	struct debuginfod_part part = { .fd = -1 };
	int r = debuginfod_cache_make_folder(dir, want);

	if (r)
		return r;
	part.path = debuginfod_cache_path_of(dir, want, ".XXXXXX");
	if (!part.path)
		return -ENOMEM;
	part.fd = io_open_temp(part.path, 0, 0600);
	if (part.fd < 0) {
		r = part.fd;
		free(part.path);
		return r;
	}
	*ret_part = part;
	return 0;
}

int debuginfod_cache_keep(const char *dir, const struct debuginfod_want *want,
			  struct debuginfod_part *part)
{
	char *path = debuginfod_cache_path_of(dir, want, "");
	int r = path ? 0 : -ENOMEM;

	(void)fchmod(part->fd, 0400);
	if (!r)
		r = io_rename(part->path, path);
	free(path);
	if (r) {
		debuginfod_cache_drop(part);
		return r;
	}
	close(part->fd);
	free(part->path);
	*part = (struct debuginfod_part){ .fd = -1 };
	return 0;
}

void debuginfod_cache_drop(struct debuginfod_part *part)
{
	char *slash;

	if (!part->path)
		return;
	(void)io_unlink(part->path);
	close(part->fd);
	/* Also remove the directory if it is empty. */
	slash = strrchr(part->path, '/');
	*slash = '\0';
	(void)io_rmdir(part->path);
	free(part->path);
	*part = (struct debuginfod_part){ .fd = -1 };
}

/* Creates an empty file, or sets its mtime to the present time. */
static void leave_mark(const char *path)
{
	int fd = io_open(path, O_WRONLY | O_CREAT | O_NONBLOCK | O_NOFOLLOW, 0644);

	if (fd < 0)
		return;
	(void)futimens(fd, NULL);
	close(fd);
}

void debuginfod_cache_miss(const char *dir, const struct debuginfod_want *want)
{
	char *path = debuginfod_cache_path_of(dir, want, "");
	struct stat st;

	/* Another client may have stored the file in the meantime. */
	if (path && !debuginfod_cache_make_folder(dir, want) &&
	    (stat(path, &st) || !st.st_size))
		leave_mark(path);
	free(path);
}

/* Returns the path of the failure record (malloc'd). */
static char *failure_mark(const char *dir, uint64_t key)
{
	char *path;

	return asprintf(&path, "%s/%s%016" PRIx64, dir, mark, key) < 0 ? NULL : path;
}

int64_t debuginfod_cache_failed(const char *dir, uint64_t key)
{
	char *path = failure_mark(dir, key);
	struct stat st;
	int64_t age = -1;

	if (path && !stat(path, &st) && is_fresh(dir, &st))
		age = age_s(&st);
	free(path);
	return age;
}

void debuginfod_cache_note(const char *dir, uint64_t key, bool failed)
{
	char *path = failure_mark(dir, key);

	if (path && failed && !io_make_dirs(dir, 0700))
		leave_mark(path);
	else if (path)
		(void)io_unlink(path);
	free(path);
}

/* Returns whether a cleanup is due; if so, records the present time as that of the last cleanup.
 * If the setting file does not exist, creates it, and no cleanup is due yet. */
static bool is_sweeping_time(const char *dir)
{
	static const char name[] = "cache_clean_interval_s";
	uint64_t every = setting(dir, name, SWEEP_EVERY_S);
	struct stat st;
	bool is = false;
	char text[NUMBER_MAX];
	char *path;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		return false;
	if (stat(path, &st)) {
		snprintf(text, sizeof(text), "%d", SWEEP_EVERY_S);
		(void)io_write_file(path, text, strlen(text), 0644);
	} else {
		is = (uint64_t)age_s(&st) >= every;
	}
	if (is)
		(void)io_set_times(path, NULL);
	free(path);
	return is;
}

static bool is_of_client(const char *name)
{
	for (size_t i = 0; i < DEBUGINFOD_KINDS; i++)
		if (!strncmp(name, kind_names[i], strlen(kind_names[i])))
			return true;
	return false;
}

/* Removes the old files in one BUILD-ID directory, and the directory if it becomes empty. */
static void sweep_folder(int at, const char *name, uint64_t unused_s)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *e;
	struct stat st;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((e = tree_next(dir))) {
		if (!is_of_client(e->d_name) ||
		    fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(st.st_mode))
			continue;
		if (time(NULL) - st.st_atim.tv_sec > (time_t)unused_s)
			(void)unlinkat(fd, e->d_name, 0);
	}
	closedir(dir);
	(void)unlinkat(at, name, AT_REMOVEDIR);
}

/* Removes the record of a failure if it is older than SWEEP_EVERY_S seconds. */
static void sweep_mark(int at, const char *name)
{
	struct stat st;

	if (!fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode) &&
	    age_s(&st) > SWEEP_EVERY_S)
		(void)unlinkat(at, name, 0);
}

void debuginfod_cache_sweep(const char *dir)
{
	static const char digits[] = "0123456789abcdef";
	uint64_t unused_s = setting(dir, "max_unused_age_s", UNUSED_S);
	const struct dirent *e;
	DIR *d;

	if (!is_sweeping_time(dir))
		return;
	d = tree_open(dir);
	while (d && (e = tree_next(d))) {
		size_t len = strlen(e->d_name);

		if (len > 1 && strspn(e->d_name, digits) == len)
			sweep_folder(dirfd(d), e->d_name, unused_s);
		else if (!strncmp(e->d_name, mark, sizeof(mark) - 1))
			sweep_mark(dirfd(d), e->d_name);
	}
	if (d)
		closedir(d);
}

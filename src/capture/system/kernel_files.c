/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/system/kernel_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/containers/hash.h"
#include "base/err.h"
#include "base/files/io.h"
#include "base/files/tree.h"
#include "capture/system/kernel_files_priv.h"
#include "format/session/checksums.h"

enum {
	CHUNK_BYTES = 1 << 18,
	COMPRESSION_LEVEL = 1, /* a third faster than 3, and no larger */
	MODULES_BYTES_MAX = 16 << 20,
	SAVED_BYTES_MAX = 256 << 20
};

static const char kallsyms_suffix[] = ".kallsyms.zst";

/* Returns whether a line "ADDRESS TYPE NAME" has one of the types t T w W and a nonzero address. */
static bool is_text_line(const char *line, size_t len, bool *hidden)
{
	size_t digits = strspn(line, "0123456789abcdef");

	if (digits == 0 || digits + 3 > len || line[digits] != ' ' ||
	    line[digits + 2] != ' ' || !strchr("tTwW", line[digits + 1]))
		return false;
	if (strspn(line, "0") == digits || !line[digits + 1])
		return false;
	*hidden = false;
	return true;
}

void kernel_files_filter(const char *text, size_t len, struct buf *out, bool *hidden)
{
	const char *end = text + len;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t line_len =
			newline ? (size_t)(newline - text) + 1 : (size_t)(end - text);

		if (newline && is_text_line(text, line_len, hidden))
			buf_put(out, text, line_len);
		text += line_len;
	}
}

/* Reads kallsyms in chunks, since only a fraction of its megabytes is kept. */
int kernel_files_read_symbols(int fd, struct buf *out, bool *hidden)
{
	struct buf chunk = { 0 };
	size_t whole;
	int r = 0;

	if (!buf_reserve(&chunk, CHUNK_BYTES))
		return -ENOMEM;
	for (;;) {
		ssize_t n = read(fd, chunk.data + chunk.len, CHUNK_BYTES - chunk.len);
		const uint8_t *newline;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			r = n < 0 ? -errno : 0;
			break;
		}
		chunk.len += (size_t)n;
		newline = memrchr(chunk.data, '\n', chunk.len);
		if (!newline)
			continue;
		whole = (size_t)(newline - chunk.data) + 1;
		kernel_files_filter((const char *)chunk.data, whole, out, hidden);
		chunk.len -= whole;
		memmove(chunk.data, chunk.data + whole, chunk.len);
	}
	buf_done(&chunk);
	return r == 0 && out->failed ? -ENOMEM : r;
}

/* Writes compressed text to `path`. Writes to a temporary name first, because several recorders
 * can do this concurrently. */
static int write_compressed(const char *path, const struct buf *text)
{
	size_t bound = ZSTD_compressBound(text->len);
	void *packed = malloc(bound);
	char *own = NULL;
	size_t n;
	int r = -ENOMEM;

	if (!packed || asprintf(&own, "%s.%d", path, getpid()) < 0) {
		free(packed);
		return -ENOMEM;
	}
	n = ZSTD_compress(packed, bound, text->data, text->len, COMPRESSION_LEVEL);
	if (!ZSTD_isError(n))
		r = io_write_file(own, packed, n, RECORDING_FILE_MODE);
	if (r == 0)
		r = checksums_add(path, packed, n);
	if (r == 0)
		r = io_rename(own, path);
	if (r < 0)
		(void)io_unlink(own);
	else
		r = checksums_add(path, packed, n);
	free(own);
	free(packed);
	return r;
}

int kernel_files_write_symbols(const char *current_dir, const struct buf *text)
{
	char *path;
	int r;

	if (asprintf(&path, "%s/kallsyms.zst", current_dir) < 0)
		return -ENOMEM;
	r = write_compressed(path, text);
	free(path);
	return r;
}

/* Writes the symbols of the running kernel to `path`. Returns 0, 1 if the addresses are hidden, or
 * a negative errno. */
static int make_kallsyms(const char *path, struct err *err)
{
	struct buf text = { 0 };
	bool hidden = true;
	int fd;
	int r;

	fd = io_open("/proc/kallsyms", O_RDONLY, 0);
	if (fd < 0)
		return err_sys(err, fd, "cannot read '/proc/kallsyms'");
	r = kernel_files_read_symbols(fd, &text, &hidden);
	(void)close(fd);
	if (r < 0)
		r = err_sys(err, r, "cannot read '/proc/kallsyms'");
	else if (hidden)
		r = 1;
	else
		r = write_compressed(path, &text);
	if (r < 0 && err && !err->code)
		err_sys(err, r, "cannot write '%s'", path);
	buf_done(&text);
	return r;
}

static int kernel_files_copy_file(const char *from, const char *to)
{
	struct buf bytes = { 0 };
	int r;

	r = io_read_file(from, &bytes, SAVED_BYTES_MAX);
	if (r == 0)
		r = io_write_file(to, bytes.data, bytes.len, RECORDING_FILE_MODE);
	buf_done(&bytes);
	return r;
}

static int link_or_copy(const char *from, const char *to)
{
	int r = checksums_take(from, to);

	if (!r)
		r = io_unlink(to);
	if (r && r != -ENOENT)
		return r;
	return io_link(from, to) == 0 ? 0 : kernel_files_copy_file(from, to);
}

/* Returns true if the symbols of this boot exist and are undamaged. Otherwise they are read
 * again. */
static bool kernel_files_is_cached(const char *path)
{
	enum checksum state = CHECKSUM_UNKNOWN;
	int fd = io_open_regular(path, O_NOFOLLOW);

	if (fd < 0)
		return false;
	if (checksums_verify(fd, path, &state))
		state = CHECKSUM_UNKNOWN;
	(void)close(fd);
	return state == CHECKSUM_GOOD;
}

/* Reads /proc/modules, NUL-terminated; empty for a kernel without modules. */
static int kernel_files_read_modules(struct buf *out)
{
	int r = io_read_file("/proc/modules", out, MODULES_BYTES_MAX);

	if (r < 0 && r != -ENOENT)
		return r;
	buf_put_u8(out, '\0');
	return out->failed ? -ENOMEM : 0;
}

static int cache_path(const char *session_dir, const char *boot_id, char **ret_path)
{
	struct buf modules = { 0 };
	char *dir = NULL;
	int r;

	r = kernel_files_read_modules(&modules);
	if (r == 0 && asprintf(&dir, "%s/kernel", session_dir) < 0)
		r = -ENOMEM;
	if (r == 0)
		r = io_make_dirs(dir, RECORDING_DIR_MODE);
	if (r == 0 && asprintf(ret_path, "%s/%s-%016" PRIx64 "%s", dir, boot_id,
			       kernel_files_modules_hash((const char *)modules.data),
			       kallsyms_suffix) < 0)
		r = -ENOMEM;
	if (dir)
		free(dir);
	buf_done(&modules);
	return r;
}

/* Returns true for symbols of an earlier boot to which no session links. */
static bool is_forgotten(int dir_fd, const char *name, const char *boot_id)
{
	struct stat st;

	if (!strstr(name, kallsyms_suffix) || !strncmp(name, boot_id, strlen(boot_id)))
		return false;
	return !fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) &&
	       S_ISREG(st.st_mode) && st.st_nlink == 1;
}

static void remove_forgotten(const char *session_dir, const char *boot_id)
{
	const struct dirent *entry;
	char *path;
	DIR *dir;

	if (asprintf(&path, "%s/kernel", session_dir) < 0)
		return;
	dir = tree_open(path);
	free(path);
	while (dir && (entry = tree_next(dir)))
		if (is_forgotten(dirfd(dir), entry->d_name, boot_id))
			(void)unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
}

int kernel_files_save_kallsyms(const char *session_dir, const char *current_dir,
			       const char *boot_id, struct err *err)
{
	char *cached = NULL;
	char *saved = NULL;
	int r;

	r = cache_path(session_dir, boot_id, &cached);
	if (r < 0 || !cached)
		return err_sys(err, r, "cannot create '%s/kernel'", session_dir);
	if (!kernel_files_is_cached(cached))
		r = make_kallsyms(cached, err);
	if (r == 0 && asprintf(&saved, "%s/kallsyms.zst", current_dir) < 0)
		r = err_sys(err, -ENOMEM, "cannot write '%s'", current_dir);
	else if (r == 0) {
		r = link_or_copy(cached, saved);
		if (r < 0)
			err_sys(err, r, "cannot write '%s'", saved);
		free(saved);
	}
	free(cached);
	remove_forgotten(session_dir, boot_id);
	return r;
}

int kernel_files_save_modules(const char *current_dir, struct err *err)
{
	struct buf text = { 0 };
	struct buf older = { 0 };
	struct buf out = { 0 };
	char *path = NULL;
	int r;

	if (asprintf(&path, "%s/modules", current_dir) < 0)
		return err_sys(err, -ENOMEM, "cannot write '%s'", current_dir);
	/* Keep the modules of earlier recordings in this session. But if the old file is damaged,
	 * drop it, because its contents must not get a new checksum. */
	if (checksums_read_file(path, &older, MODULES_BYTES_MAX))
		buf_clear(&older);
	r = kernel_files_read_modules(&text);
	if (r == 0) {
		kernel_files_describe_modules((const char *)text.data, "/sys/module",
					      &out);
		kernel_files_merge_modules((const char *)older.data, older.len, &out);
		r = out.failed ? -ENOMEM
			       : checksums_write_file(path, out.data, out.len,
						      RECORDING_FILE_MODE);
	}
	if (r < 0)
		err_sys(err, r, "cannot write '%s'", path);
	free(path);
	buf_done(&text);
	buf_done(&older);
	buf_done(&out);
	return r;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kernel_files_late.c - saves symbols of kernel code that was loaded during a recording. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files/io.h"
#include "capture/system/kernel_files.h"
#include "capture/system/kernel_files_priv.h"
#include "format/session/checksums.h"

enum {
	SYMBOLS_BYTES_MAX = 256 << 20
};

static bool kernel_files_late_ends_with(const char *line, size_t len, const char *end,
					size_t end_len)
{
	return len >= end_len && !memcmp(line + len - end_len, end, end_len);
}

void kernel_files_filter_module(const char *text, size_t len, const char *module,
				struct buf *out)
{
	char end[PROC_MODULE_NAME_MAX + 4];
	size_t end_len;

	(void)snprintf(end, sizeof(end), "\t[%s]\n", module);
	end_len = strlen(end);
	for (size_t pos = 0; pos < len;) {
		const char *newline = memchr(text + pos, '\n', len - pos);
		size_t line = newline ? (size_t)(newline - text) + 1 - pos : len - pos;

		if (kernel_files_late_ends_with(text + pos, line, end, end_len))
			buf_put(out, text + pos, line);
		pos += line;
	}
}

/* Appends text to a file of the session. Rewrites the whole file, because its checksum covers all
 * of it. */
static int kernel_files_late_append(const char *dir, const char *name,
				    const struct buf *bytes, struct err *err)
{
	struct buf all = { 0 };
	char *path;
	int r;

	if (bytes->failed || asprintf(&path, "%s/%s", dir, name) < 0)
		return err_sys(err, -ENOMEM, "cannot write '%s'", dir);
	r = checksums_read_file(path, &all, SYMBOLS_BYTES_MAX);
	if (r == -ENOENT || r == -EBADMSG)
		r = 0;
	buf_put(&all, bytes->data, bytes->len);
	if (!r)
		r = all.failed ? -ENOMEM
			       : checksums_write_file(path, all.data, all.len,
						      RECORDING_FILE_MODE);
	if (r < 0)
		err_sys(err, r, "cannot write '%s'", path);
	free(path);
	buf_done(&all);
	return r;
}

static int kernel_files_late_read_symbols(struct buf *out)
{
	bool hidden = true;
	int fd = io_open("/proc/kallsyms", O_RDONLY, 0);
	int r = fd < 0 ? fd : kernel_files_read_symbols(fd, out, &hidden);

	if (fd >= 0)
		(void)close(fd);
	return r;
}

int kernel_files_add_modules(const char *current_dir, const struct proc_module *modules,
			     size_t nr, struct err *err)
{
	struct buf lines = { 0 };
	int r;

	for (size_t i = 0; i < nr; i++)
		kernel_files_describe_module(&modules[i], "/sys/module", &lines);
	r = kernel_files_late_append(current_dir, "modules", &lines, err);
	buf_done(&lines);
	return r;
}

int kernel_files_add_symbols(const char *current_dir, const struct proc_module *modules,
			     size_t nr, struct err *err)
{
	struct buf all = { 0 }, symbols = { 0 };
	int r = kernel_files_late_read_symbols(&all);

	if (r)
		err_sys(err, r, "cannot read '/proc/kallsyms'");
	for (size_t i = 0; !r && i < nr; i++) {
		buf_put_u8(&symbols, '\n');
		kernel_files_filter_module((const char *)all.data, all.len,
					   modules[i].name, &symbols);
	}
	if (!r)
		r = kernel_files_late_append(current_dir, "modules.kallsyms", &symbols,
					     err);
	buf_done(&all);
	buf_done(&symbols);
	return r;
}

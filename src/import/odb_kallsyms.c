/* SPDX-License-Identifier: GPL-2.0-or-later */
/* odb_kallsyms.c - the symbols for samples of OProfile's image /proc/kallsyms. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/files/io.h"
#include "base/log.h"
#include "capture/system/kernel_files.h"
#include "import/odb_images.h"
#include "resolve/symbols/kallsyms.h"

/* Returns the time at which this machine was booted, in seconds since 1970. */
static int64_t odb_kallsyms_boot_time(void)
{
	return (int64_t)((clock_now_ns(CLOCK_REALTIME) -
			  clock_initial_ns(CLOCK_BOOTTIME)) /
			 NS_PER_S);
}

/* Finds the start of the kernel, from which sample files count offsets: the first of these symbols
 * that exists. Returns false if neither exists. */
static bool odb_kallsyms_start(const struct buf *text, uint64_t *ret_start)
{
	const char *at = (const char *)text->data;

	return kallsyms_find(at, text->len, "_stext", ret_start) ||
	       kallsyms_find(at, text->len, "_text", ret_start);
}

/* Appends the symbols of the kernel without its modules, with addresses relative to its start. */
static void odb_kallsyms_rebase(const struct buf *text, uint64_t start, struct buf *out)
{
	struct kallsyms_line line;
	size_t pos = 0;
	int r;

	while ((r = kallsyms_next((const char *)text->data, text->len, &pos, &line)) >=
	       0) {
		if (!r || line.module || line.address < start)
			continue;
		buf_put_hex(out, line.address - start, 16);
		buf_put_u8(out, ' ');
		buf_put_u8(out, (uint8_t)line.type);
		buf_put_u8(out, ' ');
		buf_put(out, line.name, line.name_len);
		buf_put_u8(out, '\n');
	}
}

static int odb_kallsyms_read(const char *path, struct buf *text)
{
	bool hidden = true;
	int fd = io_open(path, O_RDONLY, 0);
	int r = fd < 0 ? fd : kernel_files_read_symbols(fd, text, &hidden);

	if (fd >= 0)
		close(fd);
	return r ? r : hidden ? -ENODATA : 0;
}

int odb_kallsyms_save(const char *root, const char *session_dir, int64_t recorded_s,
		      struct err *err)
{
	struct buf text = { 0 }, out = { 0 };
	uint64_t start;
	char *path;
	int r = 0;

	if (!root[0] && recorded_s < odb_kallsyms_boot_time()) {
		log_say(LOG_WARNING,
			"the kernel's symbols are not shown: this machine was restarted after the profile was taken");
		return 0;
	}
	if (asprintf(&path, "%s%s", root, ODB_KALLSYMS) < 0)
		return err_set(err, -ENOMEM, "out of memory");
	if (!odb_kallsyms_read(path, &text) && odb_kallsyms_start(&text, &start)) {
		odb_kallsyms_rebase(&text, start, &out);
		r = out.failed ? -ENOMEM
			       : kernel_files_write_symbols(session_dir, &out);
		if (r)
			err_sys(err, r, "cannot write the kernel's symbols below '%s'",
				session_dir);
	}
	free(path);
	buf_done(&text);
	buf_done(&out);
	return r;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/report/out.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/containers/strtab.h"
#include "base/err.h"
#include "base/files/io.h"
#include "base/files/output.h"
#include "base/files/path.h"
#include "base/files/scratch.h"
#include "base/safe_text.h"

enum {
	BUFFER_BYTES = 256 << 10,
	APP_NAME_MAX = 200, /* maximum bytes of an application's name in a file name */
	OTHER_BYTES = 32    /* dot, number, and the suffix of scratch_new_next_to() */
};

char *report_out_app_path(struct strtab *used, const char *prefix, const char *app)
{
	size_t others = strlen(path_base(prefix)) + OTHER_BYTES;
	char part[APP_NAME_MAX + 1];
	size_t room = others < NAME_MAX ? NAME_MAX - others : 1;
	char *path = NULL;

	safe_text_copy(part, room < sizeof(part) ? room : sizeof(part), path_base(app),
		       false);
	for (char *at = part; (at = strchr(at, '/'));)
		*at = '_';
	if (asprintf(&path, "%s.%s", prefix, part) < 0)
		return NULL;
	for (unsigned int nr = 2; strtab_find(used, path) != STRTAB_FAILED; nr++) {
		free(path);
		if (asprintf(&path, "%s.%s.%u", prefix, part, nr) < 0)
			return NULL;
	}
	if (strtab_add(used, path) != STRTAB_FAILED)
		return path;
	free(path);
	return NULL;
}

static int open_next_to(struct report_out *o, struct err *err)
{
	int r = scratch_new_next_to(o->target, &o->dir, err);
	int fd;

	if (r)
		return r;
	if (asprintf(&o->making, "%s/made", scratch_folder(o->dir)) < 0) {
		o->making = NULL;
		return err_set(err, -ENOMEM, "out of memory");
	}
	fd = io_open(o->making, O_WRONLY | O_CREAT | O_EXCL, output_mode(false));
	if (fd < 0)
		return err_sys(err, fd, "cannot write '%s'", o->path);
	o->file = fdopen(fd, "wbe");
	if (o->file)
		return 0;
	close(fd);
	return err_set(err, -ENOMEM, "out of memory");
}

int report_out_open(struct report_out *o, const char *path, struct err *err)
{
	struct stat st;
	int r;

	*o = (struct report_out){ .path = path };
	/* Write to the existing standard output, even if it is redirected to a file. */
	if (path && (!strcmp(path, "-") || !strcmp(path, "/dev/stdout")))
		o->path = NULL;
	r = o->path ? output_target(o->path, &o->target, err) : 0;
	if (r)
		return r;
	if (!o->path)
		o->file = stdout;
	else if (!o->target || (!stat(o->path, &st) && !S_ISREG(st.st_mode)))
		r = output_open_stream(o->path, &o->file, err);
	else
		r = open_next_to(o, err);
	if (!r)
		setvbuf(o->file, NULL, _IOFBF, BUFFER_BYTES);
	return r;
}

enum export_end report_out_end(bool is_private)
{
	return is_private ? EXPORT_PRIVATE : EXPORT_PUBLIC;
}

/* Sets the file's mode. This is early enough, because the file is in a private directory, where no
 * other process could open it. */
static int report_out_protect(const struct report_out *o, enum export_end end)
{
	return o->dir && end == EXPORT_PRIVATE &&
			       fchmod(fileno(o->file), output_mode(true))
		       ? -errno
		       : 0;
}

static int report_out_finish(struct report_out *o, enum export_end end, struct err *err)
{
	const char *name = o->path ? o->path : "standard output";
	bool failed = ferror(o->file);
	int r;

	r = fflush(o->file) || failed ? output_failure(o->file) : 0;
	if (!r)
		r = report_out_protect(o, end);
	if (o->path && fclose(o->file) && !r)
		r = -errno;
	if (r)
		return err_sys(err, r, "cannot write '%s'", name);
	r = o->dir ? io_rename(o->making, o->target) : 0;
	return r ? err_sys(err, r, "cannot write '%s'", name) : 0;
}

int report_out_close(struct report_out *o, enum export_end end, struct err *err)
{
	int r = 0;

	if (o->file && end != EXPORT_DROPPED)
		r = report_out_finish(o, end, err);
	else if (o->file && o->path)
		fclose(o->file);
	scratch_free(o->dir);
	free(o->making);
	free(o->target);
	*o = (struct report_out){ 0 };
	return r;
}

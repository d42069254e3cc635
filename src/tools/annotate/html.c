/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/annotate/html.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/files/io.h"
#include "base/files/output.h"
#include "base/files/scratch.h"

static const int new_file_flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;

struct annotate_html {
	char *dir; /* without trailing slashes */
	struct scratch *making;
	char *folder;   /* the directory of the pages, in `making` */
	int fd;         /* descriptor of `folder` */
	char path[128]; /* path of the current page below `folder` */
	bool is_private;
	struct buf page;
	struct err *err;
};

/* Checks that an existing directory is empty. Returns 0, -EEXIST if it is not, or another negative
 * errno. */
static int annotate_html_check_empty(const char *dir)
{
	DIR *d = NULL;
	const struct dirent *e;
	int r = io_open_dir(dir, &d);

	if (r)
		return r;
	errno = 0;
	while (!r && (e = readdir(d))) {
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			r = -EEXIST;
		errno = 0;
	}
	if (!r)
		r = -errno;
	closedir(d);
	return r;
}

/* Checks that the path is free or an empty directory: existing files are never overwritten. */
static int check_position(const char *dir, struct err *err)
{
	struct stat st;
	int r;

	if (lstat(dir, &st))
		return errno == ENOENT ? 0
				       : err_sys(err, -errno, "cannot stat '%s'", dir);
	if (S_ISLNK(st.st_mode))
		return err_set(
			err, -ELOOP,
			"'%s' is a symbolic link: give the directory itself to --html",
			dir);
	if (!S_ISDIR(st.st_mode))
		return err_set(err, -ENOTDIR,
			       "'%s' is not a directory: give a new name to --html",
			       dir);
	r = annotate_html_check_empty(dir);
	if (r == -EEXIST)
		return err_set(
			err, r,
			"'%s' is not empty: remove it, or give a new name to --html",
			dir);
	return r ? err_sys(err, r, "cannot read '%s'", dir) : 0;
}

static char *without_slashes(const char *dir)
{
	size_t len = strlen(dir);

	while (len > 1 && dir[len - 1] == '/')
		len--;
	return strndup(dir, len);
}

/* Creates "DIR.making-XXXXXX/pages" and its subdirectories. */
static int make_folders(struct annotate_html *h)
{
	int r;

	if (asprintf(&h->folder, "%s/pages", scratch_folder(h->making)) < 0) {
		h->folder = NULL;
		return err_set(h->err, -ENOMEM, "out of memory");
	}
	r = io_mkdir(h->folder, output_dir_mode(false));
	if (r)
		return err_sys(h->err, r, "cannot create '%s'", h->dir);
	h->fd = io_open(h->folder, O_RDONLY | O_DIRECTORY, 0);
	if (h->fd < 0)
		return err_sys(h->err, h->fd, "cannot open '%s'", h->dir);
	if (mkdirat(h->fd, "source", output_dir_mode(false)) ||
	    mkdirat(h->fd, "code", output_dir_mode(false)))
		return err_sys(h->err, -errno, "cannot create '%s'", h->dir);
	return 0;
}

int annotate_html_new(const char *dir, struct annotate_html **ret_html, struct err *err)
{
	struct annotate_html *h = calloc(1, sizeof(*h));
	int r;

	if (!h)
		return err_set(err, -ENOMEM, "out of memory");
	h->fd = -1;
	h->err = err;
	h->dir = without_slashes(dir);
	if (!h->dir)
		r = err_set(err, -ENOMEM, "out of memory");
	else if (!*h->dir)
		r = err_set(err, -EINVAL, "--html needs the name of a directory");
	else
		r = check_position(h->dir, err);
	if (!r)
		r = scratch_new_next_to(h->dir, &h->making, err);
	if (!r)
		r = make_folders(h);
	if (r) {
		annotate_html_free(h);
		return r;
	}
	*ret_html = h;
	return 0;
}

int annotate_html_open_page(void *ctx, const char *path, FILE **ret_page)
{
	struct annotate_html *h = ctx;

	snprintf(h->path, sizeof(h->path), "%s", path);
	*ret_page = io_open_memory(&h->page);
	return *ret_page ? 0 : err_set(h->err, -ENOMEM, "out of memory");
}

/* Writes the page with one write(2), so that errno explains a failure. */
static int annotate_html_write_page(struct annotate_html *h)
{
	int fd = openat(h->fd, h->path, O_CLOEXEC | new_file_flags,
			output_mode(h->is_private));
	int r = fd < 0 ? -errno : io_write_all(fd, h->page.data, h->page.len);

	if (fd >= 0 && close(fd) && !r)
		r = -errno;
	return r ? err_sys(h->err, r, "cannot write '%s/%s'", h->dir, h->path) : 0;
}

int annotate_html_close_page(void *ctx, FILE *page)
{
	struct annotate_html *h = ctx;
	int r;

	if (io_close_memory(page, &h->page))
		r = err_set(h->err, -ENOMEM, "out of memory");
	else
		r = annotate_html_write_page(h);
	buf_done(&h->page);
	return r;
}

void annotate_html_private(struct annotate_html *h)
{
	h->is_private = true;
}

/* Gives the directory of pages its name. rename(2) replaces an empty directory, but nothing else.
 */
int annotate_html_finish(struct annotate_html *h)
{
	int r = check_position(h->dir, h->err);

	if (r)
		return r;
	/* The names of pages contain function names. */
	if (h->is_private && fchmod(h->fd, output_dir_mode(true)))
		return err_sys(h->err, -errno, "cannot change the mode of '%s'",
			       h->dir);
	r = io_rename(h->folder, h->dir);
	return r ? err_sys(h->err, r, "cannot rename the pages to '%s'", h->dir) : 0;
}

void annotate_html_free(struct annotate_html *h)
{
	if (!h)
		return;
	if (h->fd >= 0)
		close(h->fd);
	scratch_free(h->making);
	free(h->folder);
	free(h->dir);
	free(h);
}

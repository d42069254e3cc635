#include "tools/session_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/io.h"

enum {
	FOLDERS_DEEP = 2 /* of a session: jit/PID/ */
};

static const char default_dir[] = "oprofile_data";
static const char writing_prefix[] = ".recording-";

static int make_names(struct session_dir *d, const char *dir)
{
	char *full;

	if (asprintf(&d->root, "%s", dir) < 0 ||
	    asprintf(&d->samples, "%s/samples", dir) < 0 ||
	    asprintf(&d->current, "%s/samples/current", dir) < 0 ||
	    asprintf(&d->previous, "%s/samples/previous", dir) < 0)
		return -ENOMEM;
	if (d->append && !access(d->current, F_OK)) {
		full = strdup(d->current);
		d->committed = true;
	} else if (asprintf(&full, "%s/samples/%s%d", dir, writing_prefix, getpid()) <
		   0) {
		full = NULL;
	}
	d->writing = full;
	return full ? 0 : -ENOMEM;
}

static int lock(struct session_dir *d, struct err *err)
{
	char *path;

	if (asprintf(&path, "%s/.lock", d->samples) < 0)
		return -ENOMEM;
	d->lock_fd = io_open_lock(path);
	free(path);
	if (d->lock_fd < 0)
		return err_sys(err, d->lock_fd, "cannot write in %s", d->samples);
	if (flock(d->lock_fd, LOCK_EX | LOCK_NB))
		return err_set(
			err, -EBUSY,
			"another recording is running in %s: wait for its end, or give "
			"--session-dir",
			d->root);
	return 0;
}

/* What recorders left that were killed before they committed: under the lock none lives. */
static void remove_stale(const struct session_dir *d)
{
	DIR *dir = opendir(d->samples);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char *path;

		if (strncmp(entry->d_name, writing_prefix, sizeof(writing_prefix) - 1))
			continue;
		if (asprintf(&path, "%s/%s", d->samples, entry->d_name) < 0)
			break;
		io_remove_tree(path);
		free(path);
	}
	if (dir)
		closedir(dir);
}

static bool ends_with(const char *name, const char *end)
{
	size_t len = strlen(name);

	return len > strlen(end) && !strcmp(name + len - strlen(end), end);
}

/* What has its name once it is whole: a segment's begin, a merge, a file or a copy. */
static bool is_torn(const char *name)
{
	return ends_with(name, ".part") || !strcmp(name, ".merging") ||
	       (!strncmp(name, "segment-", strlen("segment-")) &&
		ends_with(name, ".new"));
}

/* Likewise in the session that is continued, and `depth` folders in it: images/, jit/PID/. */
static void remove_torn(const char *folder, int depth)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char *path;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (asprintf(&path, "%s/%s", folder, entry->d_name) < 0)
			break;
		if (entry->d_type == DT_DIR && depth)
			remove_torn(path, depth - 1);
		else if (is_torn(entry->d_name))
			(void)unlink(path);
		free(path);
	}
	if (dir)
		closedir(dir);
}

int session_dir_open(const char *dir, bool append, struct session_dir *ret_dir,
		     struct err *err)
{
	struct session_dir d = { .lock_fd = -1, .append = append };
	struct stat st;
	int r = make_names(&d, dir ? dir : default_dir);

	if (r)
		err_set(err, r, "out of memory");
	else if (dir && (stat(dir, &st) || !S_ISDIR(st.st_mode)))
		r = err_set(err, -ENOENT,
			    "%s is not a directory: --session-dir must exist", dir);
	else if ((r = io_make_dirs(d.samples, 0755)))
		err_sys(err, r, "cannot create %s", d.samples);
	if (!r)
		r = lock(&d, err);
	if (!r)
		remove_stale(&d);
	if (!r && d.committed)
		remove_torn(d.current, FOLDERS_DEEP);
	if (!r && !d.committed) {
		r = io_make_dirs(d.writing, RECORDING_DIR_MODE);
		if (r)
			err_sys(err, r, "cannot create %s", d.writing);
	}
	if (r) {
		session_dir_close(&d);
		return r;
	}
	*ret_dir = d;
	return 0;
}

int session_dir_commit(struct session_dir *d, struct err *err)
{
	int r;

	if (d->committed)
		return 0;
	r = io_remove_tree(d->previous);
	if (r)
		return err_sys(err, r, "Unable to remove old sample data at %s",
			       d->previous);
	if (rename(d->current, d->previous) && errno != ENOENT)
		return err_sys(err, -errno, "cannot rename %s", d->current);
	if (rename(d->writing, d->current))
		return err_sys(err, -errno, "cannot rename %s", d->writing);
	free(d->writing);
	d->writing = strdup(d->current);
	d->committed = true;
	return d->writing ? 0 : err_set(err, -ENOMEM, "out of memory");
}

void session_dir_close(struct session_dir *d)
{
	if (!d->committed && d->writing)
		io_remove_tree(d->writing);
	if (d->lock_fd >= 0)
		close(d->lock_fd);
	free(d->root);
	free(d->samples);
	free(d->current);
	free(d->previous);
	free(d->writing);
	*d = (struct session_dir){ .lock_fd = -1 };
}

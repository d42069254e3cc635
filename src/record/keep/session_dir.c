/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/keep/session_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/err.h"
#include "base/files/guard.h"
#include "base/files/io.h"
#include "base/files/output.h"
#include "base/files/path.h"
#include "base/files/tree.h"
#include "base/files/trust.h"
#include "base/log.h"
#include "format/odb/sample_path.h"

enum {
	FOLDERS_DEEP = 2, /* of a session: jit/PID/ */
	OLD_NAME_MAX = 64,
	ASIDE_MAX = 10000 /* maximum number of renamed sessions of OProfile */
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
		return err_sys(err, d->lock_fd, "cannot write into '%s'", d->samples);
	if (flock(d->lock_fd, LOCK_EX | LOCK_NB))
		return err_set(
			err, -EBUSY,
			"another recording is running in %s: wait until it ends, or give --session-dir",
			d->root);
	return 0;
}

static DIR *read_dir(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

/* ---- ownership of directories ---- */

/* Checks that `name` in the directory `at`, whose path is `parent`, is trusted or missing. */
static int session_dir_check(int at, const char *parent, const char *name,
			     struct err *err)
{
	char *shown;
	int fd;

	if (asprintf(&shown, "%s/%s", parent, name) < 0)
		return err_set(err, -ENOMEM, "out of memory");
	fd = trust_open_dir(at, name, shown, err);
	free(shown);
	if (fd >= 0)
		close(fd);
	return fd >= 0 || fd == -ENOENT ? 0 : fd;
}

static int check_samples(const struct session_dir *d, struct err *err)
{
	DIR *dir = read_dir(d->samples_fd, ".");
	const struct dirent *entry;
	int r = session_dir_check(d->samples_fd, d->samples, "current", err);

	if (!r)
		r = session_dir_check(d->samples_fd, d->samples, "previous", err);
	while (!r && dir && (entry = tree_next(dir)))
		if (!strncmp(entry->d_name, writing_prefix, sizeof(writing_prefix) - 1))
			r = session_dir_check(d->samples_fd, d->samples, entry->d_name,
					      err);
	if (dir)
		closedir(dir);
	return r;
}

/* Opens DIR. A DIR that the user gave may belong to another user, but must not be reached through
 * another user's link. The default one, in the current directory, must be trusted, because any
 * user may have created it. */
static int open_root(const struct session_dir *d, bool given, struct err *err)
{
	struct err why = { 0 };
	int fd;

	if (!given)
		return trust_make_dir(AT_FDCWD, d->root, 0755, d->root, err);
	fd = output_open_dir(d->root, &why);
	if (fd == -EPERM)
		return err_set(err, fd, "%s", why.text);
	if (fd < 0)
		return err_set(err, -ENOENT,
			       "%s is not a directory: --session-dir must exist",
			       d->root);
	return fd;
}

static int guard(struct session_dir *d, int root, struct err *err)
{
	int r = guard_add(d->root, "samples", root);

	if (!r) {
		r = guard_add(d->root, "kernel", root);
		if (r)
			guard_drop(d->root, "samples");
	}
	d->guarded = !r;
	return r ? err_sys(err, r, "cannot open '%s'", d->root) : 0;
}

static int open_samples(struct session_dir *d, bool given, struct err *err)
{
	int root = open_root(d, given, err);
	int r;

	if (root < 0)
		return root;
	r = session_dir_check(root, d->root, "kernel", err);
	if (!r)
		d->samples_fd = trust_make_dir(root, "samples", 0755, d->samples, err);
	if (!r && d->samples_fd < 0)
		r = d->samples_fd;
	if (!r)
		r = guard(d, root, err);
	close(root);
	if (r)
		return r;
	return check_samples(d, err);
}

/* ---- leftovers ---- */

/* Removes the directories of recorders that were killed before they committed. The caller has the
 * lock, so no other recorder is running. */
static void remove_stale(const struct session_dir *d)
{
	DIR *dir = read_dir(d->samples_fd, ".");
	const struct dirent *entry;

	while (dir && (entry = tree_next(dir)))
		if (!strncmp(entry->d_name, writing_prefix, sizeof(writing_prefix) - 1))
			(void)io_remove_tree_at(d->samples_fd, entry->d_name);
	if (dir)
		closedir(dir);
}

static const char *name_in(const char *path)
{
	return path_base(path);
}

/* ---- sessions of OProfile ---- */

static bool is_made_by_oprofile(const struct session_dir *d, const char *name)
{
	DIR *dir = read_dir(d->samples_fd, name);
	const struct dirent *entry;
	bool found = false;

	while (!found && dir && (entry = tree_next(dir)))
		found = odb_path_begins(entry->d_name);
	if (dir)
		closedir(dir);
	return found;
}

/* Renames a session that OProfile wrote to a free name, so that it is never removed or mixed with
 * ours. Returns 0, or a negative errno with a message. Does nothing to other directories. */
static int set_aside(const struct session_dir *d, const char *path, struct err *err)
{
	const char *name = name_in(path);
	char *aside = NULL;
	int r = -EEXIST;

	if (!is_made_by_oprofile(d, name))
		return 0;
	for (unsigned int i = 1; r == -EEXIST && i <= ASIDE_MAX; i++) {
		free(aside);
		if (asprintf(&aside, "%s/oprofile-%u", d->samples, i) < 0)
			return err_set(err, -ENOMEM, "out of memory");
		r = io_rename_new(path, aside);
	}
	if (r)
		err_sys(err, r, "cannot move the session of OProfile '%s' aside", path);
	else
		log_say(LOG_WARNING,
			"'%s' is a session of OProfile: moved to '%s'; read it with session:%s",
			path, aside, name_in(aside));
	free(aside);
	/* The session to continue was renamed, so begin a new one. */
	if (!r && d->committed && !strcmp(name, "current") &&
	    mkdirat(d->samples_fd, name, RECORDING_DIR_MODE))
		r = err_sys(err, -errno, "cannot create '%s'", d->current);
	return r;
}

static bool session_dir_ends_with(const char *name, const char *end)
{
	size_t len = strlen(name);

	return len > strlen(end) && !strcmp(name + len - strlen(end), end);
}

/* Returns whether the name is temporary, used until a file is complete: the start of a segment, a
 * merge, a file or a copy. */
static bool is_torn(const char *name)
{
	return session_dir_ends_with(name, ".part") || !strcmp(name, ".merging") ||
	       (!strncmp(name, "segment-", strlen("segment-")) &&
		session_dir_ends_with(name, ".new"));
}

/* Removes files with temporary names in the session that is continued, and in its subdirectories
 * (images/, jit/PID/) down to `depth` levels. */
static void session_dir_remove_torn(int at, const char *folder, int depth)
{
	DIR *dir = read_dir(at, folder);
	const struct dirent *entry;

	while (dir && (entry = tree_next(dir))) {
		if (entry->d_type == DT_DIR && depth)
			session_dir_remove_torn(dirfd(dir), entry->d_name, depth - 1);
		else if (is_torn(entry->d_name))
			(void)unlinkat(dirfd(dir), entry->d_name, 0);
	}
	if (dir)
		closedir(dir);
}

/* ---- the session ---- */

int session_dir_open(const char *dir, bool append, struct session_dir *ret_dir,
		     struct err *err)
{
	struct session_dir d = { .samples_fd = -1, .lock_fd = -1, .append = append };
	int r = make_names(&d, dir ? dir : default_dir);

	if (r)
		err_set(err, r, "out of memory");
	else
		r = open_samples(&d, dir, err);
	if (!r)
		r = lock(&d, err);
	if (!r)
		remove_stale(&d);
	if (!r)
		r = set_aside(&d, d.previous, err);
	if (!r)
		r = set_aside(&d, d.current, err);
	if (!r && d.committed)
		session_dir_remove_torn(d.samples_fd, "current", FOLDERS_DEEP);
	if (!r && !d.committed) {
		if (mkdirat(d.samples_fd, name_in(d.writing), RECORDING_DIR_MODE))
			r = -errno;
		else
			r = io_own_group(d.samples_fd, name_in(d.writing));
		if (r)
			err_sys(err, r, "cannot create '%s'", d.writing);
	}
	if (r) {
		session_dir_close(&d);
		return r;
	}
	*ret_dir = d;
	return 0;
}

static int make_root(const char *dir, struct err *err)
{
	int fd = output_make_dir(dir, 0755, err);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

int session_dir_make_current(const char *dir, struct err *err)
{
	struct session_dir d = { .samples_fd = -1, .lock_fd = -1, .committed = true };
	int r = make_names(&d, dir);
	int fd;

	if (r)
		err_set(err, r, "out of memory");
	else
		r = make_root(dir, err);
	if (!r)
		r = open_samples(&d, true, err);
	if (!r) {
		fd = trust_make_dir(d.samples_fd, "current", RECORDING_DIR_MODE,
				    d.current, err);
		if (fd < 0)
			r = fd;
		else
			close(fd);
	}
	session_dir_close(&d);
	return r;
}

static int rename_in(const struct session_dir *d, const char *from, const char *to)
{
	return renameat(d->samples_fd, from, d->samples_fd, to) ? -errno : 0;
}

struct renaming {
	const char *from, *to; /* names in the samples directory */
	bool may_be_missing;
};

/* Creates a name for the session to remove, which remove_stale() recognizes. */
static void old_name(const struct session_dir *d, char old[OLD_NAME_MAX])
{
	snprintf(old, OLD_NAME_MAX, "%s.old", name_in(d->writing));
}

/* Renames each entry in turn; the last entry has no `from`.  After a failure, restores the
 * earlier names. */
static int rename_all(const struct session_dir *d, const struct renaming *all)
{
	for (size_t i = 0; all[i].from; i++) {
		int r = rename_in(d, all[i].from, all[i].to);

		if (!r || (r == -ENOENT && all[i].may_be_missing))
			continue;
		while (i-- > 0)
			(void)rename_in(d, all[i].to, all[i].from);
		return r;
	}
	return 0;
}

/* Removes the old session once the new one is in place.  Files that cannot be removed are removed
 * by the next recording as leftovers. */
static void remove_old(const struct session_dir *d, const char *old)
{
	int r = io_remove_tree_at(d->samples_fd, old);

	if (r)
		log_say(LOG_WARNING, "Unable to remove old sample data at %s/%s: %s",
			d->samples, old, strerror(-r));
}

int session_dir_commit_named(struct session_dir *d, const char *name, struct err *err)
{
	const char *ours = name_in(d->writing);
	char old[OLD_NAME_MAX];
	const struct renaming all[] = {
		{ .from = name, .to = old, .may_be_missing = true },
		{ .from = ours, .to = name },
		{ 0 },
	};
	int r;

	old_name(d, old);
	r = rename_all(d, all);
	if (r)
		return err_sys(err, r, "cannot rename '%s' to '%s'", d->writing, name);
	d->committed = true;
	remove_old(d, old);
	return 0;
}

static int commit_current(struct session_dir *d, char *current, struct err *err)
{
	char old[OLD_NAME_MAX];
	const struct renaming all[] = {
		{ .from = "previous", .to = old, .may_be_missing = true },
		{ .from = "current", .to = "previous" },
		{ .from = name_in(d->writing), .to = "current" },
		{ 0 },
	};
	bool is_first =
		faccessat(d->samples_fd, "current", F_OK, AT_SYMLINK_NOFOLLOW) &&
		errno == ENOENT;
	int r;

	old_name(d, old);
	/* If there is no current session, keep the previous one. */
	r = rename_all(d, is_first ? all + 2 : all);
	if (r)
		return err_sys(err, r, "cannot rename '%s' to '%s'", d->writing,
			       d->current);
	free(d->writing);
	d->writing = current;
	d->committed = true;
	remove_old(d, old);
	return 0;
}

int session_dir_commit(struct session_dir *d, struct err *err)
{
	char *current;
	int r;

	if (d->committed)
		return 0;
	current = strdup(d->current);
	r = current ? commit_current(d, current, err)
		    : err_set(err, -ENOMEM, "out of memory");
	if (r)
		free(current);
	return r; /* NOLINT(clang-analyzer-unix.Malloc): `current` is d->writing now */
}

void session_dir_close(struct session_dir *d)
{
	if (!d->committed && d->writing && d->samples_fd >= 0)
		(void)io_remove_tree_at(d->samples_fd, name_in(d->writing));
	if (d->samples_fd >= 0)
		close(d->samples_fd);
	if (d->guarded) {
		guard_drop(d->root, "samples");
		guard_drop(d->root, "kernel");
	}
	if (d->lock_fd >= 0)
		close(d->lock_fd);
	free(d->root);
	free(d->samples);
	free(d->current);
	free(d->previous);
	free(d->writing);
	*d = (struct session_dir){ .samples_fd = -1, .lock_fd = -1 };
}

bool session_dir_is_name(const char *name)
{
	/* `previous` belongs to operf, which removes it. */
	static const char *const own[] = { "current", "previous", "oprofiled.log" };

	for (const unsigned char *at = (const unsigned char *)name; *at; at++)
		if (*at < ' ' || *at == 0x7f || *at == '/')
			return false;
	for (size_t i = 0; i < COUNT_OF(own); i++)
		if (!strcmp(name, own[i]))
			return false;
	return *name && *name != '.';
}

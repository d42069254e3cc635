/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/jit/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/files/faults.h"
#include "base/files/io.h"
#include "base/files/path.h"
#include "base/files/process_facts.h"
#include "base/files/process_mounts.h"
#include "base/files/tree.h"
#include "base/files/trust.h"
#include "base/log.h"
#include "base/parse.h"
#include "format/session/checksums.h"

enum {
	NAME_BYTES = 64,
	PROCESS_START_TICK_NS = 10 * 1000 * 1000 /* precision of process_start_ns() */
};

/* Returns whether a file name is START, digits, END. */
static bool is_numbered(const char *name, const char *start, const char *end)
{
	size_t len = strlen(start);
	size_t digits;

	if (strncmp(name, start, len) != 0)
		return false;
	digits = strspn(name + len, "0123456789");
	return digits && digits < NAME_BYTES - 16 && !strcmp(name + len + digits, end);
}

bool jit_is_dump_name(const char *name)
{
	return is_numbered(name, "jit-", ".dump") || is_numbered(name, "", ".dump");
}

const char *jit_dump_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return path[0] == '/' && is_numbered(slash + 1, "jit-", ".dump") ? slash + 1
									 : NULL;
}

int jit_open(const char *path, uint64_t inode)
{
	struct stat st;
	int fd = io_open_regular(path, O_NOFOLLOW);

	/* Do not report links, FIFOs and sockets, which are refused intentionally. */
	if (fd < 0)
		return fd == -ELOOP || fd == IO_NOT_REGULAR
			       ? fd
			       : fault_unreadable_try(path, fd);
	if (!fault_stat_fd(fd, &st) && (!inode || st.st_ino == inode))
		return fd;
	close(fd);
	return -ENOENT;
}

int jit_open_kept(const char *path)
{
	int fd = jit_open(path, 0);

	if (fd < 0)
		return fault_unreadable(path, fd);
	if (checksums_usable(fd, path))
		return fd;
	close(fd);
	return -ENOENT;
}

int32_t jit_own_pid(int32_t pid)
{
	int64_t own = process_status_number(pid, "NSpid:", STATUS_LAST);

	return own > 0 && own <= INT32_MAX ? (int32_t)own : pid;
}

int64_t jit_uid(int32_t pid)
{
	return process_status_number(pid, "Uid:", STATUS_LAST);
}

bool jit_is_of(int fd, int64_t uid)
{
	struct stat st;

	return !fstat(fd, &st) && (trust_is_own(st.st_uid) || st.st_uid == uid);
}

bool jit_may_be_copied(int fd, int64_t uid)
{
	struct stat st;

	return jit_is_of(fd, uid) && !fstat(fd, &st) &&
	       (st.st_mode & S_IROTH || st.st_uid == uid ||
		(st.st_uid && st.st_uid == geteuid()));
}

/* ---- files of a recording ---- */

/* The conditions for using a file of a process. */
struct wanted {
	uint64_t inode;    /* 0: any */
	uint64_t since_ns; /* the file was last written after this time; 0: any time */
	uint64_t until_ns; /* the file was last written before this time; 0: any time */
	int64_t uid;       /* accepted owner besides the caller and root; -1: none */
	bool any_owner;
};

static bool jit_files_is_wanted(int fd, const struct wanted *wanted)
{
	struct stat st;

	return !fault_stat_fd(fd, &st) &&
	       (!wanted->since_ns ||
		(uint64_t)st.st_mtim.tv_sec >= wanted->since_ns / NS_PER_S) &&
	       (!wanted->until_ns ||
		(uint64_t)st.st_mtim.tv_sec <= wanted->until_ns / NS_PER_S + 1);
}

static bool jit_files_has_owner(int fd, const char *path, const struct wanted *wanted)
{
	if (wanted->any_owner || jit_is_of(fd, wanted->uid))
		return true;
	log_say_once(
		LOG_WARNING,
		"'%s' is not used: it belongs to another user, perhaps not the one of the recorded process (change its owner if you trust it)",
		path);
	return false;
}

/* Tries to open *ret_path, which it frees if that fails. `made` is the result of the asprintf()
 * that made the path. */
static int jit_files_try_file(int made, const struct wanted *wanted, int *ret_fd,
			      char **ret_path)
{
	int fd;

	if (made < 0)
		return -ENOMEM;
	fd = jit_open(*ret_path, wanted->inode);
	if (fd >= 0 && (!jit_files_is_wanted(fd, wanted) ||
			!jit_files_has_owner(fd, *ret_path, wanted))) {
		close(fd);
		fd = -ENOENT;
	}
	if (fd < 0) {
		free(*ret_path);
		*ret_path = NULL;
		return -ENOENT;
	}
	*ret_fd = fd;
	return 0;
}

/* Owners are not checked: the user chose the directory, and an archive does not store owners. */
static const struct wanted in_root = { .any_owner = true };

/* Like jit_files_try_file(), for the copy in a session. */
static int try_kept(int made, int *ret_fd, char **ret_path)
{
	int fd = made < 0 ? -ENOMEM : jit_open_kept(*ret_path);

	if (fd >= 0) {
		*ret_fd = fd;
		return 0;
	}
	if (made >= 0)
		free(*ret_path);
	*ret_path = NULL;
	return made < 0 ? -ENOMEM : -ENOENT;
}

struct kept_map {
	const char *dir;
	int *ret_fd;
	char **ret_path;
};

/* Opens the map if `name` is one. Returns 1 if it was opened. */
static int open_if_map(void *ctx, const char *name)
{
	const struct kept_map *m = ctx;
	int r;

	if (!is_numbered(name, "perf-", ".map"))
		return 0;
	r = try_kept(asprintf(m->ret_path, "%s/%s", m->dir, name), m->ret_fd,
		     m->ret_path);
	return r == -ENOENT ? 0 : r ? r : 1;
}

/* Opens the session's copy of a map, which is named after the pid that the process had in its own
 * namespace. */
static int open_kept_map(const char *session_dir, int32_t pid, int *ret_fd,
			 char **ret_path)
{
	struct kept_map m = { NULL, ret_fd, ret_path };
	char *dir;
	int r;

	if (asprintf(&dir, "%s/jit/%d", session_dir, pid) < 0)
		return -ENOMEM;
	m.dir = dir;
	r = tree_list(dir, open_if_map, &m);
	free(dir);
	return r == 1 ? 0 : r ? r : -ENOENT;
}

/* The running process that has the pid of a recorded one. */
struct jit_live {
	uint64_t start_ns; /* its start, CLOCK_BOOTTIME; 0: no process has the pid */
	uint64_t wall_ns;  /* the same, CLOCK_REALTIME */
	/* The process began before the recording ended, so it can be the recorded one. */
	bool may_be;
	/* The process also began before the recording, so no other one had this pid meanwhile. */
	bool is_certain;
};

static struct jit_live jit_live_find(const struct jit_locations *locations, int32_t pid)
{
	uint64_t boot_ns =
		clock_now_ns(CLOCK_REALTIME) - clock_initial_ns(CLOCK_BOOTTIME);
	struct jit_live live = { .start_ns = process_start_ns(pid) };

	if (!live.start_ns)
		return live;
	live.wall_ns = boot_ns + live.start_ns;
	live.may_be = !locations->until_wall_ns ||
		      live.wall_ns <= locations->until_wall_ns + NS_PER_S;
	live.is_certain = live.may_be && live.wall_ns + PROCESS_START_TICK_NS <=
						 locations->since_wall_ns;
	return live;
}

/* Returns the conditions that a file must meet to be used for a process. If the running process
 * might be a later one with the same pid, accepts only files of the caller and root: the user of
 * that process could otherwise choose names for another user's code. If the running process can
 * be the recorded one, also accepts files that it wrote after the recording. */
static struct wanted wanted_of(const struct jit_locations *locations,
			       const struct jit_live *live, int32_t pid)
{
	return (struct wanted){
		.until_ns = live->may_be ? 0 : locations->until_wall_ns,
		.uid = live->is_certain ? jit_uid(pid) : -1,
	};
}

/* Returns whether the files below the process's root may be searched: another user's process
 * chooses what is there. */
static bool jit_live_is_usable(const struct jit_live *live, int32_t pid)
{
	int64_t uid = live->may_be ? jit_uid(pid) : -1;

	return (live->is_certain || (uid >= 0 && trust_is_own((uid_t)uid))) &&
	       process_mounts_may_search(pid);
}

/* Tries the file below the process's root, which another process with the pid must not have
 * replaced meanwhile. `made` is as in jit_files_try_file(). */
static int jit_live_try_file(const struct jit_live *live, int32_t pid, int made,
			     const struct wanted *wanted, int *ret_fd, char **ret_path)
{
	int r = jit_files_try_file(made, wanted, ret_fd, ret_path);

	if (r || process_start_ns(pid) == live->start_ns)
		return r;
	close(*ret_fd);
	free(*ret_path);
	*ret_path = NULL;
	return -ENOENT;
}

/* Opens the map in /tmp of a process that still runs. The process can have another /tmp, and
 * another pid in its namespace. */
static int open_live_map(const struct jit_locations *locations, int32_t pid,
			 int *ret_fd, char **ret_path)
{
	struct jit_live live = jit_live_find(locations, pid);
	struct wanted wanted = wanted_of(locations, &live, pid);
	int r = -ENOENT;

	wanted.since_ns = live.is_certain ? live.wall_ns : locations->since_wall_ns;
	if (jit_live_is_usable(&live, pid))
		r = jit_live_try_file(&live, pid,
				      asprintf(ret_path, "/proc/%d/root%s%d.map", pid,
					       "/tmp/perf-", jit_own_pid(pid)),
				      &wanted, ret_fd, ret_path);
	return r != -ENOENT
		       ? r
		       : jit_files_try_file(asprintf(ret_path, "/tmp/perf-%d.map", pid),
					    &wanted, ret_fd, ret_path);
}

uint64_t jit_recorded_until(const char *path)
{
	struct stat st;

	return stat(path, &st) || !S_ISREG(st.st_mode) ? 0 : clock_ns(st.st_mtim);
}

int jit_open_map(const struct jit_locations *locations, int32_t pid, int *ret_fd,
		 char **ret_path)
{
	int r = -ENOENT;

	if (pid <= 0)
		return r;
	if (locations->session_dir[0])
		r = open_kept_map(locations->session_dir, pid, ret_fd, ret_path);
	if (r == -ENOENT && locations->root[0])
		return jit_files_try_file(
			asprintf(ret_path, "%s/tmp/perf-%d.map", locations->root, pid),
			&in_root, ret_fd, ret_path);
	return r == -ENOENT && locations->here
		       ? open_live_map(locations, pid, ret_fd, ret_path)
		       : r;
}

int jit_open_dump(const struct jit_locations *locations, int32_t pid, const char *path,
		  uint64_t inode, int *ret_fd, char **ret_path)
{
	const char *name = path_base(path);
	struct jit_live live;
	struct wanted wanted;
	int r = -ENOENT;

	if (!jit_is_dump_name(name))
		return r;
	if (locations->session_dir[0])
		r = try_kept(asprintf(ret_path, "%s/jit/%d/%s", locations->session_dir,
				      pid, name),
			     ret_fd, ret_path);
	/* A copy has another inode than the recorded file, so do not compare inodes. */
	if (r == -ENOENT && locations->root[0])
		return jit_files_try_file(
			asprintf(ret_path, "%s%s", locations->root, path), &in_root,
			ret_fd, ret_path);
	if (r != -ENOENT || !locations->here)
		return r;
	live = jit_live_find(locations, pid);
	wanted = wanted_of(locations, &live, pid);
	wanted.inode = inode;
	if (jit_live_is_usable(&live, pid))
		r = jit_live_try_file(&live, pid,
				      asprintf(ret_path, "/proc/%d/root%s", pid, path),
				      &wanted, ret_fd, ret_path);
	return r != -ENOENT ? r
			    : jit_files_try_file(asprintf(ret_path, "%s", path),
						 &wanted, ret_fd, ret_path);
}

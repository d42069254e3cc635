/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/source/snapshot.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/files/tree.h"
#include "base/parse.h"
#include "capture/source/snapshot_priv.h"

enum {
	COMM_BYTES = 64, /* TASK_COMM_LEN is 16, but kernel workers have longer names */
	PID_PATH_MAX = 32,
	READ_STEP_MAX = 16384,
	TEXT_BYTES_MAX = 64 << 20, /* enough for about 500 000 mappings */
	TASK_KTHREAD = 0x00200000  /* PF_KTHREAD of the kernel's <linux/sched.h> */
};

/* A process, as described by /proc/PID/stat (proc(5)). */
struct snapshot_process {
	pid_t pid;
	pid_t ppid;
	uint64_t nr_threads;
	bool kernel;
	char comm[COMM_BYTES];
};

int snapshot_new(const struct snapshot_config *config, struct snapshot **ret_snapshot)
{
	struct snapshot *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->config = *config;
	*ret_snapshot = s;
	return 0;
}

void snapshot_free(struct snapshot *s)
{
	if (!s)
		return;
	buf_done(&s->text);
	buf_done(&s->record);
	free(s);
}

int snapshot_read_fd(struct snapshot *s, int fd)
{
	buf_clear(&s->text);
	for (;;) {
		ssize_t n;

		if (!buf_reserve(&s->text, READ_STEP_MAX + 1))
			return -ENOMEM;
		n = read(fd, s->text.data + s->text.len, READ_STEP_MAX);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		s->text.len += (size_t)n;
		s->text.data[s->text.len] = '\0';
		if (n == 0)
			return 0;
		if (s->text.len > TEXT_BYTES_MAX)
			return -EFBIG;
	}
}

static int snapshot_read_at(struct snapshot *s, int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return -errno;
	r = snapshot_read_fd(s, fd);
	(void)close(fd);
	return r;
}

/* Returns the field with this index in a text of blank-separated numbers, or 0 if it is missing. */
static uint64_t stat_field(const char *at, unsigned int field)
{
	uint64_t v = 0;

	for (; field && *at; at++)
		field -= *at == ' ';
	for (; isdigit((unsigned char)*at); at++)
		v = v * 10 + (uint64_t)(*at - '0');
	return v;
}

/* Parses "pid (comm) state ppid pgrp session tty tpgid flags ...". The comm ends at the last
 * ')'. */
static int parse_stat(const char *text, struct snapshot_process *p)
{
	enum {
		PPID = 1,
		FLAGS = 6,
		NR_THREADS = 17
	}; /* index of the field, starting at state */
	const char *open = strchr(text, '(');
	const char *close = strrchr(text, ')');

	if (!open || !close || close < open || close[1] != ' ')
		return -EBADMSG;
	(void)snprintf(p->comm, sizeof(p->comm), "%.*s", (int)(close - open - 1),
		       open + 1);
	p->ppid = (pid_t)stat_field(close + 2, PPID);
	p->kernel = stat_field(close + 2, FLAGS) & TASK_KTHREAD;
	p->nr_threads = stat_field(close + 2, NR_THREADS);
	return 0;
}

/* Adds a thread of a process with several threads; its name is in task/TID/comm. */
static int snapshot_put_thread(struct snapshot *s, const struct snapshot_process *p,
			       int task_dir, const char *tid_text,
			       struct snapshot_stats *stats)
{
	char path[PID_PATH_MAX];
	uint64_t tid;

	if (!parse_u64_max(tid_text, INT_MAX, &tid) || (pid_t)tid == p->pid)
		return 0;
	(void)snprintf(path, sizeof(path), "%d/comm", (int)tid);
	if (snapshot_read_at(s, task_dir, path) < 0)
		return 0;
	s->text.data[strcspn((const char *)s->text.data, "\n")] = '\0';
	stats->threads++;
	return snapshot_put_comm(s, p->pid, (pid_t)tid, (const char *)s->text.data);
}

static int snapshot_put_threads(struct snapshot *s, const struct snapshot_process *p,
				int proc_dir, struct snapshot_stats *stats)
{
	int fd = openat(proc_dir, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct dirent *entry;
	DIR *dir;
	int r = 0;

	if (fd < 0)
		return 0;
	dir = fdopendir(fd);
	if (!dir) {
		(void)close(fd);
		return -ENOMEM;
	}
	while (r == 0 && (entry = tree_next(dir)))
		r = snapshot_put_thread(s, p, fd, entry->d_name, stats);
	(void)closedir(dir);
	return r;
}

/* Moves *map, which is zero at first, to the next executable mapping of s->text; *ret_before is the
 * mapping in the line before it. Returns 0, or 1 at the end. */
static int next_exec(struct snapshot *s, size_t *pos, struct proc_map *map,
		     struct proc_map *ret_before, uint32_t *bad_lines)
{
	int r;

	for (;;) {
		*ret_before = *map;
		r = proc_map_next((const char *)s->text.data, s->text.len, pos, true,
				  map);
		if (r == -EBADMSG)
			++*bad_lines;
		else if (r > 0 || map->prot & PROT_EXEC)
			return r;
	}
}

/* Returns whether anonymous memory replaced a mapping of a file, so that it contains a copy of the
 * file's code: the mappings before and after it are of the same file, with the same difference
 * between address and file offset. *ret_file is the replaced mapping. `pos` is the position after
 * the memory's line. */
static bool snapshot_was_file(const struct snapshot *s, size_t pos,
			      const struct proc_map *before,
			      const struct proc_map *memory, struct proc_map *ret_file)
{
	uint64_t shift = before->start - before->pgoff;
	struct proc_map after;

	if (memory->path_len || !before->ino ||
	    proc_map_next((const char *)s->text.data, s->text.len, &pos, true,
			  &after) ||
	    after.ino != before->ino || after.maj != before->maj ||
	    after.min != before->min || after.start - after.pgoff != shift ||
	    (before->end != memory->start && after.start != memory->end))
		return false;
	*ret_file = *before;
	ret_file->start = memory->start;
	ret_file->end = memory->end;
	ret_file->pgoff = memory->start - shift;
	ret_file->prot = memory->prot;
	return true;
}

/* Reads the attributes of a file that the kernel has cached. Returns false if it cannot. A plain
 * stat(2) would query the server of a user's file system, which may never answer. */
static bool snapshot_stat(int at, const char *name, struct statx *ret_st)
{
	return !statx(at, name, AT_STATX_DONT_SYNC, STATX_INO, ret_st);
}

/* Finds the mapping of the main binary: the one with the path of /proc/PID/exe, or else the one
 * with its inode, because /proc/PID/maps can contain the path with escapes or relative to another
 * root. Returns its index among the mappings that next_exec() returns, or SIZE_MAX if not found. */
static size_t find_main(struct snapshot *s, int proc_dir)
{
	char exe[PATH_MAX];
	ssize_t exe_len = readlinkat(proc_dir, "exe", exe, sizeof(exe));
	struct proc_map map = { 0 }, before;
	uint32_t ignored = 0;
	size_t line = 0;
	struct statx st;

	if (exe_len <= 0)
		return SIZE_MAX;
	for (size_t pos = 0; next_exec(s, &pos, &map, &before, &ignored) == 0; line++) {
		if (map.path_len == (size_t)exe_len &&
		    !memcmp(map.path, exe, (size_t)exe_len))
			return line;
	}
	line = 0;
	map = (struct proc_map){ 0 };
	if (!snapshot_stat(proc_dir, "exe", &st))
		return SIZE_MAX;
	for (size_t pos = 0; next_exec(s, &pos, &map, &before, &ignored) == 0; line++) {
		if (map.ino && map.ino == st.stx_ino)
			return line;
	}
	return SIZE_MAX;
}

/* Returns whether the directory of this name is the root of the process. */
static bool is_root_of(int proc_dir, const char *path)
{
	struct statx root, named;

	return snapshot_stat(proc_dir, "root", &root) &&
	       snapshot_stat(AT_FDCWD, path, &named) &&
	       root.stx_dev_major == named.stx_dev_major &&
	       root.stx_dev_minor == named.stx_dev_minor &&
	       root.stx_ino == named.stx_ino;
}

/* Reads the root directory of the process, seen from our own root. Paths in /proc/PID/maps begin
 * with that directory, while paths in the kernel's mapping records are relative to it. Returns its
 * length; 0 if it is our root, or in another mount namespace, for which maps shows paths as the
 * process sees them. */
static size_t snapshot_read_root(int proc_dir, char *root, size_t bytes)
{
	static const char deleted[] = " (deleted)";
	size_t tail = sizeof(deleted) - 1;
	ssize_t n = readlinkat(proc_dir, "root", root, bytes);
	size_t len = n < 0 ? 0 : (size_t)n;

	if (len == bytes)
		return 0;
	root[len] = '\0';
	/* If the directory was deleted, the kernel appends this text to its name. But a name can
	 * also end in it. */
	if (len > tail && !memcmp(root + len - tail, deleted, tail) &&
	    !is_root_of(proc_dir, root))
		len -= tail;
	return len == 1 ? 0 : len;
}

static void cut_root(struct proc_map *map, const char *root, size_t len)
{
	if (!len || map->path_len <= len || map->path[len] != '/' ||
	    memcmp(map->path, root, len) != 0)
		return;
	map->path += len;
	map->path_len -= len;
}

static int put_maps(struct snapshot *s, pid_t pid, int proc_dir,
		    struct snapshot_stats *stats)
{
	size_t first = find_main(s, proc_dir);
	char root[PATH_MAX];
	size_t root_len = snapshot_read_root(proc_dir, root, sizeof(root));
	struct proc_map map, before, file;
	uint32_t ignored = 0;
	int r = 0;

	/* The first round adds only the main binary, the second one all other mappings. */
	for (int round = 0; round < 2; round++) {
		size_t pos = 0;
		uint32_t *bad = round ? &stats->bad_lines : &ignored;

		map = (struct proc_map){ 0 };
		for (size_t line = 0; next_exec(s, &pos, &map, &before, bad) == 0;
		     line++) {
			if ((line == first) != (round == 0))
				continue;
			if (snapshot_was_file(s, pos, &before, &map, &file)) {
				cut_root(&file, root, root_len);
				r = snapshot_put_mmap2(s, pid, &file);
			}
			cut_root(&map, root, root_len);
			if (r >= 0)
				r = snapshot_put_mmap2(s, pid, &map);
			if (r < 0)
				return r;
			stats->mappings++;
		}
	}
	return r;
}

/* If the first thread of a process has ended, only the other threads show the mappings. Opens
 * the directory of such a thread and reads its maps into s->text. Returns the descriptor or a
 * negative errno. */
static int open_live_thread(struct snapshot *s, int proc_dir)
{
	int task_fd = openat(proc_dir, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = task_fd < 0 ? NULL : fdopendir(task_fd);
	const struct dirent *entry;
	int fd = -ENOENT;

	if (!dir) {
		if (task_fd >= 0)
			(void)close(task_fd);
		return -ENOENT;
	}
	while (fd < 0 && (entry = tree_next(dir))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		fd = openat(task_fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0 && (snapshot_read_at(s, fd, "maps") < 0 || !s->text.len)) {
			(void)close(fd);
			fd = -ENOENT;
		}
	}
	(void)closedir(dir);
	return fd;
}

/* Adds the mappings of a process with several threads whose own maps are empty. */
static int put_maps_of_thread(struct snapshot *s, pid_t pid, int proc_dir,
			      struct snapshot_stats *stats)
{
	int fd = open_live_thread(s, proc_dir);
	int r = 0;

	if (fd < 0)
		return 0;
	r = put_maps(s, pid, fd, stats);
	(void)close(fd);
	return r;
}

/* Adds everything about an existing process. If a file can no longer be read, the process has
 * ended: then the records written so far remain, and the kernel's EXIT record follows. */
static int snapshot_put_process(struct snapshot *s, const struct snapshot_process *p,
				int proc_dir, struct snapshot_stats *stats)
{
	int unreadable = 0;
	int r;

	r = snapshot_put_fork(s, p->pid, p->ppid);
	if (r == 0)
		r = snapshot_put_comm(s, p->pid, p->pid, p->comm);
	if (r < 0)
		return r;
	stats->processes++;
	stats->threads++;
	if (p->kernel)
		return 0;
	r = snapshot_read_at(s, proc_dir, "maps");
	if (r == 0 && !s->text.len && p->nr_threads > 1)
		r = put_maps_of_thread(s, p->pid, proc_dir, stats);
	else if (r == 0)
		r = put_maps(s, p->pid, proc_dir, stats);
	else if (r == -ENOMEM)
		return r;
	else if (r == -EACCES || r == -EPERM)
		unreadable = -EACCES;
	if (r < 0 && !unreadable && r != -ENOENT && r != -ESRCH && r != -EFBIG)
		return r;
	stats->unreadable += unreadable < 0;
	if (p->nr_threads > 1) {
		r = snapshot_put_threads(s, p, proc_dir, stats);
		if (r < 0)
			return r;
	}
	return unreadable;
}

/* Adds process `pid`. `proc` is a file descriptor of /proc. Returns 0, -ESRCH if the process does
 * not exist, or another negative errno. */
static int snapshot_pid(struct snapshot *s, int proc, pid_t pid,
			struct snapshot_stats *stats)
{
	struct snapshot_process p = { .pid = pid };
	char path[PID_PATH_MAX];
	int dir;
	int r;

	s->time_ns = clock_now_ns(s->config.clock);
	(void)snprintf(path, sizeof(path), "%d", pid);
	dir = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	r = snapshot_read_at(s, dir, "stat");
	if (r == 0)
		r = parse_stat((const char *)s->text.data, &p);
	if (r == 0)
		r = snapshot_put_process(s, &p, dir, stats);
	else if (r != -ENOMEM)
		r = -ESRCH;
	(void)close(dir);
	return r;
}

static int open_proc(struct err *err)
{
	int fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? err_sys(err, -errno, "cannot open '/proc'") : fd;
}

/* Returns the process of a thread ("Tgid:" in its status), or `tid` if it is unknown. */
static pid_t snapshot_leader_of(struct snapshot *s, int proc, pid_t tid)
{
	char path[PID_PATH_MAX];
	const char *line;
	pid_t pid;

	(void)snprintf(path, sizeof(path), "%d/status", tid);
	if (snapshot_read_at(s, proc, path) < 0)
		return tid;
	line = strstr((const char *)s->text.data, "\nTgid:\t");
	pid = line ? (pid_t)stat_field(line + strlen("\nTgid:\t"), 0) : 0;
	return pid > 0 ? pid : tid;
}

int snapshot_process(struct snapshot *s, pid_t pid, struct snapshot_stats *stats,
		     struct err *err)
{
	int proc = open_proc(err);
	int r;

	if (proc < 0)
		return proc;
	r = snapshot_pid(s, proc, snapshot_leader_of(s, proc, pid), stats);
	(void)close(proc);
	if (r < 0)
		return err_sys(err, r, "cannot read the state of process %d", pid);
	return r;
}

static bool deadline_passed(const struct snapshot *s)
{
	return s->config.deadline_ns &&
	       clock_now_ns(CLOCK_MONOTONIC) >= s->config.deadline_ns;
}

int snapshot_all(struct snapshot *s, struct snapshot_stats *stats, struct err *err)
{
	bool late = false;
	const struct dirent *entry;
	uint64_t pid;
	DIR *dir;
	int r = 0;

	dir = opendir("/proc");
	if (!dir)
		return err_sys(err, -errno, "cannot open '/proc'");
	while ((entry = tree_next(dir))) {
		if (!parse_u64_max(entry->d_name, INT_MAX, &pid))
			continue;
		late = late || deadline_passed(s);
		if (late) {
			stats->skipped++;
			continue;
		}
		r = snapshot_pid(s, dirfd(dir), (pid_t)pid, stats);
		if (r == -ESRCH || r == -EACCES)
			r = 0;
		if (r < 0)
			break;
	}
	(void)closedir(dir);
	return r < 0 ? err_sys(err, r, "cannot read the state of running processes")
		     : 0;
}

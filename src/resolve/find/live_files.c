/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/find/live_files.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/containers/hash.h"
#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "base/files/faults.h"
#include "base/files/io.h"
#include "base/files/process_facts.h"
#include "base/files/process_mounts.h"
#include "base/files/tree.h"
#include "base/parse.h"
#include "resolve/elf/file.h"

enum {
	SMALL_FILE_MAX = 4096,
	LINK_TEXT_MAX = 4096,
	MAPPED_MAX = 4096 /* maximum number of mapped files to remember */
};

/* The kernel appends this to the path of a deleted file. */
static const char deleted[] = " (deleted)";

/* A recorded process that still runs. */
struct live_process {
	int32_t pid;
	/* The process's main binary: index of the image in the dict, or DICT_NONE. */
	uint32_t app;
	uint64_t root_dev;
	uint64_t root_inode;
	uint64_t mounts;  /* id of its mount namespace */
	bool is_searched; /* files below the process's root can be opened */
};

/* A mapped file that cannot be opened by its path. */
struct live_mapping {
	uint64_t hash; /* hash of its former path */
	char *path;    /* path below map_files */
};

struct live_files {
	const struct dict *dict;
	const struct session_info *info;
	size_t nr_threads; /* threads of the dict processed so far */
	struct map known;  /* the pids processed so far */
	VEC(struct live_process) processes;
	size_t nr_mapped; /* processes whose mappings were read */
	VEC(struct live_mapping) mappings;
	/* (hash, inode) of the mappings, so that each file is added once */
	struct map mapped;
	struct live_process self; /* this process, whose files can be opened directly */
};

static bool is_this_boot(const char *boot_id)
{
	struct buf text = { 0 };
	size_t len = strlen(boot_id);
	bool is = !io_read_file("/proc/sys/kernel/random/boot_id", &text,
				SMALL_FILE_MAX) &&
		  text.len >= len && !memcmp(text.data, boot_id, len);

	buf_done(&text);
	return is;
}

/* Returns whether processes of the recording can still run here: on the same machine, kernel and
 * boot. A perf.data names the machine and its kernel, but not the boot. */
bool live_files_possible(const struct session_info *info)
{
	struct utsname here;

	if (uname(&here) || !info->hostname || strcmp(info->hostname, here.nodename) ||
	    !info->os_release || strcmp(info->os_release, here.release))
		return false;
	return !info->boot_id || !info->boot_id[0] || is_this_boot(info->boot_id);
}

static int read_link(const char *path, char *ret_text)
{
	ssize_t len = readlink(path, ret_text, LINK_TEXT_MAX - 1);

	if (len < 0)
		return -errno;
	ret_text[len] = '\0';
	return 0;
}

static int live_files_read_mounts(const char *pid, struct live_process *p)
{
	char path[64];
	char text[LINK_TEXT_MAX];
	char *end;

	snprintf(path, sizeof(path), "/proc/%s/ns/mnt", pid);
	if (read_link(path, text))
		return -EACCES;
	end = strchr(text, ']');
	if (strncmp(text, "mnt:[", 5) != 0 || !end)
		return -EBADMSG;
	*end = '\0';
	return parse_u64(text + 5, &p->mounts) ? 0 : -EBADMSG;
}

/* Reads the root directory and the mount namespace of a process. Returns 0, or a negative errno
 * if they cannot be read, for example without permission. */
static int live_files_read_root(const char *pid, struct live_process *p)
{
	char path[64];
	struct stat st;

	if (p->is_searched) {
		snprintf(path, sizeof(path), "/proc/%s/root", pid);
		if (stat(path, &st))
			return -errno;
		p->root_dev = st.st_dev;
		p->root_inode = st.st_ino;
	}
	return live_files_read_mounts(pid, p);
}

static bool same_root(const struct live_process *a, const struct live_process *b)
{
	return a->root_dev == b->root_dev && a->root_inode == b->root_inode &&
	       a->mounts == b->mounts;
}

/* Returns whether the running process with the recorded pid can be the recorded one, by their
 * start times. The comparison allows for the time that the machine was suspended, because it is
 * only known for the whole boot. If the recording has no comparable times, returns true. */
static bool is_same_process(const struct live_files *l, const struct thread *t)
{
	uint64_t slept =
		clock_initial_ns(CLOCK_BOOTTIME) - clock_initial_ns(CLOCK_MONOTONIC);
	uint64_t began;

	if (l->info->clock_id != CLOCK_MONOTONIC || !l->info->start_ns)
		return true;
	began = process_start_ns(t->pid);
	if (!began)
		return false;
	if (t->start_ns)
		return t->start_ns + NS_PER_S + slept >= began &&
		       t->start_ns <= began + NS_PER_S;
	return began <= l->info->start_ns + NS_PER_S + slept;
}

int live_files_new(const struct dict *dict, const struct session_info *info,
		   struct live_files **ret_live)
{
	struct live_files *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->dict = dict;
	l->info = info;
	l->self.is_searched = true;
	(void)live_files_read_root("self", &l->self);
	*ret_live = l;
	return 0;
}

void live_files_free(struct live_files *l)
{
	if (!l)
		return;
	map_done(&l->known);
	vec_done(&l->processes);
	for (size_t i = 0; i < l->mappings.nr; i++)
		free(l->mappings.at[i].path);
	vec_done(&l->mappings);
	map_done(&l->mapped);
	free(l);
}

static int live_files_add_process(struct live_files *l, const struct thread *t)
{
	struct live_process p = { .pid = t->pid, .app = t->app };
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", t->pid);
	p.is_searched = process_mounts_may_search(t->pid);
	if (live_files_read_root(pid, &p) || !is_same_process(l, t))
		return 0;
	return vec_push(&l->processes, p) ? 0 : -ENOMEM;
}

/* Adds the processes of threads that are new in the dict, if these processes still run. */
static int live_files_update(struct live_files *l)
{
	for (; l->nr_threads < l->dict->threads.nr; l->nr_threads++) {
		const struct thread *t = &l->dict->threads.at[l->nr_threads];
		struct map_slot *slot;
		bool is_new;
		int r;

		if (t->pid <= 0 || t->flags & (THREAD_KERNEL | THREAD_LOST))
			continue;
		/* After an exec, the process has the same pid and another binary. */
		slot = map_at(&l->known, (uint64_t)t->pid, t->app, &is_new);
		if (!slot)
			return -ENOMEM;
		slot->value_plus_1 = 1;
		r = is_new ? live_files_add_process(l, t) : 0;
		if (r)
			return r;
	}
	return 0;
}

/* One search for a file. */
struct live_files_search {
	const struct image *image;
	char name[LINK_TEXT_MAX];
	bool (*is_it)(int fd, const struct image *image);
	int fd;
	char *path;
};

/* Opens `path` and sets s->fd if it is the file. Consumes `path`. Returns 0 or -ENOMEM. */
static int try_path(struct live_files_search *s, char *path)
{
	int fd = path ? elf_open_regular(path) : -1;

	if (fd >= 0 && s->is_it(fd, s->image)) {
		s->fd = fd;
		s->path = path;
		return 0;
	}
	if (fd >= 0)
		close(fd);
	free(path);
	return path ? 0 : -ENOMEM;
}

static char *live_files_path_of(const struct live_process *p, const char *what,
				const char *name)
{
	char *path;

	return asprintf(&path, "/proc/%d/%s%s", p->pid, what, name) < 0 ? NULL : path;
}

/* Removes " (deleted)". Returns whether it was present. */
static bool cut_deleted(char *name)
{
	size_t len = strlen(name);
	size_t tail = sizeof(deleted) - 1;

	if (len <= tail || strcmp(name + len - tail, deleted) != 0)
		return false;
	name[len - tail] = '\0';
	return true;
}

/* Adds a mapped file if it cannot be opened by its path: it was deleted, or the process has
 * another root. Consumes `path`. Returns 0 or -ENOMEM. */
static int add_mapping(struct live_files *l, const struct live_process *p, char *path)
{
	struct live_mapping m = { .path = path };
	char text[LINK_TEXT_MAX];
	struct map_slot *slot;
	struct stat st;
	bool is_new = false;
	int r = 0;

	if (!read_link(path, text) && (cut_deleted(text) || !same_root(p, &l->self)) &&
	    process_mounts_may_follow(p->pid, path) && !fault_stat(path, &st)) {
		m.hash = hash_bytes(text, strlen(text), 0);
		slot = map_at(&l->mapped, m.hash, st.st_ino, &is_new);
		if (slot)
			slot->value_plus_1 = 1;
		r = slot ? 0 : -ENOMEM;
	}
	if (!r && is_new && vec_push(&l->mappings, m))
		return 0;
	free(path);
	return is_new ? -ENOMEM : r;
}

static int add_mappings(struct live_files *l, const struct live_process *p)
{
	char *folder = live_files_path_of(p, "map_files", "");
	int r = folder ? 0 : -ENOMEM;
	const struct dirent *e;
	DIR *dir = NULL;

	/* Without CAP_CHECKPOINT_RESTORE only the user's own mappings can be read. */
	if (folder)
		fault_unreadable_try(folder, io_open_dir(folder, &dir));
	while (!r && dir && l->mappings.nr < MAPPED_MAX && (e = tree_next(dir))) {
		char *path = live_files_path_of(p, "map_files/", e->d_name);

		r = path ? add_mapping(l, p, path) : -ENOMEM;
	}
	if (dir)
		closedir(dir);
	free(folder);
	return r;
}

/* Searches the mapped files. The mappings of each process are read only once, for all images. */
static int try_mappings(struct live_files_search *s, struct live_files *l)
{
	uint64_t hash = hash_bytes(s->name, strlen(s->name), 0);
	int r = 0;

	for (; !r && l->nr_mapped < l->processes.nr; l->nr_mapped++)
		r = add_mappings(l, &l->processes.at[l->nr_mapped]);
	for (size_t i = 0; !r && s->fd < 0 && i < l->mappings.nr; i++)
		if (l->mappings.at[i].hash == hash) {
			char *path = strdup(l->mappings.at[i].path);

			r = path ? try_path(s, path) : -ENOMEM;
		}
	return r;
}

static int try_exe(struct live_files_search *s, const struct live_process *p)
{
	char *path = live_files_path_of(p, "exe", "");

	if (path && !process_mounts_may_follow(p->pid, path)) {
		free(path);
		return 0;
	}
	return try_path(s, path);
}

/* Tries the path below the root of a process, if no earlier process has the same root. */
static int try_root(struct live_files_search *s, const struct live_files *l,
		    size_t number)
{
	const struct live_process *p = &l->processes.at[number];

	if (!p->is_searched || same_root(p, &l->self))
		return 0;
	for (size_t i = 0; i < number; i++)
		if (same_root(p, &l->processes.at[i]))
			return 0;
	return try_path(s, live_files_path_of(p, "root", s->name));
}

/* Tries the exe of processes whose main binary is the image, then the recorded path below the
 * root of each process, then the mapped files. */
static int live_files_search(struct live_files_search *s, struct live_files *l,
			     uint32_t number)
{
	size_t nr = l->processes.nr;
	int r = 0;

	for (size_t i = 0; !r && s->fd < 0 && i < nr; i++)
		if (l->processes.at[i].app == number)
			r = try_exe(s, &l->processes.at[i]);
	for (size_t i = 0; !r && s->fd < 0 && i < nr; i++)
		r = try_root(s, l, i);
	if (!r && s->fd < 0)
		r = try_mappings(s, l);
	return r;
}

/* Leaves the name empty if it is too long for a path. */
static void live_files_put_name(struct live_files_search *s, const char *name)
{
	size_t len = strlen(name);

	if (len >= sizeof(s->name))
		return;
	memcpy(s->name, name, len + 1);
	(void)cut_deleted(s->name);
}

int live_files_open(struct live_files *l, const struct image *image, uint32_t number,
		    bool (*is_it)(int fd, const struct image *image), int *ret_fd,
		    char **ret_path)
{
	struct live_files_search s = { .image = image, .is_it = is_it, .fd = -1 };
	int r = live_files_update(l);

	live_files_put_name(&s, dict_str(l->dict, image->name));
	if (!r && s.name[0] == '/' && !strstr(s.name, "/../"))
		r = live_files_search(&s, l, number);
	if (r)
		return r;
	if (s.fd < 0)
		return -ENOENT;
	*ret_fd = s.fd;
	*ret_path = s.path;
	return 0;
}

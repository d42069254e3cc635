/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/keep/jit_store.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/async_call.h"
#include "base/clock.h"
#include "base/containers/hash.h"
#include "base/files/io.h"
#include "base/files/process_facts.h"
#include "base/files/process_mounts.h"
#include "base/log.h"
#include "decode/record.h"
#include "format/session/dict.h"
#include "record/keep/copy_list.h"
#include "record/keep/lasting_mounts.h"
#include "resolve/jit/files.h"

enum {
	KEEP_MAX = 1024,
	INSIDE_MAX = 512,
	PATH_BYTES = 4096 + 64,
	NAME_BYTES = 64
};

static const uint64_t patience_ns = 500000000;

static struct kept_jit *jit_store_find_kept(struct jit_store *k, int32_t pid,
					    const char *name)
{
	for (size_t i = 0; i < k->kept.nr; i++)
		if (k->kept.at[i].pid == pid && !strcmp(k->kept.at[i].name, name))
			return &k->kept.at[i];
	return NULL;
}

/* Opens a file in a mount namespace of another user if that user may read it: the owner of a
 * namespace chooses which file is at each path, for example /etc/shadow. */
static int open_inside(const char *path, uint64_t inode, int64_t uid)
{
	int fd = jit_open(path, inode);

	if (fd < 0 || jit_may_be_copied(fd, uid))
		return fd;
	close(fd);
	return -EACCES;
}

/* Opens a jitdump in a thread, because those of Java are in the home directory, which may be on a
 * server that does not answer. */
struct dump_call {
	struct async_call call; /* must be first */
	int32_t pid;
	int64_t uid; /* user of the process; -1: unknown */
	uint64_t inode;
	int fd; /* the opened file, or a negative errno */
	char path[PATH_BYTES];
};

static void drop_dump(struct async_call *e)
{
	struct dump_call *d = (struct dump_call *)e;

	if (d->fd >= 0)
		close(d->fd);
	free(d);
}

/* Opens the dump in the mount namespace of its process or, failing that, in ours. */
static void jit_store_open_dump(struct async_call *e)
{
	struct dump_call *d = (struct dump_call *)e;
	char seen_by_it[PATH_BYTES + NAME_BYTES];

	snprintf(seen_by_it, sizeof(seen_by_it), "/proc/%d/root%s", d->pid, d->path);
	if (process_mounts_may_search(d->pid))
		d->fd = open_inside(seen_by_it, d->inode, d->uid);
	if (d->fd >= 0)
		return;
	d->fd = jit_open(d->path, d->inode);
	if (d->fd >= 0 && !jit_is_of(d->fd, d->uid)) {
		close(d->fd);
		d->fd = -EACCES;
	}
}

/* Opens a jitdump of process `pid`. Returns a descriptor or a negative errno. */
static int open_of(int32_t pid, int64_t uid, const char *path, uint64_t inode)
{
	size_t len = strlen(path);
	struct dump_call *d = len < PATH_BYTES ? malloc(sizeof(*d)) : NULL;
	int fd;

	if (!d)
		return -ENOMEM;
	*d = (struct dump_call){ .call = { .kind = ASYNC_CALL_FILE,
					   .about = hash_bytes(path, len, 0),
					   .user = process_async_user(pid),
					   .run = jit_store_open_dump,
					   .drop = drop_dump },
				 .pid = pid,
				 .uid = uid,
				 .inode = inode,
				 .fd = -1 };
	memcpy(d->path, path, len + 1);
	fd = async_call_run(&d->call, patience_ns);
	if (fd == -ETIMEDOUT)
		return fd;
	if (!fd) {
		fd = d->fd;
		d->fd = -1;
	}
	drop_dump(&d->call);
	return fd;
}

static void drop_last_kept_of(struct jit_store *k, uint32_t user)
{
	size_t i = k->kept.nr - 1;

	while (k->kept.at[i].user != user)
		i--;
	if (k->kept.at[i].fd >= 0)
		close(k->kept.at[i].fd);
	free(k->kept.at[i].name);
	shares_remove(&k->kept_by, user, 1);
	k->kept.nr--;
	memmove(k->kept.at + i, k->kept.at + i + 1,
		(k->kept.nr - i) * sizeof(*k->kept.at));
}

/* Adds a file, and takes ownership of its name. Returns false if memory runs out; the name is then
 * freed. */
static bool add_kept(struct jit_store *k, const struct kept_jit *kept)
{
	if (kept->name && vec_grow(&k->kept) &&
	    !shares_add(&k->kept_by, kept->user, 1)) {
		k->kept.at[k->kept.nr++] = *kept;
		return true;
	}
	free(kept->name);
	return false;
}

/* Adds an open file to the held files, in place of an older one with the same name. Takes ownership
 * of the descriptor. */
static void keep_fd(struct jit_store *k, const struct jit_process *p, const char *name,
		    int fd)
{
	struct kept_jit kept = { .pid = p->pid, .fd = fd, .user = (uint32_t)p->uid };
	struct kept_jit *old = jit_store_find_kept(k, p->pid, name);

	if (fd < 0)
		return;
	kept.lasts = !k->mounts || lasting_mounts_has(k->mounts, lasting_mounts_of(fd));
	/* Replace the held file: some compilers create the file again under the same name. */
	if (old) {
		if (old->fd >= 0)
			close(old->fd);
		kept.name = old->name;
		kept.user = old->user;
		*old = kept;
		return;
	}
	kept.name = strdup(name);
	if (!add_kept(k, &kept)) {
		close(fd);
		return;
	}
	if (k->kept.nr > KEEP_MAX)
		drop_last_kept_of(k, shares_giver(&k->kept_by, kept.user, 0));
}

/* Returns whether the search for a file can be skipped: it is already held and `again` is not set,
 * or its user has too many files. */
static bool jit_store_is_kept(struct jit_store *k, const struct jit_process *p,
			      const char *name)
{
	uint32_t user = (uint32_t)p->uid;

	if (jit_store_find_kept(k, p->pid, name))
		return !k->again;
	return k->kept.nr >= KEEP_MAX && shares_giver(&k->kept_by, user, 1) == user;
}

static struct jit_process *find_inside(struct jit_store *k, int32_t pid)
{
	for (size_t i = 0; i < k->inside.nr; i++)
		if (k->inside.at[i].pid == pid)
			return &k->inside.at[i];
	return NULL;
}

/* Returns the user id of a process, or of an ended process at the start of its program; -1 if
 * unknown. */
static int64_t uid_of(struct jit_store *k, int32_t pid)
{
	const struct jit_process *began = find_inside(k, pid);
	int64_t uid = jit_uid(pid);

	return uid < 0 && began ? began->uid : uid;
}

static void jit_store_keep(struct jit_store *k, const struct jit_process *p,
			   const char *name, const char *path, uint64_t inode)
{
	if (!jit_store_is_kept(k, p, name))
		keep_fd(k, p, name, open_of(p->pid, p->uid, path, inode));
}

/* Returns whether the pid belonged to another process before, whose samples could be mistaken for
 * those of this process. */
static bool jit_store_is_reused(struct jit_store *k, int32_t pid)
{
	uint32_t start = (uint32_t)(process_start_ns(pid) / NS_PER_MS) & INT32_MAX;
	uint32_t first = map_get(&k->started, (uint32_t)pid, 0);

	if (first != MAP_NONE)
		return start && start != first;
	/* If this fails, a later process counts as the first one with this pid. */
	(void)map_set(&k->started, (uint32_t)pid, 0, start);
	return false;
}

void jit_store_mapped(struct jit_store *k, const struct record_mmap *m)
{
	const char *name = jit_dump_name(m->path);
	struct jit_process p = { .pid = m->pid };

	if (!name || jit_store_is_reused(k, m->pid))
		return;
	p.uid = uid_of(k, m->pid);
	jit_store_keep(k, &p, name, m->path, m->ino);
}

/* Returns whether a perf map with another name is already held for this process. For an ended
 * process, the pid in its container is unknown, so `name`, which contains that pid, can be
 * wrong. */
static bool has_other_map(const struct jit_store *k, int32_t pid, const char *name)
{
	for (size_t i = 0; i < k->kept.nr; i++)
		if (k->kept.at[i].pid == pid && strcmp(k->kept.at[i].name, name) != 0 &&
		    strstr(k->kept.at[i].name, ".map"))
			return true;
	return false;
}

static int open_in_proc(int32_t pid, const char *name, int flags)
{
	char path[NAME_BYTES];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return io_open(path, flags, 0);
}

static void let_go(struct jit_process *p)
{
	if (p->tmp_fd >= 0)
		close(p->tmp_fd);
	if (p->ns_fd >= 0)
		close(p->ns_fd);
}

static bool may_be_held(const struct jit_store *k, int32_t pid, int fd)
{
	uint64_t mount = lasting_mounts_of(fd);

	return !k->mounts || lasting_mounts_has(k->mounts, mount) ||
	       lasting_mounts_is_root_of(mount, pid);
}

/* Holds the /tmp of a process, or its root and mount namespace.  Returns false if nothing can be
 * held. */
static bool hold_tmp(const struct jit_store *k, struct jit_process *p)
{
	p->tmp_fd = open_in_proc(p->pid, "root/tmp", O_PATH | O_DIRECTORY);
	if (p->tmp_fd < 0 || may_be_held(k, p->pid, p->tmp_fd))
		return p->tmp_fd >= 0;
	close(p->tmp_fd);
	p->tmp_fd = open_in_proc(p->pid, "root/", O_PATH | O_DIRECTORY);
	p->ns_fd = open_in_proc(p->pid, "ns/mnt", O_RDONLY);
	if (p->tmp_fd >= 0 && p->ns_fd >= 0)
		return true;
	let_go(p);
	return false;
}

static void drop_last_inside_of(struct jit_store *k, uint32_t user)
{
	size_t i = k->inside.nr - 1;

	while ((uint32_t)k->inside.at[i].uid != user)
		i--;
	let_go(&k->inside.at[i]);
	shares_remove(&k->inside_by, user, 1);
	k->inside.nr--;
	memmove(k->inside.at + i, k->inside.at + i + 1,
		(k->inside.nr - i) * sizeof(*k->inside.at));
}

/* Adds a process of a container to the list. Takes ownership of the descriptors in `p`. */
static void add_inside(struct jit_store *k, struct jit_process *p)
{
	if (!vec_grow(&k->inside) || shares_add(&k->inside_by, (uint32_t)p->uid, 1)) {
		let_go(p);
		return;
	}
	k->inside.at[k->inside.nr++] = *p;
	if (k->inside.nr > INSIDE_MAX)
		drop_last_inside_of(k,
				    shares_giver(&k->inside_by, (uint32_t)p->uid, 0));
}

void jit_store_began(struct jit_store *k, int32_t pid)
{
	struct jit_process *old = find_inside(k, pid);
	struct jit_process p = { .pid = pid,
				 .own_pid = jit_own_pid(pid),
				 .uid = jit_uid(pid),
				 .ns_fd = -1 };

	if (!process_mounts_may_search(pid) || !hold_tmp(k, &p))
		return;
	if (old) {
		let_go(old);
		shares_remove(&k->inside_by, (uint32_t)old->uid, 1);
		*old = k->inside.at[--k->inside.nr];
	}
	add_inside(k, &p);
}

/* Releases processes that had already ended at the last check. */
static void jit_store_forget_gone(struct jit_store *k)
{
	size_t nr = 0;

	for (size_t i = 0; i < k->inside.nr; i++) {
		struct jit_process p = k->inside.at[i];

		if (p.gone) {
			let_go(&p);
			shares_remove(&k->inside_by, (uint32_t)p.uid, 1);
			continue;
		}
		p.gone = kill(p.pid, 0) && errno == ESRCH;
		k->inside.at[nr++] = p;
	}
	k->inside.nr = nr;
}

/* Holds a file in the /tmp of a process that may have ended. */
static void keep_inside(struct jit_store *k, const struct jit_process *p,
			const char *name, const char *path)
{
	char link[PATH_BYTES];

	if (jit_store_is_kept(k, p, name))
		return;
	snprintf(link, sizeof(link), "/proc/self/fd/%d/%s%s", p->tmp_fd,
		 p->ns_fd >= 0 ? "tmp/" : "", path);
	keep_fd(k, p, name, open_inside(link, 0, p->uid));
}

/* Looks for the map of a process and for its dump by libopagent, and keeps them. Their names
 * contain the pid as the process itself sees it. */
static void look_for(struct jit_store *k, int32_t pid)
{
	const struct jit_process *inside = find_inside(k, pid);
	struct jit_process p = { .pid = pid };
	char name[NAME_BYTES], path[2 * NAME_BYTES];

	if (jit_store_is_reused(k, pid))
		return;
	if (inside)
		p = *inside;
	else
		p.own_pid = jit_own_pid(pid);
	p.uid = uid_of(k, pid);
	snprintf(name, sizeof(name), "perf-%d.map", p.own_pid);
	if (has_other_map(k, pid, name))
		return;
	if (inside) {
		keep_inside(k, &p, name, name);
	} else {
		snprintf(path, sizeof(path), "/tmp/%s", name);
		jit_store_keep(k, &p, name, path, 0);
	}
	/* libopagent does not map its dumps, so search for them by name. */
	snprintf(name, sizeof(name), "%d.dump", p.own_pid);
	snprintf(path, sizeof(path), "/tmp/.oprofile/jitdump/%s", name);
	if (inside)
		keep_inside(k, &p, name, path + strlen("/tmp/"));
	else
		jit_store_keep(k, &p, name, path, 0);
}

void jit_store_look(struct jit_store *k, const struct dict *dict)
{
	for (; k->nr_images < dict->images.nr; k->nr_images++) {
		const struct image *image = &dict->images.at[k->nr_images];

		if (image->kind == IMAGE_ANON && image->pid > 0)
			look_for(k, image->pid);
	}
	jit_store_forget_gone(k);
}

int jit_store_dump_of(const struct jit_store *k, int32_t pid)
{
	for (size_t i = k->kept.nr; i-- > 0;)
		if (k->kept.at[i].pid == pid && !strncmp(k->kept.at[i].name, "jit-", 4))
			return k->kept.at[i].fd;
	return -1;
}

static void jit_store_copy_path(const char *dir, int32_t pid, const char *name,
				char *path)
{
	snprintf(path, PATH_BYTES, "%s/jit/%d/%s", dir, pid, name);
}

int jit_store_copy(int fd, const char *dir, int32_t pid, const char *name)
{
	char path[PATH_BYTES];

	jit_store_copy_path(dir, pid, name, path);
	return copy_list_grown(fd, path);
}

static void save_kept(struct kept_jit *kept, const char *dir, struct copy_list *copies)
{
	char path[PATH_BYTES], what[PATH_BYTES];
	const struct copy_job job = {
		.fd = kept->fd, .path = path, .what = what, .user = kept->user
	};

	if (kept->fd < 0)
		return;
	jit_store_copy_path(dir, kept->pid, kept->name, path);
	snprintf(what, sizeof(what), "%s of process %d", kept->name, kept->pid);
	copy_list_take(copies, &job);
	kept->fd = -1;
}

void jit_store_save_gone(struct jit_store *k, const char *dir, struct copy_list *copies)
{
	for (size_t i = 0; i < k->kept.nr; i++) {
		struct kept_jit *kept = &k->kept.at[i];
		bool had_ended = kept->has_ended;

		if (kept->lasts || kept->fd < 0)
			continue;
		kept->has_ended = kill(kept->pid, 0) && errno == ESRCH;
		if (kept->has_ended && had_ended)
			save_kept(kept, dir, copies);
	}
}

void jit_store_save(struct jit_store *k, const char *dir, struct copy_list *copies)
{
	for (size_t i = 0; i < k->kept.nr; i++)
		save_kept(&k->kept.at[i], dir, copies);
}

void jit_store_done(struct jit_store *k)
{
	for (size_t i = 0; i < k->kept.nr; i++) {
		free(k->kept.at[i].name);
		if (k->kept.at[i].fd >= 0)
			close(k->kept.at[i].fd);
	}
	vec_done(&k->kept);
	shares_done(&k->kept_by);
	map_done(&k->started);
	for (size_t i = 0; i < k->inside.nr; i++)
		let_go(&k->inside.at[i]);
	vec_done(&k->inside);
	shares_done(&k->inside_by);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/keep/image_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/containers/hash.h"
#include "base/err.h"
#include "base/files/io.h"
#include "base/files/trust.h"
#include "base/log.h"
#include "capture/system/kernel_files.h"
#include "decode/record.h"
#include "record/keep/containers.h"
#include "record/keep/copy_list.h"
#include "record/keep/image_open.h"
#include "record/keep/session_dir.h"
#include "resolve/elf/build_id.h"
#include "resolve/find/binary.h"
#include "resolve/jit/files.h"

enum {
	KEEP_MAX = 4096, /* most descriptors held */
	NOTE_MAX = 64 * 1024
};

void image_store_init(struct image_store *k, const struct session_dir *dir,
		      const struct build_id *kernel_build_id)
{
	*k = (struct image_store){ .dir = dir, .kernel_build_id = *kernel_build_id };
	file_holder_init(&k->holder, dir);
}

static void module_build_id(const char *name, struct build_id *id)
{
	struct buf notes = { 0 };
	char path[256];

	snprintf(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id", name);
	if (!io_read_file(path, &notes, NOTE_MAX))
		notes_build_id(notes.data, notes.len, id);
	buf_done(&notes);
}

static void first_vdso(struct image_store *k, int32_t pid, uint64_t start, uint64_t end,
		       struct image *image)
{
	struct err err = { 0 };
	const void *bytes;
	size_t len;

	/* A 32-bit process maps a vdso that differs from ours, so first try to save that of the
	 * process. */
	if (!kernel_files_save_vdso_of(k->dir->writing, pid, start, end,
				       &image->build_id, NULL))
		return;
	if (!kernel_files_own_vdso(&bytes, &len) &&
	    kernel_files_save_vdso(k->dir->writing, bytes, len, &image->build_id, &err))
		log_say_once(LOG_WARNING, "%s: symbols of the vdso will be missing",
			     err.text);
}

/* Hashes the properties that are equal for all mappings of one file. */
static uint64_t image_store_identity(const struct build_id *id, const char *path,
				     uint64_t inode, uint64_t inode_gen, uint64_t dev)
{
	uint64_t file = id->len ? hash_bytes(id->bytes, id->len, 0)
				: hash_pair(hash_pair(inode, inode_gen), dev);

	return hash_bytes(path, strlen(path), file);
}

static uint64_t identity_of(const char *path, const struct image *image)
{
	return image_store_identity(&image->build_id, path, image->inode,
				    image->inode_gen, image->dev);
}

static struct early_image *find_early(struct image_store *k, uint64_t key)
{
	uint32_t at = map_get(&k->early_by, key, 0);

	return at == MAP_NONE ? NULL : &k->early.at[at];
}

static int take_early(struct image_store *k, const char *path,
		      const struct image *image, struct found_image *ret)
{
	struct early_image *early = find_early(k, identity_of(path, image));

	if (!early || early->found.held.fd < 0)
		return -ENOENT;
	*ret = early->found;
	early->found.held.fd = -1;
	return 0;
}

/* Opens the file, and holds it as held_file.h describes. */
static int open_now(struct image_store *k, const struct image_location *p,
		    const struct image *image, struct found_image *ret)
{
	struct image_opened opened;
	int r = image_open(p, image, &opened);

	if (r)
		return r;
	ret->build_id = opened.build_id;
	ret->inode_gen = opened.inode_gen;
	held_file_take(&k->holder, p, &opened, &ret->held);
	return 0;
}

static int image_store_open_image(struct image_store *k, const struct image_location *p,
				  const struct image *image, struct found_image *ret)
{
	int r = p->inside ? take_early(k, p->path, image, ret) : -ENOENT;

	if (r)
		r = open_now(k, p, image, ret);
	return r && !p->inside && p->pid > 0 ? take_early(k, p->path, image, ret) : r;
}

/* Remembers the binary: the next process that maps it may live longer. */
static void note_wanted(struct image_store *k, const char *path,
			const struct image *image)
{
	struct wanted_image wanted = { .image = *image };

	if (!image->build_id.len || k->wanted.nr >= KEEP_MAX ||
	    map_get(&k->wanted_by, identity_of(path, image), 0) != MAP_NONE)
		return;
	wanted.path = strdup(path);
	if (wanted.path && vec_push(&k->wanted, wanted))
		(void)map_set(&k->wanted_by, identity_of(path, image), 0,
			      (uint32_t)k->wanted.nr - 1);
	else
		free(wanted.path);
}

static uint64_t image_store_mtime_ns(const struct stat *st)
{
	return clock_ns(st->st_mtim);
}

/* Sets the fields of the image that come from the file. */
static void complete(struct image *image, const struct found_image *found)
{
	const struct stat *st = &found->held.st;

	if (!image->build_id.len)
		image->build_id = found->build_id;
	image->dev = st->st_dev;
	image->inode = st->st_ino;
	image->inode_gen = found->inode_gen;
	image->mtime_ns = image_store_mtime_ns(st);
	image->file_bytes = (uint64_t)st->st_size;
}

static void image_store_free_kept(struct kept_image *kept)
{
	free(kept->path);
	held_file_close(&kept->held);
}

static void drop_last_image_of(struct image_store *k, uint32_t user)
{
	size_t i = k->kept.nr - 1;

	while (k->kept.at[i].user != user)
		i--;
	image_store_free_kept(&k->kept.at[i]);
	shares_remove(&k->kept_by, user, 1);
	k->kept.nr--;
	memmove(k->kept.at + i, k->kept.at + i + 1,
		(k->kept.nr - i) * sizeof(*k->kept.at));
}

/* Returns whether a user has a file with the same build-id as another user's different file.
 * Copies of a program that root installed, as in containers, have the same size as the program and
 * are not suspicious. */
static bool image_store_is_doubtful(const struct kept_image *a,
				    const struct kept_image *b)
{
	const struct stat *one = &a->held.st, *other = &b->held.st;

	return a->image.build_id.len && one->st_uid != other->st_uid &&
	       build_id_equal(&a->image.build_id, &b->image.build_id) &&
	       (one->st_size != other->st_size ||
		(!trust_is_own(one->st_uid) && !trust_is_own(other->st_uid)));
}

static void image_store_warn_of_duplicate(struct image_store *k,
					  const struct kept_image *kept)
{
	for (size_t i = 0; !k->has_warned && i < k->kept.nr; i++) {
		const struct kept_image *twin = &k->kept.at[i];

		if (!image_store_is_doubtful(twin, kept))
			continue;
		k->has_warned = true;
		log_say_once(LOG_WARNING,
			     "%s (of user %u) and %s (of user %u) have the same "
			     "build-id: one of them may be forged",
			     twin->path, twin->held.st.st_uid, kept->path,
			     kept->held.st.st_uid);
	}
}

/* Adds a sampled binary to the list. Takes ownership of `held`. */
static void image_store_keep(struct image_store *k, const struct image_location *at,
			     const struct image *image, const struct held_file *held)
{
	struct kept_image kept = { .image = *image,
				   .at = *at,
				   .held = *held,
				   .user = (uint32_t)jit_uid(at->pid),
				   .path = strdup(at->path) };

	kept.at.path = kept.path;
	if (!kept.path || !vec_grow(&k->kept) ||
	    shares_add(&k->kept_by, kept.user, 1)) {
		image_store_free_kept(&kept);
		return;
	}
	image_store_warn_of_duplicate(k, &kept);
	k->kept.at[k->kept.nr++] = kept;
	if (k->kept.nr > KEEP_MAX)
		drop_last_image_of(k, shares_giver(&k->kept_by, kept.user, 0));
}

/* Returns the entry of a binary that was sampled but could not be opened, or NULL. */
static struct wanted_image *find_wanted(struct image_store *k, uint64_t key)
{
	uint32_t at = k->wanted.nr ? map_get(&k->wanted_by, key, 0) : MAP_NONE;

	return at == MAP_NONE || k->wanted.at[at].is_found ? NULL : &k->wanted.at[at];
}

static void image_store_keep_wanted(struct image_store *k, struct wanted_image *wanted,
				    const struct image_location *at)
{
	struct found_image found;

	if (open_now(k, at, &wanted->image, &found))
		return;
	wanted->is_found = true;
	complete(&wanted->image, &found);
	image_store_keep(k, at, &wanted->image, &found.held);
}

/* Closes the file of the entry with index `i` and removes the entry; the last entry moves to index
 * `i`. If another process maps the file, it is opened again. */
static void remove_early(struct image_store *k, size_t i)
{
	struct early_image *early = &k->early.at[i];

	held_file_close(&early->found.held);
	shares_remove(&k->early_of, early->user, 1);
	map_remove(&k->early_by, early->key, 0);
	*early = k->early.at[--k->early.nr];
	if (i < k->early.nr) /* the last entry was moved to this index */
		(void)map_set(&k->early_by, early->key, 0, (uint32_t)i);
}

static void drop_early_of(struct image_store *k, uint32_t user)
{
	size_t i = k->early.nr - 1;

	while (k->early.at[i].user != user)
		i--;
	remove_early(k, i);
}

/* Adds a binary that a container mapped. Takes ownership of the held file. */
static void add_early(struct image_store *k, struct early_image *early)
{
	if (!vec_grow(&k->early) || shares_add(&k->early_of, early->user, 1)) {
		held_file_close(&early->found.held);
		return;
	}
	if (map_set(&k->early_by, early->key, 0, (uint32_t)k->early.nr)) {
		shares_remove(&k->early_of, early->user, 1);
		held_file_close(&early->found.held);
		return;
	}
	k->early.at[k->early.nr++] = *early;
	if (k->early.nr > KEEP_MAX)
		drop_early_of(k, shares_giver(&k->early_of, early->user, 0));
}

/* Opens a container's file and holds it until its first sample, or until its process ends. */
static void open_early(struct image_store *k, const struct image_location *at,
		       const struct image *image, uint64_t key)
{
	struct early_image early = { .key = key };

	if (find_early(k, key))
		return;
	early.user = (uint32_t)jit_uid(at->pid);
	if (k->early.nr >= KEEP_MAX &&
	    shares_giver(&k->early_of, early.user, 1) == early.user)
		return;
	if (!open_now(k, at, image, &early.found))
		add_early(k, &early);
}

void image_store_mapped(struct image_store *k, const struct record_mmap *m)
{
	struct image image = { .inode = m->ino,
			       .dev = makedev(m->maj, m->min),
			       .build_id.len = m->build_id_len };
	struct image_location at = { .path = m->path,
				     .pid = m->pid,
				     .start = m->start,
				     .end = m->start + m->len,
				     .by_process = true };
	struct wanted_image *wanted;
	uint64_t key;

	if (m->path[0] != '/' || (!m->build_id_len && !m->ino))
		return;
	at.inside = k->containers && containers_has(k->containers, m->pid);
	if (!at.inside && !k->wanted.nr)
		return;
	memcpy(image.build_id.bytes, m->build_id, sizeof(m->build_id));
	key = image_store_identity(&image.build_id, m->path, m->ino, m->ino_gen,
				   image.dev);
	wanted = find_wanted(k, key);
	if (wanted)
		image_store_keep_wanted(k, wanted, &at);
	else if (at.inside)
		open_early(k, &at, &image, key);
}

void image_store_first_hit(struct image_store *k, const char *path, int32_t pid,
			   uint64_t map_start, uint64_t map_end, struct image *image)
{
	const struct image_location at = {
		.path = path,
		.pid = pid,
		.start = map_start,
		.end = map_end,
		.inside = k->containers && containers_has(k->containers, pid),
	};
	struct found_image found;

	if (image->kind == IMAGE_KERNEL)
		image->build_id = k->kernel_build_id;
	if (image->kind == IMAGE_MODULE)
		module_build_id(path, &image->build_id);
	if (image->kind == IMAGE_VDSO)
		first_vdso(k, pid, map_start, map_end, image);
	if (image->kind != IMAGE_FILE)
		return;
	if (image_store_open_image(k, &at, image, &found)) {
		note_wanted(k, path, image);
		return;
	}
	complete(image, &found);
	image_store_keep(k, &at, image, &found.held);
}

bool image_store_is_rewritten(const char *path, const struct image *image)
{
	struct stat st;

	return image->mtime_ns && !image_stat(path, image->dev, &st) &&
	       st.st_dev == image->dev && st.st_ino == image->inode &&
	       (image_store_mtime_ns(&st) != image->mtime_ns ||
		(uint64_t)st.st_size != image->file_bytes);
}

bool image_store_is_memory(const struct image_store *k, const struct record_mmap *m)
{
	const struct image image = { .inode = m->ino, .dev = makedev(m->maj, m->min) };
	const struct image_location at = {
		.path = m->path,
		.pid = m->pid,
		.start = m->start,
		.end = m->start + m->len,
		.inside = k->containers && containers_has(k->containers, m->pid),
	};
	struct image_opened opened;
	uint8_t magic[2] = { 0 };
	ssize_t len;

	if (jit_dump_name(m->path) || image_open(&at, &image, &opened))
		return false;
	len = io_pread_full(opened.fd, magic, sizeof(magic), 0);
	close(opened.fd);
	/* Executables begin as ELF or PE files do; all other files count as memory. */
	return len >= 0 && memcmp(magic, "\177E", 2) != 0 &&
	       memcmp(magic, "MZ", 2) != 0;
}

/* Returns whether an opened file is the one that completed the image. Compares all properties, not
 * only the build-id, because the file's author chooses the build-id. */
static bool image_store_is_same_file(const struct image *a, const struct image *b)
{
	return a->dev == b->dev && a->inode == b->inode && a->mtime_ns == b->mtime_ns &&
	       a->file_bytes == b->file_bytes &&
	       build_id_equal(&a->build_id, &b->build_id);
}

static bool image_store_is_file_of(const struct image *image, const struct stat *st)
{
	return image->dev == st->st_dev && image->inode == st->st_ino &&
	       image->mtime_ns == image_store_mtime_ns(st) &&
	       image->file_bytes == (uint64_t)st->st_size;
}

static int open_same(const struct image_location *at, const struct image *image)
{
	struct image_opened opened;
	int r = image_open(at, image, &opened);

	if (r)
		return r;
	if (image_store_is_file_of(image, &opened.st))
		return opened.fd;
	close(opened.fd);
	return -ESTALE;
}

/* Opens a file that is not held. Returns a descriptor or a negative errno. If another file with
 * the same build-id is at its path now, tries the path as seen by the process, if that still
 * runs. */
static int open_again(const struct kept_image *kept)
{
	struct image_location at = kept->at;
	int fd = open_same(&at, &kept->image);

	if (fd != -ESTALE || at.by_process)
		return fd;
	at.by_process = true;
	return open_same(&at, &kept->image);
}

/* Holds the file of a process that has ended: opens it at the same path in our mount namespace or,
 * if another file is there, replaces it by a private copy. */
static void hold_without_process(struct image_store *k, struct kept_image *kept)
{
	const struct image_location here = { .path = kept->path };
	struct image_opened opened;

	if (image_open(&here, &kept->image, &opened)) {
		held_file_copy(&k->holder, &kept->held);
	} else if (!image_store_is_file_of(&kept->image, &opened.st)) {
		close(opened.fd);
		held_file_copy(&k->holder, &kept->held);
	} else {
		held_file_close(&kept->held);
		held_file_take(&k->holder, &here, &opened, &kept->held);
	}
}

void image_store_look(struct image_store *k)
{
	for (size_t i = k->early.nr; i--;)
		if (held_file_is_over(&k->early.at[i].found.held))
			remove_early(k, i);
	for (size_t i = 0; i < k->kept.nr; i++)
		if (held_file_is_over(&k->kept.at[i].held))
			hold_without_process(k, &k->kept.at[i]);
}

static const struct kept_image *image_store_find_kept(const struct image_store *k,
						      const struct image *image)
{
	for (size_t i = 0; i < k->kept.nr; i++)
		if (image_store_is_same_file(&k->kept.at[i].image, image))
			return &k->kept.at[i];
	return NULL;
}

int image_store_open(const struct image_store *k, const struct image *image, bool *copy)
{
	const struct kept_image *kept = image_store_find_kept(k, image);
	bool take_copy = *copy;
	int fd;

	*copy = false;
	if (!kept)
		return -ENOENT;
	if (kept->held.fd < 0 || (kept->held.kind == HELD_COPY && !take_copy))
		return open_again(kept);
	*copy = kept->held.kind == HELD_COPY;
	fd = fcntl(kept->held.fd, F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? -errno : fd;
}

/* Returns whether the sampled file is still at its path. Also returns true if the file is on a
 * server that does not answer, because it cannot be copied from there. */
static bool still_there(const struct kept_image *kept)
{
	struct stat st;
	int r = image_stat(kept->path, kept->image.dev, &st);

	if (r == -ETIMEDOUT || r == -EBUSY)
		return true;
	return !r && st.st_dev == kept->image.dev && st.st_ino == kept->image.inode &&
	       (uint64_t)st.st_size == kept->image.file_bytes;
}

/* Returns the path for the copy of a file, malloc'd, or NULL if memory is short. The copy of a
 * file of a trusted owner is stored under its build-id, for all files with that build-id. The
 * build-id of another user's file can be forged, and an inode can be reused, so the copies of such
 * files serve this file only. */
static char *image_store_copy_path(const struct image_store *k,
				   const struct kept_image *kept)
{
	bool is_shared = kept->image.build_id.len && trust_is_own(kept->held.st.st_uid);

	return binary_copy_path(k->dir->writing, &kept->image,
				is_shared ? BINARY_COPY_SHARED : BINARY_COPY_OF_FILE);
}

static void save(const struct image_store *k, struct kept_image *kept,
		 struct copy_list *copies)
{
	char what[4096 + 64];
	struct copy_job job = { .fd = kept->held.fd,
				.path = image_store_copy_path(k, kept),
				.what = what,
				.is_binary = true,
				.user = kept->user,
				.bytes = kept->image.file_bytes,
				.mtime_ns = kept->image.mtime_ns };

	if (!job.path)
		return;
	snprintf(what, sizeof(what), "%s was replaced and", kept->path);
	copy_list_take(copies, &job);
	free(job.path);
	kept->held.fd = -1;
}

void image_store_save_lost(struct image_store *k, struct copy_list *copies)
{
	for (size_t i = 0; i < k->kept.nr; i++)
		if (k->kept.at[i].held.fd >= 0 && !still_there(&k->kept.at[i]))
			save(k, &k->kept.at[i], copies);
}

void image_store_done(struct image_store *k)
{
	for (size_t i = 0; i < k->kept.nr; i++)
		image_store_free_kept(&k->kept.at[i]);
	vec_done(&k->kept);
	shares_done(&k->kept_by);
	for (size_t i = 0; i < k->early.nr; i++)
		held_file_close(&k->early.at[i].found.held);
	vec_done(&k->early);
	shares_done(&k->early_of);
	for (size_t i = 0; i < k->wanted.nr; i++)
		free(k->wanted.at[i].path);
	vec_done(&k->wanted);
	map_done(&k->early_by);
	map_done(&k->wanted_by);
	file_holder_done(&k->holder);
}

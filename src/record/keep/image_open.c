/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/keep/image_open.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/async_call.h"
#include "base/containers/hash.h"
#include "base/files/io.h"
#include "base/files/process_facts.h"
#include "base/files/process_mounts.h"
#include "resolve/elf/build_id.h"

static const uint64_t patience_ns = 500000000;

struct file_call {
	struct async_call call; /* must be first */
	struct image_location location;
	struct image image;
	struct image_opened opened; /* fd -1: not open */
	int result;
	char path[];
};

static void image_open_drop(struct async_call *e)
{
	struct file_call *f = (struct file_call *)e;

	if (f->opened.fd >= 0)
		close(f->opened.fd);
	free(f);
}

static uint64_t device(const char *path, uint64_t dev)
{
	return dev ? dev : hash_bytes(path, strlen(path), 0);
}

static struct file_call *image_open_make(const char *path, uint64_t dev, uint64_t user,
					 void (*run)(struct async_call *))
{
	size_t len = strlen(path) + 1;
	struct file_call *f = malloc(offsetof(struct file_call, path) + len);

	if (!f)
		return NULL;
	*f = (struct file_call){ .call = { .kind = ASYNC_CALL_FILE,
					   .about = device(path, dev),
					   .user = user,
					   .run = run,
					   .drop = image_open_drop },
				 .opened.fd = -1 };
	memcpy(f->path, path, len);
	return f;
}

/* ---- in the request's thread ---- */

static bool is_image(const struct file_call *f)
{
	const struct image *image = &f->image;

	if (!S_ISREG(f->opened.st.st_mode))
		return false;
	if (image->build_id.len)
		return build_id_equal(&f->opened.build_id, &image->build_id);
	return !image->inode || image->inode == f->opened.st.st_ino;
}

static void image_open_close_image(struct file_call *f)
{
	close(f->opened.fd);
	f->opened.fd = -1;
}

/* Returns the file's inode generation, or 0. It distinguishes a file from a deleted one that had
 * the same inode number. */
static uint32_t image_open_generation(int fd)
{
	int generation[2] = { 0 }; /* declared as long, but the kernel writes an int */

	return ioctl(fd, FS_IOC_GETVERSION, generation) ? 0 : (uint32_t)generation[0];
}

/* Opens the path if it is the mapped file. Returns false if it is not. The path may meanwhile lead
 * to a FIFO or a device, which must not block. */
static bool try_open(struct file_call *f, const char *path)
{
	struct image_opened *o = &f->opened;
	int fd = io_open_regular(path, 0);

	f->result = fd < 0 && fd != IO_NOT_REGULAR ? fd : -ESTALE;
	if (fd < 0)
		return false;
	o->fd = fd;
	o->build_id.len = 0;
	if (!fstat(fd, &o->st)) {
		if (S_ISREG(o->st.st_mode) && elf_build_id_fd(fd, &o->build_id, NULL))
			o->build_id.len = 0;
		o->inode_gen = image_open_generation(fd);
		if (is_image(f))
			return true;
	}
	image_open_close_image(f);
	return false;
}

/* Opens the file as the process sees it. For a deleted file, the kernel still provides the mapped
 * file itself. Returns false if the mapped file was not found. */
static bool open_of_process(struct file_call *f)
{
	const struct image_location *p = &f->location;
	char path[4096 + 64];

	if (p->pid <= 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/root%s", p->pid, f->path);
	if (process_mounts_may_search(p->pid) && try_open(f, path))
		return true;
	snprintf(path, sizeof(path), "/proc/%d/map_files/%lx-%lx", p->pid,
		 (unsigned long)p->start, (unsigned long)p->end);
	if (process_mounts_may_follow(p->pid, path) && try_open(f, path))
		return true;
	snprintf(path, sizeof(path), "/proc/%d/exe", p->pid);
	return process_mounts_may_follow(p->pid, path) && try_open(f, path);
}

/* Opens the path in our mount namespace. Returns false if it is not the mapped file. The path of a
 * container can lead to another file here; without a build-id, that file could be taken for the
 * right one. */
static bool open_here(struct file_call *f)
{
	if (!try_open(f, f->path))
		return false;
	if (!f->location.inside || f->image.build_id.len ||
	    f->opened.st.st_dev == f->image.dev)
		return true;
	image_open_close_image(f);
	f->result = -ESTALE;
	return false;
}

static void run_open(struct async_call *e)
{
	struct file_call *f = (struct file_call *)e;
	const struct image_location *p = &f->location;
	bool here_first = (!p->inside || p->pid <= 0) && !p->by_process;
	bool found = here_first && open_here(f);

	if (!found)
		found = open_of_process(f);
	if (!found && !here_first && !p->by_process)
		found = open_here(f);
	if (found)
		f->result = 0;
}

static void run_stat(struct async_call *e)
{
	struct file_call *f = (struct file_call *)e;

	f->result = io_stat(f->path, &f->opened.st);
}

/* ---- in the caller's thread ---- */

int image_open(const struct image_location *location, const struct image *image,
	       struct image_opened *ret)
{
	struct file_call *f =
		image_open_make(location->path, image->dev,
				process_async_user(location->pid), run_open);
	int r;

	if (!f)
		return -ENOMEM;
	f->location = *location;
	f->location.path = NULL;
	f->image = *image;
	r = async_call_run(&f->call, patience_ns);
	if (r == -ETIMEDOUT)
		return r;
	if (!r)
		r = f->result;
	if (!r) {
		*ret = f->opened;
		f->opened.fd = -1;
	}
	image_open_drop(&f->call);
	return r;
}

int image_stat(const char *path, uint64_t dev, struct stat *ret_st)
{
	struct file_call *f = image_open_make(path, dev, ASYNC_CALL_UNKNOWN, run_stat);
	int r;

	if (!f)
		return -ENOMEM;
	r = async_call_run(&f->call, patience_ns);
	if (r == -ETIMEDOUT)
		return r;
	if (!r)
		r = f->result;
	*ret_st = f->opened.st;
	image_open_drop(&f->call);
	return r;
}

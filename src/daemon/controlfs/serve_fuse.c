/* SPDX-License-Identifier: GPL-2.0-or-later */
/* serve_fuse.c - serves the control files with libfuse3, which is loaded on demand.
 * File sizes are unknown until the files are read, so the kernel must not cache their content
 * (direct_io). */
#define FUSE_USE_VERSION 31
#include <dlfcn.h>
#include <errno.h>
#include <fuse.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "daemon/controlfs/controlfs.h"
#include "daemon/controlfs/tree.h"
#include "record/helper/allowance.h"

#define TEXT_OF_(x) #x
#define TEXT_OF(x) TEXT_OF_(x)

enum {
	STREAM_POLL_MS = 100, /* how soon a blocked read notices an interrupt */
	ENDED = 8             /* result of fuse_main(3) after a signal */
};

/* An open file; several threads can read it at once. */
struct handle {
	pthread_mutex_t
		lock; /* protects the fields below except the stream's descriptor */
	char *text;   /* the content, stored by the last read at offset 0 */
	bool is_stream;
	struct control_client stream;
};

/* Functions of libfuse3, which are looked up when the library is loaded. */
static struct {
	int (*main_real)(int argc, char *argv[], const struct fuse_operations *op,
			 size_t op_size, void *private_data);
	int (*interrupted)(void);
	struct fuse_context *(*context)(void);
	bool has_max_threads; /* supported as an option since 3.12 */
} lib;

/* All requests reach the daemon from this process, which runs as root, so the daemon cannot limit
 * individual users. Therefore this budget limits the users other than root here, as the daemon
 * limits clients of its socket (daemon/server/control_server.c). */
static const struct allowance_rule others_rule = { .at_once_ns = 20000000,
						   .owed_max_ns = 6000000,
						   .part = 500 };
static struct {
	pthread_mutex_t lock;
	struct allowance allowance;
} others = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* A process serves only one file system. */
static struct controlfs_tree *tree;

static struct handle *handle_of(const struct fuse_file_info *info)
{
	uintptr_t number = (uintptr_t)info->fh;
	struct handle *h;

	memcpy(&h, &number, sizeof(h));
	return h;
}

static int fs_getattr(const char *path, struct stat *st, struct fuse_file_info *info)
{
	mode_t mode;
	int r = controlfs_tree_mode(tree, path, &mode);

	(void)info;
	if (r)
		return r;
	*st = (struct stat){ .st_mode = mode, .st_nlink = S_ISDIR(mode) ? 2 : 1 };
	st->st_uid = geteuid();
	st->st_gid = getegid();
	return 0;
}

struct filling {
	void *buf;
	fuse_fill_dir_t fill;
};

static void add_name(void *ctx, const char *name)
{
	struct filling *f = ctx;

	(void)f->fill(f->buf, name, NULL, 0, 0);
}

static int fs_readdir(const char *path, void *buf, fuse_fill_dir_t fill, off_t off,
		      struct fuse_file_info *info, enum fuse_readdir_flags flags)
{
	struct filling f = { .buf = buf, .fill = fill };

	(void)off;
	(void)info;
	(void)flags;
	add_name(&f, ".");
	add_name(&f, "..");
	return controlfs_tree_names(tree, path, add_name, &f);
}

static int fs_open(const char *path, struct fuse_file_info *info)
{
	struct handle *h = calloc(1, sizeof(*h));
	int r = 0;

	if (!h)
		return -ENOMEM;
	if (controlfs_tree_is_stream(path)) {
		r = controlfs_tree_stream(tree, &h->stream);
		h->is_stream = true;
		info->nonseekable = 1;
	}
	if (r) {
		free(h);
		return r;
	}
	pthread_mutex_init(&h->lock, NULL);
	info->fh = (uintptr_t)h;
	info->direct_io = 1;
	return 0;
}

static int fs_release(const char *path, struct fuse_file_info *info)
{
	struct handle *h = handle_of(info);

	(void)path;
	if (h->is_stream)
		control_disconnect(&h->stream);
	free(h->text);
	pthread_mutex_destroy(&h->lock);
	free(h);
	return 0;
}

/* Copies the bytes that arrived together with the reply to `stream`. */
static size_t read_left(struct handle *h, char *buf, size_t size)
{
	struct control_lines *in = &h->stream.in;
	size_t left;

	pthread_mutex_lock(&h->lock);
	left = in->bytes.len - in->taken;
	size = left < size ? left : size;
	if (size)
		memcpy(buf, in->bytes.data + in->taken, size);
	in->taken += size;
	pthread_mutex_unlock(&h->lock);
	return size;
}

/* Reads from the stream of samples: first the bytes that arrived together with the reply, then new
 * ones, for which it waits. Returns the number of bytes or a negative errno. */
static int read_stream(struct handle *h, char *buf, size_t size)
{
	struct control_client *c = &h->stream;
	size_t left = read_left(h, buf, size);
	struct pollfd in = { .fd = c->fd, .events = POLLIN };
	ssize_t got;

	if (left)
		return (int)left;
	while (poll(&in, 1, STREAM_POLL_MS) <= 0) {
		if (lib.interrupted())
			return -EINTR;
	}
	got = read(c->fd, buf, size);
	return got < 0 ? -errno : (int)got;
}

/* Charges `spent_ns` of work to the users other than root. Returns 0, or -EAGAIN if their budget
 * is used up: waiting here would occupy the threads that serve root. */
static int controlfs_fuse_spend(uint64_t spent_ns)
{
	uint64_t rest_ns;

	if (!lib.context()->uid)
		return 0;
	pthread_mutex_lock(&others.lock);
	rest_ns = allowance_spend(&others.allowance, clock_now_ns(CLOCK_MONOTONIC),
				  spent_ns);
	pthread_mutex_unlock(&others.lock);
	return rest_ns ? -EAGAIN : 0;
}

static int controlfs_fuse_read_text(struct handle *h, const char *path, char *buf,
				    size_t size, off_t off)
{
	size_t len;
	int r;

	if (!off || !h->text) {
		free(h->text);
		h->text = NULL;
		r = controlfs_tree_read(tree, path, &h->text);
		if (r)
			return r;
	}
	len = strlen(h->text);
	if ((size_t)off >= len)
		return 0;
	size = len - (size_t)off < size ? len - (size_t)off : size;
	memcpy(buf, h->text + off, size);
	return (int)size;
}

static int fs_read(const char *path, char *buf, size_t size, off_t off,
		   struct fuse_file_info *info)
{
	struct handle *h = handle_of(info);
	uint64_t began_ns = clock_now_ns(CLOCK_MONOTONIC);
	int r;

	if (h->is_stream)
		return read_stream(h, buf, size);
	r = controlfs_fuse_spend(0);
	if (r)
		return r;
	pthread_mutex_lock(&h->lock);
	r = controlfs_fuse_read_text(h, path, buf, size, off);
	pthread_mutex_unlock(&h->lock);
	(void)controlfs_fuse_spend(clock_now_ns(CLOCK_MONOTONIC) - began_ns);
	return r;
}

static int fs_write(const char *path, const char *buf, size_t size, off_t off,
		    struct fuse_file_info *info)
{
	uint64_t began_ns = clock_now_ns(CLOCK_MONOTONIC);
	int r = controlfs_fuse_spend(0);

	(void)info;
	if (r)
		return r;
	/* A value must be written in one call. */
	r = off ? controlfs_tree_refuse(tree, path, buf, size)
		: controlfs_tree_write(tree, path, buf, size);
	(void)controlfs_fuse_spend(clock_now_ns(CLOCK_MONOTONIC) - began_ns);
	return r ? r : (int)size;
}

/* Accepts the truncation to 0 bytes with which the shell's `>` begins; it has no effect. Returns
 * -EINVAL for other sizes. */
static int fs_truncate(const char *path, off_t size, struct fuse_file_info *info)
{
	(void)path;
	(void)info;
	return size ? -EINVAL : 0;
}

static int controlfs_fuse_load(struct err *err)
{
	static const char name[] = "libfuse3.so.3";
	void *so = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	void *main_real = so ? dlsym(so, "fuse_main_real") : NULL;
	void *interrupted = so ? dlsym(so, "fuse_interrupted") : NULL;
	void *context = so ? dlsym(so, "fuse_get_context") : NULL;

	if (!main_real || !interrupted || !context)
		return err_set(
			err, -EOPNOTSUPP,
			"cannot load the library %s: install it (Debian package: libfuse3-3)",
			name);
	lib.has_max_threads = dlsym(so, "fuse_loop_cfg_set_max_threads") != NULL;
	memcpy(&lib.main_real, &main_real, sizeof(main_real));
	memcpy(&lib.interrupted, &interrupted, sizeof(interrupted));
	memcpy(&lib.context, &context, sizeof(context));
	allowance_begin(&others.allowance, &others_rule, clock_now_ns(CLOCK_MONOTONIC));
	return 0;
}

const char *controlfs_version(void)
{
	return TEXT_OF(FUSE_MAJOR_VERSION) "." TEXT_OF(FUSE_MINOR_VERSION);
}

static int run_fuse(const struct controlfs_config *config, struct err *err)
{
	static const struct fuse_operations operations = {
		.getattr = fs_getattr,
		.readdir = fs_readdir,
		.open = fs_open,
		.release = fs_release,
		.read = fs_read,
		.write = fs_write,
		.truncate = fs_truncate,
	};
	/* Let other users access the mount (only root may use allow_other); the kernel checks the
	 * files' modes. */
	char options[] =
		"default_permissions,fsname=oprofilefs,subtype=oprofilefs,allow_other";
	/* Without this option, libfuse 3.14 warns about its default. */
	char threads[] = "-omax_threads=16";
	char name[] = "oprofile controlfs";
	char option[] = "-o";
	char foreground[] = "-f";
	char *mountpoint = strdup(config->mountpoint);
	char *argv[] = { name, option, options, mountpoint, NULL, NULL, NULL };
	int argc = 4;
	int r;

	if (!mountpoint)
		return err_set(err, -ENOMEM, "out of memory");
	if (geteuid())
		*strrchr(options, ',') = '\0';
	if (config->foreground)
		argv[argc++] = foreground;
	if (lib.has_max_threads)
		argv[argc++] = threads;
	r = lib.main_real(argc, argv, &operations, sizeof(operations), NULL);
	free(mountpoint);
	return r && r != ENDED
		       ? err_set(err, -EIO,
				 "cannot mount the control files at '%s': libfuse returned error %d",
				 config->mountpoint, r)
		       : 0;
}

int controlfs_serve(const struct controlfs_config *config, struct err *err)
{
	int r = controlfs_fuse_load(err);

	if (!r && controlfs_tree_new(config->run_dir, &tree))
		r = err_set(err, -ENOMEM, "out of memory");
	if (!r)
		r = run_fuse(config, err);
	controlfs_tree_free(tree);
	tree = NULL;
	return r;
}

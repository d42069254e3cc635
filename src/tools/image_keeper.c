#include "tools/image_keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "capture/kernel_files.h"
#include "resolve/symtab.h"
#include "tools/session_dir.h"

enum {
	KEEP_MAX = 4096, /* descriptors held at most */
	NOTE_MAX = 64 * 1024,
	COPY_MAX = 1024 * 1024 * 1024 /* larger binaries are not copied */
};

void image_keeper_init(struct image_keeper *k, const struct session_dir *dir,
		       const struct build_id *kernel_build_id)
{
	*k = (struct image_keeper){ .dir = dir, .kernel_build_id = *kernel_build_id };
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

static void first_vdso(struct image_keeper *k, int32_t pid, uint64_t start,
		       uint64_t end, struct image *image)
{
	const void *bytes;
	size_t len;

	/* The mapped one of a 32-bit process is another file than ours. */
	if (!kernel_files_save_vdso_of(k->dir->writing, pid, start, end,
				       &image->build_id, NULL))
		return;
	if (!kernel_files_own_vdso(&bytes, &len))
		kernel_files_save_vdso(k->dir->writing, bytes, len, &image->build_id,
				       NULL);
}

/* Is the open file what was mapped?  By build-id, else by inode, else on trust. */
static bool is_image(int fd, const struct stat *st, const struct image *image)
{
	struct build_id id;

	if (!S_ISREG(st->st_mode))
		return false;
	if (image->build_id.len)
		return !elf_build_id_fd(fd, &id, NULL) &&
		       build_id_equal(&id, &image->build_id);
	return !image->inode || image->inode == st->st_ino;
}

/* O_NONBLOCK: what has a file's name now may be a FIFO. */
static int try_open(const char *path, const struct image *image, struct stat *st)
{
	int fd = io_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);

	if (fd < 0)
		return fd;
	if (!fstat(fd, st) && is_image(fd, st, image))
		return fd;
	close(fd);
	return -ESTALE;
}

static int open_image(const char *path, int32_t pid, uint64_t start, uint64_t end,
		      const struct image *image, struct stat *st)
{
	char proc_path[4096 + 64];
	int fd = try_open(path, image, st);

	if (fd >= 0 || pid <= 0)
		return fd;
	/* In another mount namespace, or deleted: the kernel still has the file itself. */
	snprintf(proc_path, sizeof(proc_path), "/proc/%d/root%s", pid, path);
	fd = try_open(proc_path, image, st);
	if (fd >= 0)
		return fd;
	snprintf(proc_path, sizeof(proc_path), "/proc/%d/map_files/%lx-%lx", pid,
		 (unsigned long)start, (unsigned long)end);
	fd = try_open(proc_path, image, st);
	if (fd >= 0)
		return fd;
	snprintf(proc_path, sizeof(proc_path), "/proc/%d/exe", pid);
	return try_open(proc_path, image, st);
}

void image_keeper_first_hit(struct image_keeper *k, const char *path, int32_t pid,
			    uint64_t map_start, uint64_t map_end, struct image *image)
{
	struct kept_image kept = { 0 };
	struct stat st;

	if (image->kind == IMAGE_KERNEL)
		image->build_id = k->kernel_build_id;
	if (image->kind == IMAGE_MODULE)
		module_build_id(path, &image->build_id);
	if (image->kind == IMAGE_VDSO)
		first_vdso(k, pid, map_start, map_end, image);
	if (image->kind != IMAGE_FILE || k->kept.nr >= KEEP_MAX)
		return;
	kept.fd = open_image(path, pid, map_start, map_end, image, &st);
	if (kept.fd < 0)
		return;
	if (!image->build_id.len)
		elf_build_id_fd(kept.fd, &image->build_id, NULL);
	image->dev = st.st_dev;
	image->inode = st.st_ino;
	image->mtime_ns =
		(uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec;
	image->file_bytes = (uint64_t)st.st_size;
	kept.image = *image;
	kept.path = strdup(path);
	if (!kept.path || !vec_push(&k->kept, kept)) {
		free(kept.path);
		close(kept.fd);
	}
}

static bool still_there(const struct kept_image *kept)
{
	struct stat st;

	return !stat(kept->path, &st) && st.st_dev == kept->image.dev &&
	       st.st_ino == kept->image.inode &&
	       (uint64_t)st.st_size == kept->image.file_bytes;
}

static int save_copy(const struct image_keeper *k, const struct kept_image *kept)
{
	char hex[2 * BUILD_ID_MAX + 1];
	char path[4096];

	snprintf(path, sizeof(path), "%s/images", k->dir->writing);
	if (io_make_dirs(path, 0755))
		return -errno;
	if (kept->image.build_id.len) {
		build_id_to_hex(&kept->image.build_id, hex);
		snprintf(path, sizeof(path), "%s/images/%s", k->dir->writing, hex);
	} else {
		snprintf(path, sizeof(path), "%s/images/%llu-%llu", k->dir->writing,
			 (unsigned long long)kept->image.dev,
			 (unsigned long long)kept->image.inode);
	}
	return io_copy_new(kept->fd, path, kept->image.file_bytes);
}

void image_keeper_save_lost(struct image_keeper *k)
{
	for (size_t i = 0; i < k->kept.nr; i++) {
		const struct kept_image *kept = &k->kept.at[i];
		int r;

		if (still_there(kept) || kept->image.file_bytes > COPY_MAX)
			continue;
		r = save_copy(k, kept);
		if (r)
			log_say(LOG_WARNING,
				"%s was replaced and could not be saved: %s",
				kept->path, strerror(-r));
	}
}

void image_keeper_done(struct image_keeper *k)
{
	for (size_t i = 0; i < k->kept.nr; i++) {
		free(k->kept.at[i].path);
		close(k->kept.at[i].fd);
	}
	vec_done(&k->kept);
}

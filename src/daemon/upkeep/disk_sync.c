/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/upkeep/disk_sync.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/files/io.h"

enum {
	SPARE_S = 120 /* margin for clock steps and coarse file timestamps */
};

void disk_sync_add(struct disk_sync *s, const char *path, bool with_folder)
{
	struct disk_sync_file file = { .with_folder = with_folder };

	for (size_t i = 0; i < s->asked.files.nr; i++) {
		struct disk_sync_file *other = &s->asked.files.at[i];

		if (strcmp(other->path, path) != 0)
			continue;
		other->with_folder |= with_folder;
		return;
	}
	file.path = strdup(path);
	if (file.path && !vec_push(&s->asked.files, file))
		free(file.path);
}

static void free_list(struct disk_sync_list *list)
{
	for (size_t i = 0; i < list->files.nr; i++)
		free(list->files.at[i].path);
	vec_done(&list->files);
}

/* Writes the file's data to disk with fsync(2), also data that was written through other
 * descriptors. On failure, leaves the data to the kernel, and the recording continues. */
static void disk_sync_put_file(const char *path)
{
	int fd = io_open(path, O_RDONLY | O_NONBLOCK, 0);

	if (fd < 0)
		return;
	(void)fsync(fd);
	close(fd);
}

/* Syncs a directory tree, skipping files that have not changed since `since`. */
static void put_folder(char *path, time_t since)
{
	char *const paths[] = { path, NULL };
	FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *entry;

	while (tree && (entry = fts_read(tree)) != NULL)
		/* A symbolic link points to the kernel's symbols, which other sessions share. */
		if (entry->fts_info == FTS_SL || entry->fts_info == FTS_DP ||
		    (entry->fts_info == FTS_F && entry->fts_statp->st_mtime >= since))
			disk_sync_put_file(entry->fts_path);
	if (tree)
		fts_close(tree);
}

static void disk_sync_put(const struct disk_sync_file *file, time_t since)
{
	char *slash = strrchr(file->path, '/');

	disk_sync_put_file(file->path);
	if (!file->with_folder || !slash || slash == file->path)
		return;
	*slash = 0;
	put_folder(file->path, since);
	slash = strrchr(file->path, '/');
	if (!slash || slash == file->path)
		return;
	/* Sync the parent, which contains the directory's name. */
	*slash = 0;
	disk_sync_put_file(file->path);
}

static void *disk_sync_put_all(void *arg)
{
	struct disk_sync *s = arg;

	time_t begin = time(NULL);

	bool any_folder = false;

	for (size_t i = 0; i < s->under_way.files.nr; i++) {
		disk_sync_put(&s->under_way.files.at[i], s->since);
		any_folder |= s->under_way.files.at[i].with_folder;
	}
	if (any_folder)
		s->since = begin - SPARE_S;
	atomic_store(&s->is_done, true);
	return NULL;
}

static void disk_sync_end(struct disk_sync *s)
{
	pthread_join(s->thread, NULL);
	s->runs = false;
	free_list(&s->under_way);
}

void disk_sync_poll(struct disk_sync *s)
{
	if (s->runs && atomic_load(&s->is_done))
		disk_sync_end(s);
	if (s->runs || !s->asked.files.nr)
		return;
	s->under_way = s->asked;
	s->asked = (struct disk_sync_list){ 0 };
	atomic_store(&s->is_done, false);
	s->runs = !pthread_create(&s->thread, NULL, disk_sync_put_all, s);
	if (!s->runs)
		free_list(&s->under_way);
}

void disk_sync_done(struct disk_sync *s)
{
	if (s->runs)
		disk_sync_end(s);
	disk_sync_poll(s);
	if (s->runs)
		disk_sync_end(s);
}

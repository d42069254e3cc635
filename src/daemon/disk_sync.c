#include "daemon/disk_sync.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"

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

/* fsync(2) puts what was written through any descriptor to the disk.  What cannot be put there is left to the
 * kernel: the recording goes on. */
static void put_file(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return;
	(void)fsync(fd);
	close(fd);
}

static void put_folder(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;

	if (!folder)
		return;
	while ((entry = readdir(folder)) != NULL)
		/* Links are to the kernel's symbols, which other sessions have, too. */
		if (entry->d_type == DT_REG || entry->d_type == DT_LNK)
			put_file(dirfd(folder), entry->d_name);
	(void)fsync(dirfd(folder));
	closedir(folder);
}

static void put(const struct disk_sync_file *file)
{
	char *slash = strrchr(file->path, '/');

	put_file(AT_FDCWD, file->path);
	if (!file->with_folder || !slash || slash == file->path)
		return;
	*slash = 0;
	put_folder(file->path);
}

static void *put_all(void *arg)
{
	struct disk_sync *s = arg;

	for (size_t i = 0; i < s->under_way.files.nr; i++)
		put(&s->under_way.files.at[i]);
	atomic_store(&s->is_done, true);
	return NULL;
}

static void end(struct disk_sync *s)
{
	pthread_join(s->thread, NULL);
	s->runs = false;
	free_list(&s->under_way);
}

void disk_sync_turn(struct disk_sync *s)
{
	if (s->runs && atomic_load(&s->is_done))
		end(s);
	if (s->runs || !s->asked.files.nr)
		return;
	s->under_way = s->asked;
	s->asked = (struct disk_sync_list){ 0 };
	atomic_store(&s->is_done, false);
	s->runs = !pthread_create(&s->thread, NULL, put_all, s);
	if (!s->runs)
		free_list(&s->under_way);
}

void disk_sync_done(struct disk_sync *s)
{
	if (s->runs)
		end(s);
	disk_sync_turn(s);
	if (s->runs)
		end(s);
}

#include "tools/jit_keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/log.h"
#include "base/parse.h"
#include "decode/record.h"
#include "format/dict.h"

enum {
	KEEP_MAX = 1024,
	PATH_BYTES = 4096 + 64,
	NAME_BYTES = 64,
	STATUS_MAX = 1 << 16
};

static const uint64_t copy_max = 1 << 30; /* larger files are not copied */

int jit_open(const char *path, uint64_t inode)
{
	struct stat st;
	int fd = io_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW, 0);

	if (fd < 0)
		return fd;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && (!inode || st.st_ino == inode))
		return fd;
	close(fd);
	return -ENOENT;
}

static bool is_kept(const struct jit_keeper *k, int32_t pid, const char *name)
{
	for (size_t i = 0; i < k->kept.nr; i++)
		if (k->kept.at[i].pid == pid && !strcmp(k->kept.at[i].name, name))
			return true;
	return false;
}

static void keep(struct jit_keeper *k, int32_t pid, const char *name, const char *path,
		 uint64_t inode)
{
	struct kept_jit kept = { .pid = pid };
	char seen_by_it[PATH_BYTES];

	if (k->kept.nr >= KEEP_MAX || is_kept(k, pid, name))
		return;
	/* In its own mount namespace first. */
	snprintf(seen_by_it, sizeof(seen_by_it), "/proc/%d/root%s", pid, path);
	kept.fd = jit_open(seen_by_it, inode);
	if (kept.fd < 0)
		kept.fd = jit_open(path, inode);
	if (kept.fd < 0)
		return;
	kept.name = strdup(name);
	if (!kept.name || !vec_push(&k->kept, kept)) {
		free(kept.name);
		close(kept.fd);
	}
}

const char *jit_dump_name(const char *path)
{
	static const char start[] = "jit-";
	const char *slash = strrchr(path, '/');
	const char *at;
	size_t digits;

	if (path[0] != '/' || !slash || strncmp(slash + 1, start, strlen(start)) != 0)
		return NULL;
	at = slash + 1 + strlen(start);
	digits = strspn(at, "0123456789");
	return digits && digits < NAME_BYTES - 16 && !strcmp(at + digits, ".dump")
		       ? slash + 1
		       : NULL;
}

void jit_keeper_mapped(struct jit_keeper *k, const struct record_mmap *m)
{
	const char *name = jit_dump_name(m->path);

	if (name)
		keep(k, m->pid, name, m->path, m->ino);
}

/* What the process takes itself for: the last number of its line "NSpid:", proc(5); its own
 * number if it is gone. */
static int32_t own_pid(int32_t pid)
{
	struct buf status = { 0 };
	char path[NAME_BYTES];
	char *at, *end;
	uint64_t number;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	if (io_read_file(path, &status, STATUS_MAX))
		buf_clear(&status);
	buf_put(&status, "", 1);
	at = status.failed ? NULL : strstr((char *)status.data, "\nNSpid:");
	end = at ? strchr(at + 1, '\n') : NULL;
	if (end) {
		*end = '\0';
		at = strrchr(at, '\t');
		if (at && parse_u64_max(at + 1, INT32_MAX, &number) && number)
			pid = (int32_t)number;
	}
	buf_done(&status);
	return pid;
}

void jit_keeper_look(struct jit_keeper *k, const struct dict *dict)
{
	for (; k->nr_images < dict->images.nr; k->nr_images++) {
		const struct image *image = &dict->images.at[k->nr_images];
		char name[NAME_BYTES], path[NAME_BYTES + 8];

		if (image->kind != IMAGE_ANON || image->pid <= 0)
			continue;
		snprintf(name, sizeof(name), "perf-%d.map", own_pid(image->pid));
		snprintf(path, sizeof(path), "/tmp/%s", name);
		keep(k, image->pid, name, path, 0);
	}
}

static int save(const struct kept_jit *kept, const char *dir)
{
	char path[PATH_BYTES];
	struct stat st;
	int r;

	if (fstat(kept->fd, &st))
		return -errno;
	if ((uint64_t)st.st_size > copy_max)
		return -EFBIG;
	snprintf(path, sizeof(path), "%s/jit/%d", dir, kept->pid);
	r = io_make_dirs(path, 0755);
	if (r)
		return r;
	snprintf(path, sizeof(path), "%s/jit/%d/%s", dir, kept->pid, kept->name);
	return io_copy_new(kept->fd, path, (uint64_t)st.st_size);
}

void jit_keeper_save(const struct jit_keeper *k, const char *dir)
{
	for (size_t i = 0; i < k->kept.nr; i++) {
		int r = save(&k->kept.at[i], dir);

		if (r)
			log_say(LOG_WARNING, "%s of process %d could not be saved: %s",
				k->kept.at[i].name, k->kept.at[i].pid, strerror(-r));
	}
}

void jit_keeper_done(struct jit_keeper *k)
{
	for (size_t i = 0; i < k->kept.nr; i++) {
		free(k->kept.at[i].name);
		close(k->kept.at[i].fd);
	}
	vec_done(&k->kept);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/system/cgroups.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/files/io.h"

enum {
	TEXT_MAX = 4 << 20,
	KERNFS_HANDLE = 0xfe /* FILEID_KERNFS of the kernel's <linux/exportfs.h> */
};

/* A file handle of eight bytes. */
union handle {
	struct file_handle h;
	char room[sizeof(struct file_handle) + sizeof(uint64_t)];
};

static bool has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = list; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (!strncmp(at, word, len) && (!at[len] || at[len] == ','))
			return true;
	}
	return false;
}

/* Replaces escapes: blanks and backslashes are written as \ooo (proc(5)). */
static void undo_escapes(char *text)
{
	char *to = text;

	for (const char *at = text; *at; at++, to++) {
		*to = *at;
		if (at[0] == '\\' && at[1] >= '0' && at[1] <= '3' && at[2] >= '0' &&
		    at[2] <= '7' && at[3] >= '0' && at[3] <= '7') {
			*to = (char)((at[1] - '0') << 6 | (at[2] - '0') << 3 |
				     (at[3] - '0'));
			at += 3;
		}
	}
	*to = '\0';
}

const char *cgroups_line_mount(char *line, int *ret_v1)
{
	/* id parent device root PLACE options tags... - TYPE source OPTIONS */
	char *tail = strstr(line, " - ");
	char *place = line;
	char *end, *options;

	if (!tail)
		return NULL;
	for (int i = 0; i < 4 && place; i++) {
		place = strchr(place, ' ');
		place = place && place < tail ? place + 1 : NULL;
	}
	end = place ? strchr(place, ' ') : NULL;
	if (!end)
		return NULL;
	tail += strlen(" - ");
	options = strrchr(tail, ' ');
	if (!strncmp(tail, "cgroup2 ", strlen("cgroup2 ")))
		*ret_v1 = 0;
	else if (!strncmp(tail, "cgroup ", strlen("cgroup ")) && options &&
		 has_word(options + 1, "perf_event"))
		*ret_v1 = 1;
	else
		return NULL;
	*end = '\0';
	undo_escapes(place);
	return place;
}

const char *cgroups_line_path(char *line, int v1)
{
	char *list = strchr(line, ':');
	char *path = list ? strchr(list + 1, ':') : NULL;

	if (!path)
		return NULL;
	*path++ = '\0';
	list++;
	return (v1 ? has_word(list, "perf_event") : !*list) ? path : NULL;
}

/* Calls `fn` for each line of a file until it returns true. */
static int each_line(const char *path, bool (*fn)(void *ctx, char *line), void *ctx)
{
	struct buf text = { 0 };
	int r = io_read_file(path, &text, TEXT_MAX);

	buf_put_u8(&text, 0);
	if (!r && text.failed)
		r = -ENOMEM;
	for (char *line = (char *)text.data; !r && line && *line;) {
		char *end = strchr(line, '\n');

		if (end)
			*end = '\0';
		if (fn(ctx, line))
			break;
		line = end ? end + 1 : NULL;
	}
	buf_done(&text);
	return r;
}

static bool take_mount(void *ctx, char *line)
{
	struct cgroups *c = ctx;
	int v1;
	const char *place = cgroups_line_mount(line, &v1);

	if (place && strlen(place) < sizeof(c->mount)) {
		memcpy(c->mount, place, strlen(place) + 1);
		c->controller = v1 ? 'v' : 'u';
	}
	/* Stop at v1's perf_event hierarchy: if it exists, the ids in samples belong to it.
	 * Otherwise they belong to the unified hierarchy. */
	return place && v1;
}

/* Finds the mount, once. Returns 0 or a negative errno. */
static int find_mount(struct cgroups *c)
{
	if (!c->begun)
		(void)each_line("/proc/self/mountinfo", take_mount, c);
	c->begun = 1;
	return c->controller ? 0 : -ENOENT;
}

/* Sets ret_path to the path relative to the mount, "/" for the mount itself. */
static int below_mount(const struct cgroups *c, const char *text,
		       char ret_path[CGROUP_PATH_MAX])
{
	size_t len = strlen(c->mount);

	if (strncmp(text, c->mount, len) != 0 || (text[len] && text[len] != '/'))
		return -ENOENT;
	snprintf(ret_path, CGROUP_PATH_MAX, "%s", text[len] ? text + len : "/");
	return 0;
}

static int by_handle(const struct cgroups *c, uint64_t id,
		     char ret_path[CGROUP_PATH_MAX])
{
	union handle handle = { .h = { .handle_bytes = sizeof(id),
				       .handle_type = KERNFS_HANDLE } };
	char link[64], text[CGROUP_PATH_MAX];
	ssize_t len;
	/* Do not keep it open, because that would prevent unmounting. */
	int mount_fd = io_open(c->mount, O_RDONLY | O_DIRECTORY, 0);
	int fd;

	if (mount_fd < 0)
		return mount_fd;
	memcpy(handle.h.f_handle, &id, sizeof(id));
	fd = open_by_handle_at(mount_fd, &handle.h, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		fd = errno == ESTALE ? -ENOENT : -errno;
	close(mount_fd);
	if (fd < 0)
		return fd;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, text, sizeof(text) - 1);
	close(fd);
	if (len < 0)
		return -errno;
	text[len] = '\0';
	return below_mount(c, text, ret_path);
}

struct cgroups_search {
	const struct cgroups *c;
	char *path;
	bool found;
};

static bool cgroups_take_path(void *ctx, char *line)
{
	struct cgroups_search *s = ctx;
	const char *path = cgroups_line_path(line, s->c->controller == 'v');

	s->found = path && strlen(path) < CGROUP_PATH_MAX;
	if (s->found)
		memcpy(s->path, path, strlen(path) + 1);
	return s->found;
}

int cgroups_of_process(struct cgroups *c, pid_t pid, uint64_t *ret_id,
		       char ret_path[CGROUP_PATH_MAX])
{
	struct cgroups_search s = { .c = c, .path = ret_path };
	union handle handle = { .h = { .handle_bytes = sizeof(*ret_id) } };
	char file[64], folder[2 * CGROUP_PATH_MAX];
	int mount_id;
	int r = find_mount(c);

	if (r)
		return r;
	snprintf(file, sizeof(file), "/proc/%d/cgroup", pid);
	r = each_line(file, cgroups_take_path, &s);
	if (r || !s.found)
		return r ? r : -ENOENT;
	snprintf(folder, sizeof(folder), "%s%s", c->mount, ret_path);
	if (name_to_handle_at(AT_FDCWD, folder, &handle.h, &mount_id, 0) ||
	    handle.h.handle_bytes != sizeof(*ret_id))
		return -ENOENT;
	memcpy(ret_id, handle.h.f_handle, sizeof(*ret_id));
	return 0;
}

int cgroups_path(struct cgroups *c, uint64_t id, pid_t pid,
		 char ret_path[CGROUP_PATH_MAX])
{
	uint64_t its_id;
	int r = find_mount(c);

	if (r)
		return r;
	r = by_handle(c, id, ret_path);
	if (!r || pid <= 0)
		return r;
	if (cgroups_of_process(c, pid, &its_id, ret_path) || its_id != id)
		return r;
	return 0;
}

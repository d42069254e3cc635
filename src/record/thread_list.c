/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/thread_list.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>

#include "base/parse.h"

/* Returns whether `tid` is one of the first `nr` threads of the list. */
static bool thread_list_is_listed(const struct thread_list *t, size_t nr, uint64_t tid)
{
	for (size_t i = 0; i < nr; i++)
		if ((uint64_t)t->list.at[i] == tid)
			return true;
	return false;
}

int thread_list_add(struct thread_list *t, pid_t pid)
{
	size_t nr_before = t->list.nr;
	struct dirent *entry;
	char path[64];
	DIR *dir;
	int r = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? -ESRCH : -errno;
	errno = 0;
	while (!r && (entry = readdir(dir))) {
		uint64_t tid;

		if (parse_u64(entry->d_name, &tid) &&
		    !thread_list_is_listed(t, nr_before, tid) &&
		    !vec_push(&t->list, (pid_t)tid))
			r = -ENOMEM;
		errno = 0;
	}
	if (!r)
		r = -errno;
	closedir(dir);
	return r == -ENOENT ? -ESRCH : r;
}

void thread_list_done(struct thread_list *t)
{
	vec_done(&t->list);
}

#include "tools/thread_list.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>

#include "base/parse.h"

int thread_list_add(struct thread_list *t, pid_t pid)
{
	struct dirent *entry;
	char path[64];
	DIR *dir;
	int r = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? -ESRCH : -errno;
	while (!r && (entry = readdir(dir))) {
		uint64_t tid;

		if (parse_u64(entry->d_name, &tid) && !vec_push(&t->list, (pid_t)tid))
			r = -ENOMEM;
	}
	closedir(dir);
	return r;
}

void thread_list_done(struct thread_list *t)
{
	vec_done(&t->list);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/files/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files/guard.h"
#include "base/files/io.h"
#include "base/files/output.h"

struct scratch {
	char *folder;
	char *target; /* the path that the contents will replace, or NULL */
	int parent;   /* the directory that contains `folder` and `target` */
	int end; /* our end of a socket; the kernel closes it if the process dies */
	pid_t child;
	bool folder_guarded, target_guarded;
};

enum {
	MADE_UP = 6 /* the template's XXXXXX */
};

/* The child's reply after it has created the directory. */
struct answer {
	int error; /* 0 or a negative errno */
	char name[MADE_UP];
};

static char *made_up(char *folder)
{
	return folder + strlen(folder) - MADE_UP;
}

/* Runs in the child, which must not hold a terminal or pipe open. The child creates the
 * directory itself, so that it is removed in any case, and calls setsid(), so that it survives
 * when the whole process group is killed. */
static void make_and_remove(int end, int parent, char *name)
{
	struct answer answer = { .error = 0 };
	char byte;
	ssize_t n;

	setsid();
	/* Close all inherited files, also the sockets of other scratch directories: their children
	 * wait until the last copy of such a socket is closed. */
	if (fchdir(parent) || (end != STDIN_FILENO && dup2(end, STDIN_FILENO) < 0))
		_exit(1);
	(void)close_range(STDIN_FILENO + 1, ~0U, 0);
	answer.error = io_make_temp_dir(AT_FDCWD, name);
	if (answer.error) {
		(void)send(STDIN_FILENO, &answer, sizeof(answer), MSG_NOSIGNAL);
		_exit(1);
	}
	memcpy(answer.name, made_up(name), MADE_UP);
	(void)send(STDIN_FILENO, &answer, sizeof(answer), MSG_NOSIGNAL);
	do {
		n = read(STDIN_FILENO, &byte, sizeof(byte));
	} while (n > 0 || (n < 0 && errno == EINTR));
	(void)io_remove_tree_at(AT_FDCWD, name);
	_exit(0);
}

/* Returns the length of a path up to the last slash, including it; the last component follows. */
static size_t parent_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) + 1 : 0;
}

/* Opens the parent directory. Files created and renamed later stay in this directory, even if
 * its path changes. */
static int scratch_open_parent(struct scratch *s, struct err *err)
{
	size_t len = parent_length(s->folder);
	char *path = len ? strndup(s->folder, len) : strdup(".");
	struct err why = { 0 };

	if (!path)
		return err_set(err, -ENOMEM, "out of memory");
	s->parent = output_open_dir(path, &why);
	free(path);
	if (s->parent >= 0)
		return 0;
	return why.code == -EPERM
		       ? err_set(err, -EPERM, "%s", why.text)
		       : err_sys(err, s->parent, "cannot create the directory '%s'",
				 s->folder);
}

static int add_guards(struct scratch *s, struct err *err)
{
	int r = guard_add_path(s->folder, s->parent);

	s->folder_guarded = !r;
	if (!r && s->target) {
		r = guard_add_path(s->target, s->parent);
		s->target_guarded = !r;
	}
	return r ? err_sys(err, r, "cannot use '%s'", s->folder) : 0;
}

/* Starts the child and waits until it has created the directory. Returns 0 or a negative errno; on
 * an error, the caller calls scratch_free(). */
static int start_child(struct scratch *s, struct err *err)
{
	struct answer answer;
	ssize_t n;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return err_sys(err, -errno, "cannot create a socket pair");
	s->child = fork();
	if (!s->child) {
		close(ends[1]);
		make_and_remove(ends[0], s->parent,
				s->folder + parent_length(s->folder));
	}
	close(ends[0]);
	s->end = ends[1];
	if (s->child < 0)
		return err_sys(err, -errno, "cannot create a process");
	do {
		n = recv(s->end, &answer, sizeof(answer), MSG_WAITALL);
	} while (n < 0 && errno == EINTR);
	if (n != sizeof(answer))
		answer.error = -EIO;
	if (answer.error)
		return err_sys(err, answer.error, "cannot create the directory '%s'",
			       s->folder);
	memcpy(made_up(s->folder), answer.name, MADE_UP);
	return add_guards(s, err);
}

/* Creates the directory. Takes ownership of `template` and `target` (which can be NULL). `template`
 * NULL means that memory was short. */
static int new_scratch(char *template, char *target, struct scratch **ret_scratch,
		       struct err *err)
{
	struct scratch *s = template ? calloc(1, sizeof(*s)) : NULL;
	int r;

	if (!s) {
		free(template);
		free(target);
		return err_set(err, -ENOMEM, "out of memory");
	}
	s->target = target;
	s->parent = -1;
	s->folder = template;
	s->end = -1;
	s->child = -1;
	r = scratch_open_parent(s, err);
	if (!r)
		r = start_child(s, err);
	if (r) {
		scratch_free(s);
		return r;
	}
	*ret_scratch = s;
	return 0;
}

int scratch_new(const char *name, struct scratch **ret_scratch, struct err *err)
{
	const char *tmp = getenv("TMPDIR");
	char *template;

	if (asprintf(&template, "%s/%s.XXXXXX", tmp && tmp[0] ? tmp : "/tmp", name) < 0)
		template = NULL;
	return new_scratch(template, NULL, ret_scratch, err);
}

int scratch_new_next_to(const char *path, struct scratch **ret_scratch, struct err *err)
{
	char *target = strdup(path);
	char *template;

	if (!target || asprintf(&template, "%s.making-XXXXXX", path) < 0)
		template = NULL;
	return new_scratch(template, target, ret_scratch, err);
}

const char *scratch_folder(const struct scratch *s)
{
	return s->folder;
}

void scratch_free(struct scratch *s)
{
	if (!s)
		return;
	if (s->end >= 0)
		close(s->end);
	if (s->child > 0)
		while (waitpid(s->child, NULL, 0) < 0 && errno == EINTR)
			;
	if (s->folder_guarded)
		guard_drop_path(s->folder);
	if (s->target_guarded)
		guard_drop_path(s->target);
	if (s->parent >= 0)
		close(s->parent);
	free(s->target);
	free(s->folder);
	free(s);
}

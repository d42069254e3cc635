#include "tools/scratch.h"

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
#include "base/guard.h"
#include "base/io.h"

struct scratch {
	char *folder;
	int end; /* of a socket: closed by the kernel if nobody else does */
	pid_t child;
	bool guarded;
};

enum {
	MADE_UP = 6 /* the template's XXXXXX */
};

/* What the child says once it has made the folder. */
struct answer {
	int error; /* 0, or a negative errno */
	char name[MADE_UP];
};

static char *made_up(char *folder)
{
	return folder + strlen(folder) - MADE_UP;
}

/* What is there at the end is removed from here: its path may lead elsewhere then. */
static int open_parent(const char *path, const char *slash)
{
	char *parent = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	int fd = parent ? io_open(parent, O_PATH | O_DIRECTORY, 0) : -ENOMEM;

	free(parent);
	return fd;
}

/* The child: nothing of the terminal's or of a pipe's is its business.  It makes the folder
 * itself, so that there is no moment when nobody would remove it, and behind setsid(): who kills
 * a whole process group does not mean it. */
static void make_and_remove(int end, char *template)
{
	struct answer answer = { .error = 0 };
	const char *slash = strrchr(template, '/');
	char byte;
	ssize_t n;
	int parent;

	setsid();
	/* Another folder's socket is among them: it would never see its end. */
	if (end != STDIN_FILENO && dup2(end, STDIN_FILENO) < 0)
		_exit(1);
	(void)close_range(STDIN_FILENO + 1, ~0U, 0);
	if (!mkdtemp(template)) { /* check-words: allowed */
		answer.error = -errno;
		(void)send(STDIN_FILENO, &answer, sizeof(answer), MSG_NOSIGNAL);
		_exit(1);
	}
	memcpy(answer.name, made_up(template), MADE_UP);
	parent = open_parent(template, slash);
	(void)send(STDIN_FILENO, &answer, sizeof(answer), MSG_NOSIGNAL);
	do {
		n = read(STDIN_FILENO, &byte, sizeof(byte));
	} while (n > 0 || (n < 0 && errno == EINTR));
	(void)io_remove_tree_at(parent, slash ? slash + 1 : template);
	_exit(0);
}

/* Nothing but the name of the folder is to be freed if it fails. */
static int start_child(struct scratch *s, struct err *err)
{
	struct answer answer;
	ssize_t n;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return err_sys(err, -errno, "socketpair");
	s->child = fork();
	if (!s->child) {
		close(ends[1]);
		make_and_remove(ends[0], s->folder);
	}
	close(ends[0]);
	s->end = ends[1];
	if (s->child < 0)
		return err_sys(err, -errno, "fork");
	do {
		n = recv(s->end, &answer, sizeof(answer), MSG_WAITALL);
	} while (n < 0 && errno == EINTR);
	if (n != sizeof(answer))
		answer.error = -EIO;
	if (answer.error)
		return err_sys(err, answer.error, "cannot make the folder %s",
			       s->folder);
	memcpy(made_up(s->folder), answer.name, MADE_UP);
	answer.error = guard_add_path(s->folder);
	s->guarded = !answer.error;
	return answer.error ? err_sys(err, answer.error, "%s", s->folder) : 0;
}

/* `template` is taken; NULL: memory was short. */
static int new_scratch(char *template, struct scratch **ret_scratch, struct err *err)
{
	struct scratch *s = template ? calloc(1, sizeof(*s)) : NULL;
	int r;

	if (!s) {
		free(template);
		return err_set(err, -ENOMEM, "out of memory");
	}
	s->folder = template;
	s->end = -1;
	s->child = -1;
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
	return new_scratch(template, ret_scratch, err);
}

int scratch_new_beside(const char *path, struct scratch **ret_scratch, struct err *err)
{
	char *template;

	if (asprintf(&template, "%s.making-XXXXXX", path) < 0)
		template = NULL;
	return new_scratch(template, ret_scratch, err);
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
	if (s->guarded)
		guard_drop_path(s->folder);
	free(s->folder);
	free(s);
}

#include "tools/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/io.h"

struct scratch {
	char *folder;
	int pipe; /* closed by the kernel if nobody else does */
	pid_t child;
};

/* The child: nothing of the terminal's or of a pipe's is its business. */
static void wait_and_remove(int end, const char *folder)
{
	char byte;
	ssize_t n;

	setsid();
	/* Another folder's pipe is among them: it would never see its end. */
	if (end != STDIN_FILENO && dup2(end, STDIN_FILENO) < 0)
		_exit(1);
	(void)close_range(STDIN_FILENO + 1, ~0U, 0);
	do {
		n = read(STDIN_FILENO, &byte, sizeof(byte));
	} while (n > 0 || (n < 0 && errno == EINTR));
	(void)io_remove_tree(folder);
	_exit(0);
}

/* `template` is taken; NULL: memory was short. */
static int make_folder(struct scratch *s, char *template, struct err *err)
{
	int r;

	if (!template)
		return err_set(err, -ENOMEM, "out of memory");
	s->folder = mkdtemp(template);
	if (s->folder)
		return 0;
	r = err_sys(err, -errno, "cannot make the folder %s", template);
	free(template);
	return r;
}

static int start_child(struct scratch *s, struct err *err)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return err_sys(err, -errno, "pipe");
	s->child = fork();
	if (!s->child) {
		close(ends[1]);
		wait_and_remove(ends[0], s->folder);
	}
	close(ends[0]);
	s->pipe = ends[1];
	return s->child < 0 ? err_sys(err, -errno, "fork") : 0;
}

static int new_scratch(char *template, struct scratch **ret_scratch, struct err *err)
{
	struct scratch *s = calloc(1, sizeof(*s));
	int r;

	if (!s) {
		free(template);
		return err_set(err, -ENOMEM, "out of memory");
	}
	s->pipe = -1;
	s->child = -1;
	r = make_folder(s, template, err);
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
	if (s->pipe >= 0)
		close(s->pipe);
	if (s->child > 0)
		while (waitpid(s->child, NULL, 0) < 0 && errno == EINTR)
			;
	else if (s->folder)
		(void)io_remove_tree(s->folder);
	free(s->folder);
	free(s);
}

#include "tools/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *pager_command(void)
{
	const char *command = getenv("OPROFILE_PAGER");

	if (!command)
		command = getenv("PAGER");
	if (!command)
		command = "less";
	return *command && strcmp(command, "cat") != 0 ? command : NULL;
}

/* The child's side: never returns. */
static void run_pager(const char *command, int read_fd)
{
	if (dup2(read_fd, STDIN_FILENO) < 0)
		_exit(127);
	setenv("LESS", "FRX", 0);
	/* By the shell, because the variable may hold options. */
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

/* What a shell would not find would swallow the report. */
static bool is_there(const char *command)
{
	const char *path = getenv("PATH");
	size_t len = strcspn(command, " \t");
	char file[4096];

	if (memchr(command, '/', len))
		return true;
	for (; path && *path; path += strcspn(path, ":"), path += *path == ':') {
		size_t dir = strcspn(path, ":");

		if (dir + len + 2 > sizeof(file))
			continue;
		memcpy(file, path, dir);
		file[dir] = '/';
		memcpy(file + dir + 1, command, len);
		file[dir + 1 + len] = '\0';
		if (!access(file, X_OK))
			return true;
	}
	return false;
}

void pager_start(struct pager *p, bool wanted)
{
	const char *command = pager_command();
	int fds[2];

	*p = (struct pager){ .out = stdout };
	if (!wanted || !command || !isatty(STDOUT_FILENO) || !isatty(STDERR_FILENO) ||
	    !is_there(command) || pipe2(fds, O_CLOEXEC))
		return;
	fflush(stdout);
	p->pid = fork();
	if (p->pid == 0)
		run_pager(command, fds[0]);
	close(fds[0]);
	if (p->pid > 0)
		p->out = fdopen(fds[1], "we");
	if (p->pid > 0 && p->out) {
		signal(SIGPIPE, SIG_IGN);
		return;
	}
	close(fds[1]); /* a pager that was started sees the end, and leaves */
	if (p->pid > 0)
		pager_end(&(struct pager){ .pid = p->pid, .out = stdout });
	*p = (struct pager){ .out = stdout };
}

void pager_end(struct pager *p)
{
	pid_t got;

	if (!p->pid)
		return;
	if (p->out != stdout)
		fclose(p->out);
	do
		got = waitpid(p->pid, NULL, 0);
	while (got < 0 && errno == EINTR);
	*p = (struct pager){ .out = stdout };
}

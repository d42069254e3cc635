/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/page/browser.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/files/io.h"
#include "base/parse.h"
#include "serve/request_check.h"

enum {
	DIR_MODE = 0700,
	FILE_MODE = 0600,
	PAGE_MAX = 1024,
	EXIT_NOT_FOUND = 127
};

static bool env_is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value;
}

/* Returns whether there is a browser that needs no terminal. */
static bool has_desktop(void)
{
	return env_is_set("DISPLAY") || env_is_set("WAYLAND_DISPLAY") ||
	       env_is_set("BROWSER");
}

/* Finds the user for whom the browser runs. Returns false if that would be root, or is unknown. */
static bool desktop_user_find(struct desktop_user *u)
{
	const char *uid = getenv("SUDO_UID");
	const struct passwd *user;
	uint64_t number;

	memset(u, 0, sizeof(*u));
	if (geteuid())
		return true;
	if (!uid || !parse_u64_max(uid, INT32_MAX, &number) || !number)
		return false;
	user = getpwuid((uid_t)number);
	if (!user)
		return false;
	u->is_other = true;
	u->uid = user->pw_uid;
	u->gid = user->pw_gid;
	u->name = strdup(user->pw_name);
	u->home = strdup(user->pw_dir);
	return u->name && u->home;
}

/* Becomes the user, in a child process. */
static bool desktop_user_become(const struct desktop_user *u)
{
	if (!u->is_other)
		return true;
	return !initgroups(u->name, u->gid) && !setgid(u->gid) && !setuid(u->uid) &&
	       !setenv("HOME", u->home, 1) && !setenv("USER", u->name, 1) &&
	       !setenv("LOGNAME", u->name, 1);
}

/* Runs `act` as the user in a child process.  Returns whether it returned true. */
static bool run_as_user(const struct page_browser *b, const char *url,
			bool (*act)(const struct page_browser *b, const char *url))
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(desktop_user_become(&b->user) && act(b, url) ? 0 : 1);
	while (pid > 0 && waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return pid > 0 && WIFEXITED(status) && !WEXITSTATUS(status);
}

/* Writes the page that leads to the address, in a new directory. */
static bool browser_write(const struct page_browser *b, const char *url)
{
	char page[PAGE_MAX];
	int n = snprintf(
		page, sizeof(page),
		"<!doctype html><meta charset=utf-8>"
		"<meta name=referrer content=no-referrer>"
		"<meta http-equiv=refresh content=\"0;url=%s\">"
		"<title>oprofile view</title><a href=\"%s\">oprofile view</a>\n",
		url, url);
	bool written = false;
	int fd;

	if (io_mkdir(b->dir, DIR_MODE))
		return false;
	fd = io_open(b->file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, FILE_MODE);
	if (fd >= 0) {
		written = !io_write_all(fd, page, (size_t)n);
		close(fd);
	}
	return written;
}

static bool browser_remove(const struct page_browser *b, const char *url)
{
	(void)url;
	return !io_unlink(b->file) && !io_rmdir(b->dir);
}

/* Replaces the process by the first opener that exists. */
static void browser_execute(const char *file)
{
	static const char *const openers[] = { "xdg-open", "sensible-browser" };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	(void)signal(SIGPIPE, SIG_DFL);
	(void)setsid();
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	for (size_t i = 0; i < COUNT_OF(openers); i++)
		execlp(openers[i], openers[i], file, (char *)NULL);
	execlp("gio", "gio", "open", file, (char *)NULL);
	_exit(EXIT_NOT_FOUND);
}

/* Writes the file and starts the browser, which is not a child of the server. */
static bool browser_start(const struct page_browser *b, const char *url)
{
	pid_t pid;

	if (!browser_write(b, url))
		return false;
	pid = fork();
	if (!pid)
		browser_execute(b->file);
	return pid > 0;
}

/* Chooses the names of the file and its directory. */
static int browser_choose_file(struct page_browser *b)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	char name[SERVE_TOKEN_DIGITS + 1];
	int r = request_token_make(name);

	if (r)
		return r;
	if (b->user.is_other || !runtime || *runtime != '/')
		runtime = "/tmp";
	if (asprintf(&b->dir, "%s/oprofile-view-%s", runtime, name) < 0) {
		b->dir = NULL;
		return -ENOMEM;
	}
	if (asprintf(&b->file, "%s/open.html", b->dir) < 0) {
		b->file = NULL;
		return -ENOMEM;
	}
	return 0;
}

int page_browser_open(struct page_browser *b, const char *url)
{
	int r;

	if (!desktop_user_find(&b->user) || !has_desktop())
		return -ENOTTY;
	r = browser_choose_file(b);
	if (!r && !run_as_user(b, url, browser_start))
		r = -EIO;
	return r;
}

static bool browser_show(const struct page_browser *b, const char *path)
{
	pid_t pid = fork();

	(void)b;
	if (!pid)
		browser_execute(path);
	return pid > 0;
}

int page_browser_show(const char *path)
{
	struct page_browser b = { 0 };
	int r = -ENOTTY;

	if (desktop_user_find(&b.user) && has_desktop())
		r = run_as_user(&b, path, browser_show) ? 0 : -EIO;
	page_browser_done(&b);
	return r;
}

void page_browser_done(struct page_browser *b)
{
	if (b->dir && b->file)
		(void)run_as_user(b, NULL, browser_remove);
	free(b->file);
	free(b->dir);
	free(b->user.name);
	free(b->user.home);
	*b = (struct page_browser){ 0 };
}

#include "tools/cli/failures.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "tools/cli/command.h"

enum {
	MAX_FILES = 16, /* of later ones only the number is kept */
	MAX_PATH = 1024,
	STATUS_INCOMPLETE = 3
};

struct failed_file {
	char path[MAX_PATH];
	int error;
	bool is_reported;
};

/* No allocation: this is for when there is no memory. */
static struct failed_file files[MAX_FILES];
static size_t nr_files;
static size_t nr_more;
static pthread_mutex_t files_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool memory_failed;

void failures_note_memory(void)
{
	atomic_store_explicit(&memory_failed, true, memory_order_relaxed);
}

/* Whether the error does not depend on the file, its owner and its kind. */
static bool is_failure(int error)
{
	static const int errors[] = { EIO,    EINTR,     EMFILE,   ENFILE,
				      ENOMEM, ENOSPC,    EDQUOT,   EREMOTEIO,
				      ESTALE, ETIMEDOUT, EOVERFLOW };

	for (size_t i = 0; i < COUNT_OF(errors); i++)
		if (errors[i] == error)
			return true;
	return false;
}

static void failures_add_file(const char *path, int error)
{
	size_t i = 0;

	pthread_mutex_lock(&files_lock);
	while (i < nr_files && strcmp(files[i].path, path) != 0)
		i++;
	if (i == MAX_FILES) {
		nr_more++;
	} else if (i == nr_files) {
		snprintf(files[i].path, sizeof(files[i].path), "%s", path);
		files[i].error = error;
		nr_files++;
	}
	pthread_mutex_unlock(&files_lock);
}

/* The path of an open file; false if it has none. */
static bool failures_path_of(int fd, char *path, size_t size)
{
	char link[64];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, size - 1);
	path[len < 0 ? 0 : len] = '\0';
	return path[0] == '/';
}

void failures_note_path(int dir, const char *path, int error)
{
	char above[MAX_PATH];
	char whole[2 * MAX_PATH];

	if (!is_failure(error))
		return;
	if (dir == AT_FDCWD || path[0] == '/' ||
	    !failures_path_of(dir, above, sizeof(above)))
		snprintf(whole, sizeof(whole), "%.*s", MAX_PATH - 1, path);
	else
		snprintf(whole, sizeof(whole), "%s/%.*s", above, MAX_PATH - 1, path);
	whole[MAX_PATH - 1] = '\0';
	failures_add_file(whole, error);
	errno = error;
}

void failures_note_fd(int fd, int error)
{
	char path[MAX_PATH];

	/* Readers of pipes and of anything slow repeat an interrupted call. */
	if (is_failure(error) && error != EINTR &&
	    failures_path_of(fd, path, sizeof(path)))
		failures_add_file(path, error);
	errno = error;
}

static bool is_in_path(char c)
{
	return c && !strchr(" '\":,;()\n", c);
}

/* Whether a text has the path, and not just as a part of another one. */
static bool names_path(const char *text, const char *path)
{
	size_t len = strlen(path);
	const char *at = text;

	while (len && (at = strstr(at, path))) {
		if (!(at > text && is_in_path(at[-1])) && !is_in_path(at[len]))
			return true;
		at += len;
	}
	return false;
}

void failures_message(const char *text)
{
	pthread_mutex_lock(&files_lock);
	for (size_t i = 0; i < nr_files; i++)
		if (names_path(text, files[i].path))
			files[i].is_reported = true;
	pthread_mutex_unlock(&files_lock);
}

int failures_report(int status, bool is_recorder)
{
	int loss = 0;

	/* A command that failed has said why. */
	if (status && !is_recorder && command_nr_messages())
		return status;
	for (size_t i = 0; i < nr_files; i++) {
		/* Messages mark the files that they name. */
		if (files[i].is_reported)
			continue;
		loss = STATUS_INCOMPLETE;
		command_warning("cannot read '%s': %s: the result can be incomplete",
				files[i].path, strerror(files[i].error));
	}
	if (nr_more)
		command_warning("cannot read %zu more files", nr_more);
	if (atomic_load_explicit(&memory_failed, memory_order_relaxed)) {
		loss = STATUS_INCOMPLETE;
		command_error("out of memory: the result is not complete");
	}
	return status || is_recorder ? status : loss;
}

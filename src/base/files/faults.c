/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/files/faults.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/containers/hash.h"
#include "base/err.h"
#include "base/files/io.h"
#include "base/log.h"

enum {
	REPORTED_MAX = 1024 /* further files are reported each time */
};

/* Hashes of paths; 0: free. */
static atomic_uint_least64_t reported[FAULT_COUNT][REPORTED_MAX];
static atomic_uint_least64_t counts[FAULT_COUNT];

static uint_least64_t hash_path(const char *path)
{
	return hash_bytes(path, strlen(path), 0) | 1;
}

/* Adds the path to the list. Returns true if it was not in it. */
static bool faults_is_news(enum fault kind, const char *path)
{
	uint_least64_t hash = hash_path(path);

	for (size_t i = 0; i < REPORTED_MAX; i++) {
		atomic_uint_least64_t *at = &reported[kind][(hash + i) % REPORTED_MAX];
		uint_least64_t there = 0;

		if (atomic_compare_exchange_strong(at, &there, hash))
			return true;
		if (there == hash)
			return false;
	}
	return true;
}

static bool faults_is_listed(enum fault kind, const char *path)
{
	uint_least64_t hash = hash_path(path);

	for (size_t i = 0; i < REPORTED_MAX; i++) {
		uint_least64_t there =
			atomic_load(&reported[kind][(hash + i) % REPORTED_MAX]);

		if (there == hash || !there)
			return there == hash;
	}
	return false;
}

static bool is_refusal(int code)
{
	return code == -EACCES || code == -EPERM;
}

static const char *reason_of(int code)
{
	return code == IO_NOT_REGULAR ? "not a regular file" : strerror(-code);
}

int fault_unreadable(const char *path, int code)
{
	enum fault kind = is_refusal(code) ? FAULT_REFUSED : FAULT_UNREADABLE;

	if (code >= 0 || err_is_absent(code) || code == -ESRCH || code == -EINVAL ||
	    !faults_is_news(kind, path))
		return code;
	atomic_fetch_add(&counts[kind], 1);
	log_say(LOG_WARNING,
		"cannot read '%s': %s: its contents are missing from the result", path,
		reason_of(code));
	return code;
}

int fault_unreadable_try(const char *path, int code)
{
	return is_refusal(code) ? code : fault_unreadable(path, code);
}

int fault_unreadable_fd(int fd, int code)
{
	char link[64], path[PATH_MAX];
	ssize_t n;

	if (code >= 0)
		return code;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	path[n < 0 ? 0 : n] = '\0';
	return fault_unreadable(n < 0 ? link : path, code);
}

int fault_stat(const char *path, struct stat *st)
{
	return fault_unreadable_try(path, io_stat(path, st));
}

int fault_stat_fd(int fd, struct stat *st)
{
	return fstat(fd, st) ? fault_unreadable_fd(fd, -errno) : 0;
}

void fault_unreadable_stream(FILE *f)
{
	int code = errno ? -errno : -EIO;

	if (ferror(f))
		fault_unreadable_fd(fileno(f), code);
}

void fault_damaged(const char *path, const char *reason)
{
	if (!faults_is_news(FAULT_DAMAGED, path))
		return;
	atomic_fetch_add(&counts[FAULT_DAMAGED], 1);
	log_say(LOG_WARNING, "ignoring the damaged file '%s': %s", path, reason);
}

void fault_missing(const char *path)
{
	if (!faults_is_news(FAULT_MISSING, path))
		return;
	atomic_fetch_add(&counts[FAULT_MISSING], 1);
	log_say(LOG_WARNING,
		"'%s' is missing, although the recording lists it: its contents are missing from the result",
		path);
}

void fault_incomplete(const char *shown, const char *reason)
{
	if (!faults_is_news(FAULT_INCOMPLETE, shown))
		return;
	atomic_fetch_add(&counts[FAULT_INCOMPLETE], 1);
	log_say(LOG_WARNING, "%s: %s", shown, reason);
}

bool fault_is_reported(const char *path)
{
	return faults_is_listed(FAULT_UNREADABLE, path) ||
	       faults_is_listed(FAULT_REFUSED, path);
}

uint64_t fault_count(enum fault kind)
{
	return atomic_load(&counts[kind]);
}

bool fault_any_loss(void)
{
	return fault_count(FAULT_UNREADABLE) || fault_count(FAULT_DAMAGED) ||
	       fault_count(FAULT_MISSING) || fault_count(FAULT_INCOMPLETE);
}

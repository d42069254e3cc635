/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/keep/private_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/async_call.h"
#include "base/clock.h"
#include "base/files/io.h"

enum {
	COPY_MODE = 0600
};

static const uint64_t patience_ns = 500000000;
/* Suffix of copies that are not complete. If a recording is interrupted, the next one removes
 * them. */
static const char suffix[] = ".part";

enum {
	USERS_MAX = 64, /* number of users whose copied bytes are known */
	/* How many bytes are copied for a user: BYTES_AT_ONCE in a burst, then a number per
	 * second. */
	BYTES_AT_ONCE = 512 << 20,
	BYTES_PER_S = 256 << 10
};

/* The bytes that were copied from files of a user. */
struct copied {
	uint64_t user;
	uint64_t bytes; /* decreases with time */
	uint64_t at_ns;
};

static struct copied
	copied[USERS_MAX]; /* used by the thread that calls private_copy_take() */

/* Returns the entry of a user. A new one replaces the entry with the fewest bytes. */
static struct copied *private_copy_of(uint64_t user)
{
	uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);
	struct copied *least = copied;

	for (struct copied *c = copied; c < copied + USERS_MAX; c++) {
		uint64_t earned = (now_ns - c->at_ns) / NS_PER_MS * BYTES_PER_S / 1000;

		c->bytes -= earned < c->bytes ? earned : c->bytes;
		c->at_ns = now_ns;
		if (c->user == user)
			return c;
		if (c->bytes < least->bytes)
			least = c;
	}
	*least = (struct copied){ .user = user, .at_ns = now_ns };
	return least;
}

/* Charges the bytes of a copy to a user, and returns false if the user's budget is used up. The
 * budget is that of the process, not of a recording, and limits the CPU time and disk space that a
 * user can cause. */
static bool private_copy_charge(uint64_t user, uint64_t bytes)
{
	struct copied *c;

	if (user == ASYNC_CALL_OWN)
		return true;
	c = private_copy_of(user);
	if (c->bytes + bytes > BYTES_AT_ONCE)
		return false;
	c->bytes += bytes;
	return true;
}

struct copy_call {
	struct async_call call; /* must be first */
	int from;               /* -1: closed */
	int to;                 /* the copy, or a negative errno */
	struct stat st;
	char path[]; /* temporary name of the copy */
};

static void private_copy_close_source(struct copy_call *c)
{
	if (c->from >= 0)
		close(c->from);
	c->from = -1;
}

static void drop_copy(struct async_call *e)
{
	struct copy_call *c = (struct copy_call *)e;

	private_copy_close_source(c);
	if (c->to >= 0)
		close(c->to);
	free(c);
}

/* Copies the content and the modification time, so that comparisons of size and time succeed. */
static int private_copy_fill(struct copy_call *c)
{
	const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, c->st.st_mtim };
	struct stat now;
	int r = io_copy_to(c->from, c->to, (uint64_t)c->st.st_size, NULL);

	if (r)
		return r;
	if (fstat(c->from, &now))
		return -errno;
	if (now.st_size != c->st.st_size ||
	    now.st_mtim.tv_sec != c->st.st_mtim.tv_sec ||
	    now.st_mtim.tv_nsec != c->st.st_mtim.tv_nsec)
		return -ESTALE;
	if (fchmod(c->to, COPY_MODE | (c->st.st_mode & (S_IRGRP | S_IROTH))) ||
	    futimens(c->to, times))
		return -errno;
	return 0;
}

static void run_copy(struct async_call *e)
{
	struct copy_call *c = (struct copy_call *)e;
	int r;

	/* Not O_TMPFILE, because some file systems do not support it. */
	c->to = io_open_temp(c->path, strlen(suffix), COPY_MODE);
	if (c->to >= 0) {
		(void)io_unlink(c->path);
		r = private_copy_fill(c);
		if (r) {
			close(c->to);
			c->to = r;
		}
	}
	/* Close the source in this thread as soon as possible, because it keeps a mount busy. */
	private_copy_close_source(c);
}

static struct copy_call *private_copy_make_call(int fd, const struct stat *st,
						uint64_t user, const char *dir)
{
	size_t bytes = strlen(dir) + sizeof("/copy-XXXXXX") + strlen(suffix);
	struct copy_call *c = malloc(offsetof(struct copy_call, path) + bytes);

	if (!c)
		return NULL;
	*c = (struct copy_call){ .call = { .kind = ASYNC_CALL_FILE,
					   .about = st->st_dev,
					   .user = user,
					   .run = run_copy,
					   .drop = drop_copy },
				 .from = fd,
				 .to = -1,
				 .st = *st };
	snprintf(c->path, bytes, "%s/copy-XXXXXX%s", dir, suffix);
	return c;
}

int private_copy_take(int fd, const struct stat *st, uint64_t user, const char *dir)
{
	struct copy_call *c = NULL;
	int r = 0;

	if (st->st_size > PRIVATE_COPY_MAX_BYTES || io_is_hollow(fd))
		r = -EFBIG;
	else if (!private_copy_charge(user, (uint64_t)st->st_size))
		r = -EDQUOT;
	else
		c = private_copy_make_call(fd, st, user, dir);
	if (!c) {
		close(fd);
		return r ? r : -ENOMEM;
	}
	r = async_call_run(&c->call, patience_ns);
	if (r == -ETIMEDOUT)
		return r;
	if (!r) {
		r = c->to;
		c->to = -1;
	}
	drop_copy(&c->call);
	return r;
}

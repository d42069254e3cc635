/* SPDX-License-Identifier: GPL-2.0-or-later */
/* serve_none.c - replaces serve_mhd.c in builds without libmicrohttpd. */
#include <errno.h>
#include <stddef.h>

#include "base/err.h"
#include "serve/serve.h"

const char *serve_version(void)
{
	return NULL;
}

int serve_open(const struct serve_config *config, struct serve **ret_serve,
	       struct err *err)
{
	(void)config;
	(void)ret_serve;
	return err_set(
		err, -EOPNOTSUPP,
		"cannot serve the page: this build has no libmicrohttpd (Debian package: libmicrohttpd-dev)");
}

void serve_close(struct serve *s)
{
	(void)s;
}

const char *serve_url(const struct serve *s)
{
	(void)s;
	return "";
}

int serve_fd(const struct serve *s)
{
	(void)s;
	return -1;
}

int serve_wait_ms(struct serve *s, int max_ms)
{
	(void)s;
	return max_ms;
}

void serve_poll(struct serve *s)
{
	(void)s;
}

void serve_send_event(struct serve *s, const char *data)
{
	(void)s;
	(void)data;
}

bool serve_has_streams(const struct serve *s)
{
	(void)s;
	return false;
}

uint64_t serve_nr_requests(const struct serve *s)
{
	(void)s;
	return 0;
}

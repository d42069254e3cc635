/* SPDX-License-Identifier: GPL-2.0-or-later */
/* http_none.c - replaces http_curl.c in a build without libcurl. */
#include <errno.h>
#include <stddef.h>

#include "resolve/find/http.h"

int http_new(struct http **ret_http)
{
	(void)ret_http;
	return -EOPNOTSUPP;
}

void http_free(struct http *h)
{
	(void)h;
}

int http_add(struct http *h, struct http_get *get)
{
	(void)h;
	(void)get;
	return -EOPNOTSUPP;
}

void http_remove(struct http *h, struct http_get *get)
{
	(void)h;
	(void)get;
}

struct http_get *http_wait(struct http *h, int ms)
{
	(void)h;
	(void)ms;
	return NULL;
}

const char *http_version(void)
{
	return NULL;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* http.h - downloads files from HTTP servers concurrently, with a time limit.
 * Layer: resolve. Not thread-safe. Loads libcurl at the first use. A build without its headers
 * compiles http_none.c instead of http_curl.c. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct http;

enum http_outcome {
	HTTP_RUNNING,
	HTTP_DONE,        /* the file is complete */
	HTTP_NOT_THERE,   /* the server does not have the file */
	HTTP_UNREACHABLE, /* no connection, or no HTTP response */
	HTTP_REFUSED,     /* another HTTP status, such as 500 or 401 */
	HTTP_BROKEN_OFF,  /* the connection broke during the transfer */
	HTTP_WRONG,       /* not an ELF file, though `elf` is set */
	HTTP_TOO_LARGE,
	HTTP_NO_ROOM /* cannot write to the file */
};

enum {
	HTTP_ERROR_MAX = 256,
	HTTP_CONNECT_MS = 5000 /* connection timeout */
};

struct http_get {
	/* The request, set by the caller; its members must outlive it. */
	const char *url;
	int fd;
	uint64_t max_bytes;
	bool elf; /* stop the transfer if the content does not begin like an ELF file */
	void *ctx;
	/* The result. */
	enum http_outcome outcome;
	uint64_t bytes;
	uint64_t announced; /* the size in the header X-DEBUGINFOD-SIZE; 0: none */
	char error[HTTP_ERROR_MAX]; /* reason of the failure */
	void *handle;               /* private to http_curl.c */
};

/* Makes a client. Returns 0, -ENOMEM, or -EOPNOTSUPP if libcurl is not installed. */
int http_new(struct http **ret_http);
void http_free(struct http *h); /* cancels running requests; accepts NULL */
/* Starts a request. `get` must stay valid at this address until it has ended or was removed.
 * Returns 0 or -ENOMEM. */
int http_add(struct http *h, struct http_get *get);
/* Cancels the request if it is running. */
void http_remove(struct http *h, struct http_get *get);
/* Runs the transfers for at most `ms` milliseconds. Returns a request that has ended, and
 * removes it; NULL if none has. */
struct http_get *http_wait(struct http *h, int ms);
/* Returns the version of libcurl's headers in this build, or NULL in a build without them. */
const char *http_version(void);

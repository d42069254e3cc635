/* http.h - gets files from HTTP servers, several at once, and never for longer than asked.
 * Layer: resolve.  Not thread safe.  libcurl is loaded at the first use; a build without its
 * headers has http_none.c instead of http_curl.c. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct http;

enum http_outcome {
	HTTP_RUNNING,
	HTTP_DONE,        /* all of it is in the file */
	HTTP_NOT_THERE,   /* the server says that it has no such file */
	HTTP_UNREACHABLE, /* no connection, or no answer in HTTP */
	HTTP_REFUSED,     /* an answer that is neither: 500, 401 ... */
	HTTP_BROKEN_OFF,  /* in the middle */
	HTTP_WRONG,       /* no ELF file, though one was asked for */
	HTTP_TOO_LARGE,
	HTTP_NO_ROOM /* the file could not be written */
};

enum {
	HTTP_ERROR_MAX = 256,
	HTTP_CONNECT_MS = 5000 /* a server that is not reached by then is not there */
};

struct http_get {
	/* What is asked for; all of it outlives the request. */
	const char *url;
	int fd;
	uint64_t max_bytes;
	bool elf; /* what does not begin like an ELF file is not read on */
	void *ctx;
	/* What came of it. */
	enum http_outcome outcome;
	uint64_t bytes;
	char error[HTTP_ERROR_MAX]; /* why it failed */
	void *handle;               /* of http_curl.c */
};

/* 0, -ENOMEM, or -EOPNOTSUPP: there is no libcurl here. */
int http_new(struct http **ret_http);
void http_free(struct http *h); /* NULL is fine; breaks off what is running */
/* Starts.  `get` stays where it is until it has ended or was removed.  0 or -ENOMEM. */
int http_add(struct http *h, struct http_get *get);
/* Breaks off, if it runs. */
void http_remove(struct http *h, struct http_get *get);
/* Works for `ms` milliseconds at most.  One that ended, and is removed; NULL: none yet. */
struct http_get *http_wait(struct http *h, int ms);
/* Version of the headers it was built with, NULL without it. */
const char *http_version(void);

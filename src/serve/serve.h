/* SPDX-License-Identifier: GPL-2.0-or-later */
/* serve.h - serves a page by HTTP to the browser of the same user.
 * Layer: serve.  Single-threaded.  Listens on 127.0.0.1 only.  Other users can connect to the port,
 * so each request needs the random token of the URL.  Pages of other sites can send requests too,
 * so Host and Origin must be those of this server (docs/trust.md).
 * libmicrohttpd is loaded when the server is opened. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/containers/vec.h"

struct err;
struct serve;

enum {
	SERVE_BODY_MAX = 64 << 10, /* bytes of a request's body */
	SERVE_HEAD_MAX =
		32 << 10,     /* bytes of a request's URL and headers, approximately */
	SERVE_PEERS_MAX = 64, /* connections */
	SERVE_LIVE_MAX = 16   /* connections that can be streams of events */
};

struct serve_param {
	const char *name;
	const char *value; /* "" if the parameter has no "=" */
};

/* A request that passed all checks.  Everything is borrowed until the callback returns. */
struct serve_request {
	bool is_post; /* a POST with JSON; otherwise GET or HEAD */
	const char *
		path; /* after the token and its slash, decoded; "" is the page itself */
	VEC(struct serve_param) params;
	const char *body; /* of a POST; ends with a NUL that `body_len` excludes */
	size_t body_len;
};

struct serve_answer {
	unsigned int status; /* 200 unless the callback changes it */
	const char *type;    /* Content-Type */
	/* The body: `fixed`, which must outlive the server, or else `text`, which the server
	 * frees. */
	const void *fixed;
	size_t fixed_len;
	struct buf text;
	/* Instead of a body, send the events of serve_send_event() until the connection ends. */
	bool is_live;
};

struct serve_config {
	uint16_t port; /* 0: any free one */
	void (*answer)(void *ctx, const struct serve_request *request,
		       struct serve_answer *ret_answer);
	void *ctx;
};

/* Returns the version of libmicrohttpd used by the build, or NULL if it has none. */
const char *serve_version(void);
/* Opens a server that listens on 127.0.0.1. Returns 0, or a negative errno with a message in *err.
 */
int serve_open(const struct serve_config *config, struct serve **ret_serve,
	       struct err *err);
void serve_close(struct serve *s); /* NULL is allowed */
/* Returns the address of the page with its token: "http://127.0.0.1:40213/5fd0.../". */
const char *serve_url(const struct serve *s);
/* Returns a descriptor that is readable when serve_poll() has work to do. The server owns it. */
int serve_fd(const struct serve *s);
/* Returns how long poll(2) may wait before the next serve_poll(), at most `max_ms`. */
int serve_wait_ms(struct serve *s, int max_ms);
/* Accepts connections, reads requests and writes answers as far as possible without waiting. */
void serve_poll(struct serve *s);
/* Sends a server-sent event with this data, which must not contain line ends, to all streams.  A
 * stream that is too slow receives only the newest event. */
void serve_send_event(struct serve *s, const char *data);
/* Returns whether a stream of events is open. */
bool serve_has_streams(const struct serve *s);
/* Returns the number of requests so far that passed all checks. */
uint64_t serve_nr_requests(const struct serve *s);

/* Sets the answer to an error: {"error":"...","fix":"..."}.  `fix` can be NULL. */
void serve_answer_error(struct serve_answer *a, unsigned int status, const char *error,
			const char *fix);
/* Returns the first value of a parameter, or NULL if the request does not have it. */
const char *serve_param_get(const struct serve_request *request, const char *name);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* serve_mhd.c - implements serve.h with libmicrohttpd, in its mode without threads. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/err.h"
#include "serve/library.h"
#include "serve/request_check.h"
#include "serve/serve.h"

enum {
	BACKLOG = 32,
	/* If fewer than this many connections are left, the server closes the oldest one that has
	 * not sent a permitted request. */
	PEERS_SPARE = 8,
	QUIET_S = 60, /* a connection without any data is closed after this time */
	STREAM_BLOCK = 4096,
	URL_MAX = 96
};

/* A connection must send its first complete request within this time. */
static const uint64_t first_request_ns = 10 * (uint64_t)NS_PER_S;

static const char content_policy[] =
	"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
	"img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/* A connection. */
struct serve_peer {
	struct serve *serve;
	struct serve_peer *prev, *next; /* in the order in which they were opened */
	int fd;
	uint64_t since_ns;
	bool trusted; /* it sent a permitted request */
};

/* A stream of events. */
struct serve_stream {
	struct serve *serve;
	struct serve_stream *next;
	struct MHD_Connection *connection;
	struct buf event; /* bytes to send */
	size_t sent;
	bool suspended;
};

/* A request while its body is received. */
struct serve_incoming {
	struct serve_request request;
	struct buf body;
	bool failed; /* no memory to store the parameters */
	bool too_large;
	bool answered;
};

struct serve {
	struct mhd_library lib;
	struct serve_config config;
	struct MHD_Daemon *daemon;
	int epoll_fd; /* of the library */
	uint16_t port;
	char token[SERVE_TOKEN_DIGITS + 1];
	char url[URL_MAX];
	struct serve_peer *first, *last;
	unsigned int nr_peers;
	struct serve_stream *streams;
	unsigned int nr_streams;
	uint64_t nr_requests;
	struct buf event; /* the newest one, for new streams */
	bool closing;
};

const char *serve_version(void)
{
	static char version[24];

	snprintf(version, sizeof(version), "%x.%x.%x", MHD_VERSION >> 24,
		 MHD_VERSION >> 16 & 0xff, MHD_VERSION >> 8 & 0xff);
	return version;
}

/* ---- connections ---- */

static void peer_unlink(struct serve_peer *p)
{
	struct serve *s = p->serve;

	*(p->prev ? &p->prev->next : &s->first) = p->next;
	*(p->next ? &p->next->prev : &s->last) = p->prev;
	s->nr_peers--;
}

/* Makes the library close a connection. */
static void peer_cut(struct serve_peer *p)
{
	shutdown(p->fd, SHUT_RDWR);
	p->trusted =
		true; /* serve_make_room() and serve_cut_slow() skip it from now on */
}

static void serve_make_room(struct serve *s)
{
	struct serve_peer *p = s->first;

	while (p && p->trusted)
		p = p->next;
	if (p && s->nr_peers > SERVE_PEERS_MAX - PEERS_SPARE)
		peer_cut(p);
}

static void serve_cut_slow(struct serve *s)
{
	uint64_t now = clock_now_ns(CLOCK_MONOTONIC);

	for (struct serve_peer *p = s->first; p; p = p->next)
		if (!p->trusted && now - p->since_ns > first_request_ns)
			peer_cut(p);
}

static void serve_peer_begin(struct serve *s, struct MHD_Connection *connection,
			     void **ret_peer)
{
	const union MHD_ConnectionInfo *info =
		s->lib.connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct serve_peer *p = calloc(1, sizeof(*p));

	*ret_peer = p;
	if (!p)
		return;
	p->serve = s;
	p->fd = info ? info->connect_fd : -1;
	p->since_ns = clock_now_ns(CLOCK_MONOTONIC);
	p->prev = s->last;
	*(s->last ? &s->last->next : &s->first) = p;
	s->last = p;
	s->nr_peers++;
	serve_make_room(s);
}

static void serve_on_peer(void *ctx, struct MHD_Connection *connection, void **peer,
			  enum MHD_ConnectionNotificationCode code)
{
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		serve_peer_begin(ctx, connection, peer);
	} else if (*peer) {
		peer_unlink(*peer);
		free(*peer);
		*peer = NULL;
	}
}

/* ---- streams of events ---- */

static ssize_t stream_read(void *ctx, uint64_t pos, char *to, size_t max)
{
	struct serve_stream *t = ctx;
	size_t left = t->event.len - t->sent;
	size_t nr = left < max ? left : max;

	(void)pos;
	if (t->serve->closing || t->event.failed)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (!nr) {
		t->suspended = true;
		t->serve->lib.suspend(t->connection);
		return 0;
	}
	memcpy(to, t->event.data + t->sent, nr);
	t->sent += nr;
	return (ssize_t)nr;
}

static void stream_free(void *ctx)
{
	struct serve_stream *t = ctx;
	struct serve_stream **at = &t->serve->streams;

	while (*at && *at != t)
		at = &(*at)->next;
	if (*at) {
		*at = t->next;
		t->serve->nr_streams--;
	}
	buf_done(&t->event);
	free(t);
}

/* Replaces the stream's event by the newest one, unless the stream is in the middle of sending. */
static void stream_set_event(struct serve_stream *t)
{
	if (t->sent && t->sent < t->event.len)
		return;
	buf_clear(&t->event);
	buf_put(&t->event, t->serve->event.data, t->serve->event.len);
	t->sent = 0;
}

static void stream_resume(struct serve_stream *t)
{
	if (!t->suspended)
		return;
	t->suspended = false;
	t->serve->lib.resume(t->connection);
}

static struct MHD_Response *stream_new(struct serve *s,
				       struct MHD_Connection *connection)
{
	struct serve_stream *t = calloc(1, sizeof(*t));
	struct MHD_Response *response;

	if (!t)
		return NULL;
	t->serve = s;
	t->connection = connection;
	stream_set_event(t);
	response = s->lib.response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK,
						 stream_read, t, stream_free);
	if (!response) {
		buf_done(&t->event);
		free(t);
		return NULL;
	}
	t->next = s->streams;
	s->streams = t;
	s->nr_streams++;
	return response;
}

void serve_send_event(struct serve *s, const char *data)
{
	static const char before[] = "data: ", after[] = "\n\n";

	buf_clear(&s->event);
	buf_put(&s->event, before, sizeof(before) - 1);
	buf_put(&s->event, data, strlen(data));
	buf_put(&s->event, after, sizeof(after) - 1);
	for (struct serve_stream *t = s->streams; t; t = t->next) {
		stream_set_event(t);
		stream_resume(t);
	}
}

bool serve_has_streams(const struct serve *s)
{
	return s->nr_streams > 0;
}

/* ---- answers ---- */

static void serve_add_headers(const struct serve *s, struct MHD_Response *response,
			      const char *type)
{
	const struct {
		const char *name, *value;
	} headers[] = {
		{ MHD_HTTP_HEADER_CONTENT_TYPE, type },
		{ MHD_HTTP_HEADER_CACHE_CONTROL, "no-store" },
		{ "Content-Security-Policy", content_policy },
		{ "X-Content-Type-Options", "nosniff" },
		{ "X-Frame-Options", "DENY" },
		{ "Referrer-Policy", "no-referrer" },
		{ "Cross-Origin-Resource-Policy", "same-origin" },
		{ "Cross-Origin-Opener-Policy", "same-origin" },
	};

	for (size_t i = 0; i < COUNT_OF(headers); i++)
		(void)s->lib.add_header(response, headers[i].name, headers[i].value);
}

/* Makes a response from the answer's body. The response then owns the memory of its text. */
static struct MHD_Response *
response_of(struct serve *s, struct MHD_Connection *connection, struct serve_answer *a)
{
	struct MHD_Response *response;

	if (a->is_live)
		return stream_new(s, connection);
	if (a->fixed) {
		/* The library does not write to it. */
		union {
			const void *from;
			void *to;
		} bytes = { .from = a->fixed };

		return s->lib.response_from_buffer(a->fixed_len, bytes.to,
						   MHD_RESPMEM_PERSISTENT);
	}
	if (a->text.failed)
		return NULL;
	if (!a->text.data)
		buf_reserve(&a->text, 1);
	response = s->lib.response_from_buffer(a->text.len, a->text.data,
					       MHD_RESPMEM_MUST_FREE);
	if (response)
		a->text = (struct buf){ 0 };
	return response;
}

/* Sends an answer and frees it.  MHD_NO closes the connection. */
static enum MHD_Result serve_queue(struct serve *s, struct MHD_Connection *connection,
				   struct serve_answer *a)
{
	struct MHD_Response *response;
	enum MHD_Result result = MHD_NO;

	if (a->is_live && s->nr_streams >= SERVE_LIVE_MAX)
		serve_answer_error(a, MHD_HTTP_SERVICE_UNAVAILABLE,
				   "too many pages are open",
				   "close some of them, and load this one again");
	response = response_of(s, connection, a);
	if (response) {
		serve_add_headers(s, response, a->type);
		result = s->lib.queue(connection, a->status, response);
		s->lib.destroy_response(response);
	}
	buf_done(&a->text);
	return result;
}

static enum MHD_Result serve_refuse(struct serve *s, struct MHD_Connection *connection,
				    unsigned int status, const char *error,
				    const char *fix)
{
	struct serve_answer a = { 0 };

	serve_answer_error(&a, status, error, fix);
	return serve_queue(s, connection, &a);
}

/* ---- requests ---- */

static enum MHD_Result incoming_add_param(void *ctx, enum MHD_ValueKind kind,
					  const char *name, const char *value)
{
	struct serve_incoming *in = ctx;
	const struct serve_param param = { name, value ? value : "" };

	(void)kind;
	in->failed |= !vec_push(&in->request.params, param);
	return in->failed ? MHD_NO : MHD_YES;
}

static void incoming_free(struct serve_incoming *in)
{
	if (!in)
		return;
	vec_done(&in->request.params);
	buf_done(&in->body);
	free(in);
}

/* Returns whether the request may be answered; otherwise queues a refusal, whose result is
 * stored. */
static bool serve_permits(struct serve *s, struct MHD_Connection *connection,
			  const char *method, const char *rest,
			  enum MHD_Result *ret_result)
{
	const struct request_heads heads = {
		.method = method,
		.host = s->lib.lookup(connection, MHD_HEADER_KIND, "Host"),
		.origin = s->lib.lookup(connection, MHD_HEADER_KIND, "Origin"),
		.fetch_site =
			s->lib.lookup(connection, MHD_HEADER_KIND, "Sec-Fetch-Site"),
		.content_type =
			s->lib.lookup(connection, MHD_HEADER_KIND, "Content-Type"),
	};
	const char *refusal =
		request_refusal(&heads, s->port, rest && strncmp(rest, "api/", 4) != 0);

	if (!rest)
		*ret_result = serve_refuse(
			s, connection, MHD_HTTP_FORBIDDEN,
			"the address has no valid token",
			"use the address that oprofile view printed; it changes with each start");
	else if (refusal)
		*ret_result =
			serve_refuse(s, connection, MHD_HTTP_FORBIDDEN, refusal,
				     "use the address that oprofile view printed");
	else if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0 &&
		 strcmp(method, "POST") != 0)
		*ret_result =
			serve_refuse(s, connection, MHD_HTTP_METHOD_NOT_ALLOWED,
				     "only GET, HEAD and POST are supported", NULL);
	else
		return true;
	return false;
}

/* Handles the headers of a request: refuses it, or prepares to receive its body. */
static enum MHD_Result serve_begin(struct serve *s, struct MHD_Connection *connection,
				   const char *url, const char *method,
				   struct serve_incoming **ret_in)
{
	const char *rest = request_token_strip(url, s->token);
	const union MHD_ConnectionInfo *info;
	struct serve_incoming *in;
	enum MHD_Result result;

	if (!serve_permits(s, connection, method, rest, &result))
		return result;
	info = s->lib.connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	if (info && info->socket_context)
		((struct serve_peer *)info->socket_context)->trusted = true;
	in = calloc(1, sizeof(*in));
	if (!in)
		return MHD_NO;
	in->request.path = rest;
	in->request.is_post = !strcmp(method, "POST");
	s->lib.values(connection, MHD_GET_ARGUMENT_KIND, incoming_add_param, in);
	*ret_in = in;
	return MHD_YES;
}

static void incoming_add_body(struct serve_incoming *in, const char *bytes, size_t len)
{
	if (in->too_large || len > SERVE_BODY_MAX - in->body.len)
		in->too_large = true;
	else
		buf_put(&in->body, bytes, len);
}

static enum MHD_Result serve_answer(struct serve *s, struct MHD_Connection *connection,
				    struct serve_incoming *in)
{
	struct serve_answer a = { .status = MHD_HTTP_OK, .type = "application/json" };

	in->answered = true;
	if (in->too_large)
		return serve_refuse(s, connection, MHD_HTTP_CONTENT_TOO_LARGE,
				    "the body of the request is too large", NULL);
	in->request.body_len = in->body.len;
	buf_put_u8(&in->body, '\0');
	if (in->failed || in->body.failed)
		return MHD_NO;
	in->request.body = (const char *)in->body.data;
	s->nr_requests++;
	s->config.answer(s->config.ctx, &in->request, &a);
	return serve_queue(s, connection, &a);
}

/* The library calls this when the headers of a request are complete, then for each block of its
 * body, then at its end. */
/* NOLINTNEXTLINE(readability-function-size): the library determines the parameters */
static enum MHD_Result serve_on_request(void *ctx, struct MHD_Connection *connection,
					const char *url, const char *method,
					const char *version, const char *bytes,
					size_t *len, void **request)
{
	struct serve_incoming *in = *request;

	(void)version;
	if (!in)
		return serve_begin(ctx, connection, url, method,
				   (struct serve_incoming **)request);
	if (*len) {
		incoming_add_body(in, bytes, *len);
		*len = 0;
		return MHD_YES;
	}
	return in->answered ? MHD_YES : serve_answer(ctx, connection, in);
}

static void serve_on_end(void *ctx, struct MHD_Connection *connection, void **request,
			 enum MHD_RequestTerminationCode code)
{
	(void)ctx;
	(void)connection;
	(void)code;
	incoming_free(*request);
	*request = NULL;
}

/* ---- the server ---- */

static int serve_listen(struct serve *s, struct err *err)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_port = htons(s->config.port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int r;

	if (fd < 0)
		return err_sys(err, -errno, "cannot create a socket");
	if (bind(fd, (const struct sockaddr *)&at, len) || listen(fd, BACKLOG) ||
	    getsockname(fd, (struct sockaddr *)&at, &len)) {
		r = err_sys(err, -errno, "cannot listen on port %u of 127.0.0.1",
			    s->config.port);
		close(fd);
		return r;
	}
	s->port = ntohs(at.sin_port);
	return fd;
}

static int serve_start(struct serve *s, struct err *err)
{
	const union MHD_DaemonInfo *info;
	int fd = serve_listen(s, err);

	if (fd < 0)
		return fd;
	s->daemon = s->lib.start(
		MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, s->port, NULL, NULL,
		serve_on_request, s, MHD_OPTION_LISTEN_SOCKET, fd,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned int)SERVE_PEERS_MAX,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)SERVE_HEAD_MAX,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)QUIET_S,
		MHD_OPTION_NOTIFY_COMPLETED, serve_on_end, s,
		MHD_OPTION_NOTIFY_CONNECTION, serve_on_peer, s, MHD_OPTION_END);
	if (!s->daemon) {
		close(fd);
		return err_set(err, -EIO,
			       "cannot serve the page: libmicrohttpd does not start");
	}
	info = s->lib.daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	s->epoll_fd = info ? info->epoll_fd : -1;
	snprintf(s->url, sizeof(s->url), "http://127.0.0.1:%u/%s/", s->port, s->token);
	return s->epoll_fd >= 0
		       ? 0
		       : err_set(err, -EIO,
				 "cannot serve the page: no descriptor to poll");
}

int serve_open(const struct serve_config *config, struct serve **ret_serve,
	       struct err *err)
{
	struct serve *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return err_set(err, -ENOMEM, "out of memory");
	r = mhd_library_load(&s->lib, err);
	if (!r) {
		s->config = *config;
		r = request_token_make(s->token);
		if (r)
			r = err_sys(err, r, "cannot make a random token");
	}
	if (!r)
		r = serve_start(s, err);
	if (r) {
		serve_close(s);
		return r;
	}
	*ret_serve = s;
	return 0;
}

void serve_close(struct serve *s)
{
	if (!s)
		return;
	s->closing = true;
	/* The library does not stop while connections are suspended. */
	for (struct serve_stream *t = s->streams; t; t = t->next)
		stream_resume(t);
	if (s->daemon) {
		(void)s->lib.run(s->daemon);
		s->lib.stop(s->daemon);
	}
	buf_done(&s->event);
	free(s);
}

const char *serve_url(const struct serve *s)
{
	return s->url;
}

int serve_fd(const struct serve *s)
{
	return s->epoll_fd;
}

int serve_wait_ms(struct serve *s, int max_ms)
{
	MHD_UNSIGNED_LONG_LONG ms;

	if (s->lib.get_timeout(s->daemon, &ms) != MHD_YES || ms > (unsigned int)max_ms)
		return max_ms;
	return (int)ms;
}

void serve_poll(struct serve *s)
{
	(void)s->lib.run(s->daemon);
	serve_cut_slow(s);
}

uint64_t serve_nr_requests(const struct serve *s)
{
	return s->nr_requests;
}

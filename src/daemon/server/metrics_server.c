/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/server/metrics_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/parse.h"
#include "daemon/server/epoll_rest.h"
#include "daemon/server/metrics_request.h"

enum {
	BACKLOG = 16,
	/* Limit on the bytes that are read from a peer after its request. */
	DRAIN_BYTES = 65536
};

static const uint64_t patience_ns = 5 * NS_PER_S;
/* The text of the metrics is reused for this long, so that frequent requests cause little work. */
static const uint64_t text_ns = NS_PER_S;

struct peer {
	int fd; /* -1: unused */
	uint64_t since_ns;
	size_t nr_in;
	size_t sent;
	size_t drained;
	bool is_answered;
	char in[METRICS_REQUEST_MAX];
	struct buf out;
};

struct metrics_server {
	int epoll_fd; /* contains the listener and all peers */
	int outer_fd; /* an epoll that contains epoll_fd and can be paused */
	int listen_fd;
	struct epoll_rest rest;
	void (*put)(void *ctx, struct buf *out);
	void *ctx;
	uint64_t text_at_ns; /* 0: no text yet */
	struct buf text;
	char name[METRICS_NAME_BYTES];
	struct peer peers[METRICS_PEERS_MAX];
};

/* ---- addresses ---- */

static int set_ip(const char *ip, bool bracketed, uint16_t port,
		  struct metrics_address *a)
{
	struct in_addr v4;
	struct in6_addr v6;

	*a = (struct metrics_address){ .len = 0 };
	if (!bracketed && inet_pton(AF_INET, ip, &v4) == 1 &&
	    ntohl(v4.s_addr) >> 24 == 127) {
		a->at.v4.sin_family = AF_INET;
		a->at.v4.sin_addr = v4;
		a->at.v4.sin_port = htons(port);
		a->len = sizeof(a->at.v4);
	} else if (bracketed && inet_pton(AF_INET6, ip, &v6) == 1 &&
		   IN6_IS_ADDR_LOOPBACK(&v6)) {
		a->at.v6.sin6_family = AF_INET6;
		a->at.v6.sin6_addr = v6;
		a->at.v6.sin6_port = htons(port);
		a->len = sizeof(a->at.v6);
	}
	return a->len ? 0 : -EINVAL;
}

int metrics_address_parse(const char *text, struct metrics_address *ret_address,
			  struct err *err)
{
	const char *colon = strrchr(text, ':');
	char ip[INET6_ADDRSTRLEN + 2] = "127.0.0.1";
	size_t len = colon ? (size_t)(colon - text) : 0;
	struct metrics_address address;
	bool bracketed;
	uint64_t port;

	if (!parse_u64_max(colon ? colon + 1 : text, UINT16_MAX, &port) ||
	    len >= sizeof(ip))
		return err_set(err, -EINVAL, "\"%.64s\" is not [ADDR:]PORT", text);
	bracketed = len > 2 && text[0] == '[' && text[len - 1] == ']';
	if (bracketed)
		snprintf(ip, sizeof(ip), "%.*s", (int)(len - 2), text + 1);
	else if (colon && !(len == 9 && !memcmp(text, "localhost", 9)))
		snprintf(ip, sizeof(ip), "%.*s", (int)len, text);
	/* Connections from other machines have no peer credentials and no protection. */
	if (set_ip(ip, bracketed, (uint16_t)port, &address))
		return err_set(
			err, -EINVAL,
			"\"%.64s\": metrics are only served locally, at 127.0.0.1 or [::1]",
			text);
	*ret_address = address;
	return 0;
}

static void metrics_server_put_name(const struct metrics_address *a,
				    char name[METRICS_NAME_BYTES])
{
	char ip[INET6_ADDRSTRLEN] = "";

	if (a->at.any.sa_family == AF_INET6) {
		(void)inet_ntop(AF_INET6, &a->at.v6.sin6_addr, ip, sizeof(ip));
		snprintf(name, METRICS_NAME_BYTES, "[%s]:%u", ip,
			 ntohs(a->at.v6.sin6_port));
	} else {
		(void)inet_ntop(AF_INET, &a->at.v4.sin_addr, ip, sizeof(ip));
		snprintf(name, METRICS_NAME_BYTES, "%s:%u", ip,
			 ntohs(a->at.v4.sin_port));
	}
}

static void metrics_server_set_name(struct metrics_server *s)
{
	struct metrics_address a = { .len = sizeof(a.at) };

	if (!getsockname(s->listen_fd, &a.at.any, &a.len))
		metrics_server_put_name(&a, s->name);
}

/* ---- one peer ---- */

static void metrics_server_drop(struct peer *p)
{
	close(p->fd);
	buf_done(&p->out);
	*p = (struct peer){ .fd = -1 };
}

static const struct buf *metrics_server_text_of(struct metrics_server *s,
						uint64_t now_ns)
{
	if (s->text_at_ns && now_ns - s->text_at_ns < text_ns)
		return &s->text;
	if (s->text.failed)
		buf_done(&s->text);
	buf_clear(&s->text);
	s->put(s->ctx, &s->text);
	s->text_at_ns = s->text.failed ? 0 : now_ns;
	return &s->text;
}

static const struct {
	const char *status;
	const char *more; /* further headers, and for an error a line with the reason */
} answers[METRICS_REQUEST_COUNT] = {
	[METRICS_GET] = { "200 OK", NULL },
	[METRICS_HEAD] = { "200 OK", NULL },
	[METRICS_OTHER_PATH] = { "404 Not Found",
				 "\r\n\r\nMetrics are at /metrics.\n" },
	[METRICS_OTHER_METHOD] = { "405 Method Not Allowed",
				   "\r\nAllow: GET, HEAD\r\n\r\nGET /metrics\n" },
	[METRICS_TOO_LONG] = { "431 Request Header Fields Too Large",
			       "\r\n\r\nThe request is too long.\n" },
	[METRICS_BAD] = { "400 Bad Request", "\r\n\r\nGET /metrics HTTP/1.0\n" },
};

/* Uses HTTP/1.0: closing the connection ends the answer. */
static void metrics_server_answer(struct metrics_server *s, struct peer *p,
				  enum metrics_request what, uint64_t now_ns)
{
	static const char type[] = "Connection: close\r\nContent-Type: text/plain; "
				   "version=0.0.4; charset=utf-8";
	const struct buf *text =
		answers[what].more ? NULL : metrics_server_text_of(s, now_ns);
	char head[320];
	int len;

	if (text)
		len = snprintf(head, sizeof(head),
			       "HTTP/1.0 %s\r\n%s\r\nContent-Length: %zu\r\n\r\n",
			       answers[what].status, type, text->len);
	else
		len = snprintf(head, sizeof(head), "HTTP/1.0 %s\r\n%s%s",
			       answers[what].status, type, answers[what].more);
	buf_put(&p->out, head, (size_t)len);
	p->out.failed |= text && text->failed;
	if (text && what == METRICS_GET)
		buf_put(&p->out, text->data, text->len);
	p->is_answered = true;
}

/* Reads available input of the peer. Returns false if the peer is gone or has sent everything. */
static bool take_in(struct peer *p)
{
	ssize_t n =
		recv(p->fd, p->in + p->nr_in, sizeof(p->in) - p->nr_in, MSG_DONTWAIT);

	if (n <= 0)
		return n < 0 && errno == EAGAIN;
	p->nr_in += (size_t)n;
	return true;
}

/* Reads the rest of the input: closing a connection with unread bytes would discard the answer.
 * Returns true if the peer can still send more, false if it has closed the connection, failed, or
 * sent too much. */
static bool metrics_server_drain(struct peer *p)
{
	ssize_t n;

	do {
		n = recv(p->fd, p->in, sizeof(p->in), MSG_DONTWAIT);
		if (n > 0)
			p->drained += (size_t)n;
	} while (n > 0 && p->drained < DRAIN_BYTES);
	return n < 0 && errno == EAGAIN;
}

/* Sends as much of the answer as the socket accepts. Returns false if the connection must be
 * closed. */
static bool send_out(struct metrics_server *s, struct peer *p)
{
	struct epoll_event event = { .data.ptr = p };

	while (p->sent < p->out.len) {
		ssize_t n = send(p->fd, p->out.data + p->sent, p->out.len - p->sent,
				 MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno != EAGAIN)
			return false;
		if (n < 0)
			break;
		p->sent += (size_t)n;
	}
	event.events = p->sent < p->out.len ? EPOLLOUT : EPOLLIN;
	if (p->sent == p->out.len) {
		(void)shutdown(p->fd, SHUT_WR);
		if (!metrics_server_drain(p))
			return false;
	}
	return !epoll_ctl(s->epoll_fd, EPOLL_CTL_MOD, p->fd, &event);
}

/* Reads from and writes to one peer as far as possible. Returns false if the connection must be
 * closed. */
static bool metrics_server_serve(struct metrics_server *s, struct peer *p,
				 uint64_t now_ns)
{
	if (!p->is_answered) {
		enum metrics_request what;

		if (!take_in(p))
			return false;
		what = metrics_request_parse(p->in, p->nr_in);
		if (what == METRICS_MORE)
			return true;
		metrics_server_answer(s, p, what, now_ns);
	}
	return !p->out.failed && send_out(s, p);
}

/* ---- all peers ---- */

static struct peer *metrics_server_find_place(struct metrics_server *s)
{
	struct peer *oldest = s->peers;

	for (struct peer *p = s->peers; p < s->peers + METRICS_PEERS_MAX; p++) {
		if (p->fd < 0)
			return p;
		if (p->since_ns < oldest->since_ns)
			oldest = p;
	}
	metrics_server_drop(oldest);
	return oldest;
}

/* Accepts a peer and serves it at once: most peers have already sent their request, so the slot is
 * soon free again. Returns false if no peer was accepted. */
static bool metrics_server_accept_one(struct metrics_server *s, uint64_t now_ns)
{
	struct epoll_event event = { .events = EPOLLIN };
	int fd = accept4(s->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct peer *p;

	if (fd < 0) {
		epoll_rest_if_full(&s->rest, errno);
		return false;
	}
	p = metrics_server_find_place(s);
	event.data.ptr = p;
	p->fd = fd;
	p->since_ns = now_ns;
	if (epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &event) ||
	    !metrics_server_serve(s, p, now_ns))
		metrics_server_drop(p);
	return true;
}

static void drop_slow(struct metrics_server *s, uint64_t now_ns)
{
	for (struct peer *p = s->peers; p < s->peers + METRICS_PEERS_MAX; p++)
		if (p->fd >= 0 && now_ns - p->since_ns >= patience_ns)
			metrics_server_drop(p);
}

void metrics_server_poll(struct metrics_server *s, uint64_t now_ns)
{
	struct epoll_event events[METRICS_PEERS_MAX + 1];
	bool comes = false;
	int nr;

	if (!s)
		return;
	drop_slow(s, now_ns);
	if (!epoll_rest_is_over(&s->rest))
		return;
	nr = epoll_wait(s->epoll_fd, events, METRICS_PEERS_MAX + 1, 0);
	for (int i = 0; i < nr; i++) {
		struct peer *p = events[i].data.ptr;

		comes |= !p;
		if (p && !epoll_rest_may_work(&s->rest, now_ns))
			return;
		if (p && !metrics_server_serve(s, p, now_ns))
			metrics_server_drop(p);
	}
	/* Accept last: a new peer can reuse the slot of a peer that still has an event in the
	 * list. */
	for (int i = 0; comes && i < METRICS_PEERS_MAX; i++)
		comes = epoll_rest_may_work(&s->rest, now_ns) &&
			metrics_server_accept_one(s, now_ns);
}

const char *metrics_server_name(const struct metrics_server *s)
{
	return s->name;
}

bool metrics_server_is_at(const struct metrics_server *s,
			  const struct metrics_address *address)
{
	char name[METRICS_NAME_BYTES];

	metrics_server_put_name(address, name);
	return s && !strcmp(name, s->name);
}

int metrics_server_fd(const struct metrics_server *s)
{
	return s ? s->outer_fd : -1;
}

static int metrics_server_open_server(struct metrics_server *s,
				      const struct metrics_address *address,
				      struct err *err)
{
	struct epoll_event event = { .events = EPOLLIN };
	const int family = address->at.any.sa_family;
	const int on = 1;

	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll_fd < 0)
		return err_sys(err, -errno, "cannot create an epoll descriptor");
	s->listen_fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->listen_fd < 0)
		return err_sys(err, -errno, "cannot create a socket");
	(void)setsockopt(s->listen_fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(s->listen_fd, &address->at.any, address->len) ||
	    listen(s->listen_fd, BACKLOG) ||
	    epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, s->listen_fd, &event))
		return err_sys(err, -errno, "cannot listen");
	metrics_server_set_name(s);
	s->outer_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->outer_fd < 0)
		return err_sys(err, -errno, "cannot create an epoll descriptor");
	return epoll_rest_open(&s->rest, s->outer_fd, s->epoll_fd, err);
}

int metrics_server_open(const struct metrics_address *address,
			void (*put)(void *ctx, struct buf *out), void *ctx,
			struct metrics_server **ret_server, struct err *err)
{
	struct metrics_server *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return err_set(err, -ENOMEM, "out of memory");
	s->epoll_fd = s->outer_fd = s->listen_fd = s->rest.timer_fd = -1;
	s->put = put;
	s->ctx = ctx;
	for (size_t i = 0; i < METRICS_PEERS_MAX; i++)
		s->peers[i].fd = -1;
	r = metrics_server_open_server(s, address, err);
	if (r) {
		metrics_server_close(s);
		return r;
	}
	*ret_server = s;
	return 0;
}

void metrics_server_close(struct metrics_server *s)
{
	if (!s)
		return;
	for (struct peer *p = s->peers; p < s->peers + METRICS_PEERS_MAX; p++)
		if (p->fd >= 0)
			metrics_server_drop(p);
	if (s->listen_fd >= 0)
		close(s->listen_fd);
	if (s->epoll_fd >= 0)
		close(s->epoll_fd);
	if (s->outer_fd >= 0)
		close(s->outer_fd);
	epoll_rest_done(&s->rest);
	buf_done(&s->text);
	free(s);
}

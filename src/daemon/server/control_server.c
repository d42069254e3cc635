/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/server/control_server.h"

#include <errno.h>
#include <grp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/files/io.h"
#include "daemon/server/control_line.h"
#include "daemon/server/control_peer.h"
#include "daemon/server/epoll_rest.h"
#include "daemon/server/event_stream.h"
#include "record/helper/allowance.h"

enum {
	CLIENTS_MAX = 64,
	CLIENTS_OF_USER = 16, /* per user without control rights */
	BACKLOG = 64,
	VALUE_MAX = 2048,
	POLL_NS = 20000, /* cost of a poll round in addition to its requests */
	REST_MAX_NS =
		250000000, /* the listener is paused for at most this long, because root may be
			    * waiting to connect */
	/* the listener, users_fd, and the timer that pauses each of them */
	EVENTS_OF_OTHERS = 4
};

/* The budget of users without control rights: hundreds of small requests in a burst, or a handful
 * of dumps, then 2 ms of CPU time per second. After a large request they wait at most 3 s. */
static const struct allowance_rule users_rule = { .at_once_ns = 20000000,
						  .owed_max_ns = 6000000,
						  .part = 500 };

struct control_server {
	int epoll_fd;
	int users_fd; /* an epoll within epoll_fd, for the peers without control rights */
	int listen_fd;
	struct epoll_rest rest;       /* pauses the listener */
	struct epoll_rest users_rest; /* pauses users_fd */
	struct allowance of_users;
	struct allowance of_new_peers; /* for new connections without control rights */
	const struct control_peer *last_user; /* served last; its user is `last_uid` */
	uid_t last_uid;
	bool taken_over;
	char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	char group[64];
	gid_t gid;
	bool has_gid;
	control_handler handle;
	void *ctx;
	size_t nr_readers;
	uint64_t lost; /* samples lost by readers */
	struct control_peer clients[CLIENTS_MAX];
};

void control_put_field(struct buf *reply, const char *key, const char *format, ...)
{
	char value[VALUE_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(value, sizeof(value), format, args);
	va_end(args);
	buf_put(reply, key, strlen(key));
	buf_put_u8(reply, ' ');
	control_put_value(reply, value);
	buf_put_u8(reply, '\n');
}

/* ---- permissions ---- */

static int control_server_epoll_of(const struct control_server *s,
				   const struct control_peer *c)
{
	return c->rank == CONTROL_RANK_USER ? s->users_fd : s->epoll_fd;
}

static int control_server_refuse(const struct control_server *s,
				 const struct control_request *request, struct err *err)
{
	/* Control files that the peer must not write give EACCES instead. */
	return err_set(
		err, -EPERM,
		"\"%s\" is restricted to root, the daemon's user and members of group %s%s; everybody can use status, get, list and dump",
		control_verb_name(request->verb), s->group,
		s->has_gid ? "" : " (which does not exist)");
}

/* ---- one peer ---- */

static void control_server_drop(struct control_server *s, struct control_peer *c)
{
	s->nr_readers -= !!c->reader;
	control_peer_close(c);
}

/* Turns the peer into a reader: it gets the reply of its request, and then samples. Returns 0,
 * -EBUSY or -ENOMEM with a message in *err. */
static int make_reader(struct control_server *s, struct control_peer *c,
		       uint64_t max_words, struct err *err)
{
	if (s->nr_readers == CONTROL_READERS_MAX)
		return err_set(err, -EBUSY,
			       "too many readers of samples: the maximum is %d",
			       CONTROL_READERS_MAX);
	c->reader = calloc(1, sizeof(*c->reader));
	if (!c->reader)
		return err_set(err, -ENOMEM, "out of memory");
	event_reader_init(c->reader, max_words);
	s->nr_readers++;
	c->more = false;
	control_lines_done(&c->in);
	return 0;
}

static void control_server_answer(struct control_server *s, struct control_peer *c,
				  char *line)
{
	struct control_request request;
	struct err err = { 0 };
	size_t begin = c->out.len;
	int r = control_request_parse(line, &request, &err);

	request.of_owner = c->rank == CONTROL_RANK_OWNER;
	if (!r && c->rank == CONTROL_RANK_USER && !control_request_is_for_all(&request))
		r = control_server_refuse(s, &request, &err);
	if (!r)
		r = s->handle(s->ctx, &request, &c->out, &err);
	if (r > 0)
		r = make_reader(s, c, (uint64_t)r, &err);
	if (r)
		c->out.len = begin; /* drop an incomplete answer */
	control_peer_put_end(c, r, &err);
}

/* Answers only one request, so that other peers wait for at most one request of each peer. */
static void answer_one(struct control_server *s, struct control_peer *c)
{
	struct err err = { 0 };
	char *line;
	int r = control_lines_next(&c->in, &line);

	c->more = r == 1;
	if (r == 1) {
		control_server_answer(s, c, line);
	} else if (r) {
		err_set(&err, -EINVAL, "the line is too long: the maximum is %d bytes",
			CONTROL_LINE_MAX);
		control_peer_put_end(c, -EINVAL, &err);
		c->ending = true;
	}
	c->ending |= c->out.failed;
}

/* Sends the reply, then samples.  Returns false if the peer is gone. */
static bool send_samples(struct control_server *s, struct control_peer *c)
{
	struct epoll_event event = { .data.ptr = c };
	const uint8_t *bytes;
	size_t len;

	if (!control_peer_send(c))
		return false;
	bytes = c->out.len ? NULL : event_reader_bytes(c->reader, &len);
	while (bytes) {
		ssize_t n = send(c->fd, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno != EAGAIN)
			return false;
		if (n <= 0)
			break;
		event_reader_sent(c->reader, (size_t)n);
		bytes = event_reader_bytes(c->reader, &len);
	}
	/* Input of a reader is ignored; epoll only has to report when it hangs up. */
	if (c->waits == (c->out.len || bytes))
		return true;
	c->waits = !c->waits;
	event.events = c->waits ? EPOLLOUT : 0;
	return !epoll_ctl(control_server_epoll_of(s, c), EPOLL_CTL_MOD, c->fd, &event);
}

/* Sends output to the peer, or reads and answers one request. Does not read the next request while
 * the peer has not read its reply, so the output stays bounded. Returns false if the peer is gone
 * or has closed its end and got all replies. */
static bool control_server_serve(struct control_server *s, struct control_peer *c,
				 uint32_t events)
{
	struct epoll_event event = { .data.ptr = c };

	if (c->reader)
		return !(events & (EPOLLERR | EPOLLHUP)) && send_samples(s, c);
	if (events & EPOLLERR || !control_peer_send(c))
		return false;
	if (!c->out.len && !c->more && !c->ending && !control_peer_receive(c))
		return false;
	if (!c->out.len && c->more)
		answer_one(s, c);
	if (c->reader) {
		c->waits = true; /* the socket was registered for input */
		event.events = EPOLLOUT;
		return !epoll_ctl(control_server_epoll_of(s, c), EPOLL_CTL_MOD, c->fd,
				  &event);
	}
	if (!control_peer_send(c))
		return false;
	if (c->out.len || c->more)
		event.events = EPOLLOUT;
	else if (c->ending)
		return false;
	else
		event.events = EPOLLIN;
	return !epoll_ctl(control_server_epoll_of(s, c), EPOLL_CTL_MOD, c->fd, &event);
}

/* ---- all of them ---- */

/* Returns a free slot for a new peer. If all slots are in use, disconnects a peer of a lower rank
 * and returns its slot. Returns NULL if no peer has a lower rank, or if the user has too many
 * connections. */
static struct control_peer *control_server_find_place(struct control_server *s,
						      const struct control_peer *peer)
{
	struct control_peer *lowest = s->clients;
	struct control_peer *free_one = NULL;
	size_t nr_own = 0;

	for (struct control_peer *c = s->clients; c < s->clients + CLIENTS_MAX; c++) {
		if (c->fd < 0) {
			free_one = c;
			continue;
		}
		nr_own += c->uid == peer->uid;
		if (lowest->fd < 0 || c->rank < lowest->rank)
			lowest = c;
	}
	if (peer->rank == CONTROL_RANK_USER && nr_own >= CLIENTS_OF_USER)
		return NULL;
	if (free_one || lowest->rank >= peer->rank)
		return free_one;
	control_server_drop(s, lowest);
	return lowest;
}

/* Accepts one connection. Returns the rank of the new peer, or -1 if nothing was accepted. */
static int control_server_accept_one(struct control_server *s)
{
	static const char busy[] = "error EBUSY too many connections\n";
	struct epoll_event event = { .events = EPOLLIN };
	int fd = accept4(s->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct control_peer peer;
	struct control_peer *c;

	if (fd < 0) {
		epoll_rest_if_full(&s->rest, errno);
		return -1;
	}
	control_peer_open(&peer, fd, s->has_gid ? &s->gid : NULL);
	c = control_server_find_place(s, &peer);
	event.data.ptr = c;
	if (!c ||
	    epoll_ctl(control_server_epoll_of(s, &peer), EPOLL_CTL_ADD, fd, &event)) {
		(void)send(fd, busy, sizeof(busy) - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
		close(fd);
	} else {
		*c = peer;
	}
	return (int)peer.rank;
}

/* Accepts all pending connections: peers are identified only after accept(), and root may be last
 * in a long queue. */
static void accept_all(struct control_server *s)
{
	uint64_t spent_ns = 0, rest_ns = 0;
	int rank = CONTROL_RANK_OWNER;

	for (int i = 0; i < BACKLOG && rank >= 0; i++) {
		uint64_t begin_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID);

		rank = control_server_accept_one(s);
		if (rank == CONTROL_RANK_USER)
			spent_ns += clock_now_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
	}
	if (spent_ns)
		rest_ns =
			allowance_spend(&s->of_new_peers, clock_now_ns(CLOCK_MONOTONIC),
					spent_ns + POLL_NS);
	if (rest_ns && !s->rest.rests)
		epoll_rest_begin(&s->rest,
				 rest_ns < REST_MAX_NS ? rest_ns : REST_MAX_NS);
}

/* Returns the position of a peer in the order in which peers are served: users take turns, and so
 * do the connections of one user. */
static uint64_t place_in_line(const struct control_server *s,
			      const struct control_peer *c)
{
	size_t last = s->last_user ? (size_t)(s->last_user - s->clients) : 0;
	size_t own = (size_t)(c - s->clients);

	return (uint64_t)(uint32_t)(c->uid - s->last_uid - 1) * CLIENTS_MAX +
	       (own + CLIENTS_MAX - last - 1) % CLIENTS_MAX;
}

/* Removes the event of the peer that is next in order from `events` (`*nr` of them) and returns
 * it. */
static struct epoll_event take_next(const struct control_server *s,
				    struct epoll_event *events, int *nr)
{
	struct epoll_event next;
	int at = 0;

	for (int i = 1; i < *nr; i++)
		if (place_in_line(s, events[i].data.ptr) <
		    place_in_line(s, events[at].data.ptr))
			at = i;
	next = events[at];
	events[at] = events[--*nr];
	return next;
}

/* Serves peers without control rights once each, until their budget is spent.  Peers with control
 * rights are served first in the next round. */
static void serve_users(struct control_server *s)
{
	struct epoll_event events[CLIENTS_MAX];
	int nr = epoll_wait(s->users_fd, events, CLIENTS_MAX, 0);
	uint64_t rest_ns = 0;

	while (nr > 0 && !rest_ns) {
		uint64_t begin_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID);
		struct epoll_event next = take_next(s, events, &nr);
		struct control_peer *c = next.data.ptr;

		s->last_user = c;
		s->last_uid = c->uid;
		if (!control_server_serve(s, c, next.events))
			control_server_drop(s, c);
		rest_ns = allowance_spend(&s->of_users, clock_now_ns(CLOCK_MONOTONIC),
					  clock_now_ns(CLOCK_THREAD_CPUTIME_ID) -
						  begin_ns + POLL_NS);
	}
	if (rest_ns)
		epoll_rest_begin(&s->users_rest, rest_ns);
}

void control_server_poll(struct control_server *s)
{
	struct epoll_event events[CLIENTS_MAX + EVENTS_OF_OTHERS];
	int nr = epoll_wait(s->epoll_fd, events, CLIENTS_MAX + EVENTS_OF_OTHERS, 0);
	bool others = false;

	for (int i = 0; i < nr; i++) {
		struct control_peer *c = events[i].data.ptr;

		others |= !c;
		if (c && !control_server_serve(s, c, events[i].events))
			control_server_drop(s, c);
	}
	if (!others)
		return;
	if (epoll_rest_is_over(&s->users_rest))
		serve_users(s);
	/* Accept last: a new peer can reuse the slot of a peer that still has an event in the
	 * list. */
	if (epoll_rest_is_over(&s->rest))
		accept_all(s);
}

size_t control_server_readers(const struct control_server *s)
{
	return s->nr_readers;
}

void control_server_put_sample(struct control_server *s,
			       const struct event_sample *sample)
{
	for (struct control_peer *c = s->clients; c < s->clients + CLIENTS_MAX; c++) {
		uint64_t lost;

		if (!c->reader)
			continue;
		lost = c->reader->all_lost;
		event_reader_put(c->reader, sample);
		s->lost += c->reader->all_lost - lost;
		/* On many CPUs, one second of samples does not fit into a reader's queue, so send
		 * early. If this fails, the peer is dropped when it is served next. */
		if (!c->waits && event_reader_is_half_full(c->reader))
			(void)send_samples(s, c);
	}
}

void control_server_send_samples(struct control_server *s)
{
	if (!s->nr_readers)
		return;
	for (struct control_peer *c = s->clients; c < s->clients + CLIENTS_MAX; c++)
		if (c->reader && !send_samples(s, c))
			control_server_drop(s, c);
}

uint64_t control_server_lost(const struct control_server *s)
{
	return s->lost;
}

int control_server_fd(const struct control_server *s)
{
	return s->epoll_fd;
}

static int listen_at(const struct control_server *s, int *ret_fd, struct err *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int r, fd;

	memcpy(address.sun_path, s->path, sizeof(s->path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_sys(err, -errno, "cannot create a socket");
	(void)io_unlink(s->path);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) ||
	    chmod(s->path, 0666) /* check-words: allowed */ || listen(fd, BACKLOG)) {
		r = err_sys(err, -errno, "cannot create the socket '%s'", s->path);
		close(fd);
		return r;
	}
	*ret_fd = fd;
	return 0;
}

int control_server_renew(struct control_server *s, struct err *err)
{
	struct stat st;
	int fd = -1;
	int r;

	/* A file that is now at the path was made by another process: do not touch it. */
	if (s->taken_over || !lstat(s->path, &st) || errno != ENOENT)
		return 0;
	r = listen_at(s, &fd, err);
	if (r)
		return r;
	epoll_rest_done(&s->rest);
	close(s->listen_fd);
	s->listen_fd = fd;
	r = epoll_rest_open(&s->rest, s->epoll_fd, fd, err);
	if (r) /* clients could not connect to it, so let the next call retry */
		(void)io_unlink(s->path);
	return r ? r : 1;
}

static int control_server_open_server(struct control_server *s,
				      const struct control_server_config *config,
				      struct err *err)
{
	const struct group *group = config->group ? getgrnam(config->group) : NULL;
	int r;

	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	s->users_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll_fd < 0 || s->users_fd < 0)
		return err_sys(err, -errno, "cannot create an epoll descriptor");
	allowance_begin(&s->of_users, &users_rule, clock_now_ns(CLOCK_MONOTONIC));
	allowance_begin(&s->of_new_peers, &users_rule, clock_now_ns(CLOCK_MONOTONIC));
	snprintf(s->group, sizeof(s->group), "%s", config->group ? config->group : "");
	s->has_gid = group;
	s->gid = group ? group->gr_gid : 0;
	if (config->listen_fd >= 0) {
		s->listen_fd = config->listen_fd;
		s->taken_over = true;
	} else if (strlen(config->path) >= sizeof(s->path)) {
		return err_set(err, -ENAMETOOLONG,
			       "%s is too long for the path of a socket", config->path);
	} else {
		snprintf(s->path, sizeof(s->path), "%s", config->path);
		r = listen_at(s, &s->listen_fd, err);
		if (r)
			return r;
	}
	r = epoll_rest_open(&s->rest, s->epoll_fd, s->listen_fd, err);
	return r ? r : epoll_rest_open(&s->users_rest, s->epoll_fd, s->users_fd, err);
}

int control_server_open(const struct control_server_config *config,
			struct control_server **ret_server, struct err *err)
{
	struct control_server *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return err_set(err, -ENOMEM, "out of memory");
	s->listen_fd = s->epoll_fd = s->users_fd = -1;
	s->rest.timer_fd = s->users_rest.timer_fd = -1;
	s->handle = config->handle;
	s->ctx = config->ctx;
	for (size_t i = 0; i < CLIENTS_MAX; i++)
		s->clients[i].fd = -1;
	r = control_server_open_server(s, config, err);
	if (r) {
		control_server_close(s);
		return r;
	}
	*ret_server = s;
	return 0;
}

void control_server_close(struct control_server *s)
{
	if (!s)
		return;
	if (*s->path)
		(void)io_unlink(s->path);
	for (size_t i = 0; i < CLIENTS_MAX; i++)
		if (s->clients[i].fd >= 0)
			control_server_drop(s, &s->clients[i]);
	if (s->listen_fd >= 0)
		close(s->listen_fd);
	if (s->epoll_fd >= 0)
		close(s->epoll_fd);
	if (s->users_fd >= 0)
		close(s->users_fd);
	epoll_rest_done(&s->users_rest);
	epoll_rest_done(&s->rest);
	free(s);
}

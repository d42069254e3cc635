#include "daemon/control_server.h"

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
#include <unistd.h>

#include "base/err.h"
#include "daemon/control_line.h"

enum {
	CLIENTS_MAX = 64,
	BACKLOG = 64,
	UNREAD_MAX = 1 << 20, /* of replies, then a peer is dropped */
	GROUPS_MAX = 1024,
	VALUE_MAX = 2048,
	READ_BYTES = 4096,
	READS_A_TURN = 16
};

struct client {
	int fd; /* -1: free */
	bool may_all;
	bool ending; /* once it has its replies */
	struct control_lines in;
	struct buf out;
	size_t sent;
};

struct control_server {
	int epoll_fd;
	int listen_fd;
	bool taken_over;
	char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	char group[64];
	gid_t gid;
	bool has_gid;
	control_handler handle;
	void *ctx;
	struct client clients[CLIENTS_MAX];
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

/* ---- who asks ---- */

static bool is_member(int fd, gid_t gid)
{
	gid_t groups[GROUPS_MAX];
	socklen_t len = sizeof(groups);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &len))
		return false;
	for (size_t i = 0; i < len / sizeof(*groups); i++)
		if (groups[i] == gid)
			return true;
	return false;
}

static bool may_all(const struct control_server *s, int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len))
		return false;
	return !peer.uid || peer.uid == geteuid() ||
	       (s->has_gid && (peer.gid == s->gid || is_member(fd, s->gid)));
}

static int refuse(const struct control_server *s, const struct control_request *request,
		  struct err *err)
{
	return err_set(err, -EACCES,
		       "\"%s\" is for root, the daemon's own user and members of group "
		       "%s%s; status, get, list and dump are for all",
		       control_verb_name(request->verb), s->group,
		       s->has_gid ? "" : " (which does not exist)");
}

/* ---- one peer ---- */

static void drop(struct client *c)
{
	close(c->fd);
	control_lines_done(&c->in);
	buf_done(&c->out);
	*c = (struct client){ .fd = -1 };
}

static void put_end(struct buf *out, int result, const struct err *err)
{
	const char *name = strerrorname_np(-result);
	char text[ERR_TEXT_MAX + 32];

	if (!result) {
		buf_put(out, "ok\n", 3);
		return;
	}
	snprintf(text, sizeof(text), "%s %s", name ? name : "EIO", err->text);
	buf_put(out, "error ", 6);
	control_put_value(out, text);
	buf_put_u8(out, '\n');
}

static void answer(struct control_server *s, struct client *c, char *line)
{
	struct control_request request;
	struct err err = { 0 };
	size_t begin = c->out.len;
	int r = control_request_parse(line, &request, &err);

	if (!r && !c->may_all && !control_request_is_for_all(&request))
		r = refuse(s, &request, &err);
	if (!r)
		r = s->handle(s->ctx, &request, &c->out, &err);
	if (r)
		c->out.len = begin; /* half an answer is none */
	put_end(&c->out, r, &err);
}

static void answer_all(struct control_server *s, struct client *c)
{
	char *line;
	int r;

	while (!c->ending && (r = control_lines_next(&c->in, &line))) {
		if (r == 1) {
			answer(s, c, line);
		} else {
			struct err err = { 0 };

			err_set(&err, -EINVAL, "a line is at most %d bytes of text",
				CONTROL_LINE_MAX);
			put_end(&c->out, -EINVAL, &err);
			c->ending = true;
		}
		c->ending |= c->out.failed || c->out.len - c->sent > UNREAD_MAX;
	}
}

/* What the socket takes.  False: the peer is gone. */
static bool send_out(struct control_server *s, struct client *c)
{
	struct epoll_event event = { .events = c->ending ? 0 : EPOLLIN, .data.ptr = c };

	while (c->sent < c->out.len) {
		ssize_t n = send(c->fd, c->out.data + c->sent, c->out.len - c->sent,
				 MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0)
			return false;
		c->sent += (size_t)n;
	}
	if (c->sent == c->out.len) {
		buf_clear(&c->out);
		c->sent = 0;
		if (c->ending)
			return false;
	} else {
		event.events |= EPOLLOUT;
	}
	return !epoll_ctl(s->epoll_fd, EPOLL_CTL_MOD, c->fd, &event);
}

/* False: the peer is gone. */
static bool take_in(struct control_server *s, struct client *c)
{
	for (int i = 0; i < READS_A_TURN && !c->ending; i++) {
		char bytes[READ_BYTES];
		ssize_t n = recv(c->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

		if (n < 0)
			return errno == EAGAIN;
		if (!n) { /* it may still read what it asked for */
			c->ending = true;
			break;
		}
		if (control_lines_add(&c->in, bytes, (size_t)n))
			return false;
		answer_all(s, c);
	}
	return true;
}

static void turn_client(struct control_server *s, struct client *c, uint32_t events)
{
	bool lives = !(events & EPOLLERR);

	if (lives && events & (EPOLLIN | EPOLLHUP))
		lives = take_in(s, c);
	if (lives)
		lives = send_out(s, c);
	if (!lives)
		drop(c);
}

/* ---- all of them ---- */

static void accept_client(struct control_server *s)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct client *c = s->clients;
	int fd = accept4(s->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	while (c < s->clients + CLIENTS_MAX && c->fd >= 0)
		c++;
	event.data.ptr = c;
	if (c == s->clients + CLIENTS_MAX ||
	    epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &event)) {
		static const char busy[] = "error EBUSY too many connections\n";

		(void)send(fd, busy, sizeof(busy) - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
		close(fd);
		return;
	}
	c->fd = fd;
	c->may_all = may_all(s, fd);
}

void control_server_turn(struct control_server *s)
{
	struct epoll_event events[CLIENTS_MAX + 1];
	int nr = epoll_wait(s->epoll_fd, events, CLIENTS_MAX + 1, 0);

	for (int i = 0; i < nr; i++) {
		struct client *c = events[i].data.ptr;

		if (!c)
			accept_client(s);
		else if (c->fd >= 0)
			turn_client(s, c, events[i].events);
	}
}

int control_server_fd(const struct control_server *s)
{
	return s->epoll_fd;
}

static int listen_at(struct control_server *s, struct err *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	memcpy(address.sun_path, s->path, sizeof(s->path));
	s->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->listen_fd < 0)
		return err_sys(err, -errno, "socket");
	(void)unlink(s->path);
	if (bind(s->listen_fd, (struct sockaddr *)&address, sizeof(address)) ||
	    chmod(s->path, 0666) || listen(s->listen_fd, BACKLOG))
		return err_sys(err, -errno, "%s", s->path);
	return 0;
}

static int open_server(struct control_server *s,
		       const struct control_server_config *config, struct err *err)
{
	struct epoll_event event = { .events = EPOLLIN };
	const struct group *group = config->group ? getgrnam(config->group) : NULL;

	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll_fd < 0)
		return err_sys(err, -errno, "epoll");
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
		int r;

		snprintf(s->path, sizeof(s->path), "%s", config->path);
		r = listen_at(s, err);
		if (r)
			return r;
	}
	if (epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, s->listen_fd, &event))
		return err_sys(err, -errno, "epoll");
	return 0;
}

int control_server_open(const struct control_server_config *config,
			struct control_server **ret_server, struct err *err)
{
	struct control_server *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return err_set(err, -ENOMEM, "out of memory");
	s->listen_fd = s->epoll_fd = -1;
	s->handle = config->handle;
	s->ctx = config->ctx;
	for (size_t i = 0; i < CLIENTS_MAX; i++)
		s->clients[i].fd = -1;
	r = open_server(s, config, err);
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
		(void)unlink(s->path);
	for (size_t i = 0; i < CLIENTS_MAX; i++)
		if (s->clients[i].fd >= 0)
			drop(&s->clients[i]);
	if (s->listen_fd >= 0)
		close(s->listen_fd);
	if (s->epoll_fd >= 0)
		close(s->epoll_fd);
	free(s);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/server/control_peer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/err.h"
#include "daemon/server/event_stream.h"

enum {
	GROUPS_MAX = 1024,
	READ_BYTES = 4096,
	OUT_KEPT_BYTES =
		64 * 1024 /* size of an output buffer that is kept for the next reply; a
				    * larger one is freed */
};

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

void control_peer_open(struct control_peer *c, int fd, const gid_t *gid)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	*c = (struct control_peer){ .fd = fd,
				    .uid = (uid_t)-1,
				    .rank = CONTROL_RANK_USER };
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len))
		return;
	c->uid = peer.uid;
	if (!peer.uid || peer.uid == geteuid())
		c->rank = CONTROL_RANK_OWNER;
	else if (gid && (peer.gid == *gid || is_member(fd, *gid)))
		c->rank = CONTROL_RANK_GROUP;
}

void control_peer_put_end(struct control_peer *c, int result, const struct err *err)
{
	const char *name = strerrorname_np(-result);
	char text[ERR_TEXT_MAX + 32];

	if (!result) {
		buf_put(&c->out, "ok\n", 3);
		return;
	}
	snprintf(text, sizeof(text), "%s %s", name ? name : "EIO", err->text);
	buf_put(&c->out, "error ", 6);
	control_put_value(&c->out, text);
	buf_put_u8(&c->out, '\n');
}

bool control_peer_send(struct control_peer *c)
{
	while (c->sent < c->out.len) {
		ssize_t n = send(c->fd, c->out.data + c->sent, c->out.len - c->sent,
				 MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0)
			return errno == EAGAIN;
		c->sent += (size_t)n;
	}
	c->sent = 0;
	if (c->out.cap > OUT_KEPT_BYTES || c->out.failed)
		buf_done(&c->out);
	else
		buf_clear(&c->out);
	return true;
}

bool control_peer_receive(struct control_peer *c)
{
	char bytes[READ_BYTES];
	ssize_t n = recv(c->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN;
	if (!n) { /* the peer may still read pending replies */
		c->ending = true;
		return true;
	}
	c->more = true;
	return !control_lines_add(&c->in, bytes, (size_t)n);
}

void control_peer_close(struct control_peer *c)
{
	if (c->reader) {
		event_reader_done(c->reader);
		free(c->reader);
	}
	close(c->fd);
	control_lines_done(&c->in);
	buf_done(&c->out);
	*c = (struct control_peer){ .fd = -1 };
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control_peer.h - one connection to the daemon's socket: the peer's identity, its requests, and
 * the bytes to send to it.
 * Layer: daemon.  No function here waits for the peer. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "daemon/server/control_line.h"

struct err;
struct event_reader;

/* The peer's permissions. Each rank includes the permissions of the ranks before it. */
enum control_rank {
	CONTROL_RANK_USER,
	CONTROL_RANK_GROUP, /* everything except requests reserved for the owner */
	CONTROL_RANK_OWNER  /* root or the daemon's own user */
};

struct control_peer {
	int fd; /* -1: unused */
	enum control_rank rank;
	uid_t uid;
	bool more;   /* `in` may contain a complete line */
	bool ending; /* close once all replies are sent */
	struct control_lines in;
	struct buf out;
	size_t sent;
	struct event_reader *reader; /* owned; NULL: the peer sends requests */
	bool waits; /* it waits for room in its socket; only for readers of samples */
};

/* Takes ownership of a connected socket.  Identifies the peer by SO_PEERCRED and SO_PEERGROUPS of
 * unix(7). `gid`: the group that may control the daemon; NULL: only the owner may. */
void control_peer_open(struct control_peer *c, int fd, const gid_t *gid);
/* Appends the last line of a reply to `out`: "ok" if `result` is 0, else the name of the negative
 * errno `result` and the message in `err`. */
void control_peer_put_end(struct control_peer *c, int result, const struct err *err);
/* Sends as much of `out` as the socket accepts.  Returns false if the connection failed. */
bool control_peer_send(struct control_peer *c);
/* Reads pending input into `in`. Sets `ending` if the peer has closed its end. Returns false if
 * the connection failed or memory is short; the caller then closes it. */
bool control_peer_receive(struct control_peer *c);
void control_peer_close(struct control_peer *c);

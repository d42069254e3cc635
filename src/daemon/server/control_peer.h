/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control_peer.h - one connection to the daemon's socket: who is behind it, what it asked, what waits for it.
 * Layer: daemon.  Nothing here waits for the peer. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "daemon/server/control_line.h"

struct err;
struct event_reader;

/* What a peer may; a higher one is let in where a lower one was. */
enum control_rank {
	CONTROL_RANK_USER,
	CONTROL_RANK_GROUP, /* all but what is its owner's */
	CONTROL_RANK_OWNER  /* root, the daemon's own user */
};

struct control_peer {
	int fd; /* -1: none */
	enum control_rank rank;
	uid_t uid;
	bool more;   /* there may be a whole line in `in` */
	bool ending; /* once it has its replies */
	struct control_lines in;
	struct buf out;
	size_t sent;
	struct event_reader *reader; /* owned; NULL: it asks */
	bool waits;                  /* for the reader's socket to take more */
};

/* Takes over a connected socket.  Who is behind it: SO_PEERCRED and SO_PEERGROUPS of unix(7).
 * `gid`: of those who may control; NULL: nobody but the owner. */
void control_peer_open(struct control_peer *c, int fd, const gid_t *gid);
/* The last line of a reply: "ok", or of a negative errno its name and the line of `err`. */
void control_peer_put_end(struct control_peer *c, int result, const struct err *err);
/* What the socket takes of what waits.  False: the peer is gone. */
bool control_peer_send(struct control_peer *c);
/* What has come in, into `in`.  False: the peer is gone, or there is no memory. */
bool control_peer_receive(struct control_peer *c);
void control_peer_close(struct control_peer *c);

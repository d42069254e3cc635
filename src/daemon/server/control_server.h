/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control_server.h - the daemon's end of its socket.
 * Layer: daemon.  Single-threaded, and never waits for a peer.  One request of each is answered
 * a turn, and the next one when its reply is read.  Who may ask what is decided here, by SO_PEERCRED. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "daemon/server/control_request.h"

struct control_server;
struct err;
struct event_sample;

enum {
	CONTROL_READERS_MAX = 8 /* of samples, at once */
};

/* Answers a request that its peer may make: appends lines "key value" to `reply` with
 * control_put_field().  0 (the peer reads "ok"), or a negative errno with its line, which is
 * sent with the errno's name before it.  A positive number: as 0, and from then on the peer is not
 * asked any more, but reads samples (event_stream.h), of which so many words wait for it at most. */
typedef int (*control_handler)(void *ctx, const struct control_request *request,
			       struct buf *reply, struct err *err);

struct control_server_config {
	const char *path;  /* of the socket; one that is there is replaced */
	int listen_fd;     /* >= 0: taken over instead, as by socket activation */
	const char *group; /* whose members may ask all; NULL or not there: none */
	control_handler handle;
	void *ctx;
};

/* `key value\n`, escaped. */
void control_put_field(struct buf *reply, const char *key, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The strings of `config` are copied.  0 or a negative errno with a line. */
int control_server_open(const struct control_server_config *config,
			struct control_server **ret_server, struct err *err);
/* Polls readable when control_server_turn() has something to do. */
int control_server_fd(const struct control_server *s);
/* Takes what has come in, calls the handler and sends replies. */
void control_server_turn(struct control_server *s);
/* Makes the socket anew where somebody has removed it, unless it was taken over; who is connected stays.
 * 1: it did, 0: there was no need, or a negative errno with a line.  Not within the handler. */
int control_server_renew(struct control_server *s, struct err *err);
/* How many read samples. */
size_t control_server_readers(const struct control_server *s);
/* Queues a sample for each of them: none is waited for. */
void control_server_put_sample(struct control_server *s,
			       const struct event_sample *sample);
/* Sends them what their sockets take; not within the handler. */
void control_server_send_samples(struct control_server *s);
/* How many samples did not fit into a queue, for each reader. */
uint64_t control_server_lost(const struct control_server *s);
/* Removes the socket, unless it was taken over.  NULL is fine. */
void control_server_close(struct control_server *s);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control_server.h - the daemon's end of its socket.
 * Layer: daemon.  Single-threaded; never waits for a peer.  Each poll round answers one request
 * per peer, and the next one only after the peer has read its reply.  The server also decides
 * which requests a peer may send, by SO_PEERCRED. */
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
	CONTROL_READERS_MAX = 8 /* concurrent readers of samples */
};

/* Answers a request that its peer may send: appends lines "key value" to `reply` with
 * control_put_field(). Returns 0 (the peer reads "ok"), or a negative errno with a message in
 * *err; the peer receives the errno's name and the message.  A positive number also means
 * success, and turns the peer into a reader of samples (event_stream.h) with a queue of at most
 * that many words. */
typedef int (*control_handler)(void *ctx, const struct control_request *request,
			       struct buf *reply, struct err *err);

struct control_server_config {
	const char *path; /* of the socket; an existing one is replaced */
	int listen_fd; /* if >= 0, used instead of a new socket (socket activation) */
	const char *
		group; /* its members may send all requests; NULL or unknown: no group */
	control_handler handle;
	void *ctx;
};

/* Appends `key value\n`, escaped. */
void control_put_field(struct buf *reply, const char *key, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Copies the strings of `config`.  Returns 0 or a negative errno with a message in *err. */
int control_server_open(const struct control_server_config *config,
			struct control_server **ret_server, struct err *err);
/* Returns a descriptor that polls readable when control_server_poll() has work to do. */
int control_server_fd(const struct control_server *s);
/* Reads input, calls the handler and sends replies. */
void control_server_poll(struct control_server *s);
/* Creates the socket again if it was removed, unless the service manager created it; connected
 * peers stay. Returns 1 if it was created, 0 if there was no need, or a negative errno with a
 * message in *err.  Must not be called within the handler. */
int control_server_renew(struct control_server *s, struct err *err);
/* Returns the number of peers that read samples. */
size_t control_server_readers(const struct control_server *s);
/* Queues a sample for each reader, without waiting. */
void control_server_put_sample(struct control_server *s,
			       const struct event_sample *sample);
/* Sends the readers what their sockets accept.  Must not be called within the handler. */
void control_server_send_samples(struct control_server *s);
/* Returns how many samples did not fit into a queue, summed over all readers. */
uint64_t control_server_lost(const struct control_server *s);
/* Disconnects all peers and frees the server. Removes the socket unless the service manager
 * created it. NULL is allowed. */
void control_server_close(struct control_server *s);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* metrics_server.h - answers who asks for the daemon's metrics by HTTP, on this machine alone.
 * Layer: daemon.  Single-threaded, and never waits for a peer: each has one answer and some
 * seconds for it; of too many the oldest goes.  What all of them make it do is bounded: who asks
 * too often waits. */
#pragma once
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct buf;
struct err;
struct metrics_server;

enum {
	METRICS_PEERS_MAX = 8,
	METRICS_NAME_BYTES = 64
};

struct metrics_address {
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} at;
	socklen_t len;
};

/* "[ADDR:]PORT", ADDR a loopback address: 127.x.x.x, [::1] or localhost; without one 127.0.0.1.
 * Port 0: one that is free.  0, or -EINVAL with a line. */
int metrics_address_parse(const char *text, struct metrics_address *ret_address,
			  struct err *err);
/* `put` appends the metrics.  0 or a negative errno with a line. */
int metrics_server_open(const struct metrics_address *address,
			void (*put)(void *ctx, struct buf *out), void *ctx,
			struct metrics_server **ret_server, struct err *err);
/* "127.0.0.1:9100": where it listens. */
const char *metrics_server_name(const struct metrics_server *s);
/* Whether it listens there already: another one could not.  False for NULL. */
bool metrics_server_is_at(const struct metrics_server *s,
			  const struct metrics_address *address);
/* Polls readable when metrics_server_turn() has something to do.  -1 for NULL, which poll() skips. */
int metrics_server_fd(const struct metrics_server *s);
/* Takes who comes, answers, and lets those go that took too long; `now_ns` is of a clock that does not
 * go back.  NULL is fine. */
void metrics_server_turn(struct metrics_server *s, uint64_t now_ns);
void metrics_server_close(struct metrics_server *s); /* NULL is fine */

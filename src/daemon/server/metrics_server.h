/* SPDX-License-Identifier: GPL-2.0-or-later */
/* metrics_server.h - serves the daemon's metrics by HTTP, to this machine only.
 * Layer: daemon.  Single-threaded, and never waits for a peer: each gets one answer and has some
 * seconds for it; if there are too many, the oldest is dropped.  The total work is bounded:
 * clients that send requests too often have to wait. */
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

/* Parses "[ADDR:]PORT".  ADDR is a loopback address: 127.x.x.x, [::1] or localhost; default:
 * 127.0.0.1. Port 0 selects a free one.  Returns 0, or -EINVAL with a message in *err. */
int metrics_address_parse(const char *text, struct metrics_address *ret_address,
			  struct err *err);
/* Listens at `address` and answers each request with the text that `put` appends.  Returns 0 or a
 * negative errno with a message in *err. */
int metrics_server_open(const struct metrics_address *address,
			void (*put)(void *ctx, struct buf *out), void *ctx,
			struct metrics_server **ret_server, struct err *err);
/* Returns the address it listens on, such as "127.0.0.1:9100". */
const char *metrics_server_name(const struct metrics_server *s);
/* Returns whether the server already listens at `address`, so that another one could not.  False
 * for NULL. */
bool metrics_server_is_at(const struct metrics_server *s,
			  const struct metrics_address *address);
/* Returns a descriptor that polls readable when metrics_server_poll() has work to do. Returns -1
 * for NULL, which poll() skips. */
int metrics_server_fd(const struct metrics_server *s);
/* Accepts peers, sends answers, and drops peers that took too long; `now_ns` is from a monotonic
 * clock.  NULL is allowed. */
void metrics_server_poll(struct metrics_server *s, uint64_t now_ns);
void metrics_server_close(struct metrics_server *s); /* NULL is allowed */

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* table_packets.h - the packets on the socket of the helper for unwind tables.  They connect
 * processes of the same program, one of which may have been taken over.
 * Layer: record. */
#pragma once
#include <stddef.h>
#include <stdint.h>

enum {
	TABLE_MAX_BYTES = 64 << 20 /* maximum size of the file that contains a table */
};

struct table_question {
	uint64_t number; /* starts at 1 */
};

/* The reply to a request. An untrusted process writes it, so every bit pattern must be valid for
 * its fields. */
struct table_answer {
	uint64_t number; /* number of the request; 0: the worker has died */
	uint64_t cpu_ns; /* CPU time of this worker so far */
	/* 0 or a negative errno; if the worker has died, the signal that ended it, or 0. */
	int32_t result;
	uint32_t is_confined; /* not 0: the worker is confined */
};

/* Sends a packet and a descriptor (-1: none).  Returns 0 or a negative errno (-EAGAIN depending
 * on `flags`). */
int table_packet_send(int fd, int flags, void *bytes, size_t len, int file);
/* Receives a packet.  Returns 0, -EAGAIN (depending on `flags`), or -ECONNRESET: the other end is
 * closed, or the packet has another size.  *ret_file: -1 or a descriptor owned by the caller. */
int table_packet_receive(int fd, int flags, void *bytes, size_t len, int *ret_file);

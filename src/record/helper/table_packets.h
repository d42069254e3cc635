/* SPDX-License-Identifier: GPL-2.0-or-later */
/* table_packets.h - what goes over the socket of the helper for unwind tables, a packet each, between
 * processes of the same program: of which one may have been taken over.
 * Layer: record. */
#pragma once
#include <stddef.h>
#include <stdint.h>

enum {
	TABLE_MAX_BYTES = 64 << 20 /* of the file in memory that is an answer's */
};

struct table_question {
	uint64_t number; /* from 1 */
};

/* All of its values are good ones: it is what another process wrote. */
struct table_answer {
	uint64_t number;      /* the question's; 0: the worker has died */
	uint64_t cpu_ns;      /* of the worker so far */
	int32_t result;       /* of one that has died, the signal */
	uint32_t is_confined; /* not 0: it is */
};

/* Sends a packet and a descriptor (-1: none).  0 or a negative errno (-EAGAIN: `flags`). */
int table_packet_send(int fd, int flags, void *bytes, size_t len, int file);
/* 0, -EAGAIN (`flags`), or -ECONNRESET: nobody is there, or it is no such packet.  *ret_file: -1 or a
 * descriptor of the caller's. */
int table_packet_receive(int fd, int flags, void *bytes, size_t len, int *ret_file);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_table_answers.c - replies of the helper for unwind tables to the daemon, after a binary
 * could have compromised the helper: packets of any kind, with files of any kind.
 *
 * The input consists of packets: a byte with the kind of the reply (below), 24 bytes of a reply,
 * and for a file in memory a length of two bytes and its contents. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cursor.h"
#include "base/files/io.h"
#include "record/helper/table_answers.h"
#include "record/helper/table_packets.h"
#include "unwind_file.h"
#include "unwind_walk.h"

enum {
	THIS = 1,    /* it is a reply to the request */
	DEATH = 2,   /* reports that the worker died */
	MEMORY = 4,  /* has a descriptor of a file in memory */
	DEVICE = 8,  /* has a descriptor of another file */
	WRONG = 16,  /* wrong length: the lowest five bits of the second byte */
	STRAY = 32,  /* it arrived before the request */
	HASHED = 64, /* the file's hashes are corrected */
	LENGTHS = 31,
	NUMBER = 7,
	PACKETS_MAX = 80 /* more than are read */
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int file_of(unsigned int what, struct cursor *in)
{
	uint8_t *bytes;
	const uint8_t *from;
	size_t len;
	int file;

	if (what & DEVICE)
		return io_open("/dev/null", O_RDONLY, 0);
	if (!(what & MEMORY))
		return -1;
	len = cursor_u16(in);
	from = cursor_take(in, len);
	file = memfd_create("table", MFD_CLOEXEC);
	bytes = from && file >= 0 ? malloc(len + 1) : NULL;
	if (bytes) {
		memcpy(bytes, from, len);
		if (what & HASHED && len >= UNWIND_FILE_HEAD)
			unwind_file_put_right(bytes, len);
		(void)!io_write_all(file, bytes, len);
	}
	free(bytes);
	return file;
}

static void send_one(int fd, unsigned int what, struct cursor *in)
{
	struct table_answer answer = { 0 };
	const uint8_t *bytes = cursor_take(in, sizeof(answer));
	size_t len = sizeof(answer);
	int file;

	if (!bytes)
		return;
	memcpy(&answer, bytes, sizeof(answer));
	if (what & WRONG)
		len = bytes[0] & LENGTHS;
	if (what & (THIS | DEATH))
		answer.number = what & THIS ? NUMBER : 0;
	file = file_of(what, in);
	(void)table_packet_send(fd, MSG_DONTWAIT, &answer,
				len < sizeof(answer) ? len : sizeof(answer), file);
	if (file >= 0)
		close(file);
}

/* Sends the packets whose STRAY flag equals `stray`. */
static void send_all(int fd, const uint8_t *data, size_t size, unsigned int stray)
{
	struct cursor in = cursor_le(data, size);

	for (int i = 0; i < PACKETS_MAX && !in.failed && in.pos < in.len; i++) {
		unsigned int what = cursor_u8(&in);

		if ((what & STRAY) != stray) {
			(void)cursor_take(&in, sizeof(struct table_answer));
			if (what & MEMORY && !(what & DEVICE))
				(void)cursor_take(&in, cursor_u16(&in));
			continue;
		}
		send_one(fd, what, &in);
	}
}

static void wait_for_it(struct table_answers *a, const uint8_t *data, size_t size)
{
	struct unwind_walk w = { 0 };
	int error = 0;
	enum table_outcome outcome =
		table_answers_wait(a, clock_now_ns(CLOCK_MONOTONIC), &w.table, &error);

	assert(error <= 0 && error >= -4095);
	assert((outcome == TABLE_NONE) == !!error);
	assert((outcome == TABLE_MADE) == !!w.table);
	if (!w.table)
		return;
	w.base = w.table->base;
	walk_table(&w, data, size, size && data[0] & HASHED);
	unwind_table_free(w.table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct table_answers a = { .number = NUMBER };
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return 0;
	a.fd = pair[0];
	send_all(pair[1], data, size, STRAY);
	table_answers_drain(&a);
	send_all(pair[1], data, size, 0);
	close(pair[1]);
	wait_for_it(&a, data, size);
	close(pair[0]);
	return 0;
}

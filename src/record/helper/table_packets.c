/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/helper/table_packets.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* This and the next function use system calls directly. On s390x and i386, glibc's sendmsg() and
 * recvmsg() use socketcall(2); a filter that allows it would also allow creating sockets. */
int table_packet_send(int fd, int flags, void *bytes, size_t len, int file)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .bytes = { 0 } };
	struct iovec part = { .iov_base = bytes, .iov_len = len };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	if (file >= 0) {
		struct cmsghdr *c;

		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		c = CMSG_FIRSTHDR(&message);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &file, sizeof(file));
	}
	return syscall(SYS_sendmsg, fd, &message, flags | MSG_NOSIGNAL) < 0 ? -errno
									    : 0;
}

int table_packet_receive(int fd, int flags, void *bytes, size_t len, int *ret_file)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .bytes = { 0 } };
	struct iovec part = { .iov_base = bytes, .iov_len = len };
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		/* Excludes the padding, into which a second descriptor would
				   * fit. */
		.msg_controllen = CMSG_LEN(sizeof(int))
	};
	ssize_t n = syscall(SYS_recvmsg, fd, &message, flags | MSG_CMSG_CLOEXEC);
	int error = errno;
	const struct cmsghdr *c = n >= 0 ? CMSG_FIRSTHDR(&message) : NULL;

	*ret_file = -1;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(ret_file, CMSG_DATA(c), sizeof(*ret_file));
	if (n == (ssize_t)len)
		return 0;
	if (*ret_file >= 0)
		close(*ret_file);
	*ret_file = -1;
	return n < 0 && (error == EAGAIN || error == EINTR) ? -EAGAIN : -ECONNRESET;
}

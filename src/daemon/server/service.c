/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/server/service.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/parse.h"

enum {
	FIRST_FD = 3,
	TEXT_MAX = 1024
};

void service_notify(const char *format, ...)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *path = getenv("NOTIFY_SOCKET");
	size_t len = path ? strlen(path) : 0;
	char text[TEXT_MAX];
	va_list args;
	int fd;

	if (!len || len >= sizeof(address.sun_path) || (*path != '/' && *path != '@'))
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	memcpy(address.sun_path, path, len);
	if (*path == '@')
		address.sun_path[0] = 0;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	(void)sendto(fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT,
		     (struct sockaddr *)&address,
		     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
	close(fd);
}

/* Returns whether the variable contains this process's pid. */
static bool names_us(const char *variable)
{
	const char *text = getenv(variable);
	uint64_t pid;

	return text && parse_u64(text, &pid) && pid == (uint64_t)getpid();
}

int service_listen_fd(void)
{
	const char *text = getenv("LISTEN_FDS");
	uint64_t nr;
	int listens = 0;
	socklen_t len = sizeof(listens);

	if (!names_us("LISTEN_PID") || !text || !parse_u64(text, &nr) || !nr ||
	    getsockopt(FIRST_FD, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) || !listens)
		return -1;
	(void)fcntl(FIRST_FD, F_SETFD, FD_CLOEXEC);
	(void)fcntl(FIRST_FD, F_SETFL, O_NONBLOCK);
	return FIRST_FD;
}

uint64_t service_watchdog_ns(void)
{
	const char *text = getenv("WATCHDOG_USEC");
	uint64_t us;

	if (!text || !parse_u64_max(text, UINT64_MAX / 1000, &us) ||
	    (getenv("WATCHDOG_PID") && !names_us("WATCHDOG_PID")))
		return 0;
	return us * 1000 / 2;
}

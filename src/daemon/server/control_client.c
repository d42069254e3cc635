/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/server/control_client.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"

enum {
	REPLY_TIMEOUT_MS = 60000,
	READ_BYTES = 8192,
	ERRNO_MAX = 4096
};

/* Returns the errno value whose name (such as EINVAL) is the first `len` bytes of `text`, or 0 if
 * no errno value has that name. */
static int errno_named(const char *text, size_t len)
{
	for (int code = 1; code < ERRNO_MAX; code++) {
		const char *name = strerrorname_np(code);

		if (name && strlen(name) == len && !strncmp(text, name, len))
			return code;
	}
	return 0;
}

const char *control_run_dir(void)
{
	const char *dir = getenv("OPROFILE_RUN_DIR");

	return dir && *dir ? dir : "/run/oprofile";
}

int control_connect(struct control_client *c, const char *run_dir, struct err *err)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	const struct timeval soon = { .tv_sec = CONTROL_SOON_MS / 1000 };
	int len, r;

	*c = (struct control_client){ .fd = -1, .timeout_ms = REPLY_TIMEOUT_MS };
	if (!run_dir)
		run_dir = control_run_dir();
	len = snprintf(to.sun_path, sizeof(to.sun_path), "%s/control", run_dir);
	if (len < 0 || (size_t)len >= sizeof(to.sun_path))
		return err_set(err, -ENAMETOOLONG,
			       "the directory name '%s' is too long for a socket",
			       run_dir);
	c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (c->fd < 0)
		return err_sys(err, -errno, "cannot create a socket");
	/* connect() blocks, up to this timeout, when the queue of pending connections is full. */
	(void)setsockopt(c->fd, SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof(soon));
	if (!connect(c->fd, (struct sockaddr *)&to, sizeof(to)))
		return 0;
	r = errno == EAGAIN ? -ETIMEDOUT : -errno;
	close(c->fd);
	c->fd = -1;
	if (r == -ENOENT || r == -ECONNREFUSED)
		return err_set(err, r, "no daemon is listening at %s", to.sun_path);
	return err_sys(err, r, "cannot connect to '%s'", to.sun_path);
}

void control_disconnect(struct control_client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	control_lines_done(&c->in);
}

static int send_all(int fd, const uint8_t *bytes, size_t len)
{
	while (len) {
		ssize_t sent = send(fd, bytes, len, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return -errno;
		bytes += sent;
		len -= (size_t)sent;
	}
	return 0;
}

static int send_words(struct control_client *c, const char *const *words,
		      struct err *err)
{
	struct buf line = { 0 };
	int r;

	for (size_t i = 0; words[i]; i++) {
		if (i)
			buf_put_u8(&line, ' ');
		control_put_word(&line, words[i]);
	}
	buf_put_u8(&line, '\n');
	if (line.failed)
		r = err_set(err, -ENOMEM, "out of memory");
	else if (line.len > CONTROL_LINE_MAX)
		r = err_set(err, -E2BIG,
			    "the request is too long: the maximum is %d bytes",
			    CONTROL_LINE_MAX);
	else
		r = send_all(c->fd, line.data, line.len);
	if (r == -EPIPE)
		r = -ECONNRESET;
	if (r && r != -ENOMEM && r != -E2BIG)
		err_sys(err, r, "cannot send a request to oprofiled");
	buf_done(&line);
	return r;
}

/* Returns false if no bytes came within `ms`. */
static bool wait_for_bytes(const struct control_client *c, int ms)
{
	struct pollfd in = { .fd = c->fd, .events = POLLIN };
	int r;

	do {
		r = poll(&in, 1, ms);
	} while (r < 0 && errno == EINTR);
	return r;
}

static bool wait_and_report(struct control_client *c)
{
	void (*on_wait)(void) = c->on_wait;

	if (!on_wait || c->timeout_ms <= CONTROL_SOON_MS)
		return wait_for_bytes(c, c->timeout_ms);
	if (wait_for_bytes(c, CONTROL_SOON_MS))
		return true;
	c->on_wait = NULL;
	on_wait();
	return wait_for_bytes(c, c->timeout_ms - CONTROL_SOON_MS);
}

/* Waits for more bytes and adds them to c->in. */
static int receive(struct control_client *c, struct err *err)
{
	uint8_t bytes[READ_BYTES];
	ssize_t got;

	if (!wait_and_report(c))
		return err_set(err, -ETIMEDOUT, "the daemon does not answer");
	do {
		got = read(c->fd, bytes, sizeof(bytes));
	} while (got < 0 && errno == EINTR);
	if (got <= 0)
		return err_set(err, -ECONNRESET,
			       "the daemon closed the connection without a reply");
	if (control_lines_add(&c->in, bytes, (size_t)got))
		return err_set(err, -ENOMEM, "out of memory");
	return 0;
}

static int control_client_next_line(struct control_client *c, char **ret_line,
				    struct err *err)
{
	int r;

	while (!(r = control_lines_next(&c->in, ret_line))) {
		r = receive(c, err);
		if (r)
			return r;
	}
	return r < 0 ? err_set(err, -EBADMSG, "malformed reply from oprofiled") : 0;
}

static int take_error(char *text, struct err *err)
{
	size_t len = strcspn(text, " :");
	int code;

	if (control_unescape(text))
		return err_set(err, -EBADMSG, "malformed reply from oprofiled");
	code = errno_named(text, len);
	if (code) {
		text += len + strspn(text + len, " :");
		return err_set(err, -code, "%s", *text ? text : strerror(code));
	}
	return err_set(err, -EREMOTEIO, "%s", text);
}

static int take_field(struct control_reply *reply, char *line, struct err *err)
{
	struct control_field field = { 0 };
	char *space = strchr(line, ' ');

	if (!reply || reply->fields.nr == CONTROL_REPLY_MAX)
		return 0;
	if (space)
		*space = '\0';
	if (control_unescape(line) || (space && control_unescape(space + 1)))
		return err_set(err, -EBADMSG, "malformed reply from oprofiled");
	field.key = strdup(line);
	field.value = strdup(space ? space + 1 : "");
	if (!field.key || !field.value || !vec_grow(&reply->fields)) {
		free(field.key);
		free(field.value);
		return err_set(err, -ENOMEM, "out of memory");
	}
	reply->fields.at[reply->fields.nr++] = field;
	return 0;
}

int control_request(struct control_client *c, const char *const *words,
		    struct control_reply *ret_reply, struct err *err)
{
	int r = send_words(c, words, err);

	/* A daemon that rejects the client sends an error and closes the connection before it
	 * reads the request. Read that error. */
	if (r == -ECONNRESET)
		r = 0;
	while (!r) {
		char *line;

		r = control_client_next_line(c, &line, err);
		if (r)
			break;
		if (!strcmp(line, "ok"))
			return 0;
		if (!strncmp(line, "error ", 6))
			r = take_error(line + 6, err);
		else
			r = take_field(ret_reply, line, err);
	}
	if (ret_reply)
		control_reply_done(ret_reply);
	return r;
}

const char *control_reply_get(const struct control_reply *reply, const char *key)
{
	for (size_t i = 0; i < reply->fields.nr; i++) {
		if (!strcmp(reply->fields.at[i].key, key))
			return reply->fields.at[i].value;
	}
	return NULL;
}

void control_reply_done(struct control_reply *reply)
{
	for (size_t i = 0; i < reply->fields.nr; i++) {
		free(reply->fields.at[i].key);
		free(reply->fields.at[i].value);
	}
	vec_done(&reply->fields);
}

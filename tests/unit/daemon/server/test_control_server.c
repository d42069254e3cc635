/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/server/control_server.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files/io.h"
#include "daemon/server/event_stream.h"

#include "full.h"
#include "unit.h"

enum {
	PEERS_MAX = 200,
	CROWD = 60,   /* nearly as many as can wait to be accepted */
	OF_USER = 16, /* as documented in docs/daemon.md */
	ALL = 64,
	REPLY_BYTES = 1500,
	FLOOD = 1000
};

/* A server, and the requests it got: the first letter of each argument. */
struct place {
	char dir[32];
	char path[64];
	struct control_server *server;
	char asked[FLOOD + 64];
	size_t nr_asked;
	bool of_owner;
	bool is_busy; /* a request takes a while */
	size_t reply_bytes;
	int stream_result;
	int peers[PEERS_MAX];
	size_t nr_peers;
};

/* Uses 30 ms of CPU time. */
static void spend_cpu(void)
{
	struct timespec t = { 0 };
	int64_t begin_ms, now_ms;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	begin_ms = t.tv_sec * 1000 + t.tv_nsec / 1000000;
	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		now_ms = t.tv_sec * 1000 + t.tv_nsec / 1000000;
	} while (now_ms - begin_ms < 30);
}

static int handle(void *ctx, const struct control_request *request, struct buf *reply,
		  struct err *err)
{
	static char text[REPLY_BYTES];
	struct place *p = ctx;

	(void)err;
	p->asked[p->nr_asked++] = request->nr_args ? *request->args[0] : '-';
	p->of_owner = request->of_owner;
	memset(text, 'x', p->reply_bytes);
	if (p->is_busy)
		spend_cpu();
	if (request->verb == CONTROL_STREAM)
		return p->stream_result;
	if (p->reply_bytes)
		control_put_field(reply, "text", "%.*s", (int)p->reply_bytes, text);
	return 0;
}

static void begin(struct place *p)
{
	struct control_server_config config = {
		.path = p->path, .listen_fd = -1, .handle = handle, .ctx = p
	};
	struct err err = { 0 };

	*p = (struct place){ .dir = "/tmp/server-XXXXXX" };
	assert_non_null(mkdtemp(p->dir));
	assert_int_equal(chmod(p->dir, 0755), 0);
	snprintf(p->path, sizeof(p->path), "%s/control", p->dir);
	assert_int_equal(control_server_open(&config, &p->server, &err), 0);
}

static void end(struct place *p)
{
	for (size_t i = 0; i < p->nr_peers; i++)
		close(p->peers[i]);
	control_server_close(p->server);
	assert_int_equal(io_remove_tree(p->dir), 0);
}

static void turns(struct place *p, size_t nr)
{
	while (nr--)
		control_server_poll(p->server);
}

static int come(struct place *p)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	assert_true(fd >= 0 && p->nr_peers < PEERS_MAX);
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", p->path);
	assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	p->peers[p->nr_peers++] = fd;
	return fd;
}

static int come_as(struct place *p, uid_t user)
{
	int fd;

	assert_int_equal(seteuid(user), 0);
	fd = come(p);
	assert_int_equal(seteuid(0), 0);
	return fd;
}

static bool was_dropped(int fd)
{
	char byte;

	return !recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK);
}

static void ask(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* Returns the bytes that can be read now as a string, valid until the next call. */
static const char *told(int fd)
{
	static char text[256];
	ssize_t n = recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT);

	text[n > 0 ? n : 0] = 0;
	return text;
}

static void serves_peers_in_turn(void **state)
{
	struct place p;
	int a, b;

	(void)state;
	begin(&p);
	a = come(&p);
	b = come(&p);
	turns(&p, 4);
	ask(a, "get a\nget a\nget a\nget c");
	ask(b, "get b\n");
	turns(&p, 8);
	assert_true(!strcmp(p.asked, "abaa") || !strcmp(p.asked, "baaa"));
	assert_true(p.of_owner);
	assert_string_equal(told(a), "ok\nok\nok\n");
	assert_string_equal(told(b), "ok\n");
	ask(a, "\n");
	assert_int_equal(shutdown(a, SHUT_WR), 0);
	turns(&p, 8);
	assert_string_equal(told(a), "ok\n");
	assert_int_equal(recv(a, p.asked, 1, 0), 0); /* hung up */
	end(&p);
}

static void waits_for_a_peer_that_does_not_read(void **state)
{
	struct place p;
	size_t nr_ok = 0;
	size_t nr_sent = 0;
	size_t unread;
	char last = 'o';
	int a, b;

	(void)state;
	begin(&p);
	p.reply_bytes = REPLY_BYTES;
	a = come(&p);
	b = come(&p);
	turns(&p, 4);
	/* Client `a` reads no replies: it sends requests until the server does not accept more. */
	while (nr_sent < FLOOD && send(a, "get a\n", 6, MSG_NOSIGNAL) == 6) {
		nr_sent++;
		turns(&p, 2);
	}
	turns(&p, 2 * FLOOD);
	unread = p.nr_asked;
	assert_in_range(unread, 1, nr_sent - 1);
	ask(b, "get b\n");
	turns(&p, 4);
	assert_int_equal(p.asked[unread], 'b');
	/* When client `a` reads, it receives all replies. */
	for (size_t turn = 0; turn < 16 * FLOOD && nr_ok < nr_sent; turn++) {
		const char *text = told(a);

		for (; *text; text++) {
			nr_ok += last == 'o' && *text == 'k';
			last = *text;
		}
		turns(&p, 1);
	}
	assert_int_equal(nr_ok, nr_sent);
	end(&p);
}

static void disconnects_on_long_lines(void **state)
{
	static char line[4200];
	struct place p;
	int a;

	(void)state;
	begin(&p);
	a = come(&p);
	memset(line, 'x', sizeof(line) - 1);
	ask(a, line);
	turns(&p, 8);
	assert_string_equal(
		told(a),
		"error EINVAL the line is too long: the maximum is 4096 bytes\n");
	assert_int_equal(p.nr_asked, 0);
	end(&p);
}

/* The time that users' requests cost is charged to them, and does not delay root. */
static void bounds_the_cost_of_users(void **state)
{
	struct pollfd at = { .events = POLLIN };
	struct place p;
	int user, root;

	(void)state;
	if (geteuid())
		skip();
	begin(&p);
	at.fd = control_server_fd(p.server);
	user = come_as(&p, 60001);
	turns(&p, 2);
	root = come(&p);
	turns(&p, 2);
	p.is_busy = true;
	ask(user, "get a\nget b\n");
	turns(&p, 3);
	assert_string_equal(told(user), "ok\n");
	assert_int_equal(poll(&at, 1, 0), 0);
	ask(root, "get c\nget d\n");
	turns(&p, 3);
	assert_string_equal(told(root), "ok\nok\n");
	p.is_busy = false;
	while (p.nr_asked < 4) {
		assert_int_equal(poll(&at, 1, 20000), 1);
		turns(&p, 1);
	}
	assert_memory_equal(p.asked, "acdb", 4);
	assert_string_equal(told(user), "ok\n");
	end(&p);
}

/* Each user is served in turn, however many requests one of them sends. */
static void serves_users_in_turn(void **state)
{
	struct pollfd at = { .events = POLLIN };
	struct place p;
	int a, b;

	(void)state;
	if (geteuid())
		skip();
	begin(&p);
	at.fd = control_server_fd(p.server);
	a = come_as(&p, 60001);
	turns(&p, 2);
	b = come_as(&p, 60002);
	turns(&p, 2);
	p.is_busy = true;
	ask(a, "get a\nget a\nget a\n");
	ask(b, "get b\n");
	while (p.nr_asked < 3) {
		assert_int_equal(poll(&at, 1, 20000), 1);
		turns(&p, 1);
	}
	assert_memory_equal(p.asked, "aba", 3);
	end(&p);
}

static int arrive_as(struct place *p, uid_t user)
{
	int fd = come_as(p, user);

	turns(p, 1);
	return fd;
}

/* Root does not wait for the connections of other users. */
static void many_clients_connect_at_once(void **state)
{
	struct place p;
	int fd;

	(void)state;
	if (geteuid())
		skip();
	begin(&p);
	for (int turn = 0; turn < 3; turn++) {
		for (int i = 0; i < CROWD; i++)
			(void)come_as(&p, 60001);
		fd = come(&p);
		turns(&p, 2);
		ask(fd, "stop\n");
		turns(&p, 2);
		assert_string_equal(told(fd), "ok\n");
	}
	end(&p);
}

/* One user's connections do not lock others out, and those of all users do not lock root out. */
static void root_can_always_connect(void **state)
{
	struct place p;
	size_t nr_dropped = 0;
	int fd;

	(void)state;
	if (geteuid())
		skip();
	begin(&p);
	for (uid_t user = 1; user <= ALL / OF_USER; user++) {
		for (size_t i = 0; i < OF_USER; i++)
			(void)arrive_as(&p, 60000 + user);
		fd = arrive_as(&p, 60000 + user);
		assert_string_equal(told(fd), "error EBUSY too many connections\n");
	}
	fd = come(&p);
	turns(&p, 2);
	ask(fd, "stop\n");
	turns(&p, 2);
	assert_string_equal(told(fd), "ok\n");
	/* One user's connection was dropped for root; the others are still open. Four were
	 * refused. */
	for (size_t i = 0; i < p.nr_peers; i++)
		nr_dropped += was_dropped(p.peers[i]);
	assert_int_equal(nr_dropped, ALL / OF_USER + 1);
	for (size_t i = 0; i < OF_USER; i++)
		if (!was_dropped(p.peers[i]))
			ask(fd = p.peers[i], "stop\n");
	turns(&p, 2);
	assert_int_equal(strncmp(told(fd), "error EPERM", 11), 0);
	assert_int_equal(p.nr_asked, 1);
	end(&p);
}

/* The server creates its own socket again, and keeps accepted connections; it does not create a
 * socket that was passed to it. */
static void creates_a_removed_socket_again(void **state)
{
	struct control_server_config config = { .handle = handle };
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct err err = { 0 };
	struct place p;
	int before, fd;

	(void)state;
	begin(&p);
	assert_int_equal(control_server_renew(p.server, &err), 0);
	before = come(&p);
	turns(&p, 2);
	assert_int_equal(unlink(p.path), 0);
	assert_int_equal(control_server_renew(p.server, &err), 1);
	fd = come(&p);
	ask(fd, "stop\n");
	ask(before, "stop\n");
	turns(&p, 2);
	assert_string_equal(told(fd), "ok\n");
	assert_string_equal(told(before), "ok\n");
	control_server_close(p.server);
	config.ctx = &p;
	config.listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", p.path);
	assert_int_equal(bind(config.listen_fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(control_server_open(&config, &p.server, &err), 0);
	assert_int_equal(unlink(p.path), 0);
	assert_int_equal(control_server_renew(p.server, &err), 0);
	assert_int_equal(access(p.path, F_OK), -1);
	end(&p);
}

/* New connections wait without keeping the server busy; others are answered. */
static void waits_without_descriptors(void **state)
{
	struct pollfd at = { .events = POLLIN };
	struct place p;
	struct rlimit was;
	int a, b, nr_ready = 1;

	(void)state;
	begin(&p);
	at.fd = control_server_fd(p.server);
	a = come(&p);
	turns(&p, 1);
	b = come(&p);
	ask(b, "get b\n");
	was = full_begin();
	for (unsigned int i = 0; nr_ready && i < 1000; i++) {
		turns(&p, 1);
		nr_ready = poll(&at, 1, 0);
	}
	full_end(&was);
	assert_int_equal(nr_ready, 0);
	ask(a, "get a\n");
	turns(&p, 2);
	assert_string_equal(told(a), "ok\n");
	while (p.nr_asked < 2) {
		assert_int_equal(poll(&at, 1, 20000), 1);
		turns(&p, 1);
	}
	assert_string_equal(told(b), "ok\n");
	end(&p);
}

/* ---- readers of samples ---- */

/* Reads everything that is available. Returns the number of bytes, and whether the end was
 * reached. */
static size_t read_all(int fd, bool *ret_end)
{
	char bytes[8192];
	size_t all = 0;
	ssize_t n;

	while ((n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0)
		all += (size_t)n;
	*ret_end = !n;
	return all;
}

static int come_to_read(struct place *p)
{
	int fd = come(p);

	turns(p, 1);
	ask(fd, "stream\n");
	turns(p, 2);
	assert_string_equal(told(fd), "ok\n");
	return fd;
}

/* Adds samples of two words each, except the first. */
static void put_samples(struct place *p, size_t nr)
{
	struct event_position position = { .offset = 16 };
	struct event_sample sample = { .positions = &position,
				       .nr = 1,
				       .nr_kernel = 1 };

	while (nr--)
		control_server_put_sample(p->server, &sample);
}

enum {
	PAIR_BYTES = 2 * sizeof(unsigned long),
	HEAD_BYTES = 12 * sizeof(unsigned long) /* CPU, context, mode */
};

static void slow_readers_do_not_delay_others(void **state)
{
	enum {
		SAMPLES = 1000,
		ROUNDS = 300
	};
	struct place p;
	size_t got = 0;
	int reader, sleeper, asker;
	bool end_of_it;

	(void)state;
	begin(&p);
	p.stream_result = 1; /* as many words as needed */
	reader = come_to_read(&p);
	sleeper = come_to_read(&p);
	asker = come(&p);
	turns(&p, 1);
	assert_int_equal(control_server_readers(p.server), 2);
	for (size_t i = 0; i < ROUNDS; i++) {
		put_samples(&p, SAMPLES);
		control_server_send_samples(p.server);
		turns(&p, 1);
		got += read_all(reader, &end_of_it);
		assert_false(end_of_it);
	}
	/* One reader gets all samples. The memory for the other reader is limited, and its losses
	 * are reported. */
	assert_int_equal(got, HEAD_BYTES + SAMPLES * ROUNDS * PAIR_BYTES);
	assert_in_range(control_server_lost(p.server), 1, SAMPLES * ROUNDS - 1);
	ask(asker, "get a\n");
	turns(&p, 3);
	assert_string_equal(told(asker), "ok\n");
	assert_true(read_all(sleeper, &end_of_it) < SAMPLES * ROUNDS * PAIR_BYTES);
	assert_false(end_of_it);
	end(&p);
}

static void handles_misbehaving_readers(void **state)
{
	static char line[4096];
	struct place p;
	int talks, closes, half, i;
	bool end_of_it;

	(void)state;
	begin(&p);
	p.stream_result = 10000;
	talks = come(&p);
	turns(&p, 1);
	/* Data after the request is not answered and not stored. */
	ask(talks, "stream\nstop\n");
	turns(&p, 4);
	memset(line, 'x', sizeof(line));
	while (send(talks, line, sizeof(line), MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
		turns(&p, 1);
	assert_string_equal(told(talks), "ok\n");
	assert_string_equal(p.asked, "-");
	closes = come_to_read(&p);
	half = come_to_read(&p);
	/* A reader may close its sending side. */
	assert_int_equal(shutdown(half, SHUT_WR), 0);
	assert_int_equal(shutdown(closes, SHUT_RDWR), 0);
	turns(&p, 3);
	assert_int_equal(control_server_readers(p.server), 2);
	put_samples(&p, 2);
	control_server_send_samples(p.server);
	assert_int_equal(read_all(half, &end_of_it), HEAD_BYTES + 2 * PAIR_BYTES);
	assert_int_equal(read_all(talks, &end_of_it), HEAD_BYTES + 2 * PAIR_BYTES);
	for (i = 2; i < CONTROL_READERS_MAX; i++)
		(void)come_to_read(&p);
	i = come(&p);
	turns(&p, 1);
	ask(i, "stream\nget a\n");
	turns(&p, 4);
	assert_string_equal(
		told(i),
		"error EBUSY too many readers of samples: the maximum is 8\nok\n");
	end(&p);
}

static void only_permitted_users_read(void **state)
{
	struct place p;
	int fd;

	(void)state;
	if (geteuid())
		skip();
	begin(&p);
	p.stream_result = 1;
	fd = come_as(&p, 60001);
	turns(&p, 1);
	ask(fd, "stream\n");
	turns(&p, 2);
	assert_int_equal(
		strncmp(told(fd), "error EPERM \"stream\" is restricted to root", 42),
		0);
	assert_int_equal(control_server_readers(p.server), 0);
	end(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(serves_peers_in_turn),
		cmocka_unit_test(waits_for_a_peer_that_does_not_read),
		cmocka_unit_test(disconnects_on_long_lines),
		cmocka_unit_test(bounds_the_cost_of_users),
		cmocka_unit_test(serves_users_in_turn),
		cmocka_unit_test(root_can_always_connect),
		cmocka_unit_test(many_clients_connect_at_once),
		cmocka_unit_test(creates_a_removed_socket_again),
		cmocka_unit_test(waits_without_descriptors),
		cmocka_unit_test(slow_readers_do_not_delay_others),
		cmocka_unit_test(handles_misbehaving_readers),
		cmocka_unit_test(only_permitted_users_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "daemon/server/metrics_server.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/parse.h"

#include "full.h"
#include "unit.h"

static const uint64_t second = 1000000000;
static const char get[] = "GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n";

struct place {
	struct metrics_server *server;
	struct metrics_address address;
	uint64_t now;
	unsigned int nr_asked;
	size_t bytes; /* bytes of the text */
};

static void put(void *ctx, struct buf *out)
{
	struct place *p = ctx;
	char line[32];
	int len = snprintf(line, sizeof(line), "asked %u\n", ++p->nr_asked);

	buf_put(out, line, (size_t)len);
	while (out->len < p->bytes)
		buf_put_u8(out, 'x');
}

static void begin(struct place *p)
{
	struct err err = { 0 };
	uint64_t port;

	*p = (struct place){ .now = 100 * second };
	assert_int_equal(metrics_address_parse("0", &p->address, &err), 0);
	assert_int_equal(metrics_server_open(&p->address, put, p, &p->server, &err), 0);
	assert_int_equal(strncmp(metrics_server_name(p->server), "127.0.0.1:", 10), 0);
	assert_true(parse_u64_max(metrics_server_name(p->server) + 10, 65535, &port));
	p->address.at.v4.sin_port = htons((uint16_t)port);
}

static int come_at_once(struct place *p)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, &p->address.at.any, p->address.len), 0);
	return fd;
}

/* Connects a client 0.1 s after the previous one, which is slow enough to be accepted. Returns its
 * socket. */
static int come(struct place *p)
{
	p->now += second / 10;
	return come_at_once(p);
}

static void ask(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static void turns(struct place *p, size_t nr)
{
	while (nr--)
		metrics_server_poll(p->server, p->now);
}

/* Reads a reply to its end while the server handles connections, and stores it as a string.
 * Returns its length, or -1 if the connection was reset. */
static ssize_t told(struct place *p, int fd, char *ret_text, size_t size)
{
	size_t len = 0;

	for (unsigned int i = 0; i < 100000; i++) {
		ssize_t n = recv(fd, ret_text + len, size - 1 - len, MSG_DONTWAIT);

		if (!n)
			break;
		if (n < 0 && errno != EAGAIN)
			return -1;
		len += n > 0 ? (size_t)n : 0;
		p->now += second / 1000;
		turns(p, 1);
	}
	ret_text[len] = 0;
	return (ssize_t)len;
}

static void parses_addresses(void **state)
{
	static const char *const good[] = { "0",           "9100",
					    "127.0.0.1:1", "127.3.2.1:65535",
					    "[::1]:9100",  "localhost:9" };
	static const char *const wrong[] = {
		"",           "x",         "65536",
		"-1",         ":9100",     "0.0.0.0:9100",
		"[::]:9100",  "::1:9100",  "192.168.1.1:9100",
		"[]:1",       "[::1]",     "[::ffff:127.0.0.1]:1",
		"127.0.0.1:", "host:9100", "[:9100",
		"128.0.0.1:1"
	};
	struct metrics_address a;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(good); i++) {
		struct err err = { 0 };

		if (metrics_address_parse(good[i], &a, &err))
			fail_msg("%s: %s", good[i], err.text);
	}
	for (size_t i = 0; i < COUNT_OF(wrong); i++) {
		struct err err = { 0 };

		if (metrics_address_parse(wrong[i], &a, &err) != -EINVAL || !*err.text)
			fail_msg("\"%s\" was taken", wrong[i]);
	}
}

static void answers_once_per_connection(void **state)
{
	struct place p;
	char text[1024];
	int fd;

	(void)state;
	begin(&p);
	fd = come(&p);
	ask(fd, get);
	assert_true(told(&p, fd, text, sizeof(text)) > 0);
	assert_non_null(strstr(text, "HTTP/1.0 200 OK\r\n"));
	assert_non_null(strstr(text, "Content-Type: text/plain; version=0.0.4"));
	assert_non_null(strstr(text, "Content-Length: 8\r\n"));
	assert_non_null(strstr(text, "\r\n\r\nasked 1\n"));
	close(fd);
	/* Within a second the text stays the same. */
	fd = come(&p);
	ask(fd, get);
	assert_true(told(&p, fd, text, sizeof(text)) > 0);
	assert_non_null(strstr(text, "asked 1\n"));
	close(fd);
	p.now += second;
	fd = come(&p);
	ask(fd, "HEAD /metrics HTTP/1.0\r\n\r\n");
	assert_true(told(&p, fd, text, sizeof(text)) > 0);
	assert_non_null(strstr(text, "Content-Length: 8\r\n"));
	assert_null(strstr(text, "asked"));
	assert_int_equal(p.nr_asked, 2);
	close(fd);
	metrics_server_close(p.server);
}

static void reads_split_requests_and_ignores_the_rest(void **state)
{
	struct place p;
	static char more[20000];
	char text[1024];
	int fd;

	(void)state;
	begin(&p);
	fd = come(&p);
	for (const char *at = get; *at; at++) {
		char byte[2] = { *at, 0 };

		ask(fd, byte);
		p.now += second / 50;
		turns(&p, 2);
	}
	memset(more, 'y', sizeof(more) - 1);
	more[sizeof(more) - 1] = 0;
	ask(fd, more);
	assert_true(told(&p, fd, text, sizeof(text)) > 0);
	assert_non_null(strstr(text, "asked 1\n"));
	close(fd);
	metrics_server_close(p.server);
}

static void answers_bad_requests_with_an_error(void **state)
{
	static const char *const rows[][2] = { { "GET / HTTP/1.0\n\n", "404" },
					       { "PUT / HTTP/1.0\n\n", "405" },
					       { "\r\n\r\n", "400" } };
	struct place p;
	char text[8192];
	int fd;

	(void)state;
	begin(&p);
	for (size_t i = 0; i < 3; i++) {
		fd = come(&p);
		ask(fd, rows[i][0]);
		assert_true(told(&p, fd, text, sizeof(text)) > 0);
		assert_memory_equal(text + 9, rows[i][1], 3);
		close(fd);
	}
	fd = come(&p);
	memset(text, 'z', 6000);
	text[6000] = 0;
	ask(fd, text);
	assert_true(told(&p, fd, text, sizeof(text)) > 0);
	assert_memory_equal(text + 9, "431", 3);
	close(fd);
	assert_int_equal(p.nr_asked, 0);
	metrics_server_close(p.server);
}

/* The server waits neither for clients that send nothing nor for clients that do not read. */
static void disconnects_slow_clients(void **state)
{
	struct place p;
	char text[1024];
	int idle[METRICS_PEERS_MAX], fd;

	(void)state;
	begin(&p);
	for (size_t i = 0; i < METRICS_PEERS_MAX; i++) {
		idle[i] = come(&p);
		turns(&p, 1);
		p.now++;
	}
	/* A new connection replaces the oldest one. */
	fd = come(&p);
	ask(fd, get);
	assert_true(told(&p, fd, text, sizeof(text)) > 0);
	assert_non_null(strstr(text, "asked 1\n"));
	close(fd);
	assert_int_equal(recv(idle[0], text, 1, MSG_DONTWAIT), 0);
	assert_int_equal(recv(idle[1], text, 1, MSG_DONTWAIT), -1);
	p.now += 5 * second;
	turns(&p, 1);
	for (size_t i = 0; i < METRICS_PEERS_MAX; i++) {
		assert_int_equal(recv(idle[i], text, 1, MSG_DONTWAIT), 0);
		close(idle[i]);
	}
	metrics_server_close(p.server);
}

/* Slowly arriving bytes do not extend a connection, and do not lock others out. */
static void slow_requests_block_no_other(void **state)
{
	enum {
		SECONDS = 12
	};
	int slow[METRICS_PEERS_MAX];
	char text[1024];
	struct place p;
	int fd;

	(void)state;
	begin(&p);
	for (size_t i = 0; i < METRICS_PEERS_MAX; i++) {
		slow[i] = come(&p);
		ask(slow[i], "GET /metrics HTTP/1.1\r\n");
		turns(&p, 1);
	}
	for (size_t i = 0; i < SECONDS; i++) {
		p.now += second;
		for (size_t k = 0; k < METRICS_PEERS_MAX; k++) {
			(void)send(slow[k], "x", 1, MSG_NOSIGNAL);
			turns(&p, 1);
		}
		p.now += second / 10;
		fd = come(&p);
		ask(fd, get);
		assert_true(told(&p, fd, text, sizeof(text)) > 0);
		assert_non_null(strstr(text, "asked "));
		close(fd);
	}
	for (size_t i = 0; i < METRICS_PEERS_MAX; i++) {
		assert_int_not_equal(send(slow[i], "x", 1, MSG_NOSIGNAL), 1);
		close(slow[i]);
	}
	metrics_server_close(p.server);
}

static void sends_a_long_text_in_several_writes(void **state)
{
	static char text[12 << 20];
	struct place p;
	ssize_t len;
	int fd;

	(void)state;
	begin(&p);
	p.bytes = 8 << 20;
	fd = come(&p);
	ask(fd, get);
	turns(&p, 3);
	len = told(&p, fd, text, sizeof(text));
	assert_true(len > (8 << 20));
	close(fd);
	metrics_server_close(p.server);
}

/* Waits until the server has nothing to do; a round can be needed to find that out. */
static bool goes_quiet(struct place *p)
{
	struct pollfd at = { .fd = metrics_server_fd(p->server), .events = POLLIN };

	for (unsigned int i = 0; i < 1000; i++) {
		turns(p, 1);
		if (!poll(&at, 1, 0))
			return true;
	}
	return false;
}

static void wait_for_work(struct place *p)
{
	struct pollfd at = { .fd = metrics_server_fd(p->server), .events = POLLIN };

	assert_int_equal(poll(&at, 1, 20000), 1);
}

/* The number of clients, and how their requests are split, do not matter. */
static void throttles_frequent_requests(void **state)
{
	enum {
		OFTEN = 12
	};
	struct place p;
	char text[1024];
	int fds[OFTEN];
	size_t nr_answers = 0;

	(void)state;
	begin(&p);
	for (size_t i = 0; i < OFTEN; i++) {
		fds[i] = come_at_once(&p);
		ask(fds[i], get);
		turns(&p, 3);
		nr_answers += recv(fds[i], text, sizeof(text), MSG_DONTWAIT) > 0;
	}
	assert_in_range(nr_answers, 2, OFTEN - 1);
	assert_true(goes_quiet(&p));
	p.now += second / 10;
	wait_for_work(&p);
	turns(&p, 1);
	assert_true(told(&p, fds[nr_answers], text, sizeof(text)) > 0);
	assert_non_null(strstr(text, "asked 1\n"));
	for (size_t i = 0; i < OFTEN; i++)
		close(fds[i]);
	p.now += second / 10;
	fds[0] = come(&p);
	for (const char *at = "GET /metrics HTTP/1.1\r\n"; *at; at++) {
		ask(fds[0], "x");
		turns(&p, 1);
	}
	assert_true(goes_quiet(&p));
	assert_int_equal(recv(fds[0], text, 1, MSG_DONTWAIT), -1);
	close(fds[0]);
	metrics_server_close(p.server);
}

static void waits_without_descriptors(void **state)
{
	struct place p;
	char text[1024];
	struct rlimit was;
	bool is_quiet;
	int fd;

	(void)state;
	begin(&p);
	fd = come(&p);
	ask(fd, get);
	was = full_begin();
	is_quiet = goes_quiet(&p);
	full_end(&was);
	assert_true(is_quiet);
	wait_for_work(&p);
	p.now += second;
	assert_true(told(&p, fd, text, sizeof(text)) > 0);
	assert_non_null(strstr(text, "asked 1\n"));
	close(fd);
	metrics_server_close(p.server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_addresses),
		cmocka_unit_test(answers_once_per_connection),
		cmocka_unit_test(reads_split_requests_and_ignores_the_rest),
		cmocka_unit_test(answers_bad_requests_with_an_error),
		cmocka_unit_test(disconnects_slow_clients),
		cmocka_unit_test(slow_requests_block_no_other),
		cmocka_unit_test(sends_a_long_text_in_several_writes),
		cmocka_unit_test(throttles_frequent_requests),
		cmocka_unit_test(waits_without_descriptors),
	};

	return UNIT_RUN(tests);
}

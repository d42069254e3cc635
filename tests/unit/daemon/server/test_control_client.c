/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "daemon/server/control_client.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files/io.h"

#include "unit.h"

enum {
	TEXT_BYTES = 256
};

/* A daemon that receives one request per row: the expected request, and its reply, sent `step`
 * bytes at a time. */
struct exchange {
	const char *asked;
	const char *says;
	size_t step; /* 0: at once */
};

struct stand_in {
	char dir[32];
	int listener;
	pthread_t thread;
	const struct exchange *rows;
	size_t nr_rows;
	char asked[8][TEXT_BYTES];
};

static void say(int fd, const struct exchange *row)
{
	size_t len = strlen(row->says);
	size_t step = row->step ? row->step : len;

	for (size_t at = 0; at < len; at += step)
		(void)!send(fd, row->says + at, len - at < step ? len - at : step,
			    MSG_NOSIGNAL);
}

static void *serve(void *arg)
{
	struct stand_in *s = arg;
	int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);

	for (size_t i = 0; i < s->nr_rows; i++) {
		size_t len = 0;

		while (len < TEXT_BYTES - 1 && read(fd, s->asked[i] + len, 1) == 1 &&
		       s->asked[i][len] != '\n')
			len++;
		s->asked[i][len] = '\0';
		say(fd, &s->rows[i]);
	}
	close(fd);
	return NULL;
}

static void begin(struct stand_in *s, const struct exchange *rows, size_t nr)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	*s = (struct stand_in){ .dir = "/tmp/control-XXXXXX",
				.rows = rows,
				.nr_rows = nr };
	assert_non_null(mkdtemp(s->dir));
	snprintf(at.sun_path, sizeof(at.sun_path), "%s/control", s->dir);
	s->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(s->listener, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(s->listener, 1), 0);
	assert_int_equal(pthread_create(&s->thread, NULL, serve, s), 0);
}

static void end(struct stand_in *s)
{
	pthread_join(s->thread, NULL);
	close(s->listener);
	assert_int_equal(io_remove_tree(s->dir), 0);
}

static void parses_replies(void **state)
{
	static const struct exchange rows[] = {
		{ "status", "state running\npid 17\nevent.0 A 50%25:1\nodd\nok\n", 1 },
		{ "save one%20day", "error EEXIST session one day already exists\n",
		  0 },
		{ "dump", "ok\n", 0 },
		{ "reset", "error EACCES: only root%0Amay\n", 0 },
		{ "stop", "a b\nerror it is late\n", 0 },
	};
	struct control_reply reply = { 0 };
	struct err err = { 0 };
	struct control_client c;
	struct stand_in s;

	(void)state;
	begin(&s, rows, COUNT_OF(rows));
	assert_int_equal(control_connect(&c, s.dir, &err), 0);
	assert_int_equal(control_request(&c, (const char *const[]){ "status", NULL },
					 &reply, &err),
			 0);
	assert_int_equal(reply.fields.nr, 4);
	assert_string_equal(control_reply_get(&reply, "pid"), "17");
	assert_string_equal(control_reply_get(&reply, "event.0"), "A 50%:1");
	assert_string_equal(control_reply_get(&reply, "odd"), "");
	assert_null(control_reply_get(&reply, "even"));
	control_reply_done(&reply);
	assert_int_equal(
		control_request(&c, (const char *const[]){ "save", "one day", NULL },
				NULL, &err),
		-EEXIST);
	assert_string_equal(err.text, "session one day already exists");
	assert_int_equal(
		control_request(&c, (const char *const[]){ "dump", NULL }, NULL, &err),
		0);
	assert_int_equal(
		control_request(&c, (const char *const[]){ "reset", NULL }, NULL, &err),
		-EACCES);
	assert_string_equal(err.text, "only root\nmay");
	assert_int_equal(control_request(&c, (const char *const[]){ "stop", NULL },
					 &reply, &err),
			 -EREMOTEIO);
	assert_string_equal(err.text, "it is late");
	assert_int_equal(reply.fields.nr, 0);
	control_disconnect(&c);
	end(&s);
	for (size_t i = 0; i < s.nr_rows; i++)
		assert_string_equal(s.asked[i], rows[i].asked);
}

/* Ways in which a daemon can fail: it ends, or it sends a malformed reply. */
static void rejects_bad_replies(void **state)
{
	static const struct {
		struct exchange row;
		int want;
	} rows[] = {
		{ { "x", "", 0 }, -ECONNRESET },
		{ { "x", "state running\n", 0 }, -ECONNRESET },
		{ { "x", "state %4\nok\n", 0 }, -EBADMSG },
		{ { "x", "error %00\n", 0 }, -EBADMSG },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct control_reply reply = { 0 };
		struct err err = { 0 };
		struct control_client c;
		struct stand_in s;

		begin(&s, &rows[i].row, 1);
		assert_int_equal(control_connect(&c, s.dir, &err), 0);
		assert_int_equal(control_request(&c, (const char *const[]){ "x", NULL },
						 &reply, &err),
				 rows[i].want);
		assert_true(err.text[0] != '\0');
		control_disconnect(&c);
		end(&s);
	}
}

/* The client reports the daemon's reason, not that its request was too late. */
static void reports_missing_permission(void **state)
{
	static const struct exchange row = {
		.says = "error EBUSY too many connections\n"
	};
	struct err err = { 0 };
	struct control_client first, c;
	struct stand_in s;
	int fd;

	(void)state;
	begin(&s, &row, 0);
	/* The thread accepts the first connection and closes it. */
	assert_int_equal(control_connect(&first, s.dir, &err), 0);
	pthread_join(s.thread, NULL);
	assert_int_equal(
		control_request(&first, (const char *const[]){ "x", NULL }, NULL, &err),
		-ECONNRESET);
	control_disconnect(&first);
	assert_int_equal(control_connect(&c, s.dir, &err), 0);
	fd = accept4(s.listener, NULL, NULL, SOCK_CLOEXEC);
	say(fd, &row);
	close(fd);
	assert_int_equal(
		control_request(&c, (const char *const[]){ "x", NULL }, NULL, &err),
		-EBUSY);
	assert_string_equal(err.text, "too many connections");
	control_disconnect(&c);
	close(s.listener);
	assert_int_equal(io_remove_tree(s.dir), 0);
}

static void reports_a_missing_daemon(void **state)
{
	char dir[] = "/tmp/control-XXXXXX";
	struct err err = { 0 };
	struct control_client c;
	char longer[200];

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(control_connect(&c, dir, &err), -ENOENT);
	assert_non_null(strstr(err.text, dir));
	control_disconnect(&c);
	memset(longer, 'a', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	assert_int_equal(control_connect(&c, longer, &err), -ENAMETOOLONG);
	assert_int_equal(io_remove_tree(dir), 0);
}

static void rejects_a_too_long_request(void **state)
{
	static const struct exchange rows[] = { { "status", "ok\n", 0 } };
	static char word[CONTROL_LINE_MAX];
	struct err err = { 0 };
	struct control_client c;
	struct stand_in s;

	(void)state;
	memset(word, 'w', sizeof(word) - 1);
	begin(&s, rows, 1);
	assert_int_equal(control_connect(&c, s.dir, &err), 0);
	assert_int_equal(control_request(&c,
					 (const char *const[]){ "save", word, NULL },
					 NULL, &err),
			 -E2BIG);
	/* Nothing was sent, so the connection is still usable. */
	assert_int_equal(control_request(&c, (const char *const[]){ "status", NULL },
					 NULL, &err),
			 0);
	control_disconnect(&c);
	end(&s);
	assert_string_equal(s.asked[0], "status");
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(parses_replies),
		cmocka_unit_test(rejects_bad_replies),
		cmocka_unit_test(reports_missing_permission),
		cmocka_unit_test(reports_a_missing_daemon),
		cmocka_unit_test(rejects_a_too_long_request),
	};

	return UNIT_RUN(cases);
}

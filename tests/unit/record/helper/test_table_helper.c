/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "record/helper/table_helper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/files/io.h"
#include "base/log.h"
#include "record/helper/table_packets.h"
#include "resolve/unwind/arch.h"
#include "resolve/unwind/cache.h"
#include "resolve/unwind/table.h"

#include "unit.h"

enum {
	MARK_OFFSET = 77, /* offset in the only row of a table */
	HELPER_FD = 3,
	QUESTIONS_MAX = 5000 /* more requests than a socket holds */
};

/* Shared by the test and a worker: the number of the request that it answers without reading
 * it. */
static atomic_ullong *expected;
static unsigned int nr_lines;
static char last_line[256];
static uint64_t cost_ns; /* of all tables */

static void take_line(enum log_level level, const char *text)
{
	(void)level;
	nr_lines++;
	snprintf(last_line, sizeof(last_line), "%s", text);
}

static int make_table(struct unwind_table **ret_table)
{
	struct unwind_table *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->arch = unwind_arch_of_machine("x86_64", false);
	(void)vec_push(&t->sets, (struct unwind_set){ .base = UNWIND_NONE });
	(void)vec_push(&t->rows, (struct unwind_row){ MARK_OFFSET, 0 });
	(void)vec_push(&t->buckets, 0);
	*ret_table = t;
	return 0;
}

static int errno_of(long r)
{
	return r < 0 ? errno : 0;
}

/* Sends an answer to the second request. */
static void send_answer(const int *files, size_t nr)
{
	struct table_answer answer = { .number = 2, .is_confined = 1 };
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(2 * sizeof(int))];
	} control = { .bytes = { 0 } };
	struct iovec part = { .iov_base = &answer, .iov_len = sizeof(answer) };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control.bytes,
				  .msg_controllen = CMSG_LEN(nr * sizeof(int)) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&message);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(nr * sizeof(int));
	memcpy(CMSG_DATA(c), files, nr * sizeof(int));
	(void)sendmsg(HELPER_FD, &message, MSG_NOSIGNAL);
}

static void send_two(void)
{
	const int files[] = { HELPER_FD, HELPER_FD };

	send_answer(files, 2);
}

static void send_binary(int fd)
{
	send_answer(&fd, 1);
}

/* Crashes by a write to memory without access: sanitizers replace a trap by a function that does
 * other things first. */
static void crash(void)
{
	volatile char *nothing =
		mmap(NULL, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*nothing = 0;
}

static int take_memory(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return -errno;
	munmap(memory, bytes);
	return -ENODATA;
}

/* Reads no more requests and never ends. Sends answers slowly, so that the answers to the last
 * request do not count as a flood. */
static void answer_unread(void)
{
	const struct itimerval never = { .it_value = { 0 } };
	struct table_answer answer = { .result = -ENODATA, .is_confined = 1 };

	setitimer(ITIMER_PROF, &never, NULL);
	while (*expected) {
		answer.number = *expected;
		(void)!write(HELPER_FD, &answer, sizeof(answer));
		for (volatile int i = 0; i < 200000; i++)
			;
	}
}

/* Acts as the worker for a "binary", whose letter chooses what happens. Returns 0 or a negative
 * errno, which becomes the result. */
static int work(int fd, struct unwind_table **ret_table)
{
	const struct itimerval soon = { .it_value = { .tv_usec = 1000 } };
	struct stat st;
	char what = 0;

	if (pread(fd, &what, 1, 0) != 1)
		return -EIO;
	switch (what) {
	case 'T':
		return make_table(ret_table);
	case 'S':
		crash();
		return 0;
	case 'm': /* the maximum size of a table */
		return take_memory(768 << 20);
	case 'M':
		return take_memory(2ULL << 30);
	case 'q': /* it ends by itself */
		_exit(0);
	case 'P': /* its time limit, shortened */
		setitimer(ITIMER_PROF, &soon, NULL);
		for (volatile int i = 0;; i++)
			;
	case '2': /* too many files */
		send_two();
		return -EBADMSG;
	case 'O': /* a good table, in a file that is not in memory */
		send_binary(fd);
		return -EBADMSG;
	case 'o':
		return -errno_of(open("/etc/passwd", O_RDONLY | O_CLOEXEC));
	case 'n': /* a file by its name */
		return -errno_of(stat("/etc/passwd", &st));
	case 'i': /* the one that is open */
		return fstat(fd, &st) ? -errno : make_table(ret_table);
	case 'w':
		return -errno_of(write(fd, "x", 1));
	case 'f':
		return -errno_of(fork());
	case 'k':
		return -errno_of(kill(getppid(), SIGKILL));
	case 's':
		return -errno_of(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
	case 'x':
		return mmap(NULL, 4096, PROT_READ | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED
			       ? -errno
			       : 0;
	case 'c': /* an unexpected answer */
		(void)!write(HELPER_FD, "nonsense", 8);
		return make_table(ret_table);
	case 'u': /* owned by the caller */
		answer_unread();
		return -EBADMSG;
	case 'e': /* only the other side may send this */
		return -EPIPE;
	case 'a':
		return -EAGAIN;
	case 'l': /* not an errno */
		return INT_MIN;
	default:
		return -EBADMSG;
	}
}

static int ask(struct table_helper *h, const char *letter,
	       struct unwind_table **ret_table)
{
	int fd = memfd_create("binary", MFD_CLOEXEC);
	char path[32];
	int again, r;

	assert_int_equal(write(fd, letter, 1), 1);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = io_open(path, O_RDONLY, 0);
	assert_true(again >= 0);
	r = table_helper_make(h, again, "some\nbinary", &cost_ns, ret_table);
	close(again);
	close(fd);
	return r;
}

static void is_made(struct table_helper *h, const char *letter)
{
	struct unwind_table *table = NULL;

	assert_int_equal(ask(h, letter, &table), 0);
	assert_int_equal(table->rows.nr, 1);
	assert_int_equal(table->rows.at[0].offset, MARK_OFFSET);
	unwind_table_free(table);
}

static struct table_helper *begin(void)
{
	struct table_helper *h;
	struct err err = { 0 };

	nr_lines = 0;
	log_set_sink(take_line);
	assert_int_equal(table_helper_start(work, &h, &err), 0);
	return h;
}

static void end(struct table_helper *h)
{
	table_helper_stop(h);
	log_set_sink(NULL);
}

static void makes_tables(void **state)
{
	struct table_helper *h = begin();
	struct unwind_table *table = NULL;

	(void)state;
	for (int i = 0; i < 100; i++)
		is_made(h, "T");
	assert_int_equal(ask(h, "?", &table), -EBADMSG);
	assert_int_equal(ask(h, "e", &table), -EBADMSG);
	assert_int_equal(ask(h, "a", &table), -EBADMSG);
	assert_int_equal(ask(h, "l", &table), -EBADMSG);
	assert_null(table);
	assert_true(table_helper_cpu_ns(h) > 0);
	end(h);
}

/* The cost of a request without a table also counts. */
static void counts_all_costs(void **state)
{
	static const char *const letters[] = { "T", "P", "k", "S" };
	struct table_helper *h = begin();
	struct unwind_table *table = NULL;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(letters); i++) {
		uint64_t before = cost_ns;

		(void)ask(h, letters[i], &table);
		unwind_table_free(table);
		table = NULL;
		if (cost_ns <= before)
			fail_msg("\"%s\" cost nothing", letters[i]);
	}
	end(h);
}

static void a_crash_is_followed_by_the_next_table(void **state)
{
	struct table_helper *h = begin();
	struct unwind_table *table = NULL;

	(void)state;
	is_made(h, "T");
	nr_lines = 0;
	for (unsigned int i = 1; i <= 20; i++) {
		assert_int_equal(ask(h, "S", &table), -EPIPE);
		assert_int_equal(nr_lines, i);
		assert_string_equal(
			last_line,
			"'some?binary': the helper that reads binaries crashed: falling back to frame pointers for this binary");
		is_made(h, "T");
	}
	assert_int_equal(ask(h, "P", &table), -EPIPE);
	assert_non_null(strstr(last_line, "took too long"));
	is_made(h, "T");
	end(h);
}

static void one_file_is_reported_once(void **state)
{
	struct table_helper *h = begin();
	struct unwind_table *table = NULL;
	int fd = memfd_create("binary", MFD_CLOEXEC);

	(void)state;
	assert_int_equal(write(fd, "S", 1), 1);
	is_made(h, "T");
	nr_lines = 0;
	for (int i = 0; i < 3; i++)
		assert_int_equal(table_helper_make(h, fd, "it", &cost_ns, &table),
				 -EPIPE);
	assert_int_equal(nr_lines, 1);
	close(fd);
	end(h);
}

/* Writes another letter into the same file, without a visible change of its status. */
static void put_letter(int fd, char letter)
{
	struct stat st;
	struct timespec times[2];

	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(pwrite(fd, &letter, 1, 0), 1);
	times[0] = st.st_atim;
	times[1] = st.st_mtim;
	assert_int_equal(futimens(fd, times), 0);
}

static void refuses_only_the_file_at_fault(void **state)
{
	struct table_helper *h = begin();
	struct unwind_table *table = NULL;
	int fd = memfd_create("binary", MFD_CLOEXEC);

	(void)state;
	put_letter(fd, 'q');
	for (int i = 0; i < 3; i++)
		assert_int_equal(table_helper_make(h, fd, "it", &cost_ns, &table),
				 -EAGAIN);
	assert_int_equal(nr_lines, 1);
	assert_non_null(strstr(last_line, "did not answer"));
	put_letter(fd, 'T');
	assert_int_equal(table_helper_make(h, fd, "it", &cost_ns, &table), 0);
	unwind_table_free(table);
	table = NULL;
	put_letter(fd, 'S');
	assert_int_equal(table_helper_make(h, fd, "it", &cost_ns, &table), -EPIPE);
	put_letter(fd, 'T');
	assert_int_equal(table_helper_make(h, fd, "it", &cost_ns, &table), -EPIPE);
	assert_null(table);
	close(fd);
	end(h);
}

/* A compromised worker can only answer. */
static void the_worker_can_do_nothing_else(void **state)
{
	static const char *const letters[] = { "o", "n", "f", "k", "s", "x" };
	struct table_helper *h = begin();
	struct unwind_table *table = NULL;

	(void)state;
	if (prctl(PR_SET_SECCOMP, 2, NULL, 0, 0) != -1 || errno != EFAULT)
		skip();
	for (size_t i = 0; i < COUNT_OF(letters); i++)
		if (ask(h, letters[i], &table) != -EPERM)
			fail_msg("\"%s\" was let", letters[i]);
	assert_int_equal(ask(h, "w", &table), -EBADF);
	is_made(h, "i");
	assert_int_equal(nr_lines, 0);
	end(h);
}

static size_t nr_open(void)
{
	size_t nr = 0;

	for (int fd = 0; fd < 256; fd++)
		nr += fcntl(fd, F_GETFD) >= 0;
	return nr;
}

/* Answers like the worker; the first byte is the letter. */
static void put_table(int fd)
{
	struct unwind_table *table = NULL;

	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(make_table(&table), 0);
	assert_int_equal(unwind_cache_put(fd, table), 0);
	unwind_table_free(table);
}

/* Rejects too many descriptors, and files that could block their reader. */
static void does_not_trust_files_of_the_worker(void **state)
{
	static const char *const letters[] = { "2", "O" };
	struct unwind_table *table = NULL;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct table_helper *h = begin();
		size_t before;
		char path[] = "/tmp/table_helper.XXXXXX";
		int fd = mkostemp(path, O_CLOEXEC);

		/* On a tmpfs, files are in memory. */
		if (fcntl(fd, F_GET_SEALS) >= 0)
			skip();
		assert_int_equal(write(fd, letters[i], 1), 1);
		if (i)
			put_table(fd);
		is_made(h, "T");
		before = nr_open();
		assert_int_equal(table_helper_make(h, fd, path, &cost_ns, &table),
				 -EBADMSG);
		is_made(h, "T");
		assert_int_equal(nr_open(), before);
		unlink(path);
		close(fd);
		end(h);
	}
}

static void rejects_unrequested_replies(void **state)
{
	struct table_helper *h = begin();
	struct unwind_table *table = NULL;
	int r = ask(h, "c", &table);

	(void)state;
	/* A packet of another form is not accepted as an answer. */
	assert_int_equal(r, -EAGAIN);
	assert_null(table);
	is_made(h, "T");
	end(h);
}

/* The worker's limit is independent of the daemon's memory, which is more than a table may use. */
static void limits_the_workers_memory(void **state)
{
	const size_t len = 2048U << 20;
	void *much = mmap(NULL, len, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct table_helper *h = begin();
	struct unwind_table *table = NULL;
	int r = ask(h, "M", &table);

	(void)state;
	assert_true(much != MAP_FAILED);
	assert_int_equal(ask(h, "m", &table), -ENODATA);
	end(h);
	munmap(much, len);
	if (r == -ENODATA) { /* a 32-bit or sanitizer build */
		print_message("no limit of memory here: NOT TESTED\n");
		return;
	}
	assert_int_equal(r, -ENOMEM);
}

static void the_kernel_kills_the_worker_first(void **state)
{
	struct table_helper *h = begin();
	struct buf text = { 0 };
	char path[64];

	(void)state;
	is_made(h, "T");
	if (io_read_file("/proc/thread-self/children", &text, 4096) || !text.len) {
		end(h);
		skip();
	}
	buf_put_u8(&text, 0);
	text.data[strcspn((char *)text.data, " ")] = 0;
	snprintf(path, sizeof(path), "/proc/%s/oom_score_adj", (char *)text.data);
	buf_done(&text);
	assert_int_equal(io_read_file(path, &text, 64), 0);
	buf_put_u8(&text, 0);
	assert_string_equal((char *)text.data, "1000\n");
	buf_done(&text);
	end(h);
}

/* If the socket of a worker is full, the daemon does not wait until there is space. */
static void replaces_a_worker_that_does_not_read(void **state)
{
	struct table_helper *h;
	struct unwind_table *table = NULL;
	int r;

	(void)state;
	expected = mmap(NULL, sizeof(*expected), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(expected != MAP_FAILED);
	*expected = 1;
	h = begin();
	assert_int_equal(ask(h, "u", &table), -ENODATA);
	do {
		++*expected;
		r = ask(h, "T", &table);
		/* -EAGAIN: the test is slow, so the answers of the worker count as a flood. */
	} while ((r == -ENODATA || r == -EAGAIN) && *expected < QUESTIONS_MAX);
	assert_int_equal(r, 0);
	unwind_table_free(table);
	end(h);
	munmap(expected, sizeof(*expected));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(makes_tables),
		cmocka_unit_test(counts_all_costs),
		cmocka_unit_test(a_crash_is_followed_by_the_next_table),
		cmocka_unit_test(one_file_is_reported_once),
		cmocka_unit_test(refuses_only_the_file_at_fault),
		cmocka_unit_test(the_worker_can_do_nothing_else),
		cmocka_unit_test(does_not_trust_files_of_the_worker),
		cmocka_unit_test(rejects_unrequested_replies),
		cmocka_unit_test(limits_the_workers_memory),
		cmocka_unit_test(the_kernel_kills_the_worker_first),
		cmocka_unit_test(replaces_a_worker_that_does_not_read),
	};

	return UNIT_RUN(tests);
}

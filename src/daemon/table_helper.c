#include "daemon/table_helper.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/io.h"
#include "base/log.h"
#include "base/parse.h"
#include "daemon/confine.h"
#include "resolve/unwind_cache.h"
#include "resolve/unwind_table.h"

enum {
	HELPER_FD = 3,       /* of both processes: their only file */
	FILES_MAX = 256,     /* of the worker; of its user, those on their way, too */
	WORK_SECONDS = 2,    /* of CPU time, for one table */
	PATIENCE_MS = 10000, /* of time, in which a machine may do other things */
	STRAY_MAX = 64,      /* packets that nobody asked for */
	TRIM_ROWS = 1 << 16, /* of a table, whose memory is given back */
	TRIES = 2,           /* the first may have died of something else */
	REFUSED_MAX = 256,   /* files that are remembered */
	REAP_TURNS = 100,
	REAP_TURN_MS = 10
};

/* clang has no such macros. */
#ifdef __has_feature
#define HAS_FEATURE(name) __has_feature(name)
#else
#define HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                   \
	HAS_FEATURE(address_sanitizer) || HAS_FEATURE(thread_sanitizer)
#define HAS_SHADOW true /* larger than any limit of memory */
#else
#define HAS_SHADOW false
#endif

static const uint64_t table_max_bytes = 64 << 20;
static const uint64_t memory_max_bytes = 1 << 30;

/* What goes over the socket, a packet each, between processes of the same program. */
struct question {
	uint64_t number; /* from 1 */
};

struct answer {
	uint64_t number; /* the question's; 0: the worker has died */
	uint64_t cpu_ns; /* of the worker so far */
	int32_t result;  /* of one that has died, the signal */
	bool is_confined;
};

/* Of a file: those that the helper died of. */
struct file_key {
	dev_t dev;
	ino_t ino;
	struct timespec changed;
};

struct table_helper {
	table_make make;
	pthread_mutex_t lock; /* of all below; held while a table is made */
	int fd;               /* -1: there is none */
	pid_t keeper;
	uint64_t number;
	uint64_t worker_ns;           /* as this worker said last */
	atomic_uint_least64_t cpu_ns; /* of all before, and this one; read without it */
	bool told;                    /* that it is not confined */
	bool is_silent;               /* it gave no answer, which is told */
	size_t nr_refused;            /* ever */
	struct file_key refused[REFUSED_MAX];
};

/* ---- packets ---- */

/* The calls themselves, here and below: sendmsg() and recvmsg() of glibc are socketcall(2) on s390x and
 * i386, which makes sockets, too.  `file` -1: none. */
static int send_packet(int fd, int flags, void *bytes, size_t len, int file)
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

/* 0, -EAGAIN (`flags`), or -ECONNRESET: nobody is there, or it is no such packet.  *ret_file: -1 or a
 * descriptor of the caller's. */
static int receive_packet(int fd, int flags, void *bytes, size_t len, int *ret_file)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .bytes = { 0 } };
	struct iovec part = { .iov_base = bytes, .iov_len = len };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control.bytes,
				  /* Without the padding, in which a second one fits. */
				  .msg_controllen = CMSG_LEN(sizeof(int)) };
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

/* ---- the worker ---- */

/* A file in memory with the table, or a negative errno. */
static int make_file(table_make make, int fd)
{
	struct unwind_table *table = NULL;
	int r = make(fd, &table);
	bool is_large;
	int file;

	if (r)
		return r;
	file = memfd_create("table", MFD_CLOEXEC);
	r = file < 0 ? -errno : unwind_cache_put(file, table);
	is_large = table->rows.nr > TRIM_ROWS;
	unwind_table_free(table);
	if (is_large)
		(void)malloc_trim(0);
	if (r && file >= 0)
		close(file);
	return r ? r : file;
}

static uint64_t cpu_now(void)
{
	struct timespec t = { 0 };

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* SIGPROF ends the worker. */
static void set_time(unsigned int seconds)
{
	const struct itimerval t = { .it_value = { .tv_sec = (time_t)seconds } };

	(void)setitimer(ITIMER_PROF, &t, NULL);
}

static void limit(int what, uint64_t most)
{
	const struct rlimit rlimit = { .rlim_cur = (rlim_t)most,
				       .rlim_max = (rlim_t)most };

	(void)setrlimit((__rlimit_resource_t)what, &rlimit);
}

/* What it has of the daemon; 0: that cannot be known. */
static uint64_t address_space_bytes(void)
{
	struct buf text = { 0 };
	uint64_t pages = 0;

	if (!io_read_file("/proc/self/statm", &text, 4096)) {
		buf_put_u8(&text, 0);
		if (!text.failed) {
			text.data[strcspn((char *)text.data, " ")] = 0;
			(void)parse_u64((char *)text.data, &pages);
		}
	}
	buf_done(&text);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void limit_worker(void)
{
	limit(RLIMIT_NOFILE, FILES_MAX);
	limit(RLIMIT_FSIZE, table_max_bytes);
	if (sizeof(void *) > 4 && !HAS_SHADOW)
		limit(RLIMIT_AS, address_space_bytes() + memory_max_bytes);
}

static void work(table_make make) __attribute__((noreturn));
static void work(table_make make)
{
	struct answer answer = { 0 };
	struct question question;
	int fd, file;

	limit_worker();
	answer.is_confined = confine_calls();
	for (;;) {
		int r = receive_packet(HELPER_FD, 0, &question, sizeof(question), &fd);

		if (r == -EAGAIN)
			continue;
		if (r)
			_exit(0);
		set_time(WORK_SECONDS);
		file = make_file(make, fd);
		if (fd >= 0)
			close(fd);
		set_time(0);
		answer.number = question.number;
		answer.result = file < 0 ? file : 0;
		answer.cpu_ns = cpu_now();
		r = send_packet(HELPER_FD, 0, &answer, sizeof(answer), file);
		if (file >= 0)
			close(file);
		if (r)
			_exit(0);
	}
}

/* ---- its keeper ---- */

static pid_t begin_worker(table_make make, int child_fd)
{
	pid_t keeper = getpid();
	pid_t pid = fork();

	if (pid)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != keeper)
		_exit(0);
	close(child_fd);
	work(make);
}

static uint64_t usage_ns(const struct rusage *u)
{
	return (uint64_t)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1000000000 +
	       (uint64_t)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) * 1000;
}

static bool tell_death(pid_t worker)
{
	struct answer died = { .number = 0 };
	struct rusage usage = { 0 };
	int status;

	if (wait4(worker, &status, WNOHANG, &usage) != worker)
		return false;
	died.cpu_ns = usage_ns(&usage);
	died.result = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	(void)send_packet(HELPER_FD, 0, &died, sizeof(died), -1);
	return true;
}

/* Until the daemon has hung up. */
static void keep(table_make make, int child_fd) __attribute__((noreturn));
static void keep(table_make make, int child_fd)
{
	struct pollfd fds[] = { { .fd = HELPER_FD },
				{ .fd = child_fd, .events = POLLIN } };
	struct signalfd_siginfo info;
	pid_t worker = 0;

	for (;;) {
		/* What comes is the worker's, who begins when something does. */
		fds[0].events = worker > 0 ? 0 : POLLIN;
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			break;
		if (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL))
			break;
		if (worker <= 0 && fds[0].revents)
			worker = begin_worker(make, child_fd);
		if (worker < 0)
			break;
		if (!fds[1].revents || read(child_fd, &info, sizeof(info)) < 0)
			continue;
		if (worker > 0 && tell_death(worker))
			worker = 0;
	}
	if (worker > 0 && !kill(worker, SIGKILL))
		(void)waitpid(worker, NULL, 0);
	_exit(0);
}

/* What the kernel ends first where memory is short: it costs a table, and the daemon all samples. */
static void offer_to_oom(void)
{
	int fd = io_open("/proc/self/oom_score_adj", O_WRONLY, 0);

	if (fd < 0)
		return;
	(void)!write(fd, "1000", 4);
	close(fd);
}

static void run_keeper(table_make make, int fd) __attribute__((noreturn));
static void run_keeper(table_make make, int fd)
{
	sigset_t mask;
	int child_fd;

	offer_to_oom();
	if (confine_rights(fd, HELPER_FD))
		_exit(1);
	(void)setpriority(PRIO_PROCESS, 0, 0);
	(void)prctl(PR_SET_NAME, "oprofile-tables", 0, 0, 0);
	/* One that catches its signals would end by itself (a sanitizer, a test's frame). */
	for (int number = 1; number < NSIG; number++)
		(void)signal(number, SIG_DFL);
	/* It ends with the daemon, and not when a terminal or a service's manager tells all. */
	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGHUP);
	sigaddset(&mask, SIGCHLD);
	if (sigprocmask(SIG_SETMASK, &mask, NULL))
		_exit(1);
	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	child_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (child_fd < 0)
		_exit(1);
	keep(make, child_fd);
}

/* ---- the daemon's side ---- */

static int begin(struct table_helper *h, struct err *err)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return err_sys(err, -errno, "socketpair");
	h->keeper = fork();
	if (!h->keeper)
		run_keeper(h->make, pair[1]);
	close(pair[1]);
	if (h->keeper < 0) {
		close(pair[0]);
		return err_sys(err, -errno, "fork");
	}
	h->fd = pair[0];
	h->worker_ns = 0;
	return 0;
}

/* The keeper sees it, and ends with its worker. */
static void hang_up(struct table_helper *h)
{
	const struct timespec turn = { .tv_nsec = REAP_TURN_MS * 1000000 };
	struct rusage usage = { 0 };
	uint64_t counted;

	if (h->fd < 0)
		return;
	close(h->fd);
	h->fd = -1;
	h->worker_ns = 0;
	for (int i = 0; i < REAP_TURNS && wait4(h->keeper, NULL, WNOHANG, &usage) == 0;
	     i++)
		(void)nanosleep(&turn, NULL);
	/* They are children that were waited for now, with what their children took. */
	counted = usage_ns(&usage);
	h->cpu_ns -= counted < h->cpu_ns ? counted : h->cpu_ns;
}

static uint64_t now_ns(void)
{
	struct timespec t = { 0 };

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* It cannot have taken more than there was. */
static void take_cost(struct table_helper *h, const struct answer *a, uint64_t since_ns)
{
	uint64_t most = now_ns() - since_ns;
	uint64_t cost = a->cpu_ns > h->worker_ns ? a->cpu_ns - h->worker_ns : 0;

	h->worker_ns = a->cpu_ns;
	h->cpu_ns += cost < most ? cost : most;
}

static void take_confinement(struct table_helper *h, const struct answer *a)
{
	if (h->told)
		return;
	h->told = true;
	if (!a->is_confined)
		log_say(LOG_WARNING, "there is no seccomp here: the helper that reads "
				     "binaries is not "
				     "confined by it");
}

/* What an earlier question left. */
static void drain(struct table_helper *h)
{
	struct answer a;
	int file;

	for (int i = 0; i < STRAY_MAX; i++) {
		if (receive_packet(h->fd, MSG_DONTWAIT, &a, sizeof(a), &file))
			break;
		if (!a.number)
			h->worker_ns = 0;
		if (file >= 0)
			close(file);
	}
}

static int take_death(struct table_helper *h, const struct answer *a, uint64_t since_ns)
{
	take_cost(h, a, since_ns);
	h->worker_ns = 0;
	if (a->result == SIGPROF || a->result == SIGXCPU)
		return -ETIME;
	return a->result ? -EPIPE : -ECHILD;
}

/* 0 and the answer to this question; -EPIPE: the worker died of a signal; -ETIME: of that of its time;
 * -ECHILD: it ended by itself; -ECONNRESET: so did the keeper, or it is no answer; -ETIMEDOUT: there is
 * none. */
static int wait_answer(struct table_helper *h, uint64_t since_ns, struct answer *a,
		       int *ret_file)
{
	uint64_t end = since_ns + (uint64_t)PATIENCE_MS * 1000000;
	int r = -EAGAIN;

	for (int strays = 0; r == -EAGAIN && strays < STRAY_MAX;) {
		struct pollfd fd = { .fd = h->fd, .events = POLLIN };
		uint64_t now = now_ns();

		if (now >= end)
			return -ETIMEDOUT;
		if (poll(&fd, 1, (int)((end - now) / 1000000) + 1) <= 0)
			continue;
		r = receive_packet(h->fd, MSG_DONTWAIT, a, sizeof(*a), ret_file);
		if (r || a->number == h->number)
			continue;
		if (*ret_file >= 0)
			close(*ret_file);
		strays++;
		r = a->number ? -EAGAIN : take_death(h, a, since_ns);
	}
	return r == -EAGAIN ? -ETIMEDOUT : r;
}

static bool is_gone(const struct table_helper *h)
{
	struct pollfd fd = { .fd = h->fd };

	return poll(&fd, 1, 0) > 0;
}

/* What is the binary's fault, */
static bool is_fault(int r)
{
	return r == -EPIPE || r == -ETIME;
}

/* and what may be of the machine, or of an earlier binary. */
static bool is_silence(int r)
{
	return r == -ECHILD || r == -ECONNRESET || r == -ETIMEDOUT;
}

/* Only a file in memory is read: no other can make its reader wait. */
static int take_file(int file, struct unwind_table **ret_table)
{
	if (file < 0 || fcntl(file, F_GET_SEALS) < 0)
		return -EBADMSG;
	return unwind_cache_take(file, table_max_bytes, ret_table);
}

/* is_fault() and is_silence(): there is another worker for the next one. */
static int ask(struct table_helper *h, int fd, struct unwind_table **ret_table)
{
	struct question question = { .number = ++h->number };
	uint64_t since = now_ns();
	struct answer a;
	int file = -1, r;

	if (h->fd < 0 && begin(h, NULL))
		return -ECONNRESET;
	drain(h);
	/* There is room, unless who was asked before took no question. */
	r = send_packet(h->fd, MSG_DONTWAIT, &question, sizeof(question), fd)
		    ? -ECONNRESET
		    : wait_answer(h, since, &a, &file);
	if (r) {
		/* The keeper ends a worker that does not end. */
		if (r == -ETIMEDOUT || r == -ECONNRESET || is_gone(h))
			hang_up(h);
		return r;
	}
	take_confinement(h, &a);
	take_cost(h, &a, since);
	r = a.result < 0 ? a.result : take_file(file, ret_table);
	if (file >= 0)
		close(file);
	/* That it died is not the worker's to say. */
	return is_fault(r) || is_silence(r) ? -EBADMSG : r;
}

static bool same(const struct file_key *a, const struct file_key *b)
{
	return a->dev == b->dev && a->ino == b->ino &&
	       a->changed.tv_sec == b->changed.tv_sec &&
	       a->changed.tv_nsec == b->changed.tv_nsec;
}

static bool is_refused(const struct table_helper *h, const struct file_key *key)
{
	for (size_t i = 0; i < h->nr_refused && i < REFUSED_MAX; i++)
		if (same(&h->refused[i], key))
			return true;
	return false;
}

/* A file's name is anybody's choice. */
static void tell(const char *path, const char *what)
{
	char name[512];
	size_t len = 0;

	for (; path[len] && len + 1 < sizeof(name); len++) {
		bool is_control = (unsigned char)path[len] < ' ' || path[len] == 0x7f;

		name[len] = path[len];
		if (is_control)
			name[len] = '?';
	}
	name[len] = 0;
	log_say(LOG_WARNING,
		"%s: the helper that reads binaries %s: stacks in it go by frame "
		"pointers",
		name, what);
}

static void refuse(struct table_helper *h, const struct file_key *key, const char *path,
		   int why)
{
	h->refused[h->nr_refused++ % REFUSED_MAX] = *key;
	tell(path, why == -EPIPE ? "died of it" : "took too long for it");
}

static int ask_again(struct table_helper *h, int fd, struct unwind_table **ret_table)
{
	int r = -EPIPE;

	for (int i = 0; i < TRIES; i++) {
		r = ask(h, fd, ret_table);
		if (r != -EPIPE && r != -ECHILD && r != -ECONNRESET)
			break;
	}
	return r;
}

int table_helper_make(struct table_helper *h, int fd, const char *path,
		      struct unwind_table **ret_table)
{
	struct file_key key = { 0 };
	struct stat st;
	int r;

	if (fstat(fd, &st))
		return -errno;
	key.dev = st.st_dev;
	key.ino = st.st_ino;
	key.changed = st.st_mtim;
	pthread_mutex_lock(&h->lock);
	r = is_refused(h, &key) ? -EPIPE : ask_again(h, fd, ret_table);
	if (is_fault(r) && !is_refused(h, &key))
		refuse(h, &key, path, r);
	if (is_silence(r) && !h->is_silent)
		tell(path, "did not answer");
	h->is_silent = is_silence(r);
	pthread_mutex_unlock(&h->lock);
	if (is_silence(r))
		return -EAGAIN;
	return is_fault(r) ? -EPIPE : r;
}

uint64_t table_helper_cpu_ns(struct table_helper *h)
{
	return h ? h->cpu_ns : 0;
}

int table_helper_start(table_make make, struct table_helper **ret_helper,
		       struct err *err)
{
	struct table_helper *h = calloc(1, sizeof(*h));
	int r;

	if (!h)
		return err_set(err, -ENOMEM, "out of memory");
	h->fd = -1;
	h->make = make;
	pthread_mutex_init(&h->lock, NULL);
	r = begin(h, err);
	if (r) {
		table_helper_stop(h);
		return r;
	}
	*ret_helper = h;
	return 0;
}

void table_helper_stop(struct table_helper *h)
{
	if (!h)
		return;
	hang_up(h);
	pthread_mutex_destroy(&h->lock);
	free(h);
}

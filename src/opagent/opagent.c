/* SPDX-License-Identifier: GPL-2.0-or-later */
/* opagent.c - writes a jitdump of the process that it is loaded into (docs/jit.md).  Needs only
 * libc.  Each record is written immediately, so that it is not lost if the process dies. */
#include "opagent/opagent.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum {
	VERSION_MAJOR = 1,
	VERSION_MINOR = 0,
	DUMP_MAGIC = 0x4A695444,
	DUMP_VERSION = 1,
	CODE_LOAD = 0,
	CODE_CLOSE = 3,
	/* Record types of this library only; readers of other tools skip them. */
	CODE_UNLOAD = 0x4f70,
	LINES_OF_LOADED = 0x4f71,
	NAME_BYTES = 32,
	ZEROS_BYTES = 4096,
	PIECES_MAX = 4
};

struct agent {
	pthread_mutex_t lock;
	pid_t pid;
	int fd;
	void *mark; /* a mapping of the file, by which profilers find it */
	size_t mark_bytes;
	uint64_t next_index;
	off_t end; /* offset of the end of the last complete record */
};

struct opagent_header {
	uint32_t magic, version, bytes, machine, reserved, pid;
	uint64_t time_ns, flags;
};

struct opagent_record {
	uint32_t id, bytes;
	uint64_t time_ns;
};

struct load {
	struct opagent_record head;
	uint32_t pid, tid;
	uint64_t vma, address, size, index;
};

struct opagent_lines {
	struct opagent_record head;
	uint64_t address, nr;
};

struct opagent_line {
	uint64_t address;
	uint32_t line, discriminator;
};

struct unload {
	struct opagent_record head;
	uint64_t address;
};

static uint64_t opagent_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* ---- writing ---- */

static bool write_whole(int fd, struct iovec *iov, int nr)
{
	while (nr) {
		ssize_t len = writev(fd, iov, nr);

		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0)
			return false;
		for (; nr && (size_t)len >= iov->iov_len; iov++, nr--)
			len -= (ssize_t)iov->iov_len;
		if (nr) {
			iov->iov_base = (char *)iov->iov_base + len;
			iov->iov_len -= (size_t)len;
		}
	}
	return true;
}

static bool write_zeros(int fd, size_t len)
{
	static char zeros[ZEROS_BYTES];

	while (len) {
		size_t part = len < sizeof(zeros) ? len : sizeof(zeros);
		struct iovec iov = { zeros, part };

		if (!write_whole(fd, &iov, 1))
			return false;
		len -= part;
	}
	return true;
}

/* Writes a record that consists of `iov`, whose first element begins with the record's head,
 * followed by `zeros` zero bytes.  Removes the record if it could not be written completely. */
static int opagent_put(struct agent *a, struct iovec *iov, int nr, size_t zeros)
{
	struct opagent_record *head = iov[0].iov_base;
	size_t len = zeros;
	int saved;

	for (int i = 0; i < nr; i++)
		len += iov[i].iov_len;
	if (len > UINT32_MAX) {
		errno = EFBIG;
		return -1;
	}
	pthread_mutex_lock(&a->lock);
	/* Set the time while holding the lock, so that times never decrease in the file. */
	head->bytes = (uint32_t)len;
	head->time_ns = opagent_now_ns();
	if (write_whole(a->fd, iov, nr) && write_zeros(a->fd, zeros)) {
		a->end += (off_t)len;
		pthread_mutex_unlock(&a->lock);
		return 0;
	}
	saved = errno;
	if (ftruncate(a->fd, a->end) == 0)
		(void)lseek(a->fd, a->end, SEEK_SET);
	pthread_mutex_unlock(&a->lock);
	errno = saved;
	return -1;
}

/* ---- opening ---- */

/* Returns the machine type of the running program, a constant EM_... of <elf.h>. */
static uint32_t machine(void)
{
	unsigned char ident[EI_NIDENT + 4] = { 0 };
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	uint16_t number = EM_NONE;

	if (fd < 0)
		return number;
	if (pread(fd, ident, sizeof(ident), 0) == (ssize_t)sizeof(ident))
		memcpy(&number, ident + EI_NIDENT + 2, sizeof(number));
	close(fd);
	return number;
}

/* Opens the directory `name` in the open directory `above`, which it closes.  Creates it for all
 * users, like /tmp, if needed.  Does not follow symbolic links, which another user may have
 * created.  Returns -1 with errno on failure. */
static int enter_shared(int above, const char *name)
{
	int dir = -1;
	bool is_new;
	int saved;

	if (above < 0)
		return -1;
	is_new = !mkdirat(above, name, 0777);
	dir = openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir >= 0 && is_new)
		(void)fchmod(dir, 01777);
	saved = errno;
	close(above);
	errno = saved;
	return dir;
}

static int open_dump_dir(void)
{
	const char *dir = getenv("JITDUMPDIR");

	if (dir && *dir)
		return open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return enter_shared(enter_shared(open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC),
					 ".oprofile"),
			    "jitdump");
}

/* Creates the dump file.  Replaces a file that an earlier process with the same ID left. */
static int opagent_open_dump(pid_t pid)
{
	const int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW;
	int dir = open_dump_dir();
	char name[NAME_BYTES];
	int fd, saved;

	if (dir < 0)
		return -1;
	snprintf(name, sizeof(name), "jit-%d.dump", (int)pid);
	fd = openat(dir, name, O_CLOEXEC | flags, 0600);
	if (fd < 0 && errno == EEXIST && unlinkat(dir, name, 0) == 0)
		fd = openat(dir, name, O_CLOEXEC | flags, 0600);
	saved = errno;
	close(dir);
	errno = saved;
	return fd;
}

static bool opagent_begin(struct agent *a)
{
	struct opagent_header h = { .magic = DUMP_MAGIC,
				    .version = DUMP_VERSION,
				    .bytes = sizeof(h),
				    .machine = machine(),
				    .pid = (uint32_t)a->pid,
				    .time_ns = opagent_now_ns() };
	struct iovec iov = { &h, sizeof(h) };

	if (!write_whole(a->fd, &iov, 1))
		return false;
	a->end = sizeof(h);
	a->mark_bytes = (size_t)sysconf(_SC_PAGESIZE);
	a->mark =
		mmap(NULL, a->mark_bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE, a->fd, 0);
	return a->mark != MAP_FAILED;
}

op_agent_t op_open_agent(void)
{
	struct agent *a = calloc(1, sizeof(*a));
	int saved;

	if (!a)
		return NULL;
	pthread_mutex_init(&a->lock, NULL);
	a->pid = getpid();
	a->fd = opagent_open_dump(a->pid);
	if (a->fd >= 0 && opagent_begin(a))
		return a;
	saved = errno;
	if (a->fd >= 0)
		close(a->fd);
	free(a);
	errno = saved;
	return NULL;
}

/* Returns the handle if it belongs to this process. */
static struct agent *agent_of(op_agent_t hdl)
{
	struct agent *a = hdl;

	if (a && a->pid == getpid())
		return a;
	errno = EINVAL;
	return NULL;
}

int op_close_agent(op_agent_t hdl)
{
	struct agent *a = agent_of(hdl);
	struct opagent_record head = { .id = CODE_CLOSE };
	struct iovec iov = { &head, sizeof(head) };
	int r;

	if (!a)
		return -1;
	r = opagent_put(a, &iov, 1, 0);
	(void)munmap(a->mark, a->mark_bytes);
	if (close(a->fd))
		r = -1;
	pthread_mutex_destroy(&a->lock);
	free(a);
	return r;
}

/* ---- code ---- */

/* Returns an iovec for writev(), which does not modify the data; so it is safe to drop the
 * const. */
static struct iovec piece(const void *bytes, size_t len)
{
	struct iovec iov = { .iov_len = len };

	memcpy(&iov.iov_base, &bytes, sizeof(bytes));
	return iov;
}

int op_write_native_code(op_agent_t hdl, char const *symbol_name, uint64_t vma,
			 void const *code, unsigned int const code_size)
{
	struct agent *a = agent_of(hdl);
	struct load l = {
		.head.id = CODE_LOAD, .vma = vma, .address = vma, .size = code_size
	};
	struct iovec iov[PIECES_MAX] = { { &l, sizeof(l) } };

	if (!a)
		return -1;
	if (!symbol_name) {
		errno = EINVAL;
		return -1;
	}
	l.pid = (uint32_t)a->pid;
	l.tid = (uint32_t)gettid();
	l.index = __atomic_fetch_add(&a->next_index, 1, __ATOMIC_RELAXED);
	iov[1] = piece(symbol_name, strlen(symbol_name) + 1);
	iov[2] = piece(code, code ? code_size : 0);
	return opagent_put(a, iov, 3, code ? 0 : code_size);
}

/* Returns the lines in the dump's format; the caller frees them. */
static char *pack_lines(struct debug_line_info const *map, size_t nr, size_t *ret_len)
{
	size_t len = 0;
	char *all, *at;

	for (size_t i = 0; i < nr; i++)
		len += sizeof(struct opagent_line) + 1 +
		       (map[i].filename ? strlen(map[i].filename) : 0);
	all = at = malloc(len);
	for (size_t i = 0; all && i < nr; i++) {
		const char *file = map[i].filename ? map[i].filename : "";
		struct opagent_line line = { map[i].vma, map[i].lineno, 0 };

		memcpy(at, &line, sizeof(line));
		memcpy(at + sizeof(line), file, strlen(file) + 1);
		at += sizeof(line) + strlen(file) + 1;
	}
	*ret_len = len;
	return all;
}

int op_write_debug_line_info(op_agent_t hdl, void const *code, size_t nr_entry,
			     struct debug_line_info const *compile_map)
{
	struct agent *a = agent_of(hdl);
	struct opagent_lines l = { .head.id = LINES_OF_LOADED,
				   .address = (uintptr_t)code,
				   .nr = nr_entry };
	struct iovec iov[PIECES_MAX] = { { &l, sizeof(l) } };
	char *packed;
	int r;

	if (!a)
		return -1;
	if (!nr_entry)
		return 0;
	if (!compile_map) {
		errno = EINVAL;
		return -1;
	}
	packed = pack_lines(compile_map, nr_entry, &iov[1].iov_len);
	if (!packed)
		return -1;
	iov[1].iov_base = packed;
	r = opagent_put(a, iov, 2, 0);
	free(packed);
	return r;
}

int op_unload_native_code(op_agent_t hdl, uint64_t vma)
{
	struct agent *a = agent_of(hdl);
	struct unload u = { .head.id = CODE_UNLOAD, .address = vma };
	struct iovec iov = { &u, sizeof(u) };

	return a ? opagent_put(a, &iov, 1, 0) : -1;
}

int op_major_version(void)
{
	return VERSION_MAJOR;
}

int op_minor_version(void)
{
	return VERSION_MINOR;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/helper/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/files/io.h"
#include "record/helper/call_filter.h"
#include "record/helper/rights.h"

enum {
	NOBODY = 65534,
	/* First id of a range from which systems do not assign user ids. */
	FREE_FIRST = 1879048192,
	FREE_COUNT = 1 << 28,
	/* Number of descriptors to close one by one if close_range(2) is missing. */
	FILES_MAX = 65536
};

/* ---- privileges ---- */

/* Changes to an unused user id, so that no other process can send signals to this one. In a
 * container that lacks unused ids, changes to nobody, which services can also use. Returns false if
 * both fail. */
static bool confine_change_user(void)
{
	uint32_t number = (uint32_t)getpid();
	uid_t ids[] = { 0, NOBODY };

	if (setgroups(0, NULL))
		return false;
	(void)!getrandom(&number, sizeof(number), GRND_NONBLOCK);
	ids[0] = FREE_FIRST + number % FREE_COUNT;
	for (size_t i = 0; i < COUNT_OF(ids); i++)
		if (!setresgid(ids[i], ids[i], ids[i]) &&
		    !setresuid(ids[i], ids[i], ids[i]))
			return true;
	return false;
}

static int drop_capabilities(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	const struct __user_cap_data_struct none[2] = { 0 };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	/* Drop the bounding set before changing the user, which drops CAP_SETPCAP. */
	rights_drop_bound();
	/* In a container, or after a restart, the user can be root without capabilities. */
	if (!geteuid())
		(void)confine_change_user();
	return syscall(SYS_capset, &header, none) ? -errno : 0;
}

static void close_from(unsigned int first)
{
	struct rlimit files = { 0 };

#ifdef SYS_close_range
	if (!syscall(SYS_close_range, first, ~0U, 0))
		return;
#endif
	(void)getrlimit(RLIMIT_NOFILE, &files);
	for (unsigned int fd = first; fd < files.rlim_cur && fd < FILES_MAX; fd++)
		close((int)fd);
}

static int keep_file(int keep_fd, int as_fd)
{
	int null = io_open("/dev/null", O_RDWR, 0);

	/* Use a number above those that dup2() replaces. */
	if (keep_fd < as_fd)
		keep_fd = fcntl(keep_fd, F_DUPFD_CLOEXEC, as_fd + 1);
	if (null < 0 || keep_fd < 0)
		return -errno;
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (dup2(null, fd) < 0)
			return -errno;
	if (keep_fd != as_fd && dup2(keep_fd, as_fd) < 0)
		return -errno;
	close_from((unsigned int)as_fd + 1);
	return 0;
}

int confine_rights(int keep_fd, int as_fd)
{
	const struct rlimit no_core = { 0 };
	int r = chdir("/") ? -errno : 0;

	if (!r)
		r = keep_file(keep_fd, as_fd);
	if (!r)
		r = drop_capabilities();
	(void)setrlimit(RLIMIT_CORE, &no_core);
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	return r;
}

/* ---- system calls ---- */

/* Calls that an architecture lacks are omitted. */
static const uint32_t allowed[] = {
	SYS_read,
	SYS_write,
	SYS_pread64,
	SYS_close,
	SYS_recvmsg,
	SYS_sendmsg,
	SYS_munmap,
	SYS_mremap,
	SYS_madvise,
	SYS_brk,
	SYS_exit,
	SYS_exit_group,
	SYS_rt_sigreturn,
	SYS_setitimer,
	SYS_memfd_create,
	SYS_restart_syscall,
	SYS_rt_sigprocmask,
#ifdef SYS_fstat
	SYS_fstat,
#endif
#ifdef SYS_fstat64
	SYS_fstat64,
#endif
#if defined(__s390__) && defined(SYS_mmap)
	SYS_mmap,
#endif
#ifdef SYS_futex
	SYS_futex,
#endif
#ifdef SYS_futex_time64
	SYS_futex_time64,
#endif
#ifdef SYS_clock_gettime
	SYS_clock_gettime,
#endif
#ifdef SYS_clock_gettime64
	SYS_clock_gettime64,
#endif
};

/* Calls that map memory, allowed without PROT_EXEC. Not allowed are mmap of s390 (31-bit and
 * 64-bit) and the older one of two mmap calls: these take a structure of arguments, which a filter
 * cannot read. */
static const uint32_t no_bits[] = { 0 };
static const struct call_rule of_memory[] = {
#ifdef SYS_mmap2
	{ SYS_mmap2, 2, PROT_EXEC, no_bits, 1 },
#elif !defined(__s390__)
	{ SYS_mmap, 2, PROT_EXEC, no_bits, 1 },
#endif
	{ SYS_mprotect, 2, PROT_EXEC, no_bits, 1 },
};

/* The calls that fstat() of a C library can use (newfstatat: glibc 2.33 to 2.38; the others on
 * newer architectures or with 32-bit times), and the index of the argument that must contain
 * AT_EMPTY_PATH.  A filter cannot check that the name is empty. */
static const struct {
	uint32_t nr;
	unsigned int flags;
} of_file[] = {
#ifdef SYS_newfstatat
	{ SYS_newfstatat, 3 },
#else
#ifdef SYS_fstatat64
	{ SYS_fstatat64, 3 },
#endif
#ifdef SYS_statx
	{ SYS_statx, 2 },
#endif
#endif
};

bool confine_calls(void)
{
	/* Refused calls fail with an errno and do not kill the process: libraries try calls that
	 * they can do without. */
	static struct call_filter f;

	call_filter_begin(&f, SECCOMP_RET_ERRNO | EPERM);
	call_filter_allow(&f, allowed, COUNT_OF(allowed));
	call_filter_allow_rules(&f, of_memory, COUNT_OF(of_memory));
	for (size_t i = 0; i < COUNT_OF(of_file); i++)
		call_filter_allow_bits(&f, of_file[i].nr, of_file[i].flags,
				       AT_EMPTY_PATH);
	return !call_filter_install(&f, false);
}

#include "daemon/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"
#include "daemon/rights.h"

enum {
	NOBODY = 65534,
	FILES_MAX = 65536 /* that are closed one by one */
};

/* ---- rights ---- */

static int drop_capabilities(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	const struct __user_cap_data_struct none[2] = { 0 };
	bool is_nobody;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	/* Before CAP_SETPCAP goes with the user. */
	rights_drop_bound();
	/* In a container, or when it was started anew, it may be root without any rights. */
	is_nobody = !geteuid() && !setgroups(0, NULL) &&
		    !setresgid(NOBODY, NOBODY, NOBODY) &&
		    !setresuid(NOBODY, NOBODY, NOBODY);
	(void)is_nobody;
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

	/* Above those that are to be replaced. */
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

/* ---- calls ---- */

/* What an architecture does not have is left out. */
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

/* Whose third argument says what memory is for; mmap of 31-bit and 64-bit s390, and the older one
 * where there are two, has a structure of them instead. */
static const uint32_t of_memory[] = {
#ifdef SYS_mmap2
	SYS_mmap2,
#elif !defined(__s390__)
	SYS_mmap,
#endif
	SYS_mprotect,
};

/* What fstat() of a C library may be (newfstatat: of glibc 2.33 to 2.38; the others where times have 32
 * bits or a machine is younger than they): with AT_EMPTY_PATH, in which argument.  Not with a name
 * alone; a filter cannot see that there is none. */
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

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__i386__)
#define ARCH AUDIT_ARCH_I386
#elif defined(__aarch64__) && defined(__AARCH64EL__)
#define ARCH AUDIT_ARCH_AARCH64
#elif defined(__arm__) && defined(__ARMEL__)
#define ARCH AUDIT_ARCH_ARM
#elif defined(__s390x__)
#define ARCH AUDIT_ARCH_S390X
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCH AUDIT_ARCH_RISCV64
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
#define ARCH AUDIT_ARCH_PPC64LE
#elif defined(__powerpc64__)
#define ARCH AUDIT_ARCH_PPC64
#elif defined(__loongarch64) && defined(AUDIT_ARCH_LOONGARCH64)
#define ARCH AUDIT_ARCH_LOONGARCH64
#else
#define ARCH 0 /* not known how: no filter */
#endif

enum {
	NR_ALLOWED = sizeof(allowed) / sizeof(*allowed),
	NR_OF_MEMORY = sizeof(of_memory) / sizeof(*of_memory),
	NR_OF_FILE = sizeof(of_file) / sizeof(*of_file),
	FILTER_MAX = 4 + 2 * NR_ALLOWED + 5 * NR_OF_MEMORY + 7 * NR_OF_FILE + 2,
	LOW_HALF = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0,
	HIGH_HALF = 4 - LOW_HALF
};

/* An errno, and not death: libraries ask for more than they need. */
static const uint32_t refused = SECCOMP_RET_ERRNO | EPERM;

struct filter {
	struct sock_filter at[FILTER_MAX];
	unsigned short nr;
};

static void put(struct filter *f, uint16_t code, uint8_t yes, uint8_t no,
		uint32_t value)
{
	f->at[f->nr++] = (struct sock_filter){ code, yes, no, value };
}

static void put_return(struct filter *f, uint32_t what)
{
	put(f, BPF_RET | BPF_K, 0, 0, what);
}

static void put_load(struct filter *f, size_t at)
{
	put(f, BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)at);
}

static size_t argument(unsigned int i)
{
	return offsetof(struct seccomp_data, args) + i * sizeof(uint64_t);
}

/* Jumps, here and below, are over so many of the next ones: yes, no. */
static void allow_of_memory(struct filter *f, uint32_t nr)
{
	put(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 4, nr);
	put_load(f, argument(2) + LOW_HALF);
	put(f, BPF_JMP | BPF_JSET | BPF_K, 0, 1, PROT_EXEC);
	put_return(f, refused);
	put_return(f, SECCOMP_RET_ALLOW);
}

static void allow_of_file(struct filter *f, uint32_t nr, unsigned int flags)
{
	put(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 6, nr);
	put_load(f, argument(flags) + HIGH_HALF);
	put(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 3, 0);
	put_load(f, argument(flags) + LOW_HALF);
	put(f, BPF_JMP | BPF_JSET | BPF_K, 0, 1, AT_EMPTY_PATH);
	put_return(f, SECCOMP_RET_ALLOW);
	put_return(f, refused);
}

static void make_filter(struct filter *f)
{
	put_load(f, offsetof(struct seccomp_data, arch));
	put(f, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, ARCH);
	put_return(f, SECCOMP_RET_KILL);
	put_load(f, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < NR_ALLOWED; i++) {
		put(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, allowed[i]);
		put_return(f, SECCOMP_RET_ALLOW);
	}
	for (size_t i = 0; i < NR_OF_MEMORY; i++)
		allow_of_memory(f, of_memory[i]);
	for (size_t i = 0; i < NR_OF_FILE; i++)
		allow_of_file(f, of_file[i].nr, of_file[i].flags);
	put_return(f, refused);
}

bool confine_calls(void)
{
	struct filter f = { .nr = 0 };
	struct sock_fprog program = { .filter = f.at };

	make_filter(&f);
	program.len = f.nr;
	return ARCH && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

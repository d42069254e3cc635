/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/server/daemon_calls.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/fs.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "base/array.h"
#include "base/err.h"
#include "base/sanitized.h"
#include "record/helper/call_filter.h"

#ifndef SYS_SECCOMP /* the si_code of SIGSYS, which old versions of glibc do not define */
#define SYS_SECCOMP 1
#endif

/* The lists below are tested on these architectures; on others, some calls have other names. */
#if defined(__x86_64__) || (defined(__aarch64__) && defined(__AARCH64EL__))
#define HAS_LIST true
#else
#define HAS_LIST false
#endif

#if HAS_LIST

/* The most frequent ones first: kernels before 5.11 compare them one by one. */
static const uint32_t allowed[] = {
	/* memory, threads, time */
	SYS_futex,
	SYS_clock_gettime,
	SYS_madvise,
	SYS_munmap,
	SYS_mremap,
	SYS_brk,
	SYS_mincore,
	SYS_exit,
	SYS_exit_group,
	SYS_set_robust_list,
	SYS_get_robust_list,
	SYS_rseq,
	SYS_set_tid_address,
	SYS_sched_yield,
	SYS_sched_getaffinity,
	SYS_membarrier,
	SYS_getcpu,
	SYS_getpid,
	SYS_gettid,
	SYS_getppid,
	SYS_clock_getres,
	SYS_clock_nanosleep,
	SYS_nanosleep,
	SYS_gettimeofday,
	SYS_timerfd_create,
	SYS_timerfd_settime,
	SYS_getrandom,
	SYS_memfd_create,
	SYS_restart_syscall,
	/* signals */
	SYS_rt_sigprocmask,
	SYS_rt_sigaction,
	SYS_rt_sigreturn,
	SYS_sigaltstack,
	SYS_signalfd4,
	SYS_setitimer,
	SYS_wait4,
	SYS_waitid,
	/* files */
	SYS_read,
	SYS_openat,
	SYS_openat2,
	SYS_close,
	SYS_newfstatat,
	SYS_fstat,
	SYS_statx,
	SYS_pread64,
	SYS_readlinkat,
	SYS_fcntl,
	SYS_getdents64,
	SYS_write,
	SYS_writev,
	SYS_readv,
	SYS_pwrite64,
	SYS_lseek,
	SYS_fstatfs,
	SYS_statfs,
	SYS_fsync,
	SYS_fdatasync,
	SYS_sync_file_range,
	SYS_ftruncate,
	SYS_fallocate,
	SYS_fadvise64,
	SYS_readahead,
	SYS_sendfile,
	SYS_copy_file_range,
	SYS_utimensat,
	SYS_lgetxattr,
	SYS_lsetxattr,
	SYS_fremovexattr,
	SYS_mkdirat,
	SYS_renameat,
	SYS_renameat2,
	SYS_unlinkat,
	SYS_linkat,
	SYS_fchmod,
	SYS_fchmodat,
	SYS_fchown,
	SYS_faccessat,
	SYS_flock,
	SYS_dup,
	SYS_dup3,
	SYS_pipe2,
	SYS_close_range,
	SYS_getcwd,
	SYS_chdir,
	SYS_umask,
	SYS_name_to_handle_at,
	SYS_open_by_handle_at,
	/* calls to wait for, read and answer requests */
	SYS_ppoll,
	SYS_epoll_create1,
	SYS_epoll_ctl,
	SYS_epoll_pwait,
	SYS_accept4,
	SYS_recvfrom,
	SYS_recvmsg,
	SYS_sendto,
	SYS_sendmsg,
	SYS_bind,
	SYS_listen,
	SYS_getsockname,
	SYS_getpeername,
	SYS_getsockopt,
	SYS_setsockopt,
	SYS_shutdown,
	/* calls to sample, and to measure the cost of sampling */
	SYS_perf_event_open,
	SYS_process_vm_readv,
	SYS_getrusage,
	SYS_sysinfo,
	SYS_uname,
	SYS_getpriority,
	SYS_setpriority,
	/* calls to query and change users and groups */
	SYS_getuid,
	SYS_geteuid,
	SYS_getgid,
	SYS_getegid,
	SYS_capget,
	SYS_capset,
#ifdef SYS_open /* older architectures */
	SYS_poll,
	SYS_epoll_wait,
	SYS_open,
	SYS_stat,
	SYS_lstat,
	SYS_access,
	SYS_readlink,
	SYS_mkdir,
	SYS_rmdir,
	SYS_rename,
	SYS_unlink,
	SYS_link,
	SYS_chmod,
	SYS_dup2,
	SYS_pause,
	SYS_time,
#endif
#ifdef SYS_faccessat2
	SYS_faccessat2,
#endif
};

/* faccessat2, Linux 5.8; newer calls have the same number on all architectures. */
static const uint32_t newest_call = 439;

/* Flags of clone(2) that are refused: they create namespaces or traced children. */
static const uint32_t clone_bits = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS |
				   CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |
				   CLONE_NEWNET | CLONE_PTRACE;
static const uint32_t none[] = { 0 };
static const uint32_t write_or_run[] = { 0, PROT_WRITE, PROT_EXEC };
static const uint32_t families[] = { AF_UNIX, AF_INET, AF_INET6 };
/* Signals that kill(2) may send: SIGKILL for the helper's worker, and 0, which checks that a
 * process exists.  Without CAP_KILL the daemon can only reach processes of root. */
static const uint32_t signals_sent[] = { 0, SIGKILL };
static const uint32_t signals_raised[] = { SIGABRT };
/* Requests that ioctl(2) may make. Those that attach BPF programs or filters to events are
 * missing. Libraries query the terminal. */
static const uint32_t requests[] = {
	(uint32_t)PERF_EVENT_IOC_ENABLE,
	(uint32_t)PERF_EVENT_IOC_DISABLE,
	(uint32_t)PERF_EVENT_IOC_ID,
	(uint32_t)PERF_EVENT_IOC_RESET,
	(uint32_t)PERF_EVENT_IOC_SET_OUTPUT,
	(uint32_t)FS_IOC_GETVERSION,
	(uint32_t)TCGETS,
};
static const uint32_t bpf_commands[] = {
	BPF_PROG_GET_NEXT_ID,
	BPF_PROG_GET_FD_BY_ID,
	BPF_BTF_GET_FD_BY_ID,
	BPF_OBJ_GET_INFO_BY_FD,
};
/* Options that prctl(2) may use. The daemon itself only names threads and memory; the helper uses
 * the others. */
static const uint32_t process_options[] = {
	PR_SET_NAME,     0x53564d41 /* PR_SET_VMA */, PR_SET_PDEATHSIG, PR_SET_SECCOMP,
	PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS,         PR_CAPBSET_READ,  PR_CAPBSET_DROP,
	PR_CAP_AMBIENT,
};

static const struct call_rule rules[] = {
	{ SYS_mmap, 2, PROT_WRITE | PROT_EXEC, write_or_run, COUNT_OF(write_or_run) },
	{ SYS_mprotect, 2, PROT_EXEC, none, COUNT_OF(none) },
	{ SYS_ioctl, 1, UINT32_MAX, requests, COUNT_OF(requests) },
	{ SYS_clone, 0, clone_bits, none, COUNT_OF(none) },
	{ SYS_socket, 0, UINT32_MAX, families, COUNT_OF(families) },
	{ SYS_socketpair, 0, UINT32_MAX, families, 1 },
	{ SYS_bpf, 0, UINT32_MAX, bpf_commands, COUNT_OF(bpf_commands) },
	{ SYS_prctl, 0, UINT32_MAX, process_options, COUNT_OF(process_options) },
	/* Only for this process. */
	{ SYS_prlimit64, 0, UINT32_MAX, none, COUNT_OF(none) },
	{ SYS_kill, 1, UINT32_MAX, signals_sent, COUNT_OF(signals_sent) },
	{ SYS_tgkill, 2, UINT32_MAX, signals_raised, COUNT_OF(signals_raised) },
};

static void make_filter(struct call_filter *f)
{
	/* The default action is SIGSYS; its handler makes the call fail with EPERM and records
	 * it. */
	call_filter_begin(f, SECCOMP_RET_TRAP);
	call_filter_allow(f, allowed, COUNT_OF(allowed));
	call_filter_allow_rules(f, rules, COUNT_OF(rules));
	/* A filter cannot read the flags of clone3, which are in memory. libc falls back to
	 * clone. */
	call_filter_answer(f, SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS);
	/* A newer libc tries these calls and has fallbacks. */
	call_filter_answer_above(f, newest_call, SECCOMP_RET_ERRNO | ENOSYS);
}

/* ---- refused calls ---- */

enum {
	WORD_BITS = 32,
	NR_WORDS = (DAEMON_CALLS_MAX + 1) / WORD_BITS
};

static atomic_uint refused[NR_WORDS];
static atomic_uint refused_news[NR_WORDS]; /* not returned yet */
static atomic_bool has_news;

static void note_refused(int call)
{
	unsigned int nr = call >= 0 && call < DAEMON_CALLS_MAX ? (unsigned int)call
							       : DAEMON_CALLS_MAX;
	unsigned int bit = 1U << nr % WORD_BITS;

	if (atomic_fetch_or(&refused[nr / WORD_BITS], bit) & bit)
		return;
	atomic_fetch_or(&refused_news[nr / WORD_BITS], bit);
	atomic_store(&has_news, true);
}

static void on_refused(int signal, siginfo_t *info, void *context)
{
	ucontext_t *at = context;

	(void)signal;
	/* Another process can also send this signal. */
	if (info->si_code != SYS_SECCOMP)
		return;
	note_refused(info->si_syscall);
#if defined(__x86_64__)
	at->uc_mcontext.gregs[REG_RAX] = -EPERM;
#else
	at->uc_mcontext.regs[0] = (unsigned long long)-EPERM;
#endif
}

int daemon_calls_next_refused(void)
{
	if (!atomic_exchange(&has_news, false))
		return -1;
	for (unsigned int nr = 0; nr <= DAEMON_CALLS_MAX; nr++) {
		unsigned int bit = 1U << nr % WORD_BITS;

		if (!(atomic_fetch_and(&refused_news[nr / WORD_BITS], ~bit) & bit))
			continue;
		/* Further refused calls may be recorded: check again at the next call. */
		atomic_store(&has_news, true);
		return (int)nr;
	}
	return -1;
}

static int daemon_calls_install_filter(struct err *err)
{
	static struct call_filter filter;
	struct sigaction action = { .sa_sigaction = on_refused,
				    .sa_flags = SA_SIGINFO | SA_ONSTACK };
	int r;

	sigemptyset(&action.sa_mask);
	if (sigaction(SIGSYS, &action, NULL))
		return err_sys(err, -errno, "cannot handle SIGSYS");
	make_filter(&filter);
	r = call_filter_install(&filter, true);
	return r ? err_sys(err, r, "cannot install the seccomp filter") : 0;
}

#else

int daemon_calls_next_refused(void)
{
	return -1;
}

static int daemon_calls_install_filter(struct err *err)
{
	return err_set(err, -EOPNOTSUPP,
		       "oprofiled has no list of system calls for this architecture");
}

#endif

int daemon_calls_confine(struct err *err)
{
	/* Sanitizers make calls that are not in the list. */
	if (IS_SANITIZED)
		return err_set(err, -EOPNOTSUPP, "this build uses sanitizers");
	return daemon_calls_install_filter(err);
}

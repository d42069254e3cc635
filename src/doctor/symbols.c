/* SPDX-License-Identifier: GPL-2.0-or-later */
/* symbols.c - names of the kernel, tracepoints, servers of debug information. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "capture/system/kernel_files.h"
#include "capture/system/machine.h"
#include "doctor/doctor_priv.h"
#include "resolve/elf/build_id.h"
#include "resolve/find/binary.h"
#include "resolve/find/debug_remedy.h"

static const char group[] = "Symbols";

/* Reads the symbols in /proc/kallsyms. Returns 0, 1 if all addresses are hidden, or a negative
 * errno. */
static int read_kallsyms(const struct doctor *d)
{
	char path[DOCTOR_PATH_MAX];
	struct buf text = { 0 };
	bool hidden = true;
	int fd = open(doctor_path(d, "/proc/kallsyms", path), O_RDONLY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return -errno;
	r = kernel_files_read_symbols(fd, &text, &hidden);
	close(fd);
	buf_done(&text);
	return r ? r : hidden;
}

static void check_kallsyms(struct doctor *d)
{
	int64_t restricted = 0;
	int r = read_kallsyms(d);

	doctor_add(d, group, "kallsyms", r ? DOCTOR_MISSING : DOCTOR_OK, "%s",
		   !r      ? "readable"
		   : r < 0 ? strerror(-r)
			   : "the kernel hides the addresses");
	doctor_cost(d, "kernel samples have no function names");
	(void)doctor_number(d, "/proc/sys/kernel/kptr_restrict", &restricted);
	/* With kptr_restrict 0, the kernel shows addresses to users who may profile it. */
	doctor_fix(d, restricted ? "sudo sysctl kernel.kptr_restrict=0"
				 : "sudo sysctl kernel.perf_event_paranoid=1");
}

static void check_debug_vmlinux(struct doctor *d,
				const struct distribution *distribution,
				bool has_servers)
{
	const struct binary_locations locations = { .root = d->root };
	struct machine machine;
	struct buf fix = { 0 };
	size_t location = 0;
	char *path = NULL;
	int fd = -1;
	int r;

	machine_read(&machine);
	r = binary_find_vmlinux(&locations, &machine.kernel_build_id,
				machine.os_release, &location, &fd, &path);
	if (!r) {
		doctor_add(d, group, "vmlinux", DOCTOR_OK, "%s", path);
		close(fd);
		free(path);
		return;
	}
	doctor_add(d, group, "vmlinux", DOCTOR_LIMITED,
		   "no debug information of kernel %s", machine.os_release);
	doctor_cost(d, "no source lines and inlined functions of the kernel");
	debug_remedy_put(
		&fix, &(struct debug_remedy){ .distribution = distribution,
					      .has_servers = has_servers,
					      .path = "[kernel.kallsyms]",
					      .build_id = &machine.kernel_build_id });
	buf_put_u8(&fix, 0);
	if (!fix.failed)
		doctor_fix(d, "%s", (const char *)fix.data);
	d->no_memory |= fix.failed;
	buf_done(&fix);
}

static void check_readable(struct doctor *d, const char *name, const char *path,
			   const char *cost, const char *fix)
{
	bool there = doctor_access(d, path, R_OK);

	doctor_add(d, group, name, there ? DOCTOR_OK : DOCTOR_LIMITED, "%s%s", path,
		   there                          ? ""
		   : doctor_access(d, path, F_OK) ? ": not readable"
						  : ": not there");
	doctor_cost(d, "%s", cost);
	doctor_fix(d, "%s", fix);
}

static void check_tracefs(struct doctor *d)
{
	const char *path = doctor_access(d, "/sys/kernel/debug/tracing/events", R_OK)
				   ? "/sys/kernel/debug/tracing/events"
				   : "/sys/kernel/tracing/events";
	bool mounted = doctor_access(d, "/sys/kernel/tracing/README", F_OK) ||
		       doctor_access(d, path, F_OK);

	check_readable(d, "tracefs", path, "no tracepoints as events",
		       mounted ? "sudo mount -o remount,mode=755 /sys/kernel/tracing"
			       : "sudo mount -t tracefs tracefs /sys/kernel/tracing");
}

void doctor_symbols(struct doctor *d)
{
	const struct distribution *distribution = distribution_find(d->root);
	const char *urls = getenv("DEBUGINFOD_URLS");
	bool has_servers = urls && *urls;

	check_kallsyms(d);
	check_debug_vmlinux(d, distribution, has_servers);
	check_readable(d, "BTF", "/sys/kernel/btf/vmlinux",
		       "programs that use BPF cannot read the kernel's types",
		       "boot a kernel with CONFIG_DEBUG_INFO_BTF=y");
	check_tracefs(d);
	doctor_add(d, group, "debuginfod", has_servers ? DOCTOR_OK : DOCTOR_LIMITED,
		   "%s", has_servers ? urls : "DEBUGINFOD_URLS is not set");
	doctor_cost(d, "no symbols and lines of stripped packages");
	doctor_fix(d, "export DEBUGINFOD_URLS=%s", distribution_server(distribution));
}

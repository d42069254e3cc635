/* SPDX-License-Identifier: GPL-2.0-or-later */
/* files.c - opcontrol --init and --deinit: mounts and unmounts the control files where OProfile's
 * kernel module had them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files/io.h"
#include "daemon/controlfs/controlfs.h"
#include "daemon/server/background.h"
#include "present/lines/screen.h"
#include "tools/control/actions.h"
#include "tools/control/control.h"

static const char *mountpoint(void)
{
	const char *dir = getenv("OPROFILE_FS_DIR");

	return dir && *dir ? dir : "/dev/oprofile";
}

/* Runs `oprofile controlfs`, which moves to the background after reporting errors. */
static int run_controlfs(const char *dir)
{
	static const char self[] = "/proc/self/exe";
	pid_t pid = fork();
	int status;

	if (!pid) {
		/* The child continues to run, so close files on whose end other processes may
		 * wait. */
		background_close_files(-1);
		execl(self, "oprofile", "controlfs", dir, (char *)NULL);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return pid > 0 && WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EIO;
}

static bool mount_files(void)
{
	const char *dir = mountpoint();
	int r;

	controlfs_unmount_stale(dir);
	if (controlfs_is_mounted(dir))
		return true;
	r = io_make_dirs(dir, 0755);
	if (r)
		screen_print_line(stderr, "opcontrol: %s: %s", dir, strerror(-r));
	return !r && !run_controlfs(dir);
}

int control_init(struct control *c)
{
	if (!control_may(c))
		return 1;
	if (access("/proc/sys/kernel/perf_event_paranoid", F_OK)) {
		fputs("Kernel support not available, missing opcontrol --init as root ?\n",
		      stderr);
		return 1;
	}
	if (!geteuid() && !mount_files())
		screen_print_line(
			stderr,
			"opcontrol: no control files at %s; everything else works",
			mountpoint());
	return 0;
}

int control_deinit(struct control *c)
{
	int r = control_shutdown(c);
	const char *dir = mountpoint();

	/* Unmount if the daemon has ended, even if it could not save some samples. */
	if ((r && !c->ended) || geteuid() || !controlfs_is_mounted(dir))
		return r;
	/* Detach the mount, so that processes with an open file can continue to use it. */
	if (umount2(dir, MNT_DETACH)) {
		screen_print_line(stderr, "opcontrol: %s: %s", dir, strerror(errno));
		return 1;
	}
	(void)io_rmdir(dir);
	return r;
}

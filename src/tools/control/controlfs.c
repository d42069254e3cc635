/* SPDX-License-Identifier: GPL-2.0-or-later */
/* controlfs.c - `oprofile controlfs`: mounts the control files of OProfile's kernel module,
 * served by the daemon. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files/output.h"
#include "base/files/path.h"
#include "daemon/controlfs/controlfs.h"
#include "daemon/server/control_client.h"
#include "tools/cli/command.h"

extern const struct command command_controlfs;

struct controlfs_mount_settings {
	bool foreground;
};

static const struct option_row rows[] = {
	{ .name = "foreground",
	  .letter = 'f',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct controlfs_mount_settings, foreground),
	  .help = "Stay in the foreground; unmount on a signal." },
	{ 0 },
};

static int check_mountpoint(const char *path, const char *full, struct err *err)
{
	struct stat st;
	int r = stat(path, &st) ? -errno : 0;

	if (r == -ENOTCONN)
		return err_set(
			err, r,
			"'%s': stale mount (its server has exited); run: umount %s",
			path, path);
	if (r)
		return err_sys(err, r, "cannot stat '%s'", path);
	if (!S_ISDIR(st.st_mode))
		return err_set(err, -ENOTDIR, "%s is not a directory", path);
	if (controlfs_is_mounted(full))
		return err_set(err, -EBUSY,
			       "'%s': the control files are already mounted there",
			       path);
	if (access("/dev/fuse", R_OK | W_OK))
		return err_sys(err, -errno,
			       "cannot use '/dev/fuse' (load the kernel module fuse)");
	return 0;
}

/* Refuses a path through a link of another user. Ignores other failures, which are reported later:
 * a stale mount also cannot be opened. */
static int controlfs_check_links(const char *path, struct err *err)
{
	struct err why = { 0 };
	int fd = output_open_dir(path, &why);

	if (fd >= 0)
		close(fd);
	return fd == -EPERM ? err_set(err, fd, "%s", why.text) : 0;
}

static int controlfs_mount_run(const struct command *self, int argc, char **argv)
{
	struct controlfs_config config = { 0 };
	struct controlfs_mount_settings set = { 0 };
	struct err err = { 0 };
	char *cwd, *run_dir, *mountpoint;
	int first;
	int r = command_options(self, OPTIONS_PERMUTE, argc, argv, &set, &first);

	if (r >= 0)
		return r;
	if (argc - first != 1) {
		command_error(
			"no directory given: name the mount point, such as /dev/oprofile");
		return 1;
	}
	cwd = getcwd(NULL, 0);
	/* Make paths absolute: the background process changes its directory to /. */
	run_dir = path_full(control_run_dir(), cwd ? cwd : "/");
	config.mountpoint = argv[first];
	mountpoint = path_full(config.mountpoint, cwd ? cwd : "/");
	config.run_dir = run_dir;
	config.foreground = set.foreground;
	r = run_dir && mountpoint ? controlfs_check_links(config.mountpoint, &err)
				  : err_set(&err, -ENOMEM, "out of memory");
	if (!r)
		controlfs_unmount_stale(mountpoint);
	if (!r)
		r = check_mountpoint(config.mountpoint, mountpoint, &err);
	if (!r)
		r = controlfs_serve(&config, &err);
	if (r)
		command_error("%s", err.text);
	free(mountpoint);
	free(run_dir);
	free(cwd);
	return r ? 1 : 0;
}

const struct command command_controlfs = {
	.name = "controlfs",
	.summary = "mount the control files of OProfile's kernel module",
	.usage = "[--foreground] MOUNTPOINT",
	.notes =
		"Examples:\n"
		"  oprofile controlfs /dev/oprofile\n"
		"  echo 1 >/dev/oprofile/enable\n"
		"  cat /dev/oprofile/stats/cpu0/sample_received\n"
		"  umount /dev/oprofile\n"
		"Writing an invalid value fails with EINVAL, and last_error contains the reason.",
	.options = rows,
	.is_recorder = true,
	.run = controlfs_mount_run,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* storage.c - checks the session directory, where recordings are written, and the daemon. */
#include <errno.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/byte_text.h"
#include "base/err.h"
#include "daemon/server/control_client.h"
#include "doctor/doctor_priv.h"

static const char group[] = "Storage and daemon";

enum {
	DEFAULT_LEAST_MB = 100
};

static void check_space(struct doctor *d)
{
	const uint64_t least = (uint64_t)DEFAULT_LEAST_MB << 20;
	const char *dir = d->session_dir                  ? d->session_dir
			  : access("oprofile_data", F_OK) ? "."
							  : "oprofile_data";
	struct statvfs fs;
	char size[32];
	uint64_t bytes;

	if (statvfs(dir, &fs) || access(dir, W_OK | X_OK)) {
		doctor_add(d, group, "session directory", DOCTOR_MISSING, "'%s': %s",
			   dir, strerror(errno));
		doctor_cost(d, "operf cannot write a recording there");
		doctor_fix(d, "operf --session-dir \"$(mktemp -d)\" ...");
		return;
	}
	bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	byte_text_put(size, sizeof(size), bytes);
	doctor_add(d, group, "session directory",
		   bytes < least ? DOCTOR_LIMITED : DOCTOR_OK, "'%s': %s free", dir,
		   size);
	doctor_cost(d, "samples are dropped when the disk is full");
	doctor_fix(d, "operf --session-dir \"$(mktemp -d)\" ...");
}

/* Checks whether this user may control the daemon: sends a request that requires this right, but
 * changes nothing, because the setting in it does not exist. Returns 0, or a negative errno if
 * the right is missing. */
static int control_rights(struct control_client *c, struct err *err)
{
	static const char *const words[] = { "set", "no_such_setting", "0", NULL };
	int r = control_request(c, words, NULL, err);

	return r == -EPERM || r == -EACCES ? r : 0;
}

static void check_daemon(struct doctor *d)
{
	static const char name[] = "daemon";
	struct control_client c = { .fd = -1 };
	struct err err = { 0 };
	int r = control_connect(&c, NULL, &err);

	if (r == -ENOENT || r == -ECONNREFUSED) {
		doctor_add(d, group, name, DOCTOR_OK, "oprofiled does not run");
		return;
	}
	if (!r)
		r = control_rights(&c, &err);
	if (c.fd >= 0)
		control_disconnect(&c);
	if (!r) {
		doctor_add(d, group, name, DOCTOR_OK,
			   "oprofiled runs, and you may control it");
		return;
	}
	doctor_add(d, group, name, DOCTOR_LIMITED, "%s", err.text);
	doctor_cost(d, "opcontrol cannot start and stop it");
	doctor_fix(d, "sudo usermod -aG oprofile \"$USER\"");
}

void doctor_storage(struct doctor *d)
{
	check_space(d);
	check_daemon(d);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* serve_none.c - replaces serve_fuse.c in builds without libfuse3. */
#include <errno.h>
#include <stddef.h>

#include "base/err.h"
#include "daemon/controlfs/controlfs.h"

const char *controlfs_version(void)
{
	return NULL;
}

int controlfs_serve(const struct controlfs_config *config, struct err *err)
{
	return err_set(
		err, -EOPNOTSUPP,
		"cannot mount the control files at '%s': this build has no libfuse3 (Debian package: libfuse3-dev)",
		config->mountpoint);
}

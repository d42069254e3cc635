/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recordings/name_rules.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files/io.h"
#include "base/files/trust.h"
#include "resolve/symbols/name_patterns.h"

/* Returns the path of the user's rules (malloc'd), or NULL if no home directory is known or
 * memory is short. Ignores an empty or relative $XDG_CONFIG_HOME and $HOME (XDG Base Directory
 * Specification). */
static char *own_file(void)
{
	const char *config = getenv("XDG_CONFIG_HOME");
	const char *home = getenv("HOME");
	char *path;
	int len;

	if (config && config[0] == '/')
		len = asprintf(&path, "%s/oprofile/stl.pat", config);
	else if (home && home[0] == '/')
		len = asprintf(&path, "%s/.config/oprofile/stl.pat", home);
	else
		return NULL;
	return len < 0 ? NULL : path;
}

static int read_own(struct name_patterns *patterns, struct err *err)
{
	char *path = own_file();
	int fd = path ? io_open(path, O_RDONLY | O_NONBLOCK, 0) : -ENOENT;
	int r = 0;

	if (fd >= 0) {
		r = trust_check_config(fd, path, err);
		if (!r)
			r = name_patterns_read_fd(patterns, fd, path, err);
		close(fd);
	} else if (fd != -ENOENT && fd != -ENOTDIR) {
		r = err_sys(err, fd, "cannot open '%s'", path);
	}
	free(path);
	return r;
}

int name_rules_make(const char *given, struct name_patterns **ret_patterns,
		    struct err *err)
{
	struct name_patterns *patterns;
	int r = name_patterns_new(&patterns, err);

	if (r)
		return r;
	r = given ? name_patterns_read(patterns, given, err) : read_own(patterns, err);
	if (r) {
		name_patterns_free(patterns);
		return r;
	}
	*ret_patterns = patterns;
	return 0;
}

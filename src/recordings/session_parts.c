/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recordings/session_parts.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

static int is_label(const struct dirent *entry)
{
	return entry->d_name[0] != '.' &&
	       (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN);
}

/* Keeps the names of the entries, which it frees.  Returns 0 or -ENOMEM. */
static int session_parts_take_names(struct dirent **found, size_t nr, char **labels)
{
	int r = 0;

	for (size_t i = 0; i < nr; i++) {
		labels[i] = strdup(found[i]->d_name);
		if (!labels[i])
			r = -ENOMEM;
		free(found[i]);
	}
	return r;
}

int session_parts(const char *dir, char ***ret_labels, size_t *ret_nr, struct err *err)
{
	struct dirent **found = NULL;
	char **labels;
	char *path;
	int nr, r;

	*ret_labels = NULL;
	*ret_nr = 0;
	if (asprintf(&path, "%s/" SESSION_PARTS, dir) < 0)
		return err_set(err, -ENOMEM, "out of memory");
	nr = scandir(path, &found, is_label, alphasort);
	if (nr < 0) {
		r = err_is_absent(-errno)
			    ? 0
			    : err_sys(err, -errno, "cannot read '%s'", path);
		free(path);
		return r;
	}
	free(path);
	labels = calloc((size_t)nr + 1, sizeof(*labels));
	if (!labels) {
		while (nr > 0)
			free(found[--nr]);
		free(found);
		return err_set(err, -ENOMEM, "out of memory");
	}
	r = session_parts_take_names(found, (size_t)nr, labels);
	free(found);
	if (r) {
		session_parts_free(labels, (size_t)nr);
		return err_set(err, r, "out of memory");
	}
	*ret_labels = labels;
	*ret_nr = (size_t)nr;
	return 0;
}

void session_parts_free(char **labels, size_t nr)
{
	for (size_t i = 0; labels && i < nr; i++)
		free(labels[i]);
	free(labels);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "archive/make/sessions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/files/path.h"
#include "base/files/tree.h"
#include "format/archive/layout.h"
#include "format/archive/manifest.h"
#include "format/session/checksums.h"
#include "format/session/session.h"
#include "recordings/session_parts.h"
#include "recordings/sources.h"

struct archive_sessions_writing {
	archive_session_fn fn;
	void *ctx;
	struct err *err;
	const struct report_sources *sources;
};

static int archive_sessions_add_file(const struct archive_sessions_writing *w,
				     const char *from, const char *session,
				     const char *file, bool is_recording)
{
	char *name;
	int r;

	if (asprintf(&name, ARCHIVE_SAMPLES "/%s/%s", session, file) < 0)
		return err_set(w->err, -ENOMEM, "out of memory");
	r = w->fn(w->ctx, from, name, is_recording);
	free(name);
	return r;
}

struct session_walk {
	const struct archive_sessions_writing *writing;
	const char *session;
	bool is_recording;
};

/* Adds an entry of a session's directory tree. Skips hidden files, which are still being written,
 * or were left by a recorder that was killed. */
static int archive_sessions_add_entry(void *ctx, const struct tree_entry *entry)
{
	const struct session_walk *walk = ctx;

	if (entry->name[0] == '.')
		return TREE_SKIP;
	if (!S_ISDIR(entry->st.st_mode))
		checksums_report(entry->path);
	return S_ISREG(entry->st.st_mode)
		       ? archive_sessions_add_file(walk->writing, entry->path,
						   walk->session, entry->below,
						   walk->is_recording)
		       : 0;
}

/* Adds all regular files. */
static int add_tree(const struct archive_sessions_writing *w, const char *dir,
		    const char *session, bool is_recording)
{
	struct session_walk walk = { w, session, is_recording };

	return tree_walk(dir, archive_sessions_add_entry, &walk, w->err);
}

/* Adds a session: first the segments, because a listing without any segment is an error, and then
 * its other files. */
static int archive_sessions_add_session(const struct archive_sessions_writing *w,
					const char *dir, const char *session)
{
	char **paths;
	size_t nr;
	int r = session_list(dir, &paths, &nr, w->err);

	if (r)
		return r;
	for (size_t i = 0; !r && i < nr; i++)
		r = archive_sessions_add_file(w, paths[i], session,
					      strrchr(paths[i], '/') + 1, true);
	session_list_free(paths, nr);
	return r ? r : add_tree(w, dir, session, false);
}

/* Adds a perf.data, which is one file or a directory of files. */
static int archive_sessions_add_perf_data(const struct archive_sessions_writing *w,
					  const char *path, const char *session)
{
	struct stat st;

	if (!strcmp(path, "-"))
		return err_set(
			w->err, -EINVAL,
			"cannot archive '%s': it is a stream: write it to a file first",
			path);
	if (stat(path, &st))
		return err_sys(w->err, -errno, "cannot stat '%s'", path);
	if (S_ISREG(st.st_mode))
		return archive_sessions_add_file(w, path, session, ARCHIVE_PERF_DATA,
						 true);
	if (S_ISDIR(st.st_mode))
		return add_tree(w, path, session, true);
	return err_set(w->err, -EINVAL,
		       "cannot archive '%s': it is a pipe: write it to a file first",
		       path);
}

static bool archive_sessions_is_plain(const struct report_session *s)
{
	return !s->perf_data && s->name[0] != '.' && !strchr(s->name, '/') &&
	       archive_name_ok(s->name) && !strcmp(s->name, path_base(s->dir));
}

/* Returns whether a session that was selected by name has this name in the archive. */
static bool is_used(const struct archive_sessions_writing *w, const char *name)
{
	for (size_t i = 0; i < w->sources->sessions.nr; i++) {
		const struct report_session *s = &w->sources->sessions.at[i];

		if (archive_sessions_is_plain(s) && !strcmp(s->name, name))
			return true;
	}
	return false;
}

/* Returns the label of a part of a merged session, or NULL for other sessions. */
static const char *archive_sessions_label(const struct report_session *s)
{
	static const char below[] = "/" SESSION_PARTS "/";
	const char *label = path_base(s->dir);
	const size_t len = (size_t)(label - s->dir);

	return !s->perf_data && len >= sizeof(below) - 1 &&
			       !strncmp(label - sizeof(below) + 1, below,
					sizeof(below) - 1)
		       ? label
		       : NULL;
}

/* Returns whether two sessions are parts of the same merged session. */
static bool are_parts(const struct report_session *a, const struct report_session *b)
{
	const char *label = archive_sessions_label(a),
		   *other = archive_sessions_label(b);

	return label && other && label - a->dir == other - b->dir &&
	       !strncmp(a->dir, b->dir, (size_t)(label - a->dir));
}

/* Adds a part to the merged session `name` of the archive. */
static int archive_sessions_add_part(const struct archive_sessions_writing *w,
				     const struct report_session *s, const char *name)
{
	char *part;
	int r;

	if (asprintf(&part, "%s/" SESSION_PARTS "/%s", name,
		     archive_sessions_label(s)) < 0)
		return err_set(w->err, -ENOMEM, "out of memory");
	r = archive_sessions_add_session(w, s->dir, part);
	free(part);
	return r;
}

static int archive_sessions_add(const struct archive_sessions_writing *w,
				const struct report_session *s, const char *name)
{
	if (archive_sessions_label(s))
		return archive_sessions_add_part(w, s, name);
	return s->perf_data ? archive_sessions_add_perf_data(w, s->dir, name)
			    : archive_sessions_add_session(w, s->dir, name);
}

int archive_sessions(const struct report_sources *sources, archive_session_fn fn,
		     void *ctx, struct err *err)
{
	const struct archive_sessions_writing w = { fn, ctx, err, sources };
	char numbered[32] = "current";
	unsigned int next = 2;
	int r = 0;

	for (size_t i = 0; !r && i < sources->sessions.nr; i++) {
		const struct report_session *s = &sources->sessions.at[i];
		const char *name = s->name;

		if (!archive_sessions_is_plain(s)) {
			while (is_used(&w, numbered))
				snprintf(numbered, sizeof(numbered), "current-%u",
					 next++);
			name = numbered;
		}
		r = archive_sessions_add(&w, s, name);
		if (name == numbered &&
		    (i + 1 == sources->sessions.nr || !are_parts(s, s + 1)))
			snprintf(numbered, sizeof(numbered), "current-%u", next++);
	}
	return r;
}

#include "tools/archive_sessions.h"

#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "format/archive_manifest.h"
#include "tools/archive_open.h"
#include "tools/report_source.h"

struct writing {
	archive_session_fn fn;
	void *ctx;
	struct err *err;
	const struct report_sources *sources;
};

static int add_file(const struct writing *w, const char *from, const char *session,
		    const char *file)
{
	char *name;
	int r;

	if (asprintf(&name, ARCHIVE_SAMPLES "/%s/%s", session, file) < 0)
		return err_set(w->err, -ENOMEM, "out of memory");
	r = w->fn(w->ctx, from, name);
	free(name);
	return r;
}

/* All regular files; what is hidden is being written, or of a recorder that died. */
static int add_session(const struct writing *w, const char *dir, const char *session)
{
	char *copy = strdup(dir);
	char *const tops[] = { copy, NULL };
	FTS *walk = copy ? fts_open(tops, FTS_PHYSICAL | FTS_NOCHDIR, NULL) : NULL;
	size_t skip = strlen(dir) + 1;
	FTSENT *entry;
	int r = walk ? 0 : err_set(w->err, -ENOMEM, "out of memory");

	while (!r && (entry = fts_read(walk))) {
		if (entry->fts_level > 0 && entry->fts_name[0] == '.')
			fts_set(walk, entry, FTS_SKIP);
		else if (entry->fts_info == FTS_F)
			r = add_file(w, entry->fts_path, session,
				     entry->fts_path + skip);
	}
	if (walk)
		fts_close(walk);
	free(copy);
	return r;
}

/* One file, or a folder of them. */
static int add_perf_data(const struct writing *w, const char *path, const char *session)
{
	struct stat st;

	if (!strcmp(path, "-") || stat(path, &st))
		return err_set(w->err, -EINVAL,
			       "%s: a stream cannot be archived: write it to a file "
			       "first",
			       path);
	if (S_ISREG(st.st_mode))
		return add_file(w, path, session, ARCHIVE_PERF_DATA);
	if (S_ISDIR(st.st_mode))
		return add_session(w, path, session);
	return err_set(w->err, -EINVAL,
		       "%s: a pipe cannot be archived: write it to a file first", path);
}

static bool is_plain(const struct report_session *s)
{
	const char *slash = strrchr(s->dir, '/');

	return !s->perf_data && s->name[0] != '.' && !strchr(s->name, '/') &&
	       archive_name_ok(s->name) && !strcmp(s->name, slash ? slash + 1 : s->dir);
}

/* Whether another session has this name in the archive, on its own account. */
static bool is_used(const struct writing *w, const char *name)
{
	for (size_t i = 0; i < w->sources->sessions.nr; i++) {
		const struct report_session *s = &w->sources->sessions.at[i];

		if (is_plain(s) && !strcmp(s->name, name))
			return true;
	}
	return false;
}

int archive_sessions(const struct report_sources *sources, archive_session_fn fn,
		     void *ctx, struct err *err)
{
	const struct writing w = { fn, ctx, err, sources };
	char numbered[32] = "current";
	unsigned int next = 2;
	int r = 0;

	for (size_t i = 0; !r && i < sources->sessions.nr; i++) {
		const struct report_session *s = &sources->sessions.at[i];
		const char *name = s->name;

		if (!is_plain(s)) {
			while (is_used(&w, numbered))
				snprintf(numbered, sizeof(numbered), "current-%u",
					 next++);
			name = numbered;
		}
		r = s->perf_data ? add_perf_data(&w, s->dir, name)
				 : add_session(&w, s->dir, name);
		if (name == numbered)
			snprintf(numbered, sizeof(numbered), "current-%u", next++);
	}
	return r;
}

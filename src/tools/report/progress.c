/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/report/progress.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "aggregate/profile/profile.h"
#include "format/session/session.h"
#include "recordings/sources.h"
#include "tools/cli/progress.h"

/* Returns the size of a file or directory; 0 if unknown. */
static uint64_t report_progress_file_bytes(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
}

static uint64_t session_bytes(const char *dir)
{
	uint64_t bytes = 0;
	char **paths;
	size_t nr;

	if (session_list(dir, &paths, &nr, NULL))
		return 0;
	for (size_t i = 0; i < nr; i++)
		bytes += report_progress_file_bytes(paths[i]);
	session_list_free(paths, nr);
	return bytes;
}

static uint64_t total_bytes(const struct report_sources *sources)
{
	uint64_t total = 0;

	for (size_t i = 0; i < sources->sessions.nr; i++) {
		const struct report_session *s = &sources->sessions.at[i];
		uint64_t bytes = s->perf_data ? report_progress_file_bytes(s->dir)
					      : session_bytes(s->dir);

		if (!bytes)
			return 0;
		total += bytes;
	}
	return total;
}

static void report_progress_show(void *ctx, uint64_t done, uint64_t total)
{
	const struct report_progress *p = ctx;

	/* For a single file, the reader reports a better total than the file size. */
	if (p->sources->sessions.nr == 1 && p->sources->sessions.at[0].perf_data)
		progress_bytes(done, total);
	else
		progress_bytes(p->done + done, p->total);
}

void report_progress_begin(struct report_progress *p,
			   const struct report_sources *sources,
			   struct profile_options *options)
{
	*p = (struct report_progress){ .sources = sources,
				       .total = total_bytes(sources) };
	options->progress = report_progress_show;
	options->progress_ctx = p;
	progress_begin("reading");
}

void report_progress_file(struct report_progress *p, const char *path)
{
	p->done += report_progress_file_bytes(path);
}

void report_progress_end(void)
{
	progress_end();
}

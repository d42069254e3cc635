/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "archive/make/perf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "archive/make/collect.h"
#include "archive/make/out.h"
#include "base/err.h"
#include "base/files/scratch.h"
#include "format/archive/pack.h"
#include "recordings/sample_filter.h"

enum {
	DATE_BYTES = 32,
	HOST_BYTES = 256
};

/* Returns the suffix of the output's name: perf's .bz2 if this build has libbz2, otherwise that of
 * zstd. */
static const char *suffix(void)
{
	return packing_available(PACKING_BZIP2) ? "bz2" : "zst";
}

/* Returns perf's name for the archive of binaries, next to the perf.data (malloc'd). */
static char *name_of_symbols(const struct archive_request *q)
{
	const struct report_session *s = q->sources->sessions.at;
	char *path;

	return asprintf(&path, "%s.tar.%s",
			q->sources->sessions.nr && s->perf_data ? s->dir : "perf.data",
			suffix()) < 0
		       ? NULL
		       : path;
}

static char *name_of_all(void)
{
	char date[DATE_BYTES], host[HOST_BYTES] = "";
	time_t now = time(NULL);
	struct tm tm;
	char *path;

	strftime(date, sizeof(date), "%Y%m%d-%H%M%S", localtime_r(&now, &tm));
	(void)gethostname(host, sizeof(host) - 1);
	return asprintf(&path, "perf.all-%s-%s.tar.%s", host, date, suffix()) < 0
		       ? NULL
		       : path;
}

static int archive_perf_write_symbols(struct archive_request *q, const char *path,
				      struct err *err)
{
	int incomplete, r = archive_out_new(path, ARCHIVE_TAR, &q->out, err);

	if (r)
		return r;
	incomplete = archive_collect(q, err);
	r = incomplete < 0 ? incomplete : 0;
	if (!r && !archive_out_files(q->out))
		r = err_set(
			err, -ENODATA,
			"nothing to archive: no sampled binary with a build-id was found");
	if (!r)
		r = archive_out_finish(q->out, err);
	archive_out_free(q->out);
	q->out = NULL;
	return r ? r : incomplete;
}

/* ---- including the recording ---- */

static int check_all(const struct archive_request *q, struct err *err)
{
	const struct report_session *s = q->sources->sessions.at;
	struct stat st;

	if (script_filter_needed(q->spec))
		return err_set(
			err, -EINVAL,
			"--all copies the perf.data file unchanged: remove the profile specification (`oprofile export perf-data` makes a perf.data of the selected samples)");
	if (q->sources->sessions.nr != 1 || !s->perf_data || stat(s->dir, &st) ||
	    !S_ISREG(st.st_mode))
		return err_set(
			err, -EINVAL,
			"--all: name one perf.data file (`oprofile export perf-data` makes one of a session)");
	return 0;
}

static int write_both(struct archive_request *q, const char *path, const char *symbols,
		      struct err *err)
{
	const char *data = q->sources->sessions.at[0].dir;
	const char *slash = strrchr(data, '/');
	struct archive_out *out;
	char *name;
	int r = archive_out_new(path, ARCHIVE_TAR, &out, err);

	if (r)
		return r;
	r = archive_out_add(out, data, slash ? slash + 1 : data, err);
	if (!r && asprintf(&name, "perf.symbols.tar.%s", suffix()) < 0)
		r = err_set(err, -ENOMEM, "out of memory");
	else if (!r) {
		r = archive_out_add(out, symbols, name, err);
		free(name);
	}
	if (r > 0)
		r = err_set(
			err, -EINVAL,
			"cannot copy '%s' into the archive; a warning gives the reason",
			data);
	if (!r)
		r = archive_out_finish(out, err);
	archive_out_free(out);
	return r;
}

static int archive_perf_write_all(struct archive_request *q, const char *path,
				  struct err *err)
{
	struct scratch *making = NULL;
	char *symbols = NULL;
	int r = check_all(q, err), incomplete = 0;

	if (!r)
		r = scratch_new_next_to(path, &making, err);
	if (!r && asprintf(&symbols, "%s/symbols.tar.%s", scratch_folder(making),
			   suffix()) < 0) {
		symbols = NULL;
		r = err_set(err, -ENOMEM, "out of memory");
	}
	if (!r) {
		incomplete = archive_perf_write_symbols(q, symbols, err);
		r = incomplete < 0 ? incomplete : write_both(q, path, symbols, err);
	}
	free(symbols);
	scratch_free(making);
	return r ? r : incomplete;
}

int archive_perf(struct archive_request *request, const char *path, bool all,
		 char **ret_path, struct err *err)
{
	char *to = path ? strdup(path) : all ? name_of_all() : name_of_symbols(request);
	int r;

	if (!to)
		return err_set(err, -ENOMEM, "out of memory");
	r = all ? archive_perf_write_all(request, to, err)
		: archive_perf_write_symbols(request, to, err);
	if (r < 0)
		free(to);
	else
		*ret_path = to;
	return r;
}

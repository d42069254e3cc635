/* SPDX-License-Identifier: GPL-2.0-or-later */
/* odb.c - `oprofile export odb`: writes a session directory of OProfile 1.x. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/err.h"
#include "import/odb_write.h"
#include "recordings/sources.h"
#include "tools/cli/command.h"
#include "tools/export/export.h"

static int odb_read_session(struct odb_writer *x, const struct report_session *from,
			    struct err *err)
{
	if (from->perf_data)
		return err_set(err, -EINVAL,
			       "'%s' is not a session: import it first, with opimport",
			       from->name);
	return odb_writer_read(x, from->dir, from->trust, err);
}

static int odb_check_output(const struct export_run *run, struct err *err)
{
	const char *dir = run->options->output;
	struct stat st;
	char *path;
	int r;

	if (!dir)
		return err_set(err, -EINVAL,
			       "odb: give a new directory with --output-file");
	if (asprintf(&path, "%s/samples/current", dir) < 0)
		return err_set(err, -ENOMEM, "out of memory");
	r = lstat(path, &st) ? 0 : -EEXIST;
	if (r)
		err_set(err, r, "'%s' exists: give a directory without a session",
			path);
	free(path);
	return r;
}

int export_odb(struct export_run *run, struct err *err)
{
	struct odb_writer x = { .spec = run->spec };
	int r = odb_check_output(run, err);

	for (size_t i = 0; !r && i < run->sources->sessions.nr; i++)
		r = odb_read_session(&x, &run->sources->sessions.at[i], err);
	if (!r && !x.files.nr && x.unmapped)
		r = err_set(
			err, -ENODATA,
			"no samples to export: sample files cannot represent the names or code of all %" PRIu64,
			x.unmapped);
	else if (!r && !x.files.nr)
		r = err_set(err, -ENODATA, "no samples to export");
	if (!r)
		r = odb_writer_write(&x, run->options->output, err);
	run->incomplete |= x.is_incomplete;
	if (!r && x.overflowed)
		command_warning(
			"some counts exceed the 32 bits of sample files: they are too small");
	if (!r && x.unmapped)
		command_warning(
			"%" PRIu64
			" samples are not exported: sample files cannot represent code outside of files, or names with \"..\" or control characters",
			x.unmapped);
	if (!r && run->options->verbose)
		fprintf(stderr, "%" PRIu64 " samples in %zu files\n", x.samples,
			x.files.nr);
	odb_writer_done(&x);
	return r;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* afdo.c - `oprofile export afdo`: writes a sample profile for clang. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "present/export/afdo.h"
#include "resolve/find/index_cache.h"
#include "resolve/lines/lines.h"
#include "resolve/symbolize/lines.h"
#include "tools/cli/command.h"
#include "tools/export/export.h"
#include "tools/report/out.h"

struct export_afdo_making {
	struct afdo *afdo;
	struct lines_options lines;
};

static int export_afdo_add_source(void *ctx, const struct code_counts *counts,
				  const struct dict *dict, struct naming *naming,
				  struct err *err)
{
	struct export_afdo_making *m = ctx;

	naming_want_lines(naming);
	if (afdo_add(m->afdo, counts, dict, naming, &m->lines))
		return err_set(err, -ENOMEM, "out of memory");
	return 0;
}

static int export_afdo_check(const struct export_afdo_making *m, struct err *err)
{
	struct afdo_stats s;

	if (afdo_nr_functions(m->afdo, &s)) {
		if (s.without_start)
			command_warning(
				"%" PRIu64
				" samples left out: the start lines of their functions are unknown: compile with -fdebug-info-for-profiling",
				s.without_start);
		return 0;
	}
	if (s.without_start)
		return err_set(
			err, -ENODATA,
			"the start lines of the functions of the %" PRIu64
			" samples are unknown: compile with -g, or -gmlt and -fdebug-info-for-profiling",
			s.without_start);
	return err_set(err, -ENODATA,
		       "none of the %" PRIu64
		       " samples is in code with debug information: "
		       "compile with -g, or -gmlt and -fdebug-info-for-profiling",
		       s.without_lines);
}

static int export_afdo_make_it(struct export_afdo_making *m, struct export_run *run,
			       struct report_out *out, struct err *err)
{
	int r = report_out_open(out, run->options->output, err);

	if (!r)
		r = export_code_read(run, export_afdo_add_source, m, err);
	if (!r)
		r = export_afdo_check(m, err);
	if (!r && afdo_write(m->afdo, out->file))
		r = err_set(err, -ENOMEM, "out of memory");
	return r;
}

static void export_afdo_say(const struct export_afdo_making *m)
{
	struct afdo_stats s;
	size_t nr = afdo_nr_functions(m->afdo, &s);

	fprintf(stderr,
		"%zu functions; %" PRIu64 " samples, %" PRIu64
		" without debug information\n",
		nr, s.used, s.without_lines);
}

int export_afdo(struct export_run *run, struct err *err)
{
	char *cache = index_cache_dir();
	struct export_afdo_making m = { .lines = { .cache_dir = cache } };
	struct report_out out = { 0 };
	int r = afdo_new(&m.afdo), closed;

	if (r)
		err_set(err, r, "out of memory");
	else
		r = export_afdo_make_it(&m, run, &out, err);
	closed = report_out_close(&out,
				  r ? EXPORT_DROPPED : report_out_end(run->is_private),
				  r ? NULL : err);
	if (!r && !closed && run->options->verbose)
		export_afdo_say(&m);
	afdo_free(m.afdo);
	free(cache);
	return r ? r : closed;
}

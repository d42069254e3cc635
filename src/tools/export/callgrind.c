/* SPDX-License-Identifier: GPL-2.0-or-later */
/* callgrind.c - `oprofile export callgrind`: writes one file per application. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/strtab.h"
#include "base/err.h"
#include "present/export/callgrind.h"
#include "present/lines/screen.h"
#include "tools/export/export.h"
#include "tools/report/out.h"
#include "tools/report/plan.h"
#include "tools/report/progress.h"
#include "tools/report/read.h"

static const char usual_prefix[] = "callgrind.out";

static int export_callgrind_write_one(const struct export_run *run, struct callgrind *c,
				      size_t app, const char *path, struct err *err)
{
	struct report_out out = { 0 };
	int r = report_out_open(&out, path, err), closed;

	if (!r)
		r = callgrind_write(c, app, out.file, err);
	closed = report_out_close(&out,
				  r ? EXPORT_DROPPED : report_out_end(run->is_private),
				  r ? NULL : err);
	return r ? r : closed;
}

static int write_each(const struct export_run *run, struct callgrind *c,
		      struct err *err)
{
	const char *prefix = run->options->output ? run->options->output : usual_prefix;
	struct strtab used;
	int r = strtab_init(&used);

	if (r)
		return err_set(err, r, "out of memory");
	for (size_t i = 0; !r && i < callgrind_nr_apps(c); i++) {
		char *name = report_out_app_path(&used, prefix, callgrind_app(c, i));

		r = name ? export_callgrind_write_one(run, c, i, name, err)
			 : err_set(err, -ENOMEM, "out of memory");
		if (!r && run->options->verbose)
			screen_print_line(stderr, "%s", name);
		free(name);
	}
	strtab_done(&used);
	return r;
}

static int export_callgrind_write_all(const struct export_run *run, struct profile *p,
				      const struct present_options *present,
				      struct err *err)
{
	const char *output = run->options->output;
	struct callgrind *c;
	int r = callgrind_new(p, present->threshold, &c, err);

	if (r)
		return r;
	if (output && (!strcmp(output, "-") || callgrind_nr_apps(c) == 1)) {
		if (callgrind_nr_apps(c) > 1)
			r = err_set(
				err, -EINVAL,
				"there are %zu applications, each with a separate file: select one, for example image:%s",
				callgrind_nr_apps(c), callgrind_app(c, 0));
		else
			r = export_callgrind_write_one(run, c, 0, output, err);
	} else {
		r = write_each(run, c, err);
	}
	callgrind_free(c);
	return r;
}

int export_callgrind(struct export_run *run, struct err *err)
{
	struct report_plan plan = { 0 };
	struct report_read read = { 0 };
	int r = export_profile_read(run, &plan, &read, err);

	run->is_private = report_read_is_private(&read, &plan);
	if (!r)
		r = export_callgrind_write_all(run, &read.profile, &plan.present, err);
	profile_done(&read.profile);
	report_plan_done(&plan);
	return r;
}

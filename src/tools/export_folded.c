/* export_folded.c - `oprofile export folded`: stacks for flame graphs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "base/io.h"
#include "present/writers.h"
#include "tools/export.h"
#include "tools/report_plan.h"
#include "tools/report_progress.h"
#include "tools/report_read.h"

static int put_out(const char *path, const char *bytes, size_t len, struct err *err)
{
	int r = path ? io_write_file(path, bytes, len, 0666)
		     : io_write_all(STDOUT_FILENO, bytes, len);

	return r ? err_sys(err, r, "%s: cannot write", path ? path : "standard output")
		 : 0;
}

/* All at once: what is there may be what was read, and stays if this fails. */
static int write_out(struct profile *p, const struct present_options *present,
		     const char *path, struct err *err)
{
	char *bytes = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&bytes, &len);
	int r;

	if (!out)
		return err_set(err, -ENOMEM, "out of memory");
	r = write_folded(out, p, present, err);
	if ((ferror(out) | fclose(out)) && !r)
		r = err_set(err, -ENOMEM, "out of memory");
	if (!r)
		r = put_out(path, bytes, len, err);
	free(bytes);
	return r;
}

static int export_it(struct export_run *run, struct report_plan *plan,
		     struct report_read *read, struct err *err)
{
	int r = report_plan_make(plan, run->words, err);

	if (!r)
		r = report_read_all(read, plan, err);
	report_progress_end();
	run->incomplete = report_warn_of_damage(read);
	return r ? r
		 : write_out(&read->profile, &plan->present, run->options->output, err);
}

static int run_folded(struct export_run *run, struct err *err)
{
	struct report_plan plan = { 0 };
	struct report_read read = { 0 };
	int r;

	plan.options.by = "comm,stack";
	plan.options.places = run->options->places;
	plan.options.session_dir = run->options->session_dir;
	r = export_it(run, &plan, &read, err);
	profile_done(&read.profile);
	report_plan_done(&plan);
	return r;
}

const struct export_format export_folded = {
	.name = "folded",
	.finds_sources = true,
	.run = run_folded,
};

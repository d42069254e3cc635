/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bolt.c - `oprofile export bolt` (present/export/bolt.h). */
#include "present/export/bolt.h"
#include "base/err.h"
#include "present/lines/screen.h"
#include "record/keep/copy_rule.h"
#include "tools/export/export.h"
#include "tools/report/out.h"

int export_bolt(struct export_run *run, struct err *err)
{
	struct report_out out = { 0 };
	struct bolt *bolt;
	const char *binary;
	int r = bolt_new(&bolt, err), closed;

	if (r)
		return r;
	r = report_out_open(&out, run->options->output, err);
	if (!r)
		r = export_code_read(run, bolt_add_source, bolt, err);
	if (!r)
		r = bolt_write(bolt, out.file, err);
	binary = bolt_binary(bolt);
	run->is_private |= binary && copy_rule_is_private(binary);
	closed = report_out_close(&out,
				  r ? EXPORT_DROPPED : report_out_end(run->is_private),
				  r ? NULL : err);
	if (!r && !closed && run->options->verbose)
		screen_print_line(stderr, "of %s: %s", binary,
				  bolt_has_branches(bolt) ? "branches" : "samples");
	bolt_free(bolt);
	return r ? r : closed;
}

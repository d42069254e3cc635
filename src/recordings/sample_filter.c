/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recordings/sample_filter.h"

#include <errno.h>

#include "aggregate/selection/sample.h"
#include "base/err.h"

bool script_filter_needed(const struct spec *spec)
{
	for (size_t i = 0; i < SPEC_COUNT; i++)
		if (i != SPEC_SESSION && i != SPEC_SESSION_EXCLUDE &&
		    (spec->lists[i].text || spec->lists[i].values.nr))
			return true;
	return spec->spans.nr != 0;
}

void script_filter_init(struct script_filter *f, const struct spec *spec,
			const struct dict *dict, struct naming *naming,
			const char *vmlinux)
{
	*f = (struct script_filter){ .on = script_filter_needed(spec),
				     .ask_symbols = spec_has_symbols(spec) };
	selection_init(&f->selection, spec, dict, vmlinux);
	selection_symbols_init(&f->symbols, naming);
}

void script_filter_done(struct script_filter *f)
{
	selection_done(&f->selection);
	selection_symbols_done(&f->symbols);
}

int script_filter_times(struct script_filter *f, const struct session_span *span,
			struct err *err)
{
	if (selection_set_times(&f->selection, span))
		return err_set(err, -ENOMEM, "out of memory");
	if (f->selection.times_known)
		return 0;
	return err_set(
		err, -ENODATA,
		"time: percentages need known start and end times of the samples: give seconds, such as time:1.5s-3s");
}

int script_filter_wants(struct script_filter *f, const struct sample *sample)
{
	int r;

	if (!f->on)
		return 1;
	r = selection_wants_one(&f->selection, sample);
	if (r > 0 && f->ask_symbols)
		r = selection_wants_symbol(&f->symbols, &f->selection, sample->stack);
	f->skipped += !r;
	return r;
}

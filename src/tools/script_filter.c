#include "tools/script_filter.h"

#include <errno.h>

#include "aggregate/selection_sample.h"
#include "aggregate/symbol_filter.h"
#include "base/err.h"
#include "resolve/naming.h"

enum {
	UNKNOWN, /* not asked yet */
	WANTED,
	NOT_WANTED
};

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
				     .symbols = spec_has_symbols(spec),
				     .naming = naming };
	selection_init(&f->selection, spec, dict, vmlinux);
}

void script_filter_done(struct script_filter *f)
{
	selection_done(&f->selection);
	vec_done(&f->by_frame);
}

int script_filter_times(struct script_filter *f, const struct session_span *span,
			struct err *err)
{
	if (selection_set_times(&f->selection, span))
		return err_set(err, -ENOMEM, "out of memory");
	if (f->selection.times_known)
		return 0;
	return err_set(err, -ENODATA,
		       "time: it is not known when the samples begin and end, so there "
		       "are no shares of it: give seconds, such as time:1.5s-3s");
}

static uint8_t ask(const struct script_filter *f, uint32_t number)
{
	const struct frame *frame = &f->selection.dict->frames.at[number];
	const struct symbol *symbol =
		naming_find(f->naming, frame->image, frame->offset, NULL);

	if (!symbol || !symbol_filter_wants(NULL, f->selection.spec, symbol->name))
		return NOT_WANTED;
	return WANTED;
}

static int wants_symbol(struct script_filter *f, uint32_t stack)
{
	const struct dict *d = f->selection.dict;
	uint32_t frame = stack < d->stacks.nr ? d->stacks.at[stack].frame : DICT_NONE;

	if (frame >= d->frames.nr)
		return 0;
	while (f->by_frame.nr <= frame)
		if (!vec_push(&f->by_frame, UNKNOWN))
			return -ENOMEM;
	if (f->by_frame.at[frame] == UNKNOWN)
		f->by_frame.at[frame] = ask(f, frame);
	return f->by_frame.at[frame] == WANTED;
}

int script_filter_wants(struct script_filter *f, const struct sample *sample)
{
	const struct sample_batch one = {
		.nr = 1,
		.time_ns = &sample->time_ns,
		.period = &sample->period,
		.thread = &sample->thread,
		.event = &sample->event,
		.stack = &sample->stack,
		.cpu = &sample->cpu,
	};
	int r;

	if (!f->on)
		return 1;
	r = selection_wants_sample(&f->selection, &one, 0);
	return r > 0 && f->symbols ? wants_symbol(f, sample->stack) : r;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/text/header.h"

#include <inttypes.h>
#include <stdbool.h>

#include "aggregate/profile/profile.h"
#include "base/buf.h"
#include "present/lines/confidence.h"
#include "present/lines/lines.h"
#include "present/lines/screen.h"

/* In units of SESSION_SHARE_WHOLE: smaller shares are reported. */
enum {
	SHARE_REPORTED = 9900
};

/* Writes the sampling rate of an event. Warns if there were several, because sample counts are not
 * weighted by the rate. */
static void write_rate(FILE *out, const struct profile *p,
		       const struct profile_event *e)
{
	if (e->least_hz < e->most_hz) {
		fprintf(out,
			"Sampling rate: %" PRIu64 " to %" PRIu64
			" samples per second and CPU\n",
			e->least_hz, e->most_hz);
		screen_write_name(out, strtab_get(&p->strings, e->name));
		fputs(" was sampled at different rates: compare the sums of periods, not the numbers of samples\n",
		      out);
	} else if (profile_event_hz(e)) {
		fprintf(out, "Sampling rate: %" PRIu64 " samples per second and CPU\n",
			profile_event_hz(e));
	}
}

static void write_counted(FILE *out, const struct profile *p,
			  const struct profile_event *e)
{
	bool several = e->unit_mask & (e->unit_mask - 1);
	const char *about = strtab_get(&p->strings, e->mask_about);
	const char *mask = *about         ? about
			   : several      ? "multiple flags"
			   : e->unit_mask ? "one flag"
					  : "No unit mask";

	fputs("Counted ", out);
	screen_write_name(out, strtab_get(&p->strings, e->name));
	fputs(" events (", out);
	screen_write_name(out, strtab_get(&p->strings, e->about));
	fprintf(out, ") with a unit mask of 0x%02" PRIx64 " (", e->unit_mask);
	screen_write_name(out, mask);
	fprintf(out, ") count %" PRIu64 "\n", e->count);
}

static void write_event(FILE *out, const struct profile *p,
			const struct profile_event *e)
{
	if (e->flags & EVENT_TIMER)
		fputs("Profiling through timer interrupt\n", out);
	else
		write_counted(out, p, e);
	if (e->share && e->share - 1 < SHARE_REPORTED) {
		screen_write_name(out, strtab_get(&p->strings, e->name));
		fprintf(out,
			" was counted for %.1f %% of the time, multiplexed with other events\n",
			(double)(e->share - 1) * 100 / SESSION_SHARE_WHOLE);
	}
	if (e->flags & EVENT_MEMBER) {
		screen_write_name(out, strtab_get(&p->strings, e->name));
		fprintf(out,
			" was read at the samples of the first event of its group: its count is the sum of its periods\n");
	}
	write_rate(out, p, e);
}

static const struct profile_event *
column_event(const struct profile *p, const struct report_lines *lines, size_t i)
{
	return &p->events.at[lines->classes.columns.at[i].event];
}

/* Writes the events.  Columns of the same event are adjacent; columns of processors, threads or
 * processes share a single event. */
static void write_events(FILE *out, const struct profile *p,
			 const struct report_lines *lines)
{
	for (size_t i = 0; i < lines->nr_columns; i++) {
		if (!i || column_event(p, lines, i) != column_event(p, lines, i - 1))
			write_event(out, p, column_event(p, lines, i));
	}
}

static void write_columns(FILE *out, const struct report_lines *lines)
{
	struct buf text = { 0 };

	for (size_t i = 0; i < lines->nr_columns; i++) {
		buf_clear(&text);
		classes_put_about(&lines->classes, i, &text);
		if (!text.len || text.failed)
			continue;
		screen_make_safe(&text, 0);
		fwrite(text.data, 1, text.len, out);
		fputc('\n', out);
	}
	buf_done(&text);
}

void header_write(FILE *out, const struct profile *p, const struct report_lines *lines)
{
	const char *cpu = strtab_get(&p->strings, p->input.cpu_desc);
	bool timer = lines->nr_columns;

	for (size_t i = 0; i < lines->nr_columns; i++)
		timer &= !!(column_event(p, lines, i)->flags & EVENT_TIMER);
	if (timer)
		cpu = "CPU with timer interrupt";
	fputs("CPU: ", out);
	screen_write_name(out, *cpu ? cpu : "unknown");
	if (p->input.cpu_mhz > 0)
		fprintf(out, ", speed %g MHz (estimated)", p->input.cpu_mhz);
	fputc('\n', out);
	write_events(out, p, lines);
	write_columns(out, lines);
	if (lines->confidence > 0)
		confidence_write_note(out, p, lines->confidence);
}

#include "present/header.h"

#include <inttypes.h>
#include <stdbool.h>

#include "aggregate/profile.h"
#include "present/lines.h"

static void write_event(FILE *out, const struct profile *p,
			const struct profile_event *e)
{
	const char *mask = e->unit_mask ? "multiple flags" : "No unit mask";

	if (e->flags & EVENT_TIMER)
		fputs("Profiling through timer interrupt\n", out);
	else
		fprintf(out,
			"Counted %s events (%s) with a unit mask of 0x%02" PRIx64
			" (%s) count %" PRIu64 "\n",
			strtab_get(&p->strings, e->name),
			strtab_get(&p->strings, e->about), e->unit_mask, mask,
			e->count);
	if (e->frequency_hz)
		fprintf(out, "Sampling rate: %" PRIu64 " samples per second and CPU\n",
			e->frequency_hz);
}

void header_write(FILE *out, const struct profile *p, const struct lines *lines)
{
	const char *cpu = strtab_get(&p->strings, p->input.cpu_desc);
	bool timer = lines->events.nr;

	for (size_t i = 0; i < lines->events.nr; i++)
		timer &= !!(p->events.at[lines->events.at[i]].flags & EVENT_TIMER);
	if (timer)
		cpu = "CPU with timer interrupt";
	fprintf(out, "CPU: %s", *cpu ? cpu : "unknown");
	if (p->input.cpu_mhz > 0)
		fprintf(out, ", speed %g MHz (estimated)", p->input.cpu_mhz);
	fputc('\n', out);
	for (size_t i = 0; i < lines->events.nr; i++)
		write_event(out, p, &p->events.at[lines->events.at[i]]);
}

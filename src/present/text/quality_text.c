/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/text/quality_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "aggregate/profile/profile.h"
#include "aggregate/views/quality.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/containers/vec.h"
#include "base/err.h"
#include "base/files/faults.h"
#include "base/saturate.h"
#include "present/lines/json.h"
#include "present/lines/percent.h"
#include "present/lines/screen.h"
#include "present/text/text_writers.h"
#include "resolve/elf/build_id.h"
#include "resolve/find/debug_remedy.h"
#include "resolve/unwind/unwind.h"

enum {
	/* Maximum number of images with unresolved samples, in text. */
	IMAGES_SHOWN = 20
};

typedef VEC(uint32_t) numbers;

static int compare_unresolved(const void *va, const void *vb, void *ctx)
{
	const struct profile *p = ctx;
	const struct profile_image *a = &p->images.at[*(const uint32_t *)va];
	const struct profile_image *b = &p->images.at[*(const uint32_t *)vb];
	int order;

	if (a->unresolved != b->unresolved)
		return a->unresolved > b->unresolved ? -1 : 1;
	order = strcmp(strtab_get(&p->strings, a->name),
		       strtab_get(&p->strings, b->name));
	if (order)
		return order;
	return memcmp(&a->build_id, &b->build_id, sizeof(a->build_id));
}

/* Collects the images that have samples without a function, in descending order. */
static int unresolved_images(struct profile *p, numbers *images)
{
	for (uint32_t i = 0; i < p->images.nr; i++) {
		if (p->images.at[i].unresolved && !vec_push(images, i))
			return -ENOMEM;
	}
	if (images->nr)
		qsort_r(images->at, images->nr, sizeof(*images->at), compare_unresolved,
			p);
	return 0;
}

static void write_share(FILE *out, const char *title, uint64_t samples,
			const struct profile *p, const char *meaning)
{
	char percent[PERCENT_MAX];

	percent_format(percent_of(samples, p->quality.samples), percent);
	fprintf(out, "  %-14s%12" PRIu64 " %s %%  %s\n", title, samples, percent,
		meaning);
}

/* Writes, below the line of an image, the command that makes its symbols available. */
static int write_fix(FILE *out, const struct profile *p, uint32_t number,
		     const struct distribution *distribution)
{
	struct buf fix = { 0 };
	int r = 0;

	quality_put_fix(p, number, distribution, &fix);
	screen_make_safe(&fix, 0);
	if (fix.failed)
		r = -ENOMEM;
	else if (fix.len)
		fprintf(out, "  %38sfix: %.*s\n", "", (int)fix.len,
			(const char *)fix.data);
	buf_done(&fix);
	return r;
}

static void write_image(FILE *out, const struct profile *p, uint32_t number)
{
	const struct profile_image *image = &p->images.at[number];
	const struct quality_reason *reason = quality_reason(p, number);
	char hex[2 * BUILD_ID_MAX + 1];
	char percent[PERCENT_MAX];

	build_id_to_hex(&image->build_id, hex);
	percent_format(percent_of(image->unresolved, p->quality.samples), percent);
	fprintf(out, "  %14s%12" PRIu64 " %s %%  ", "", image->unresolved, percent);
	screen_write_name(out, strtab_get(&p->strings, image->name));
	fprintf(out, " (build-id %s): %s; %s\n", *hex ? hex : "unknown", reason->why,
		reason->help);
}

static int write_unresolved(FILE *out, struct profile *p)
{
	const struct distribution *distribution = distribution_find("");
	int r = 0;
	numbers images = { 0 };

	if (unresolved_images(p, &images)) {
		vec_done(&images);
		return -ENOMEM;
	}
	write_share(out, "unresolved", p->quality.unresolved, p,
		    "have no function name");
	for (size_t i = 0; !r && i < images.nr && i < IMAGES_SHOWN; i++) {
		write_image(out, p, images.at[i]);
		r = write_fix(out, p, images.at[i], distribution);
	}
	if (images.nr > IMAGES_SHOWN)
		fprintf(out, "  %14sand %zu more images\n", "",
			images.nr - IMAGES_SHOWN);
	vec_done(&images);
	return r;
}

static uint64_t nr_unreadable(void)
{
	return fault_count(FAULT_UNREADABLE) + fault_count(FAULT_REFUSED);
}

static void write_input(FILE *out, const struct profile *p)
{
	const struct profile_input *in = &p->input;
	const struct session_totals *t = &in->totals;
	char percent[PERCENT_MAX];

	percent_format(percent_of(t->lost, saturating_add(t->lost, t->samples)),
		       percent);
	fprintf(out, "  %-14s%12" PRIu64 "\n", "samples", p->quality.samples);
	fprintf(out,
		"  %-14s%12" PRIu64
		" %s %%  samples lost because the kernel's buffers were full\n",
		"lost", t->lost, percent);
	if (t->dropped)
		fprintf(out,
			"  %-14s%12" PRIu64
			"            samples dropped: the recorder had too little memory or disk space\n",
			"", t->dropped);
	if (t->lost_records)
		fprintf(out,
			"  %-14s%12" PRIu64
			"            other lost records: some samples can have wrong names\n",
			"", t->lost_records);
	fprintf(out,
		"  %-14s%12" PRIu64 "            times the kernel throttled sampling\n",
		"throttled", t->throttled);
	fprintf(out, "  %-14s%12" PRIu64 "            malformed records\n",
		"undecodable", t->undecodable);
	fprintf(out,
		"  %-14s%12" PRIu64 "            blocks; %" PRIu64
		" bytes cut off, %" PRIu64 " samples without their data, %" PRIu64
		" missing, %" PRIu32 " of %" PRIu32 " segments unfinished\n",
		"damaged", in->damage.bad_blocks, in->damage.cut_bytes,
		in->damage.bad_samples, in->damage.missing_samples, in->nr_unfinished,
		in->nr_segments);
	fprintf(out,
		"  %-14s%12" PRIu64
		"            files that do not match their checksums\n",
		"", fault_count(FAULT_DAMAGED));
	fprintf(out,
		"  %-14s%12" PRIu64
		"            files that the recording lists, but that do not exist\n",
		"missing", fault_count(FAULT_MISSING));
	fprintf(out,
		"  %-14s%12" PRIu64
		"            files that exist, but cannot be read\n",
		"unreadable", nr_unreadable());
}

/* Writes why incomplete user stacks end, among the unwound stacks. */
static void write_ends(FILE *out, const struct profile *p)
{
	const uint64_t *ends = p->input.totals.stack_ends;
	uint64_t all = 0;
	char percent[PERCENT_MAX];

	for (unsigned int i = 0; i < UNWIND_ENDS; i++)
		all += ends[i];
	for (unsigned int i = 0; i < UNWIND_ENDS; i++) {
		if (i == UNWIND_END_ROOT || !ends[i])
			continue;
		percent_format(percent_of(ends[i], all), percent);
		fprintf(out, "  %14s%12" PRIu64 " %s %%  of those unwound: %s\n", "",
			ends[i], percent, unwind_end_text(i));
	}
}

static bool any_timer(const struct profile *p)
{
	for (size_t i = 0; i < p->events.nr; i++) {
		if (p->events.at[i].flags & EVENT_TIMER)
			return true;
	}
	return false;
}

/* Returns the share of its enabled time during which the event had a counter, in percent, or 100
 * if it is unknown. */
static double event_share(const struct profile_event *e)
{
	return e->share ? percent_of(e->share - 1U, SESSION_SHARE_WHOLE) : 100;
}

/* Writes the facts that make the samples of an event differ from its requested rate. */
static void write_event_precision(FILE *out, const struct profile *p, uint32_t number)
{
	const struct profile_event *e = &p->events.at[number];
	char percent[PERCENT_MAX];

	if (e->least_hz < e->most_hz) {
		fprintf(out, "  %-14s%12" PRIu64 "            samples per second of ",
			"rate", e->least_hz);
		screen_write_name(out, profile_event_name(p, number));
		fprintf(out,
			" in a part of the recording, %" PRIu64
			" in others: compare times, not sample counts\n",
			e->most_hz);
	}
	if (event_share(e) < 100) {
		percent_format(event_share(e), percent);
		fprintf(out, "  %-14s%12s %s %%  of the time, ", "multiplexed", "",
			percent);
		screen_write_name(out, profile_event_name(p, number));
		fputs(" had a counter: record fewer events at once\n", out);
	}
}

static void write_seconds(FILE *out, const char *title, uint64_t ns)
{
	fprintf(out, "  %-14s%8" PRIu64 ".%03" PRIu64 " ", title, ns / NS_PER_S,
		ns % NS_PER_S / 1000000);
}

/* Writes the possible errors of the times and positions of samples. */
static void write_precision(FILE *out, const struct profile *p)
{
	for (uint32_t i = 0; i < p->events.nr; i++)
		write_event_precision(out, p, i);
	if (p->input.start_wall_ns) {
		write_seconds(out, "drift", p->input.drift_ns);
		fputs("           seconds between the wall clock and the clock of the samples\n",
		      out);
	}
	write_share(
		out, "skid", p->quality.imprecise, p,
		p->quality.imprecise
			? "of events that are not precise: they can belong to an instruction before; record EVENT:pp if the CPU supports it"
			: "of events that are not precise");
}

/* Writes the recorder's cost, which an imported recording or a perf.data does not contain. */
static void write_cost(FILE *out, const struct profile *p)
{
	const struct profile_input *in = &p->input;
	uint64_t cost = in->totals.recorder_cpu_ns;

	if (!cost) {
		fprintf(out, "  %-14s%12s            not in this recording\n",
			"recorder", "unknown");
		return;
	}
	write_seconds(out, "recorder", cost);
	fputs("           CPU seconds used by the recorder", out);
	if (in->recorded_ns)
		fprintf(out, " (%.2f %% of one CPU)",
			percent_of(cost, in->recorded_ns));
	fputc('\n', out);
}

static int write_lines(FILE *out, struct profile *p)
{
	const struct profile_quality *q = &p->quality;

	fputs("Quality of this profile:\n", out);
	write_input(out, p);
	if (write_unresolved(out, p))
		return -ENOMEM;
	if (q->has_chains) {
		write_share(out, "truncated", q->truncated, p,
			    "call chains without their outermost callers");
		write_ends(out, p);
	}
	write_share(out, "idle", q->idle, p, "taken while a CPU was idle");
	if (any_timer(p))
		write_share(
			out, "interrupts on", q->irqs_on_again, p,
			"taken when the kernel re-enabled interrupts: the timer was delayed, and the time was spent before that");
	write_share(out, "exiting", q->exiting, p,
		    "of exiting tasks whose process was already unknown");
	write_precision(out, p);
	write_cost(out, p);
	return 0;
}

int quality_write_text(FILE *out, struct profile *p)
{
	fputc('\n', out);
	return write_lines(out, p);
}

int write_quality(FILE *out, struct profile *p, const struct present_options *options,
		  struct err *err)
{
	(void)options;
	return write_lines(out, p) ? err_set(err, -ENOMEM, "out of memory") : 0;
}

static void json_ends(struct json *j, const struct profile *p)
{
	static const char *const names[UNWIND_ENDS] = {
		[UNWIND_END_ROOT] = "whole",       [UNWIND_END_NO_RULE] = "no_rule",
		[UNWIND_END_SHORT] = "short_copy", [UNWIND_END_MEMORY] = "memory",
		[UNWIND_END_ADDRESS] = "address",  [UNWIND_END_LIMIT] = "limit",
	};

	json_name(j, "unwound_stacks");
	json_begin_object(j);
	for (unsigned int i = 0; i < UNWIND_ENDS; i++)
		json_member_u64(j, names[i], p->input.totals.stack_ends[i]);
	json_end_object(j);
}

int quality_write_json_image(struct json *j, const struct profile *p, uint32_t number,
			     const struct distribution *distribution)
{
	struct buf fix = { 0 };
	bool failed;
	const struct profile_image *image = &p->images.at[number];
	const struct quality_reason *reason = quality_reason(p, number);
	char hex[2 * BUILD_ID_MAX + 1];

	build_id_to_hex(&image->build_id, hex);
	json_begin_object(j);
	json_name(j, "image");
	json_text(j, strtab_get(&p->strings, image->name));
	json_name(j, "build_id");
	json_text(j, hex);
	json_member_u64(j, "samples", image->unresolved);
	json_name(j, "why");
	json_text(j, reason->why);
	json_name(j, "help");
	json_text(j, reason->help);
	quality_put_fix(p, number, distribution, &fix);
	json_name(j, "fix");
	json_text_len(j, (const char *)fix.data, fix.len);
	json_end_object(j);
	failed = fix.failed;
	buf_done(&fix);
	return failed ? -ENOMEM : 0;
}

static void quality_json_events(struct json *j, const struct profile *p)
{
	json_name(j, "events");
	json_begin_array(j);
	for (uint32_t i = 0; i < p->events.nr; i++) {
		const struct profile_event *e = &p->events.at[i];
		char share[PERCENT_MAX];

		snprintf(share, sizeof(share), "%.2f", event_share(e));
		json_begin_object(j);
		json_member_text(j, "event", profile_event_name(p, i));
		json_name(j, "skid");
		json_bool(j, quality_has_skid(e));
		json_member_u64(j, "frequency_least", e->least_hz);
		json_member_u64(j, "frequency_most", e->most_hz);
		json_name(j, "counted_percent");
		json_number(j, share);
		json_end_object(j);
	}
	json_end_array(j);
}

static void json_input(struct json *j, const struct profile *p)
{
	const struct profile_input *in = &p->input;

	json_member_u64(j, "samples", p->quality.samples);
	json_member_u64(j, "lost", in->totals.lost);
	json_member_u64(j, "dropped", in->totals.dropped);
	json_member_u64(j, "lost_records", in->totals.lost_records);
	json_member_u64(j, "throttled", in->totals.throttled);
	json_member_u64(j, "undecodable", in->totals.undecodable);
	json_member_u64(j, "damaged_blocks", in->damage.bad_blocks);
	json_member_u64(j, "cut_bytes", in->damage.cut_bytes);
	json_member_u64(j, "damaged_samples", in->damage.bad_samples);
	json_member_u64(j, "missing_samples", in->damage.missing_samples);
	json_member_u64(j, "damaged_files", fault_count(FAULT_DAMAGED));
	json_member_u64(j, "missing_files", fault_count(FAULT_MISSING));
	json_member_u64(j, "unreadable_files", nr_unreadable());
	json_member_u64(j, "segments", in->nr_segments);
	json_member_u64(j, "unfinished_segments", in->nr_unfinished);
	json_member_u64(j, "recorder_cpu_ns", in->totals.recorder_cpu_ns);
	json_member_u64(j, "recorded_ns", in->recorded_ns);
	json_member_u64(j, "drift_ns", in->drift_ns);
}

int quality_write_json(struct json *j, struct profile *p)
{
	const struct profile_quality *q = &p->quality;
	const struct distribution *distribution = distribution_find("");
	numbers images = { 0 };
	int r = 0;

	if (unresolved_images(p, &images)) {
		vec_done(&images);
		return -ENOMEM;
	}
	json_name(j, "quality");
	json_begin_object(j);
	json_input(j, p);
	json_member_u64(j, "unresolved", q->unresolved);
	json_member_u64(j, "truncated", q->truncated);
	json_ends(j, p);
	json_member_u64(j, "idle", q->idle);
	json_member_u64(j, "interrupts_on_again", q->irqs_on_again);
	json_member_u64(j, "exiting", q->exiting);
	json_member_u64(j, "skid", q->imprecise);
	quality_json_events(j, p);
	json_name(j, "unresolved_images");
	json_begin_array(j);
	for (size_t i = 0; !r && i < images.nr; i++)
		r = quality_write_json_image(j, p, images.at[i], distribution);
	json_end_array(j);
	json_end_object(j);
	vec_done(&images);
	return r;
}

int write_quality_json(FILE *out, struct profile *p,
		       const struct present_options *options, struct err *err)
{
	struct json j = { .out = out };

	(void)options;
	json_begin_object(&j);
	json_member_text(&j, "schema", "oprofile-quality/1");
	if (quality_write_json(&j, p))
		return err_set(err, -ENOMEM, "out of memory");
	json_end_object(&j);
	fputc('\n', out);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/text/quality_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "aggregate/views/quality.h"
#include "base/containers/vec.h"
#include "base/files/faults.h"
#include "present/lines/json.h"
#include "present/lines/percent.h"
#include "present/lines/screen.h"
#include "resolve/elf/build_id.h"
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
	numbers images = { 0 };

	if (unresolved_images(p, &images)) {
		vec_done(&images);
		return -ENOMEM;
	}
	write_share(out, "unresolved", p->quality.unresolved, p,
		    "have no function name");
	for (size_t i = 0; i < images.nr && i < IMAGES_SHOWN; i++)
		write_image(out, p, images.at[i]);
	if (images.nr > IMAGES_SHOWN)
		fprintf(out, "  %14sand %zu more images\n", "",
			images.nr - IMAGES_SHOWN);
	vec_done(&images);
	return 0;
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

	percent_format(percent_of(t->lost, t->lost + t->samples), percent);
	fprintf(out, "  %-14s%12" PRIu64 "\n", "samples", p->quality.samples);
	fprintf(out,
		"  %-14s%12" PRIu64
		" %s %%  samples lost because the kernel's buffers were full\n",
		"lost", t->lost, percent);
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

int quality_write_text(FILE *out, struct profile *p)
{
	const struct profile_quality *q = &p->quality;
	uint64_t cpu_ms = p->input.totals.recorder_cpu_ns / 1000000;

	fputs("\nQuality of this profile:\n", out);
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
	fprintf(out,
		"  %-14s%8" PRIu64 ".%03" PRIu64
		"            CPU seconds used by the recorder\n",
		"recorder", cpu_ms / 1000, cpu_ms % 1000);
	return 0;
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

static void json_image(struct json *j, const struct profile *p, uint32_t number)
{
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
	json_end_object(j);
}

static void json_input(struct json *j, const struct profile *p)
{
	const struct profile_input *in = &p->input;

	json_member_u64(j, "samples", p->quality.samples);
	json_member_u64(j, "lost", in->totals.lost);
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
}

int quality_write_json(struct json *j, struct profile *p)
{
	const struct profile_quality *q = &p->quality;
	numbers images = { 0 };

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
	json_name(j, "unresolved_images");
	json_begin_array(j);
	for (size_t i = 0; i < images.nr; i++)
		json_image(j, p, images.at[i]);
	json_end_array(j);
	json_end_object(j);
	vec_done(&images);
	return 0;
}

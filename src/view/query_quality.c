/* SPDX-License-Identifier: GPL-2.0-or-later */
/* query_quality.c - the query "quality": how far the recording can be trusted. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/views/quality.h"
#include "base/array.h"
#include "base/buf.h"
#include "base/files/faults.h"
#include "present/text/quality_text.h"
#include "resolve/elf/build_id.h"
#include "resolve/find/debug_remedy.h"
#include "view/query_priv.h"
#include "view/reading.h"

enum {
	IMAGES_MAX = 50
};

/* A measure with at least this share, in percent, has the severity "note" or "bad". */
static const double note_percent = 0.1, bad_percent = 5;

static double view_quality_percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

/* A measure of the quality of a recording: a number of samples or faults. */
struct view_measure {
	const char *what;
	uint64_t value;
	uint64_t all;    /* 100 %; 0: any value other than 0 is bad */
	const char *fix; /* NULL: nothing can be done */
};

static const char *view_quality_severity(const struct view_measure *of)
{
	double percent = view_quality_percent(of->value, of->all);

	if (!of->value || (of->all && percent < note_percent))
		return "good";
	return !of->all || percent >= bad_percent ? "bad" : "note";
}

static void view_quality_put(struct view_answer *a, const struct view_measure *of)
{
	struct json *j = &a->json;
	char share[32];

	json_begin_object(j);
	json_member_text(j, "what", of->what);
	json_member_u64(j, "value", of->value);
	if (of->all) {
		(void)snprintf(share, sizeof(share), "%.6f",
			       view_quality_percent(of->value, of->all) / 100);
		json_name(j, "share");
		json_number(j, share);
	}
	if (of->fix && of->value)
		json_member_text(j, "fix", of->fix);
	json_member_text(j, "severity", view_quality_severity(of));
	json_end_object(j);
}

static void view_quality_put_rows(struct view_answer *a, const struct profile *p)
{
	const struct profile_quality *q = &p->quality;
	const struct session_totals *t = &p->input.totals;
	const struct view_measure rows[] = {
		{ "samples lost because the kernel's buffers were full", t->lost,
		  t->lost + t->samples, "lower the sampling rate" },
		{ "lost records about processes and mappings", t->lost_records, 0,
		  "lower the sampling rate" },
		{ "times the kernel throttled sampling", t->throttled, 0,
		  "lower the sampling rate" },
		{ "malformed records", t->undecodable, 0, NULL },
		{ "damaged blocks", p->input.damage.bad_blocks, 0, NULL },
		{ "files that do not match their checksums", fault_count(FAULT_DAMAGED),
		  0, NULL },
		{ "files that exist, but cannot be read",
		  fault_count(FAULT_UNREADABLE) + fault_count(FAULT_REFUSED), 0, NULL },
		{ "samples without a function name", q->unresolved, q->samples,
		  "see the images below" },
		{ "call chains without their outermost callers", q->truncated,
		  q->has_chains ? q->samples : 0,
		  "record with --callgraph=dwarf, or compile with -fno-omit-frame-pointer" },
		{ "samples of idle CPUs", q->idle, q->samples, NULL },
		{ "samples taken when the kernel enabled interrupts again",
		  q->irqs_on_again, q->samples,
		  "the time was spent before: use a hardware event" },
		{ "samples of exiting tasks whose process was unknown", q->exiting,
		  q->samples, NULL },
		{ "samples that can belong to an instruction before", q->imprecise,
		  q->samples, "record EVENT:pp if the CPU supports it" },
	};

	json_name(&a->json, "rows");
	json_begin_array(&a->json);
	view_quality_put(
		a, &(struct view_measure){ "samples", q->samples, UINT64_MAX, NULL });
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		view_quality_put(a, &rows[i]);
	json_end_array(&a->json);
}

static int view_quality_compare(const void *va, const void *vb, void *ctx)
{
	const struct profile *p = ctx;
	uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;
	uint64_t x = p->images.at[a].unresolved, y = p->images.at[b].unresolved;

	return x != y ? (x > y ? -1 : 1) : (a < b ? -1 : a > b);
}

static int view_quality_put_images(struct view_answer *a, struct profile *p)
{
	const struct distribution *distribution = distribution_find("");
	VEC(uint32_t) images = { 0 };
	int r = 0;

	for (uint32_t i = 0; !r && i < p->images.nr; i++)
		if (p->images.at[i].unresolved && !vec_push(&images, i))
			r = -ENOMEM;
	if (images.nr)
		qsort_r(images.at, images.nr, sizeof(*images.at), view_quality_compare,
			p);
	json_name(&a->json, "images");
	json_begin_array(&a->json);
	for (size_t i = 0; !r && i < images.nr && i < IMAGES_MAX; i++)
		r = quality_write_json_image(&a->json, p, images.at[i], distribution);
	json_end_array(&a->json);
	vec_done(&images);
	return r;
}

int view_query_quality(struct view_answer *a)
{
	const struct view_params none = { 0 };
	struct view_reading reading = { .m = a->m,
					.side = a->m->options.nr_sides - 1,
					.params = &none,
					.keys = "image",
					.options = { .quality = true } };
	int r = view_reading_run(&reading, a->err);

	if (!r) {
		json_begin_object(&a->json);
		view_quality_put_rows(a, &reading.profile);
		if (view_quality_put_images(a, &reading.profile))
			r = view_answer_no_memory(a);
		json_end_object(&a->json);
	}
	view_reading_done(&reading);
	return r;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recordings/no_match.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "aggregate/selection/image_names.h"
#include "aggregate/selection/selection.h"
#include "aggregate/selection/spec.h"
#include "base/array.h"
#include "base/buf.h"
#include "base/containers/closest_match.h"
#include "base/err.h"
#include "format/session/dict.h"
#include "recordings/images.h"
#include "recordings/sources.h"

/* Kinds of arguments that can be checked against the dicts of the recordings. */
static const struct no_match_tag {
	enum spec_tag tag;
	const char *subject;
} no_match_tags[] = {
	{ SPEC_ANY_IMAGE, "binary" },  { SPEC_IMAGE, "program" },
	{ SPEC_LIB_IMAGE, "binary" },  { SPEC_EVENT, "event" },
	{ SPEC_EVENT_COUNT, "event" }, { SPEC_UNIT_MASK, "event" },
	{ SPEC_COMM, "command" },      { SPEC_TGID, "process" },
	{ SPEC_TID, "thread" },        { SPEC_CGROUP, "cgroup" },
};

enum {
	NR_TAGS = COUNT_OF(no_match_tags),
	SHORT_WORD = 3
};

/* The search for one of these arguments. */
struct no_match_part {
	/* only this argument; its list is borrowed from the user's specification */
	struct spec spec;
	bool found;
	bool is_library; /* image: matches a binary, but no program */
	struct closest_matches close;
};

struct no_match {
	struct no_match_part parts[NR_TAGS];
	struct buf name;
	unsigned int nr_dicts; /* number of dicts visited so far */
};

static const char *no_match_value(const struct no_match_part *part, size_t i)
{
	return part->spec.lists[no_match_tags[i].tag].values.at[0];
}

/* Returns 1 if the argument selects the image, 0 if not, or -ENOMEM. */
static int no_match_image(struct no_match *m, struct no_match_part *part,
			  struct selection *s, uint32_t image)
{
	const struct dict *d = s->dict;
	bool top;
	int wanted = selection_wants_image(s, image, false, image, &top);

	if (wanted)
		return wanted;
	buf_clear(&m->name);
	image_name_put(&m->name, d, &d->images.at[image], NAMES_OPROFILE, s->vmlinux);
	if (m->name.failed)
		return -ENOMEM;
	closest_matches_try(&part->close, image_name_short((const char *)m->name.data));
	return 0;
}

static bool is_program(const struct dict *d, uint32_t image)
{
	for (size_t i = 0; i < d->threads.nr; i++) {
		if (d->threads.at[i].app == image)
			return true;
	}
	return image_is_kernel(&d->images.at[image]);
}

static int no_match_images(struct no_match *m, size_t i, const struct dict *d,
			   const char *vmlinux)
{
	struct no_match_part *part = &m->parts[i];
	struct selection s;
	int wanted = 0;

	selection_init(&s, &part->spec, d, vmlinux ? vmlinux : "");
	for (uint32_t image = 0; wanted >= 0 && image < d->images.nr; image++) {
		bool program =
			no_match_tags[i].tag != SPEC_IMAGE || is_program(d, image);

		wanted = no_match_image(m, part, &s, image);
		part->found |= wanted > 0 && program;
		part->is_library |= wanted > 0 && !program;
	}
	selection_done(&s);
	return wanted < 0 ? wanted : 0;
}

static void no_match_events(struct no_match_part *part, const struct dict *d)
{
	for (size_t i = 0; i < d->events.nr; i++) {
		const struct event_desc *e = &d->events.at[i];
		const char *name = dict_str(d, e->name);

		part->found |=
			spec_wants_event(&part->spec, name, e->count, e->unit_mask);
		closest_matches_try(&part->close, name);
	}
}

static void no_match_threads(struct no_match_part *part, enum spec_tag tag,
			     const struct dict *d)
{
	for (size_t i = 0; i < d->threads.nr; i++) {
		const struct thread *t = &d->threads.at[i];
		const char *comm = dict_str(d, t->comm);
		const char *cgroup = dict_str(d, t->cgroup);

		part->found |= spec_wants_thread(&part->spec, t->pid, t->tid, comm) &&
			       spec_wants_cgroup(&part->spec, cgroup);
		if (tag == SPEC_COMM)
			closest_matches_try(&part->close, comm);
	}
}

/* Checks the arguments against a dict when the walk reaches the first image of that dict. */
static int no_match_visit(void *ctx, const struct source_image *at)
{
	struct no_match *m = ctx;
	int r = 0;

	if (at->part < m->nr_dicts)
		return 0;
	m->nr_dicts = at->part + 1;
	for (size_t i = 0; !r && i < NR_TAGS; i++) {
		struct no_match_part *part = &m->parts[i];
		enum spec_tag tag = no_match_tags[i].tag;

		if (part->found)
			continue;
		if (tag <= SPEC_LIB_IMAGE)
			r = no_match_images(m, i, at->dict, at->info->vmlinux);
		else if (tag <= SPEC_UNIT_MASK)
			no_match_events(part, at->dict);
		else
			no_match_threads(part, tag, at->dict);
	}
	return r;
}

static void no_match_begin(struct no_match *m, const struct spec *spec)
{
	for (size_t i = 0; i < NR_TAGS; i++) {
		struct no_match_part *part = &m->parts[i];
		const struct spec_list *list = &spec->lists[no_match_tags[i].tag];
		const char *word;

		part->spec.lists[no_match_tags[i].tag] = *list;
		part->found = !list->values.nr;
		if (part->found)
			continue;
		word = image_name_short(no_match_value(part, i));
		/* Nearly every name is close to a very short word, so suggest nothing for one. */
		closest_matches_init(&part->close, word,
				     strlen(word) < SHORT_WORD ? 0 : strlen(word));
	}
}

/* Replaces the message by one that also names the first argument without a match, if any. */
static void no_match_explain(const struct no_match *m, struct err *err)
{
	for (size_t i = 0; i < NR_TAGS; i++) {
		const struct no_match_part *part = &m->parts[i];
		enum spec_tag tag = no_match_tags[i].tag;
		const char *text = part->spec.lists[tag].text;
		char close[CLOSEST_TEXT_MAX];

		if (part->found)
			continue;
		closest_matches_text(&part->close, close);
		err_set(err, -ENOENT,
			"error: no sample files found: profile specification too strict ? No %s matches '%s'%s%s",
			no_match_tags[i].subject, text ? text : no_match_value(part, i),
			part->is_library ? ", which is not a program: use lib-image:"
					 : "",
			part->is_library ? "" : close);
		return;
	}
}

int no_match_error(const struct report_sources *sources, const struct spec *spec,
		   struct err *err)
{
	struct no_match m = { 0 };
	struct err ignored = { 0 };
	int r;

	err_set(err, -ENOENT,
		"error: no sample files found: profile specification too strict ?");
	no_match_begin(&m, spec);
	r = source_images_walk(sources, no_match_visit, &m, &ignored);
	if (r == -ENOMEM)
		err_set(err, r, "out of memory");
	else if (r >= 0 && m.nr_dicts)
		no_match_explain(&m, err);
	buf_done(&m.name);
	return err->code;
}

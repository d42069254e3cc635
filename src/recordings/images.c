/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recordings/images.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aggregate/selection/image_names.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/log.h"
#include "format/perfdata/input.h"
#include "recordings/word_fault.h"
#include "resolve/elf/build_id.h"
#include "resolve/replay/replay.h"

struct source_images_walk {
	source_image_fn fn;
	void *ctx;
	const struct perf_input_info *input; /* NULL: not a perf.data */
	struct buf name;
	bool incomplete;
	unsigned int nr_parts;
};

static bool has_file(const struct image *image)
{
	return image->kind == IMAGE_FILE || image->kind == IMAGE_KERNEL ||
	       image->kind == IMAGE_MODULE || image->kind == IMAGE_VDSO;
}

/* Returns the name as perf shows it, or NULL if memory is short. The dict has only the short
 * name of a module, so this searches the build-id list of the perf.data for the file name. */
static const char *source_images_name_of(struct source_images_walk *w,
					 const struct dict *d,
					 const struct image *image)
{
	for (size_t i = 0; w->input && image->kind == IMAGE_MODULE &&
			   image->build_id.len && i < w->input->build_ids.nr;
	     i++)
		if (build_id_equal(&w->input->build_ids.at[i].id, &image->build_id))
			return w->input->build_ids.at[i].name;
	buf_clear(&w->name);
	image_name_put(&w->name, d, image, NAMES_PERF, "");
	return w->name.failed ? NULL : (const char *)w->name.data;
}

/* Calls the callback for each image of at.dict that can have a build-id. The caller has set the
 * fields of `at` that describe the source. */
static int walk_dict(struct source_images_walk *w, struct source_image at)
{
	const struct dict *d = at.dict;

	at.part = w->nr_parts++;

	for (size_t i = 0; i < d->images.nr; i++) {
		int r;

		at.image = &d->images.at[i];
		if (!has_file(at.image))
			continue;
		at.number = (uint32_t)i;
		at.name = source_images_name_of(w, d, at.image);
		if (!at.name)
			return -ENOMEM;
		r = w->fn(w->ctx, &at);
		if (r)
			return r;
	}
	return 0;
}

static int walk_segment(struct source_images_walk *w, const char *path,
			const struct report_session *from, struct err *err)
{
	struct sample_batch b;
	struct segment *s;
	int r = segment_open(path, from->trust, &s, err);

	if (r)
		return r;
	do {
		r = segment_next(s, 0, &b, err);
	} while (!r);
	if (r > 0) {
		const struct segment_damage *d = segment_damage(s);

		w->incomplete |= segment_damage_any(d);
		r = walk_dict(w, (struct source_image){ .dict = segment_dict(s),
							.info = segment_info(s),
							.session_dir = from->dir,
							.recorded_in = path });
	}
	segment_close(s);
	return r;
}

static int walk_session(struct source_images_walk *w, const struct report_session *from,
			struct err *err)
{
	char **paths;
	size_t nr;
	int r = session_list(from->dir, &paths, &nr, err);

	if (r)
		return r;
	for (size_t i = 0; !r && i < nr; i++)
		r = walk_segment(w, paths[i], from, err);
	session_list_free(paths, nr);
	return r;
}

static int walk_replay(struct source_images_walk *w, struct perf_input *in,
		       const char *path, struct err *err)
{
	const struct replay_options options = { .chains = true, .threads = true };
	const struct perf_input_damage *damage = perf_input_damage(in);
	struct sample_batch b;
	struct replay *r_play;
	int r = replay_new(in, &options, &r_play, err);

	if (r)
		return r;
	do {
		r = replay_next(r_play, &b, err);
	} while (!r);
	if (r > 0) {
		replay_late_build_ids(r_play);
		w->input = perf_input_info(in);
		w->incomplete |= damage->cut_bytes || damage->missing_bytes ||
				 damage->bad_bytes || damage->missing_files ||
				 damage->bad_features || w->input->interrupted;
		if (w->input->interrupted)
			log_say(LOG_WARNING,
				"'%s': the input is incomplete: the recording was interrupted",
				path);
		if (damage->bad_features)
			log_say(LOG_WARNING,
				"'%s': the input is incomplete: %" PRIu64
				" header features unreadable",
				path, damage->bad_features);
		r = walk_dict(w, (struct source_image){ .dict = replay_dict(r_play),
							.info = replay_info(r_play),
							.session_dir = "",
							.recorded_in = path });
	}
	w->input = NULL;
	replay_free(r_play);
	return r;
}

static int walk_perf_data(struct source_images_walk *w,
			  const struct report_session *from, struct err *err)
{
	struct perf_input *in;
	int r = perf_input_open(from->dir, from->trust, &in, err);

	if (r)
		return r;
	r = walk_replay(w, in, from->dir, err);
	perf_input_close(in);
	if (r == -ENODATA)
		err_prefix(err, "%s", from->name);
	return r;
}

/* Binaries cannot be selected by name here, so a word that is neither a source nor tagged is an
 * error. */
static int check_word(const char *word, struct err *err)
{
	if (strchr(word, ':') || report_source_is(word))
		return 0;
	if (access(word, F_OK))
		return err_sys(err, -errno, "cannot open '%s'", word);
	return word_fault(word, true, err) ? err->code : 0;
}

int source_images_find(const char *session_dir, char *const *words, struct spec *spec,
		       struct report_sources *sources, struct err *err)
{
	for (size_t i = 0; words[i]; i++) {
		int r = check_word(words[i], err);

		if (r)
			return r;
	}
	return report_sources_find(session_dir, words, spec, sources, err);
}

int source_images_walk(const struct report_sources *sources, source_image_fn fn,
		       void *ctx, struct err *err)
{
	struct source_images_walk w = { .fn = fn, .ctx = ctx };
	int r = 0;

	for (size_t i = 0; !r && i < sources->sessions.nr; i++) {
		const struct report_session *s = &sources->sessions.at[i];

		r = s->perf_data ? walk_perf_data(&w, s, err)
				 : walk_session(&w, s, err);
	}
	buf_done(&w.name);
	if (r == -ENOMEM)
		return err_set(err, r, "out of memory");
	return r ? r : w.incomplete;
}

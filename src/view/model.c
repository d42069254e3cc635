/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/model.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/containers/hash.h"
#include "base/err.h"
#include "base/utf8.h"
#include "format/session/session.h"
#include "present/lines/elide.h"
#include "recordings/name_rules.h"
#include "recordings/sources.h"
#include "resolve/find/index_cache.h"
#include "resolve/symbols/name_patterns.h"
#include "view/model_priv.h"

enum {
	SHORT_COLUMNS = 64 /* of the short form of names */
};

static uint64_t view_model_hash_file(const char *path, uint64_t hash)
{
	struct stat st;
	uint64_t numbers[4] = { 0 };

	if (!stat(path, &st)) {
		numbers[0] = st.st_ino;
		numbers[1] = (uint64_t)st.st_size;
		numbers[2] = (uint64_t)st.st_mtim.tv_sec;
		numbers[3] = (uint64_t)st.st_mtim.tv_nsec;
	}
	return hash_bytes(numbers, sizeof(numbers), hash);
}

uint64_t view_fingerprint(const struct view_options *o)
{
	uint64_t hash = 0;

	for (size_t side = 0; side < o->nr_sides; side++) {
		const struct report_sources *from = o->sides[side].sources;

		for (size_t i = 0; i < from->sessions.nr; i++) {
			const struct report_session *s = &from->sessions.at[i];
			char **paths;
			size_t nr;

			if (s->perf_data || session_list(s->dir, &paths, &nr, NULL)) {
				hash = view_model_hash_file(s->dir, hash);
				continue;
			}
			for (size_t j = 0; j < nr; j++)
				hash = view_model_hash_file(paths[j], hash);
			session_list_free(paths, nr);
		}
	}
	return hash;
}

int view_model_open(const struct view_options *options, struct view_model **ret_model,
		    struct err *err)
{
	struct view_model *m = calloc(1, sizeof(*m));
	int r;

	if (!m)
		return err_set(err, -ENOMEM, "out of memory");
	m->options = *options;
	m->cache_dir = index_cache_dir();
	m->generation = options->first_generation + 1;
	m->fingerprint = view_fingerprint(options);
	r = name_rules_make(NULL, &m->patterns, err);
	if (!r)
		r = view_load(m, &m->data, err);
	if (r) {
		view_model_close(m);
		return r;
	}
	*ret_model = m;
	return 0;
}

/* Frees the data of the current generation. */
static void view_model_forget(struct view_model *m)
{
	view_data_done(&m->data);
}

void view_model_close(struct view_model *m)
{
	if (!m)
		return;
	view_model_forget(m);
	name_patterns_free(m->patterns);
	free(m->cache_dir);
	free(m);
}

int view_model_update(struct view_model *m, struct err *err)
{
	uint64_t fingerprint = view_fingerprint(&m->options);
	struct view_data data;
	int r;

	if (fingerprint == m->fingerprint)
		return 0;
	r = view_load(m, &data, err);
	if (r) {
		view_data_done(&data);
		return r;
	}
	view_model_forget(m);
	m->data = data;
	m->fingerprint = fingerprint;
	m->generation++;
	return 1;
}

uint64_t view_model_generation(const struct view_model *m)
{
	return m->generation;
}

void view_model_totals(const struct view_model *m, uint64_t *ret_samples,
		       uint64_t *ret_lost)
{
	const struct view_data *d = &m->data;

	*ret_samples = d->events.nr ? d->events.at[0].samples : 0;
	*ret_lost = 0;
	for (size_t side = 0; side < m->options.nr_sides; side++)
		*ret_lost += d->facts[side].lost;
}

bool view_model_is_private(const struct view_model *m)
{
	return m->data.is_private;
}

const char *view_function_name(const struct view_data *d, uint32_t function)
{
	return view_text(d, d->functions.at[function].name);
}

const char *view_function_image(const struct view_data *d, uint32_t function)
{
	return view_text(d, d->functions.at[function].image);
}

const char *view_function_short(struct view_model *m, uint32_t function)
{
	struct view_function *f = &m->data.functions.at[function];
	const char *name = view_text(&m->data, f->name);
	size_t len = strlen(name);
	struct buf text = { 0 };
	char *shorter;

	if (f->short_name != VIEW_NONE)
		return view_text(&m->data, f->short_name);
	f->short_name = f->name;
	if (len <= SHORT_COLUMNS || utf8_valid_len(name, len) != len)
		return name;
	shorter = name_patterns_apply(m->patterns, name);
	if (shorter)
		name = shorter;
	elide_put(&text, name, strlen(name), SHORT_COLUMNS, true);
	if (!text.failed)
		f->short_name = strtab_add_len(&m->data.strings,
					       (const char *)text.data, text.len);
	if (f->short_name == STRTAB_FAILED)
		f->short_name = f->name;
	free(shorter);
	buf_done(&text);
	return view_text(&m->data, f->short_name);
}

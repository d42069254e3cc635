/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "script/sink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/safe_text.h"
#include "format/perfdata/input.h"
#include "resolve/symbolize/naming.h"

enum {
	OUT_BYTES = 256 * 1024
};

static int script_sink_open_names(struct script_sink *s,
				  const struct script_source *source)
{
	int r = naming_new(s->dict, source->info, source->session_dir, &s->naming);

	if (r)
		return r;
	naming_use(s->naming, s->options->locations);
	naming_recorded_in(s->naming, source->recorded_in);
	if (source->perf)
		naming_use_symbol_files(s->naming, source->perf->symbol_files.at,
					source->perf->symbol_files.nr);
	return 0;
}

int script_sink_open(struct script_sink *s, const struct script_source *source,
		     struct err *err)
{
	const struct script_naming from = { .dict = source->dict,
					    .info = source->perf,
					    .fields = s->all_fields };
	int r;

	s->dict = source->dict;
	/* Initialize these first, because script_sink_done() frees them even after an error. */
	script_filter_init(&s->filter, s->options->spec, s->dict, NULL,
			   source->info->vmlinux);
	r = script_positions_init(&s->positions, &from, false);
	if (!r)
		r = script_positions_init(&s->branch_positions, &from, true);
	if (!r)
		r = script_sink_open_names(s, source);
	if (r || !buf_reserve(&s->out, 2 * OUT_BYTES))
		return err_set(err, -ENOMEM, "out of memory");
	s->filter.symbols.naming = s->naming;
	s->positions.from.naming = s->naming;
	s->branch_positions.from.naming = s->naming;
	return 0;
}

/* Returns a name with control characters escaped; NULL if memory is short. */
static const char *clean_name(struct script_sink *s, const char *name)
{
	char *clean = strdup(name);

	if (!clean)
		return NULL;
	if (!safe_text_mask(clean, strlen(clean), SCRIPT_MASK)) {
		free(clean);
		return name;
	}
	if (vec_push(&s->cleaned, clean))
		return clean;
	free(clean);
	return NULL;
}

static bool clean_events(struct script_sink *s)
{
	for (size_t i = 0; i < s->events.nr; i++) {
		const char *name = clean_name(s, s->events.at[i].name);

		if (!name)
			return false;
		s->events.at[i].name = name;
	}
	return true;
}

int script_sink_set_events(struct script_sink *s, struct err *err)
{
	bool chains = !s->options->hide_chains;
	int r;

	if (!clean_events(s))
		return err_set(err, -ENOMEM, "out of memory");
	while (s->fields.nr < s->events.nr)
		if (!vec_push(&s->fields, 0))
			return err_set(err, -ENOMEM, "out of memory");
	r = script_fields(s->events.at, s->events.nr, s->options->fields, chains,
			  s->fields.at, err);
	if (r)
		return r;
	s->writer = (struct script_writer){
		.events = s->events.at,
		.fields = s->fields.at,
		.nr_events = s->events.nr,
		.chains = chains,
		.nanoseconds = s->options->nanoseconds,
	};
	script_writer_init(&s->writer);
	/* All events share the fields that determine the format of positions. */
	for (size_t i = 0; i < s->fields.nr; i++)
		s->all_fields |= s->fields.at[i];
	s->positions.from.fields = s->branch_positions.from.fields = s->all_fields;
	return 0;
}

static struct script_text script_sink_text_of(const char *s)
{
	return (struct script_text){ s, strlen(s) };
}

/* Adds the names of threads that are new in the dict. Returns 0 or -ENOMEM. */
static int know_comms(struct script_sink *s)
{
	const struct dict *d = s->dict;

	for (size_t i = s->comms.nr; i < d->threads.nr; i++) {
		const char *comm = clean_name(s, dict_str(d, d->threads.at[i].comm));

		if (!comm || !vec_push(&s->comms, script_sink_text_of(comm)))
			return -ENOMEM;
	}
	return 0;
}

static int script_sink_add_thread(struct script_sink *s, uint32_t number,
				  uint32_t fields, struct script_sample *sample)
{
	const struct dict *d = s->dict;
	bool damaged = number >= d->threads.nr;
	const char *cgroup;

	if (number >= s->comms.nr && know_comms(s))
		return -ENOMEM;
	sample->comm = damaged ? script_sink_text_of("[damaged]") : s->comms.at[number];
	if (!(fields & SCRIPT_CGROUP))
		return 0;
	cgroup = damaged ? "" : dict_str(d, d->threads.at[number].cgroup);
	cgroup = clean_name(s, *cgroup ? cgroup : "unknown");
	if (!cgroup)
		return -ENOMEM;
	sample->cgroup = script_sink_text_of(cgroup);
	return 0;
}

int script_sink_write(struct script_sink *s, struct script_sample *sample,
		      uint32_t thread)
{
	uint32_t fields = s->fields.at[sample->event];

	s->samples++;
	if (!fields)
		return 0;
	if (script_sink_add_thread(s, thread, fields, sample))
		return -ENOMEM;
	script_write(&s->writer, sample, &s->out);
	if (s->out.failed)
		return -ENOMEM;
	return s->out.len >= OUT_BYTES ? script_sink_flush(s) : 0;
}

int script_sink_flush(struct script_sink *s)
{
	size_t len = s->out.len;

	buf_clear(&s->out);
	return fwrite(s->out.data, 1, len, s->options->out) == len ? 0 : -EIO;
}

int script_sink_failed(struct err *err)
{
	return err_set(err, -EIO, "cannot write the result");
}

void script_sink_done(struct script_sink *s)
{
	script_filter_done(&s->filter);
	script_positions_done(&s->positions);
	script_positions_done(&s->branch_positions);
	naming_free(s->naming);
	vec_done(&s->events);
	vec_done(&s->fields);
	vec_done(&s->frames);
	vec_done(&s->branches);
	vec_done(&s->comms);
	for (size_t i = 0; i < s->cleaned.nr; i++)
		free(s->cleaned.at[i]);
	vec_done(&s->cleaned);
	buf_done(&s->out);
}

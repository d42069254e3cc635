/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf_data.c - reads a perf.data file into a profile through profile_feed.h. */
#include "aggregate/read/read.h"

#include <errno.h>
#include <string.h>

#include "aggregate/read/profile_feed.h"
#include "base/err.h"
#include "base/saturate.h"
#include "format/perfdata/input.h"
#include "resolve/replay/replay.h"
#include "resolve/symbolize/naming.h"
#include "resolve/symbolize/unwind.h"
#include "resolve/unwind/unwind.h"

static void read_perf_data_add_counts(struct profile_input *in,
				      const struct replay *replay)
{
	const struct feed_counts *c = replay_counts(replay);

	in->totals.samples += c->by_type[PERF_RECORD_SAMPLE];
	in->totals.lost = saturating_add(in->totals.lost, c->lost);
	in->totals.lost_records += c->lost_records;
	in->totals.throttled += c->by_type[PERF_RECORD_THROTTLE];
	in->totals.undecodable += replay_undecodable(replay);
	in->nr_malformed += replay_undecodable(replay);
	for (size_t i = 0; i < UNWIND_ENDS; i++)
		in->totals.stack_ends[i] += replay_unwind_ends(replay)[i];
}

static void read_perf_data_add_damage(struct profile_input *in,
				      const struct perf_input *input)
{
	const struct perf_input_damage *d = perf_input_damage(input);

	in->file_damage.cut_bytes += d->cut_bytes;
	in->file_damage.missing_bytes += d->missing_bytes;
	in->file_damage.bad_bytes += d->bad_bytes;
	in->file_damage.missing_files += d->missing_files;
	in->file_damage.bad_features += d->bad_features;
	in->file_damage.unknown_records += d->unknown_records;
	in->file_damage.aux_bytes += d->aux_bytes;
	in->nr_interrupted += perf_input_info(input)->interrupted;
}

static void note_source(struct profile *p, const struct session_info *info)
{
	struct profile_input *in = &p->input;

	if (in->nr_segments++)
		return;
	in->cpu_mhz = info->cpu_mhz;
	in->cpu_desc = strtab_add(&p->strings, info->cpu_desc);
	in->vmlinux = strtab_add(&p->strings, info->vmlinux);
}

static uint64_t read_perf_data_earliest(const struct sample_batch *batch)
{
	uint64_t time_ns = UINT64_MAX;

	for (size_t i = 0; i < batch->nr; i++)
		if (batch->time_ns[i] < time_ns)
			time_ns = batch->time_ns[i];
	return time_ns;
}

/* Begins the profile. If the file's header has no start time, the first batch of samples provides
 * it. Returns 0 or a negative errno with a message in *err. */
static int read_perf_data_begin(struct profile *p, struct profile_source *source,
				const struct sample_batch *first, struct err *err)
{
	int r;

	if (!source->start_ns)
		source->start_ns = read_perf_data_earliest(first);
	/* A session stores times in units of 100 ns; round down so that an imported session has
	 * the same spans of time. */
	source->start_ns -= source->start_ns % 100;
	r = profile_begin(p, source);
	return r ? err_set(err, r, "out of memory") : 0;
}

static void read_perf_data_report_progress(const struct profile *p,
					   const struct perf_input *input)
{
	uint64_t done;
	uint64_t total;

	if (!p->options.progress)
		return;
	perf_input_progress(input, &done, &total);
	p->options.progress(p->options.progress_ctx, done, total);
}

static int read_perf_data_read_batches(struct profile *p, struct replay *replay,
				       const struct perf_input *input,
				       struct profile_source *source, struct err *err)
{
	bool begun = false;

	for (;;) {
		struct sample_batch batch;
		int r = replay_next(replay, &batch, err);

		if (r)
			return r < 0 ? r : 0;
		if (!begun)
			r = read_perf_data_begin(p, source, &batch, err);
		begun = true;
		if (!r)
			r = profile_add(p, &batch, err);
		if (r)
			return r;
		read_perf_data_report_progress(p, input);
	}
}

/* If callers are needed, enables unwinding for stacks known only from registers and stack
 * copies. */
static int read_perf_data_use_unwind(struct profile *p, struct replay *replay,
				     struct naming *naming,
				     struct naming_unwind **ret_unwind)
{
	int r;

	*ret_unwind = NULL;
	if (!p->options.quality && !(p->needs & NEED_STACK))
		return 0;
	r = naming_unwind_new(naming, ret_unwind);
	return r ? r
		 : replay_use_unwind(replay, &(struct replay_unwind){
						     naming_unwind_table,
						     naming_unwind_code, *ret_unwind });
}

static int read_perf_data_read_named(struct profile *p, const char *path,
				     struct replay *replay,
				     const struct perf_input *input,
				     struct profile_source *source, struct err *err)
{
	int r = naming_new(source->dict, source->info, "", &source->naming);
	struct naming_unwind *unwind = NULL;
	struct jit_locations jit;
	int ended;

	if (r)
		return err_set(err, r, "out of memory");
	naming_use(source->naming, p->options.locations);
	naming_recorded_in(source->naming, path);
	jit = naming_jit_locations(source->naming);
	r = replay_use_jit(replay, &jit);
	if (!r)
		r = read_perf_data_use_unwind(p, replay, source->naming, &unwind);
	if (r)
		err_set(err, r, "out of memory");
	else
		r = read_perf_data_read_batches(p, replay, input, source, err);
	/* Free the replay's memory before symbolization, which needs its own. */
	replay_end(replay);
	naming_unwind_free(unwind);
	replay_late_build_ids(replay);
	naming_use_codes(source->naming, perf_input_info(input)->codes.at,
			 perf_input_info(input)->codes.nr,
			 perf_input_info(input)->arch);
	ended = profile_end(p, r ? NULL : err);
	naming_free(source->naming);
	return r ? r : ended;
}

static int read_perf_data_read_input(struct profile *p, const char *path,
				     struct perf_input *input, const char *session,
				     struct err *err)
{
	const struct replay_options options = {
		.chains = p->options.quality || p->needs & NEED_STACK,
		.cgroups = p->needs & NEED_CGROUP,
		.threads = p->options.threads != 1,
		.nr_threads = p->options.threads,
	};
	struct profile_source source = { .session = session };
	struct replay *replay;
	int r = replay_new(input, &options, &replay, err);

	if (r)
		return r;
	source.dict = replay_dict(replay);
	source.info = replay_info(replay);
	source.start_ns = source.info->start_ns;
	source.first_ns = perf_input_info(input)->first_ns;
	source.last_ns = perf_input_info(input)->last_ns;
	source.wall_ns = perf_input_info(input)->clock_wall_ns;
	source.wall_at_ns = perf_input_info(input)->clock_ns;
	source.names_late = perf_input_info(input)->is_pipe;
	note_source(p, source.info);
	r = read_perf_data_read_named(p, path, replay, input, &source, err);
	if (!r) {
		read_perf_data_add_counts(&p->input, replay);
		read_perf_data_add_damage(&p->input, input);
	}
	replay_free(replay);
	return r;
}

int profile_read_perf_data(struct profile *p, const char *path, const char *session,
			   struct err *err)
{
	struct perf_input *input;
	int r = perf_input_open(path, p->options.trust, &input, err);

	if (r)
		return r;
	r = read_perf_data_read_input(p, path, input, session, err);
	if (r)
		err_prefix(err, "%s", path);
	perf_input_close(input);
	return r;
}

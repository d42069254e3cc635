/* SPDX-License-Identifier: GPL-2.0-or-later */
/* open.c - opens and describes a replay: all of replay.h except reading the samples. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "resolve/jit/stage.h"
#include "resolve/replay/priv.h"
#include "resolve/replay/read_ahead.h"

static bool is_big_endian(const struct perf_input_info *info)
{
	return info->swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

static bool is_64bit(const char *arch)
{
	return strstr(arch, "64") || !strcmp(arch, "s390x") || !strcmp(arch, "alpha");
}

static void fill_info(struct replay *r)
{
	const struct perf_input_info *in = perf_input_info(r->in);

	r->info = (struct session_info){
		.tool_version = in->version,
		.hostname = in->hostname,
		.os_release = in->os_release,
		.machine = in->arch,
		.cpu_desc = in->cpu_desc,
		.boot_id = "",
		.command = in->command,
		.vmlinux = "",
		.nr_cpus_online = in->nr_cpus_online,
		.clock_id = in->clock_id,
		.start_ns = in->first_ns,
		.start_wall_ns = in->clock_wall_ns,
		.flags = (is_big_endian(in) ? SESSION_BIG_ENDIAN : 0) |
			 (is_64bit(in->arch) ? SESSION_64BIT : 0),
	};
	replay_ids_kernel(&r->ids, &r->info.kernel_build_id);
}

/* Returns whether an event is a dummy, which only carries the side band. It is not an event of the
 * profile unless it has samples after all. */
static bool replay_open_is_dummy(const struct perf_event_attr *a)
{
	return a->type == PERF_TYPE_SOFTWARE && a->config == PERF_COUNT_SW_DUMMY;
}

uint32_t replay_describe_event(struct replay *r, uint32_t attr)
{
	const struct perf_input_event *e = &perf_input_info(r->in)->events.at[attr];
	const struct perf_event_attr *a = &e->attr;
	struct event_desc desc = {
		.name = dict_string(&r->dict, e->name),
		.about = dict_string(&r->dict, ""),
		.type = a->type,
		.config = a->config,
		.config1 = a->config1,
		.config2 = a->config2,
		.count = a->freq ? 0 : a->sample_period,
		.frequency_hz = a->freq ? a->sample_freq : 0,
		.flags = (a->exclude_user ? 0 : EVENT_USER) |
			 (a->exclude_kernel ? 0 : EVENT_KERNEL) |
			 (a->sample_type & PERF_SAMPLE_CALLCHAIN ||
					  r->decoder.layouts.at[attr].off_cpu
				  ? EVENT_CHAINS
				  : 0) |
			 (a->precise_ip > 1 ? EVENT_PRECISE : 0) |
			 (group_reads_is_member(a) ? EVENT_MEMBER : 0),
	};

	if (desc.name == DICT_NONE || desc.about == DICT_NONE)
		return DICT_NONE;
	return dict_event(&r->dict, &desc);
}

static int open_events(struct replay *r)
{
	const struct perf_input_info *in = perf_input_info(r->in);

	decoder_init(&r->decoder, in->swap);
	for (uint32_t i = 0; i < in->events.nr; i++) {
		const struct perf_input_event *e = &in->events.at[i];
		uint32_t number = DICT_NONE;

		if (decoder_add_attr(&r->decoder, &e->attr))
			return -ENOMEM;
		if (!strcmp(e->name, OFF_CPU_EVENT))
			decoder_set_off_cpu(&r->decoder);
		r->off_cpu |= r->decoder.layouts.at[i].off_cpu;
		r->reads |= group_reads_has(&e->attr);
		for (size_t k = 0; k < e->ids.nr; k++)
			if (decoder_add_id(&r->decoder, e->ids.at[k], i))
				return -ENOMEM;
		if (!replay_open_is_dummy(&e->attr)) {
			number = replay_describe_event(r, i);
			if (number == DICT_NONE)
				return -ENOMEM;
		}
		if (!vec_push(&r->event_of, number))
			return -ENOMEM;
	}
	if (r->reads)
		r->max_shares = in->events.nr < GROUP_SHARES_MAX ? in->events.nr
								 : GROUP_SHARES_MAX;
	return 0;
}

static void replay_open_first_hit(void *ctx, const char *path, int32_t pid,
				  uint64_t map_start, uint64_t map_end,
				  struct image *image)
{
	struct replay *r = ctx;

	(void)pid;
	(void)map_start;
	(void)map_end;
	if (!image->build_id.len)
		replay_ids_find(&r->ids, path, image->kind, &image->build_id);
}

static int open_group(struct replay *r)
{
	const struct sample_sink sink = { .take = r->options.each ? replay_take_in_order
								  : replay_take_columns,
					  .ctx = r };

	r->extra = calloc(SAMPLE_GROUP_MAX, sizeof(*r->extra));
	if (!r->extra || sample_group_open(&r->group, r->resolver, &r->decoder, &sink,
					   SAMPLE_GROUP_MAX))
		return -ENOMEM;
	r->group.max = REPLAY_GROUP;
	r->group.is_sequential = r->options.each != NULL;
	return 0;
}

static int replay_open_all(struct replay *r)
{
	r->columns = malloc(sizeof(*r->columns));
	if (!r->columns || dict_init(&r->dict) || replay_ids_add(&r->ids, r->in) ||
	    open_events(r))
		return -ENOMEM;
	fill_info(r);
	r->ops = (struct resolver_ops){ .first_hit = replay_open_first_hit, .ctx = r };
	if (resolver_new(&r->dict, &r->ops,
			 r->options.no_stacks ? RESOLVE_THREADS
			 : r->options.chains  ? RESOLVE_CHAINS
					      : RESOLVE_LEAVES,
			 &r->resolver) ||
	    open_group(r))
		return -ENOMEM;
	feed_init(&r->feed, r->in, &r->decoder);
	/* With `each`, the callback has already used the names of earlier samples, so they cannot
	 * change. In a file without times they can: its samples are passed on after the whole
	 * side band, because the order of the records in the file, from several CPUs, is not that
	 * of time. */
	if (!r->options.each || r->feed.timeless)
		resolver_name_back(r->resolver);
	r->feed.hold_all = r->options.each != NULL;
	r->feed.heads_only = !replay_looks_at_all(r) && !r->off_cpu;
	return 0;
}

int replay_new(struct perf_input *in, const struct replay_options *options,
	       struct replay **ret_replay, struct err *err)
{
	struct replay *r;

	if (!perf_input_info(in)->events.nr)
		return err_set(err, -EBADMSG, "the recording contains no events");
	if (perf_input_info(in)->is_stat)
		return err_set(
			err, -ENODATA,
			"the file contains counts of `perf stat record`, no samples: print them with `perf stat report -i FILE`");
	r = calloc(1, sizeof(*r));
	if (!r)
		return err_set(err, -ENOMEM, "out of memory");
	r->in = in;
	r->options = *options;
	r->max_shares = 1;
	if (replay_open_all(r)) {
		replay_free(r);
		return err_set(err, -ENOMEM, "out of memory");
	}
	/* If the thread cannot be started, reading takes longer. */
	if (options->threads && perf_input_is_work(in))
		(void)read_ahead_new(&r->feed, &r->ahead);
	*ret_replay = r;
	return 0;
}

/* Frees the memory that is needed only for reading. */
static void end_reading(struct replay *r)
{
	sample_group_done(&r->group);
	read_ahead_free(r->ahead);
	r->ahead = NULL;
	feed_batch_done(&r->feed, &r->batch);
	sorter_done(&r->sorter, r->in);
	side_band_done(&r->side);
	feed_done(&r->feed);
	resolver_free(r->resolver);
	r->resolver = NULL;
	for (size_t i = 0; r->extra && i < SAMPLE_GROUP_MAX; i++)
		vec_done(&r->extra[i].shares.list);
	free(r->extra);
	r->extra = NULL;
	deltas_done(&r->counted);
	deferred_chains_done(&r->deferred);
	for (size_t i = 0; i < r->late.nr; i++) {
		free(r->late.at[i].bytes);
		vec_done(&r->late.at[i].shares.list);
	}
	vec_done(&r->late);
	free(r->columns);
	r->columns = NULL;
}

int replay_next(struct replay *r, struct sample_batch *ret_batch, struct err *err)
{
	return r->options.each ? replay_give_all(r, err)
			       : replay_next_columns(r, ret_batch, err);
}

void replay_end(struct replay *r)
{
	memcpy(r->unwind_ends, resolver_unwind_ends(r->resolver),
	       sizeof(r->unwind_ends));
	end_reading(r);
	dict_seal(&r->dict);
}

void replay_free(struct replay *r)
{
	if (!r)
		return;
	end_reading(r);
	jit_stage_free(r->jit);
	decoder_done(&r->decoder);
	replay_ids_done(&r->ids);
	vec_done(&r->event_of);
	dict_done(&r->dict);
	free(r);
}

const struct session_info *replay_info(const struct replay *r)
{
	return &r->info;
}

const struct dict *replay_dict(const struct replay *r)
{
	return &r->dict;
}

uint64_t replay_changed(const struct replay *r)
{
	return resolver_changed(r->resolver);
}

const struct feed_counts *replay_counts(const struct replay *r)
{
	return &r->feed.counts;
}

uint64_t replay_undecodable(const struct replay *r)
{
	return r->undecodable + r->feed.counts.undecodable;
}

void replay_late_build_ids(struct replay *r)
{
	if (!perf_input_info(r->in)->is_pipe || replay_ids_add(&r->ids, r->in))
		return;
	for (size_t i = 0; i < r->dict.images.nr; i++) {
		struct image *image = &r->dict.images.at[i];

		if (!image->build_id.len)
			replay_ids_find(&r->ids, dict_str(&r->dict, image->name),
					image->kind, &image->build_id);
	}
	replay_ids_kernel(&r->ids, &r->info.kernel_build_id);
}

int replay_use_jit(struct replay *r, const struct jit_locations *locations)
{
	int result = replay_use_jit_tables(r, locations);

	r->jit_frames = !result;
	return result;
}

int replay_use_jit_tables(struct replay *r, const struct jit_locations *locations)
{
	r->jit_locations = *locations;
	return jit_stage_new(&r->dict, &r->jit);
}

static const struct unwind_table *replay_jit_table(void *ctx, uint32_t image,
						   uint64_t *offset, uint64_t time_ns)
{
	const struct replay *r = ctx;

	if (!jit_stage_is_needed(r->jit) ||
	    jit_stage_position(r->jit, &image, offset, time_ns) ||
	    r->dict.images.at[image].kind != IMAGE_JIT)
		return NULL;
	return r->unwind.table(r->unwind.ctx, image);
}

static bool has_stacks(const struct replay *r)
{
	const struct perf_input_info *in = perf_input_info(r->in);

	for (size_t i = 0; i < in->events.nr; i++)
		if (in->events.at[i].attr.sample_type & PERF_SAMPLE_STACK_USER)
			return true;
	return false;
}

static unsigned int unwind_threads(const struct replay *r)
{
	long cpus = r->options.nr_threads ? r->options.nr_threads
					  : sysconf(_SC_NPROCESSORS_ONLN);

	return cpus > 2 ? (unsigned int)cpus : 2;
}

int replay_use_unwind(struct replay *r, const struct replay_unwind *from)
{
	const struct resolver_unwind unwind = { .table = from->table,
						.code = from->code,
						.ctx = from->ctx,
						.jit_table = r->jit ? replay_jit_table
								    : NULL,
						.jit_ctx = r,
						.machine = r->info.machine };
	int result = resolver_use_unwind(r->resolver, &unwind);

	r->unwind = *from;
	if (result || !has_stacks(r))
		return result;
	r->group.max = SAMPLE_GROUP_MAX;
	/* If the threads cannot be started, unwinding takes longer. */
	if (r->options.threads)
		(void)sample_group_unwind_ahead(&r->group, unwind_threads(r));
	return 0;
}

const uint64_t *replay_unwound(struct replay *r, const struct record *rec, size_t max,
			       size_t *ret_nr)
{
	return resolver_unwound(r->resolver, &r->decoder, rec, max, ret_nr);
}

const uint64_t *replay_unwind_ends(const struct replay *r)
{
	return r->resolver ? resolver_unwind_ends(r->resolver) : r->unwind_ends;
}

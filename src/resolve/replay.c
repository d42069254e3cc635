#include "resolve/replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "resolve/chain_join.h"
#include "resolve/jit_files.h"
#include "resolve/jit_stage.h"
#include "resolve/read_ahead.h"
#include "resolve/replay_ids.h"
#include "resolve/resolver.h"
#include "resolve/side_queue.h"
#include "resolve/sorter.h"

enum {
	BATCH = 1 << 13, /* samples handed over at once */
	LATE_MAX =
		1 << 16, /* samples that wait; more are given without their callers */
	GROUP = 16       /* samples whose memory is fetched together */
};

/* The entry of a place whose image is not the resolver's: with its number in the dict. */
#define PLACE_OF_DICT 0x80000000u

struct group_sample {
	struct record rec;
	struct resolver_found found;
	struct buf chain; /* of one that was joined */
};

/* A copy of one whose chain is not complete yet. */
struct late_sample {
	uint8_t *bytes; /* malloc'd */
	uint32_t size;
	uint64_t order; /* in the file */
	uint64_t time_ns;
};

struct columns {
	uint64_t time_ns[BATCH];
	uint64_t period[BATCH];
	uint32_t thread[BATCH];
	uint32_t event[BATCH];
	uint32_t stack[BATCH];
	uint32_t cpu[BATCH];
};

struct replay {
	struct perf_input *in;
	struct replay_options options;
	struct session_info info;
	struct dict dict;
	struct decoder decoder;
	struct resolver *resolver;
	struct resolver_ops ops;
	struct replay_ids ids;
	VEC(uint32_t) event_of; /* by attr: number in the dict, DICT_NONE before */
	struct feed feed;
	struct read_ahead *ahead; /* NULL: `feed` is asked directly */
	struct feed_batch batch;
	size_t chunk; /* of the batch */
	struct feed_walk walk;
	struct sorter sorter;
	struct jit_stage *jit; /* NULL: not asked for */
	struct jit_places jit_places;
	uint64_t time_ns;       /* of the last sample */
	struct side_queue side; /* for `each_side` */
	uint64_t undecodable;
	bool ended;
	struct columns *columns;
	struct group_sample group[GROUP];
	struct deferred_chains deferred;
	VEC(struct late_sample) late;
	bool no_more_chains; /* the file is at its end */
};

/* ---- opening ---- */

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

/* A dummy event only carries the side band: it is no event of the profile, unless it has
 * samples after all. */
static bool is_dummy(const struct perf_event_attr *a)
{
	return a->type == PERF_TYPE_SOFTWARE && a->config == PERF_COUNT_SW_DUMMY;
}

static uint32_t describe_event(struct replay *r, uint32_t at)
{
	const struct perf_input_event *e = &perf_input_info(r->in)->events.at[at];
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
			 (a->sample_type & PERF_SAMPLE_CALLCHAIN ? EVENT_CHAINS : 0) |
			 (a->precise_ip > 1 ? EVENT_PRECISE : 0),
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
		for (size_t k = 0; k < e->ids.nr; k++)
			if (decoder_add_id(&r->decoder, e->ids.at[k], i))
				return -ENOMEM;
		if (!is_dummy(&e->attr)) {
			number = describe_event(r, i);
			if (number == DICT_NONE)
				return -ENOMEM;
		}
		if (!vec_push(&r->event_of, number))
			return -ENOMEM;
	}
	return 0;
}

static void first_hit(void *ctx, const char *path, int32_t pid, uint64_t map_start,
		      uint64_t map_end, struct image *image)
{
	struct replay *r = ctx;

	(void)pid;
	(void)map_start;
	(void)map_end;
	if (!image->build_id.len)
		replay_ids_find(&r->ids, path, image->kind, &image->build_id);
}

static int open_all(struct replay *r)
{
	r->columns = malloc(sizeof(*r->columns));
	if (!r->columns || dict_init(&r->dict) || replay_ids_add(&r->ids, r->in) ||
	    open_events(r))
		return -ENOMEM;
	fill_info(r);
	r->ops = (struct resolver_ops){ .first_hit = first_hit, .ctx = r };
	if (resolver_new(&r->dict, &r->ops, &r->resolver))
		return -ENOMEM;
	resolver_set_depth(r->resolver, r->options.no_stacks ? RESOLVE_THREADS
					: r->options.chains  ? RESOLVE_CHAINS
							     : RESOLVE_LEAVES);
	feed_init(&r->feed, r->in, &r->decoder);
	r->feed.hold_all = r->options.each != NULL;
	return 0;
}

int replay_new(struct perf_input *in, const struct replay_options *options,
	       struct replay **ret_replay, struct err *err)
{
	struct replay *r;

	if (!perf_input_info(in)->events.nr)
		return err_set(err, -EBADMSG, "it describes no event");
	r = calloc(1, sizeof(*r));
	if (!r)
		return err_set(err, -ENOMEM, "out of memory");
	r->in = in;
	r->options = *options;
	if (open_all(r)) {
		replay_free(r);
		return err_set(err, -ENOMEM, "out of memory");
	}
	/* Without the thread it just takes longer. */
	if (options->threads && !perf_input_is_mapped(in))
		(void)read_ahead_new(&r->feed, &r->ahead);
	*ret_replay = r;
	return 0;
}

void replay_free(struct replay *r)
{
	if (!r)
		return;
	read_ahead_free(r->ahead);
	feed_batch_done(&r->feed, &r->batch);
	sorter_done(&r->sorter, r->in);
	side_queue_done(&r->side);
	feed_done(&r->feed);
	jit_stage_free(r->jit);
	resolver_free(r->resolver);
	decoder_done(&r->decoder);
	replay_ids_done(&r->ids);
	for (int i = 0; i < GROUP; i++)
		buf_done(&r->group[i].chain);
	deferred_chains_done(&r->deferred);
	for (size_t i = 0; i < r->late.nr; i++)
		free(r->late.at[i].bytes);
	vec_done(&r->late);
	vec_done(&r->event_of);
	dict_done(&r->dict);
	free(r->columns);
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

int replay_use_jit(struct replay *r, const struct jit_places *places)
{
	r->jit_places = *places;
	return jit_stage_new(&r->dict, &r->jit);
}

static void jit_place(void *ctx, uint32_t *image, uint64_t *offset, uint64_t time_ns)
{
	struct jit_stage *jit = ctx;

	if (jit_stage_is_needed(jit))
		(void)jit_stage_place(jit, image, offset, time_ns);
}

int replay_use_unwind(struct replay *r,
		      const struct unwind_table *(*table)(void *ctx, uint32_t image),
		      void *ctx)
{
	const struct resolver_unwind unwind = { .table = table,
						.ctx = ctx,
						.jit_place = r->jit ? jit_place : NULL,
						.jit_ctx = r->jit,
						.machine = r->info.machine };

	return resolver_use_unwind(r->resolver, &unwind);
}

const uint64_t *replay_unwound(struct replay *r, const struct record *rec, size_t max,
			       size_t *ret_nr)
{
	return resolver_unwound(r->resolver, &r->decoder, rec, max, ret_nr);
}

const uint64_t *replay_unwind_ends(const struct replay *r)
{
	return resolver_unwind_ends(r->resolver);
}

/* ---- batches ---- */

/* If it is a jitdump that was mapped and that is found, it is taken.  0 or -ENOMEM. */
static int take_dump(struct replay *r, const struct record *rec)
{
	const struct record_mmap *m = &rec->mmap;
	struct jit_dump_source from = { .pid = m->pid,
					.path = m->path,
					.inode = m->ino,
					.clock = JIT_CLOCK_MAPPED,
					.mapped_ns = rec->id.time_ns };
	char *found;
	int result;

	if ((rec->type != PERF_RECORD_MMAP && rec->type != PERF_RECORD_MMAP2) ||
	    !jit_dump_name(m->path))
		return 0;
	if (r->options.jit_mapped)
		r->options.jit_mapped(r->options.ctx, m,
				      r->feed.timeless ? 0 : rec->id.time_ns);
	if (!r->jit)
		return 0;
	if (r->feed.timeless)
		from.clock = JIT_CLOCK_NONE;
	else if (r->info.clock_id == CLOCK_MONOTONIC)
		from.clock = JIT_CLOCK_SAME;
	result = jit_open_dump(&r->jit_places, m->pid, m->path, m->ino, &from.fd,
			       &found);
	if (result)
		return result == -ENOMEM ? result : 0;
	result = jit_stage_add(r->jit, &from);
	close(from.fd);
	free(found);
	return result == -ENOMEM ? result : 0;
}

static int apply_side(struct replay *r, struct feed_batch *batch)
{
	for (size_t i = 0; i < batch->side.nr; i++) {
		struct feed_side *s = &batch->side.at[i];
		struct record rec;
		int result;

		if (decoder_record(&r->decoder, s->bytes, s->len, &rec, NULL))
			continue;
		rec.id.time_ns = s->time_ns;
		rec.id.has_time = true;
		result = rec.type == RECORD_CALLCHAIN_DEFERRED
				 ? deferred_chains_add(&r->deferred, &rec)
				 : resolver_side_band(r->resolver, &rec);
		if (!result && (r->jit || r->options.jit_mapped))
			result = take_dump(r, &rec);
		if (result)
			return result;
	}
	return 0;
}

static int give_side(struct replay *r, uint64_t time_ns)
{
	return r->options.each_side
		       ? side_queue_give(&r->side, &r->decoder, time_ns,
					 r->options.each_side, r->options.ctx)
		       : 0;
}

static void begin_chunk(struct replay *r)
{
	r->walk = (struct feed_walk){ 0 };
	if (r->chunk < r->batch.chunks.nr)
		r->walk.order = r->batch.chunks.at[r->chunk].order;
}

/* 0, 1 at the end, or a negative errno. */
static int next_batch(struct replay *r, struct err *err)
{
	int result;

	feed_batch_done(&r->feed, &r->batch);
	r->chunk = 0;
	result = r->ahead ? read_ahead_next(r->ahead, &r->batch, err)
			  : feed_next(&r->feed, &r->batch, err);
	if (result)
		return result;
	begin_chunk(r);
	if (apply_side(r, &r->batch) ||
	    (r->options.each_side && side_queue_keep(&r->side, &r->batch)))
		return err_set(err, -ENOMEM, "out of memory");
	return 0;
}

/* What no sample asks for any more. */
static void forget(struct replay *r)
{
	uint64_t time_ns = r->batch.forget_ns;

	for (size_t i = 0; i < r->late.nr; i++)
		if (r->late.at[i].time_ns < time_ns)
			time_ns = r->late.at[i].time_ns;
	if (!time_ns)
		return;
	resolver_frontier(r->resolver, time_ns);
	deferred_chains_forget(&r->deferred, time_ns);
}

static void end_chunk(struct replay *r)
{
	struct feed_chunk *done = &r->batch.chunks.at[r->chunk];

	perf_input_release(r->in, &done->chunk);
	done->chunk = (struct perf_chunk){ 0 };
	r->chunk++;
	begin_chunk(r);
	if (r->chunk == r->batch.chunks.nr)
		forget(r);
}

/* The number of the sample's event; DICT_NONE when memory is short. */
static uint32_t event_number(struct replay *r, uint32_t attr)
{
	uint32_t *number = &r->event_of.at[attr];

	if (*number == DICT_NONE)
		*number = describe_event(r, attr);
	return *number;
}

enum {
	SAMPLE_SKIPPED = 1,
	SAMPLE_WAITS = 2 /* for the rest of its chain */
};

/* 0; 1: the rest of its chain comes later; or -ENOMEM. */
static int join(struct replay *r, struct group_sample *s)
{
	enum chain_form form = r->options.each ? CHAIN_AS_PERF : CHAIN_OF_RETURNS;
	int result = chain_join_branches(&r->decoder, form, &s->chain, &s->rec);

	return result ? result
		      : chain_join_deferred(&r->deferred, &r->decoder, form,
					    r->no_more_chains || r->late.nr >= LATE_MAX,
					    &s->chain, &s->rec);
}

/* A SAMPLE record, number `order` of the file.  0, SAMPLE_SKIPPED (it is not a sound one),
 * SAMPLE_WAITS or -ENOMEM. */
static int decode(struct replay *r, const uint8_t *bytes, uint32_t size, uint64_t order,
		  struct group_sample *s)
{
	struct record *rec = &s->rec;
	/* Without callers the fields of fixed size are enough, unless somebody looks. */
	bool whole = r->options.chains || r->options.cgroups || r->options.each;
	int bad = whole ? decoder_record(&r->decoder, bytes, size, rec, NULL)
			: decoder_sample_fixed(&r->decoder, bytes, size, rec, NULL);

	if (bad) {
		r->undecodable++;
		return SAMPLE_SKIPPED;
	}
	if (r->feed.timeless)
		rec->id.time_ns = order;
	bad = whole ? join(r, s) : 0;
	return bad > 0 ? SAMPLE_WAITS : bad;
}

static int keep_late(struct replay *r, const uint8_t *bytes, uint32_t size,
		     uint64_t order, const struct record *rec)
{
	struct late_sample late = { malloc(size), size, order, rec->id.time_ns };

	if (!late.bytes || !vec_push(&r->late, late)) {
		free(late.bytes);
		return -ENOMEM;
	}
	memcpy(late.bytes, bytes, size);
	return 0;
}

/* 0, SAMPLE_SKIPPED (maybe for now) or -ENOMEM. */
static int decode_now(struct replay *r, const uint8_t *bytes, uint32_t size,
		      uint64_t order, struct group_sample *s)
{
	int result = decode(r, bytes, size, order, s);

	if (result == SAMPLE_WAITS)
		result = keep_late(r, bytes, size, order, &s->rec) ? -ENOMEM
								   : SAMPLE_SKIPPED;
	return result;
}

typedef int (*late_fn)(struct replay *r, struct group_sample *s, void *ctx);

/* Gives `fn` those which waited and are whole now, at most `max`.  0, or what `fn` returned. */
static int take_late(struct replay *r, size_t max, late_fn fn, void *ctx)
{
	struct group_sample *s = &r->group[0];
	size_t kept = 0;
	int result = 0;

	for (size_t i = 0; i < r->late.nr; i++) {
		struct late_sample *l = &r->late.at[i];
		int state = SAMPLE_WAITS;

		if (!result && max)
			state = decode(r, l->bytes, l->size, l->order, s);
		if (state == SAMPLE_WAITS) {
			r->late.at[kept++] = *l;
			continue;
		}
		if (state == 0) {
			max--;
			result = fn(r, s, ctx);
		} else if (state < 0) {
			result = state;
		}
		free(l->bytes);
	}
	r->late.nr = kept;
	return result;
}

static int finish(struct replay *r, const struct record *rec,
		  struct resolver_found *found, struct sample *sample)
{
	if (resolver_finish(r->resolver, &r->decoder, rec, found, sample))
		return -ENOMEM;
	r->time_ns = rec->id.time_ns;
	if (r->jit && jit_stage_is_needed(r->jit) && sample->stack != DICT_NONE) {
		sample->stack = jit_stage_stack(r->jit, sample->stack, sample->time_ns);
		if (sample->stack == DICT_NONE)
			return -ENOMEM;
	}
	sample->event = event_number(r, rec->id.event);
	return sample->event == DICT_NONE ? -ENOMEM : 0;
}

static void put_sample(struct columns *c, size_t at, const struct sample *s)
{
	c->time_ns[at] = s->time_ns;
	c->period[at] = s->period;
	c->thread[at] = s->thread;
	c->event[at] = s->event;
	c->stack[at] = s->stack;
	c->cpu[at] = s->cpu;
}

/* The next samples of the current chunk, at most `max`, decoded and looked up so far that
 * what the rest needs is on its way into the caches.  Their number, or -ENOMEM; fewer than
 * `max`: the chunk is at its end. */
static int begin_group(struct replay *r, int max)
{
	const struct perf_chunk *chunk = &r->batch.chunks.at[r->chunk].chunk;
	int nr = 0;

	while (nr < max) {
		struct group_sample *s = &r->group[nr];
		uint32_t size;
		int result;
		const uint8_t *at = feed_walk_sample(&r->feed, chunk, &r->walk, &size);

		if (!at)
			break;
		result = decode_now(r, at, size, r->walk.order, s);
		if (result == SAMPLE_SKIPPED)
			continue;
		if (result < 0)
			return result;
		if (resolver_find(r->resolver, &s->rec, &s->found))
			return -ENOMEM;
		nr++;
	}
	return nr;
}

/* Puts them into the columns, unless the chunk was lost meanwhile.  0 or -ENOMEM. */
static int finish_group(struct replay *r, int nr_group, size_t *nr)
{
	for (int i = 0; i < nr_group; i++) {
		struct group_sample *s = &r->group[i];
		struct sample sample;

		if (finish(r, &s->rec, &s->found, &sample))
			return -ENOMEM;
		put_sample(r->columns, *nr + (size_t)i, &sample);
	}
	if (perf_chunk_is_lost(&r->batch.chunks.at[r->chunk].chunk))
		r->undecodable += (uint64_t)nr_group;
	else
		*nr += (size_t)nr_group;
	return 0;
}

/* Fills the columns from the current chunk.  0 or -ENOMEM. */
static int fill(struct replay *r, size_t *nr)
{
	while (*nr < BATCH) {
		int max = BATCH - *nr < GROUP ? (int)(BATCH - *nr) : GROUP;
		int nr_group = begin_group(r, max);

		if (nr_group < 0 || finish_group(r, nr_group, nr))
			return -ENOMEM;
		if (nr_group < max) {
			end_chunk(r);
			return 0;
		}
	}
	return 0;
}

static void set_batch(const struct columns *c, size_t nr, struct sample_batch *batch)
{
	*batch = (struct sample_batch){
		.nr = nr,
		.time_ns = c->time_ns,
		.period = c->period,
		.thread = c->thread,
		.event = c->event,
		.stack = c->stack,
		.cpu = c->cpu,
	};
}

static int put_late(struct replay *r, struct group_sample *s, void *ctx)
{
	size_t *nr = ctx;
	struct sample sample;

	if (resolver_find(r->resolver, &s->rec, &s->found) ||
	    finish(r, &s->rec, &s->found, &sample))
		return -ENOMEM;
	put_sample(r->columns, (*nr)++, &sample);
	return 0;
}

static int next_columns(struct replay *r, struct sample_batch *ret_batch,
			struct err *err)
{
	size_t nr = 0;

	while (!nr) {
		int result;

		if (r->chunk < r->batch.chunks.nr) {
			if (fill(r, &nr))
				return err_set(err, -ENOMEM, "out of memory");
			continue;
		}
		result = r->no_more_chains ? 1 : next_batch(r, err);
		r->no_more_chains = result > 0;
		if (result < 0 || (result && !r->late.nr))
			return result;
		if (take_late(r, BATCH, put_late, &nr))
			return err_set(err, -ENOMEM, "out of memory");
	}
	set_batch(r->columns, nr, ret_batch);
	return 0;
}

/* ---- in order of time ---- */

static int give_one(struct replay *r, struct group_sample *s, void *ctx)
{
	const struct sorter_item *item = ctx; /* NULL: it was late */
	struct sample sample;
	int result = resolver_find(r->resolver, &s->rec, &s->found);

	if (!result)
		result = finish(r, &s->rec, &s->found, &sample);
	if (!result && item && sorter_is_lost(&r->sorter, item))
		r->undecodable++;
	else if (!result)
		result = r->options.each(r->options.ctx, &r->decoder, &s->rec, &sample);
	return result < 0 ? result : 0;
}

static int give_until(struct replay *r, uint64_t before_ns)
{
	const struct sorter_item *item;
	int result = take_late(r, SIZE_MAX, give_one, NULL);

	while (!result && (item = sorter_take(&r->sorter, r->in, before_ns))) {
		struct group_sample *s = &r->group[0];

		result = decode_now(r, item->bytes, item->size, item->order, s);
		if (result == SAMPLE_SKIPPED) {
			result = 0;
			continue;
		}
		if (!result)
			result = give_side(r, item->time_ns);
		if (!result)
			result = give_one(r, s, (void *)(uintptr_t)item);
	}
	return result;
}

int replay_locate(struct replay *r, uint16_t mode, uint64_t address,
		  struct resolver_place *ret_place)
{
	struct resolver_place at;
	uint32_t image, before;
	int result = resolver_locate(r->resolver, mode, address, &at);

	if (result || !r->jit || !jit_stage_is_needed(r->jit) || !at.mapping ||
	    (mode & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_USER) {
		if (!result)
			*ret_place = at;
		return result;
	}
	result = resolver_image(r->resolver, &at, &before);
	image = before;
	if (!result)
		result = jit_stage_place(r->jit, &image, &at.offset, r->time_ns);
	if (result)
		return result;
	if (image != before)
		at.entry = PLACE_OF_DICT | image;
	*ret_place = at;
	return 0;
}

int replay_image(struct replay *r, const struct resolver_place *place,
		 uint32_t *ret_image)
{
	if (place->entry >= PLACE_OF_DICT && place->entry != RESOLVER_NOWHERE) {
		*ret_image = place->entry & ~(uint32_t)PLACE_OF_DICT;
		return 0;
	}
	return resolver_image(r->resolver, place, ret_image);
}

static int give_batch(struct replay *r)
{
	uint64_t before_ns =
		r->batch.frontier_ns == UINT64_MAX ? UINT64_MAX : r->batch.forget_ns;
	int result;

	for (size_t i = 0; i < r->batch.chunks.nr; i++)
		if (sorter_add(&r->sorter, &r->feed, &r->batch.chunks.at[i]))
			return -ENOMEM;
	sorter_sort(&r->sorter);
	result = give_until(r, before_ns);
	if (!result)
		forget(r);
	return result;
}

static int give_all(struct replay *r, struct err *err)
{
	for (;;) {
		int result = next_batch(r, err);
		bool ended = result > 0;

		if (result < 0)
			return result;
		r->no_more_chains = ended;
		result = ended ? give_until(r, 0) : give_batch(r);
		if (ended && !result)
			result = give_side(r, UINT64_MAX);
		if (ended && !result)
			return 1;
		if (result)
			return result == -ENOMEM ? err_set(err, result, "out of memory")
						 : result;
	}
}

int replay_next(struct replay *r, struct sample_batch *ret_batch, struct err *err)
{
	return r->options.each ? give_all(r, err) : next_columns(r, ret_batch, err);
}

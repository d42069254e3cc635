/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf_data.c - reads the samples of a perf.data file for `oprofile script`. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "recordings/sources.h"
#include "resolve/replay/replay.h"
#include "resolve/symbolize/naming.h"
#include "resolve/symbolize/unwind.h"
#include "script/side.h"
#include "script/sink.h"
#include "script/sources.h"

enum {
	/* Number of addresses that are looked up together. */
	RUN_MAX = 128,
	LATER_MAX = SCRIPT_WANTS,
	BRANCH_FIELDS = SCRIPT_BRSTACK | SCRIPT_BRSTACKSYM,
	EXTRA_FIELDS = BRANCH_FIELDS | SCRIPT_ADDR | SCRIPT_WEIGHT | SCRIPT_INS_LAT |
		       SCRIPT_PHYS_ADDR | SCRIPT_DATA_PAGE_SIZE | SCRIPT_CODE_PAGE_SIZE
};

/* An address whose image is known, but whose text was not looked up yet. */
struct half {
	uint64_t address;
	uint64_t offset;
	uint32_t entry;      /* struct resolver_position's `entry`, or SCRIPT_NOWHERE */
	uint32_t dict_image; /* set by later_sample() */
	struct script_spot spot;
};

/* A queued sample with a single frame. Such samples are looked up together, because the cache
 * misses of many lookups overlap. */
struct later {
	struct half at;
	uint64_t time_ns, period;
	int32_t pid, tid;
	uint32_t event, cpu, thread;
	uint16_t misc;
};

struct script_perf_data_reader {
	struct perf_input *input;
	struct replay *replay;
	struct naming_unwind *unwind;
	struct script_sink sink;
	struct script_side side;
	struct err *err;
	uint64_t stray;
	bool begun;
	struct later later[LATER_MAX];
	size_t nr_later;
};

/* ---- frames ---- */

static int script_perf_data_spot_of(struct script_perf_data_reader *r,
				    struct script_positions *positions,
				    const struct resolver_position *at,
				    struct script_spot *ret_spot)
{
	bool nowhere = at->entry == RESOLVER_NOWHERE;
	/* All unmapped addresses share an entry with offset 0. */
	uint32_t image = nowhere ? SCRIPT_NOWHERE : at->entry;
	uint64_t offset = nowhere ? 0 : at->offset;
	struct script_want want = { image, DICT_NONE, offset, ret_spot };
	int result;

	if (script_positions_find(positions, image, offset, ret_spot))
		return 0;
	result = replay_image(r->replay, at, &want.dict_image);
	return result ? result : script_positions_add(positions, &want, 1);
}

/* Appends the frames of addresses that all have the same CPU mode. */
static int script_perf_data_add_run(struct script_perf_data_reader *r, uint16_t mode,
				    const uint64_t *addresses, size_t nr)
{
	struct resolver_position at[RUN_MAX];
	struct script_spot spots[RUN_MAX];
	struct script_sink *s = &r->sink;
	int result = vec_reserve(&s->frames, s->frames.nr + nr) ? 0 : -ENOMEM;

	for (size_t i = 0; !result && i < nr; i++) {
		result = replay_locate(r->replay, mode, addresses[i], &at[i]);
		script_positions_prefetch(&s->positions, at[i].entry, at[i].offset);
	}
	for (size_t i = 0; !result && i < nr; i++) {
		result = script_perf_data_spot_of(r, &s->positions, &at[i], &spots[i]);
		if (!result)
			script_spot_prefetch(&spots[i]);
	}
	for (size_t i = 0; !result && i < nr; i++) {
		struct script_frame *frame = &s->frames.at[s->frames.nr++];

		script_spot_frame(&spots[i], frame);
		/* In chains, perf prints the offset in the file for some images. */
		frame->address = spots[i].label->is_file ? at[i].offset : addresses[i];
	}
	return result;
}

static uint16_t mode_of_mark(enum chain_mark mark)
{
	static const uint16_t modes[] = {
		[CHAIN_HYPERVISOR] = PERF_RECORD_MISC_HYPERVISOR,
		[CHAIN_KERNEL] = PERF_RECORD_MISC_KERNEL,
		[CHAIN_USER] = PERF_RECORD_MISC_USER,
		[CHAIN_USER_DEFERRED] = PERF_RECORD_MISC_USER,
		[CHAIN_GUEST] = PERF_RECORD_MISC_GUEST_USER,
		[CHAIN_GUEST_KERNEL] = PERF_RECORD_MISC_GUEST_KERNEL,
		[CHAIN_GUEST_USER] = PERF_RECORD_MISC_GUEST_USER,
		[CHAIN_UNKNOWN_MARK] = PERF_RECORD_MISC_CPUMODE_UNKNOWN,
	};

	return modes[mark];
}

/* Appends the callers unwound from registers and stack copy, after the kernel's frames.  Like
 * perf, uses the address of the call instead of the return address. */
static int add_unwound(struct script_perf_data_reader *r, const struct record *rec,
		       uint64_t max)
{
	uint64_t run[RUN_MAX];
	const uint64_t *pcs;
	size_t nr;
	int result = 0;

	pcs = replay_unwound(r->replay, rec, max, &nr);
	for (size_t i = 0; !result && i < nr;) {
		size_t in_run = 0;

		for (; i < nr && in_run < RUN_MAX; i++)
			run[in_run++] = pcs[i] - (i > 0);
		result =
			script_perf_data_add_run(r, PERF_RECORD_MISC_USER, run, in_run);
	}
	return result;
}

static int add_chain(struct script_perf_data_reader *r, const struct decoder *d,
		     const struct record *rec)
{
	uint64_t left = r->sink.options->max_stack;
	uint64_t run[RUN_MAX];
	uint16_t mode = rec->misc;
	bool has_user = false;
	size_t nr = 0;
	int result = 0;

	for (uint64_t i = 0; !result && left && i < rec->sample.nr_chain; i++) {
		uint64_t word = decoder_chain_at(d, &rec->sample, i);
		enum chain_mark mark = chain_mark_of(word);

		if (mark == CHAIN_UNKNOWN_MARK) /* garbage */
			break;
		if (mark == CHAIN_ADDRESS) {
			has_user |= (mode & PERF_RECORD_MISC_CPUMODE_MASK) ==
				    PERF_RECORD_MISC_USER;
			run[nr++] = word;
			left--;
		}
		if (nr && (mark != CHAIN_ADDRESS || nr == RUN_MAX)) {
			result = script_perf_data_add_run(r, mode, run, nr);
			nr = 0;
		}
		if (mark != CHAIN_ADDRESS)
			mode = mode_of_mark(mark);
		i += mark == CHAIN_USER_DEFERRED; /* skip its cookie */
	}
	if (!result && nr)
		result = script_perf_data_add_run(r, mode, run, nr);
	return result || has_user || !left ? result : add_unwound(r, rec, left);
}

static bool has_chain(const struct script_perf_data_reader *r, const struct record *rec)
{
	return r->sink.writer.chains && rec->sample.has & PERF_SAMPLE_CALLCHAIN;
}

static int script_perf_data_add_frames(struct script_perf_data_reader *r,
				       const struct decoder *d,
				       const struct record *rec,
				       struct script_sample *sample)
{
	struct script_sink *s = &r->sink;
	int result;

	s->frames.nr = 0;
	sample->chain = has_chain(r, rec);
	if (sample->chain) {
		result = add_chain(r, d, rec);
	} else {
		result = script_perf_data_add_run(r, rec->misc, &rec->sample.ip.v, 1);
		if (!result)
			s->frames.at[0].address = rec->sample.ip.v;
	}
	sample->frames = s->frames.at;
	sample->nr_frames = s->frames.nr;
	return result;
}

/* ---- data and branches ---- */

/* Returns the mode of a data or branch address: user space or kernel. Like perf, decides by the
 * address alone. */
static uint16_t mode_of_address(uint64_t address)
{
	return address > INT64_MAX ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
}

/* Returns whether to print the position of the data address. perf does so only for page faults. */
static bool shows_data_position(const struct script_event *e)
{
	return e->type == PERF_TYPE_SOFTWARE &&
	       (e->config == PERF_COUNT_SW_PAGE_FAULTS ||
		e->config == PERF_COUNT_SW_PAGE_FAULTS_MIN ||
		e->config == PERF_COUNT_SW_PAGE_FAULTS_MAJ);
}

static int script_perf_data_find_address(struct script_perf_data_reader *r,
					 struct script_positions *positions,
					 uint64_t address, struct script_spot *ret_spot)
{
	struct resolver_position at;
	int result = replay_locate(r->replay, mode_of_address(address), address, &at);

	return result ? result : script_perf_data_spot_of(r, positions, &at, ret_spot);
}

static int add_memory(struct script_perf_data_reader *r, const struct record *rec,
		      struct script_sample *sample)
{
	const struct record_sample *from = &rec->sample;
	struct script_sink *s = &r->sink;
	struct script_spot spot = { 0 };
	uint64_t has = from->has;
	int result;

	sample->addr.address = from->addr;
	if (has & PERF_SAMPLE_WEIGHT_TYPE) {
		sample->weight = from->weight;
		sample->ins_lat = from->ins_lat;
	}
	if (has & PERF_SAMPLE_PHYS_ADDR)
		sample->phys_addr = from->phys_addr;
	if (has & PERF_SAMPLE_DATA_PAGE_SIZE)
		sample->data_page_size = from->data_page_size;
	if (has & PERF_SAMPLE_CODE_PAGE_SIZE)
		sample->code_page_size = from->code_page_size;
	if (!(s->fields.at[sample->event] & SCRIPT_ADDR) ||
	    !shows_data_position(&s->events.at[sample->event]))
		return 0;
	result = script_perf_data_find_address(r, &s->positions, from->addr, &spot);
	if (!result)
		script_spot_frame(&spot, &sample->addr);
	return result;
}

static int branch_text(struct script_perf_data_reader *r, uint64_t address,
		       struct script_text *ret_text)
{
	struct script_spot spot = { 0 };
	int result = script_perf_data_find_address(r, &r->sink.branch_positions,
						   address, &spot);

	if (!result)
		*ret_text = (struct script_text){ spot.label->text, spot.label->len };
	return result;
}

static int add_branch(struct script_perf_data_reader *r, const struct branch *b)
{
	struct script_branch branch = { .from = b->from,
					.to = b->to,
					.predicted = b->predicted,
					.mispredicted = b->mispredicted,
					.in_tx = b->in_tx,
					.aborted = b->aborted,
					.cycles = b->cycles,
					.type = branch_type_name(b) };
	int result = branch_text(r, b->from, &branch.from_position);

	if (!result)
		result = branch_text(r, b->to, &branch.to_position);
	if (!result && !vec_push(&r->sink.branches, branch))
		result = -ENOMEM;
	return result;
}

static int script_perf_data_add_branches(struct script_perf_data_reader *r,
					 const struct decoder *d,
					 const struct record *rec,
					 struct script_sample *sample)
{
	struct script_sink *s = &r->sink;
	int result = 0;

	s->branches.nr = 0;
	for (uint64_t i = 0; !result && i < rec->sample.nr_branches; i++) {
		struct branch b = decoder_branch_at(d, &rec->sample, i);

		result = add_branch(r, &b);
	}
	sample->branches = s->branches.at;
	sample->nr_branches = s->branches.nr;
	return result;
}

/* ---- samples ---- */

/* Sets the time range of the filter when the first sample is known. If the file's header has no
 * start time, uses the time of this sample, which is the oldest. */
static int script_perf_data_begin(struct script_perf_data_reader *r,
				  const struct record *rec)
{
	const struct perf_input_info *info = perf_input_info(r->input);
	struct session_span span = { .start_ns = replay_info(r->replay)->start_ns,
				     .first_ns = info->first_ns,
				     .last_ns = info->last_ns,
				     .wall_ns = info->clock_wall_ns,
				     .wall_at_ns = info->clock_ns };

	r->begun = true;
	if (!span.start_ns)
		span.start_ns = rec->id.time_ns;
	/* Round as sessions do, which store times in units of 100 ns. */
	span.start_ns -= span.start_ns % 100;
	return script_filter_times(&r->sink.filter, &span, r->err);
}

/* Looks up all waiting samples together.  Returns 0 or -ENOMEM. */
static int find_later(struct script_perf_data_reader *r)
{
	struct script_want wants[LATER_MAX];
	size_t nr = 0;

	for (size_t i = 0; i < r->nr_later; i++) {
		struct half *at = &r->later[i].at;

		if (script_positions_find(&r->sink.positions, at->entry, at->offset,
					  &at->spot))
			script_spot_prefetch(&at->spot);
		else
			wants[nr++] = (struct script_want){ at->entry, at->dict_image,
							    at->offset, &at->spot };
	}
	return nr ? script_positions_add(&r->sink.positions, wants, nr) : 0;
}

/* Writes the waiting samples. */
static int write_later(struct script_perf_data_reader *r)
{
	struct script_frame frame = { 0 };
	struct script_sample sample = { .frames = &frame, .nr_frames = 1 };
	int result = find_later(r);

	for (size_t i = 0; !result && i < r->nr_later; i++) {
		struct later *l = &r->later[i];

		script_spot_frame(&l->at.spot, &frame);
		frame.address = l->at.address;
		sample.event = l->event;
		sample.misc = l->misc;
		sample.pid = l->pid;
		sample.tid = l->tid;
		sample.cpu = l->cpu;
		sample.time_ns = l->time_ns;
		sample.period = l->period;
		result = script_sink_write(&r->sink, &sample, l->thread);
	}
	r->nr_later = 0;
	return result;
}

/* Queues a sample that has only a single frame. */
static int later_sample(struct script_perf_data_reader *r, const struct record *rec,
			uint32_t thread)
{
	struct later *l = &r->later[r->nr_later];
	struct resolver_position at;
	int result = replay_locate(r->replay, rec->misc, rec->sample.ip.v, &at);

	if (!result)
		result = replay_image(r->replay, &at, &l->at.dict_image);
	if (result)
		return result;
	l->event = rec->id.event;
	l->misc = rec->misc;
	l->pid = rec->id.pid;
	l->tid = rec->id.tid;
	l->cpu = rec->id.cpu;
	l->time_ns = rec->id.time_ns;
	l->period = rec->sample.period;
	l->thread = thread;
	l->at.address = rec->sample.ip.v;
	l->at.entry = at.entry;
	l->at.offset = at.offset;
	if (at.entry == RESOLVER_NOWHERE) {
		l->at.entry = SCRIPT_NOWHERE;
		l->at.offset = 0;
	}
	script_positions_prefetch(&r->sink.positions, l->at.entry, l->at.offset);
	return ++r->nr_later == LATER_MAX ? write_later(r) : 0;
}

static int write_now(struct script_perf_data_reader *r, const struct decoder *d,
		     const struct record *rec, uint32_t thread)
{
	uint32_t fields = r->sink.fields.at[rec->id.event];
	struct script_sample sample = { .event = rec->id.event,
					.misc = rec->misc,
					.pid = rec->id.pid,
					.tid = rec->id.tid,
					.cpu = rec->id.cpu,
					.time_ns = rec->id.time_ns,
					.period = rec->sample.period };
	int result = write_later(r);

	if (!result && fields & SCRIPT_IP)
		result = script_perf_data_add_frames(r, d, rec, &sample);
	if (!result && fields & EXTRA_FIELDS)
		result = add_memory(r, rec, &sample);
	if (!result && fields & BRANCH_FIELDS &&
	    rec->sample.has & PERF_SAMPLE_BRANCH_STACK)
		result = script_perf_data_add_branches(r, d, rec, &sample);
	return result ? result : script_sink_write(&r->sink, &sample, thread);
}

static int script_perf_data_write_sample(struct script_perf_data_reader *r,
					 const struct decoder *d,
					 const struct record *rec, uint32_t thread)
{
	uint32_t fields = r->sink.fields.at[rec->id.event];

	if (fields & SCRIPT_IP && !(fields & EXTRA_FIELDS) && !has_chain(r, rec))
		return later_sample(r, rec, thread);
	return write_now(r, d, rec, thread);
}

static int script_perf_data_take_sample(void *ctx, const struct decoder *d,
					const struct record *rec,
					const struct sample *resolved)
{
	struct script_perf_data_reader *r = ctx;
	int result;

	if (!r->begun) {
		result = script_perf_data_begin(r, rec);
		if (result)
			return result;
	}
	if (rec->id.stray) {
		r->stray++;
		return 0;
	}
	result = script_filter_wants(&r->sink.filter, resolved);
	if (result > 0)
		result = script_perf_data_write_sample(r, d, rec, resolved->thread);
	return result == -EIO ? script_sink_failed(r->err) : result;
}

static int script_perf_data_take_side(void *ctx, const struct record *rec)
{
	struct script_perf_data_reader *r = ctx;
	int result = write_later(r);

	if (!result)
		result =
			script_side_write(&r->side, &r->sink.writer, rec, &r->sink.out);
	return result == -EIO ? script_sink_failed(r->err) : result;
}

/* ---- a file ---- */

static int script_perf_data_add_events(struct script_perf_data_reader *r,
				       struct err *err)
{
	const struct perf_input_info *info = perf_input_info(r->input);

	for (size_t i = 0; i < info->events.nr; i++) {
		const struct perf_input_event *e = &info->events.at[i];
		struct script_event event = { .name = e->name,
					      .type = e->attr.type,
					      .config = e->attr.config,
					      .sample_type = e->attr.sample_type };

		if (!vec_push(&r->sink.events, event))
			return err_set(err, -ENOMEM, "out of memory");
	}
	return script_sink_set_events(&r->sink, err);
}

/* Returns whether chains are shown: some event was recorded with them. Stack copies without
 * PERF_SAMPLE_CALLCHAIN are not shown by perf either, so they need no unwinding. */
static bool shows_chains(const struct script_perf_data_reader *r)
{
	const struct perf_input_info *info = perf_input_info(r->input);

	for (size_t i = 0; r->sink.writer.chains && i < info->events.nr; i++)
		if (info->events.at[i].attr.sample_type & PERF_SAMPLE_CALLCHAIN ||
		    !strcmp(info->events.at[i].name, OFF_CPU_EVENT))
			return true;
	return false;
}

static int replay_all(struct script_perf_data_reader *r, const char *path,
		      struct err *err)
{
	const struct script_options *options = r->sink.options;
	struct replay_options how = { .threads = options->threads != 1,
				      .nr_threads = options->threads,
				      .no_stacks = !script_filter_needed(options->spec),
				      .each = script_perf_data_take_sample,
				      .ctx = r };
	struct script_source source = { .session_dir = "",
					.recorded_in = path,
					.perf = perf_input_info(r->input) };
	struct jit_locations jit;
	int result = script_perf_data_add_events(r, err);

	if (result)
		return result;
	how.cgroups = r->sink.all_fields & SCRIPT_CGROUP;
	r->side.mmaps = options->show_mmaps;
	r->side.tasks = options->show_tasks;
	if (options->show_mmaps || options->show_tasks)
		how.each_side = script_perf_data_take_side;
	result = replay_new(r->input, &how, &r->replay, err);
	if (result)
		return result;
	source.dict = replay_dict(r->replay);
	source.info = replay_info(r->replay);
	result = script_sink_open(&r->sink, &source, err);
	if (result)
		return result;
	jit = naming_jit_locations(r->sink.naming);
	if (replay_use_jit(r->replay, &jit) ||
	    (shows_chains(r) &&
	     (naming_unwind_new(r->sink.naming, &r->unwind) ||
	      replay_use_unwind(r->replay, &(struct replay_unwind){ naming_unwind_table,
								    naming_unwind_code,
								    r->unwind }))))
		return err_set(err, -ENOMEM, "out of memory");
	result = replay_next(r->replay, NULL, err);
	if (result != 1)
		return result;
	result = write_later(r);
	if (result == -ENOMEM)
		return err_set(err, result, "out of memory");
	return result || script_sink_flush(&r->sink) ? script_sink_failed(err) : 0;
}

static void script_perf_data_take_result(const struct script_perf_data_reader *r,
					 struct script_result *result)
{
	const struct feed_counts *counts = replay_counts(r->replay);

	result->samples = r->sink.samples;
	result->skipped = r->sink.filter.skipped;
	result->stray = r->stray;
	result->malformed = replay_undecodable(r->replay);
	result->lost = counts->lost;
	result->damage = *perf_input_damage(r->input);
	result->interrupted = perf_input_info(r->input)->interrupted;
}

int script_perf_data(const struct report_session *from,
		     const struct script_options *options,
		     struct script_result *ret_result, struct err *err)
{
	struct script_perf_data_reader r = { .sink.options = options, .err = err };
	int result = perf_input_open(from->dir, from->trust, &r.input, err);

	*ret_result = (struct script_result){ 0 };
	if (result)
		return result;
	result = replay_all(&r, from->dir, err);
	if (result)
		err_prefix(err, "%s", from->dir);
	else
		script_perf_data_take_result(&r, ret_result);
	naming_unwind_free(r.unwind);
	script_sink_done(&r.sink);
	script_side_done(&r.side);
	replay_free(r.replay);
	perf_input_close(r.input);
	return result;
}

#include "tools/recorder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/log.h"
#include "capture/kernel_files.h"
#include "capture/machine.h"
#include "capture/perf_source.h"
#include "capture/snapshot.h"
#include "decode/record.h"
#include "resolve/resolver.h"
#include "tools/image_keeper.h"
#include "tools/perf_data_out.h"
#include "tools/session_dir.h"
#include "tools/side_band.h"
#include "tools/thread_list.h"

enum {
	NS_PER_MS = 1000000,
	ROUND_NS = 1000000000, /* at most this much is lost to a SIGKILL */
	/* The first ones sooner, each twice as late as the last: binaries are looked at while
	 * a short program still runs. */
	FIRST_ROUND_NS = 100 * NS_PER_MS,
	FLUSH_SAMPLES = 64 * 1024, /* ... or this many samples wait */
	SNAPSHOT_NS = 2000000000   /* for the processes that exist already */
};

struct recorder {
	struct recorder_config config;
	struct machine machine;
	struct perf_source *source;
	struct decoder decoder;
	struct dict dict;
	struct resolver_ops ops;
	struct resolver *resolver;
	struct snapshot *snapshot;
	struct image_keeper keeper;
	struct segment_writer *writer;
	char *segment_path;
	struct perf_data_out *perf_data; /* NULL: not asked for */
	struct side_band side_band;
	struct buf held; /* samples from behind the frontier, for the next round */
	struct session_totals totals;
	uint64_t frontier_ns;
	uint64_t next_flush_ns;
	uint64_t round_ns; /* from this flush to the next */
	uint64_t lost_in_records;
	bool snapshot_done;
	bool stopped;    /* nothing is drained any more */
	struct err *err; /* of the call at hand, for callbacks */
};

static uint64_t now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static uint64_t own_cpu_ns(void)
{
	return now_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* ---- opening ---- */

static uint32_t describe_event(struct dict *dict, const struct event_request *e,
			       bool chains)
{
	struct event_desc desc = {
		.name = dict_string(dict, e->name),
		.about = dict_string(dict, e->about),
		.type = e->attr.type,
		.config = e->attr.config,
		.config1 = e->attr.config1,
		.config2 = e->attr.config2,
		.count = e->count,
		.frequency_hz = e->frequency_hz,
		.unit_mask = e->unit_mask,
		.flags = (e->user ? EVENT_USER : 0) | (e->kernel ? EVENT_KERNEL : 0) |
			 (e->timer ? EVENT_TIMER : 0) | (chains ? EVENT_CHAINS : 0),
	};

	return dict_event(dict, &desc);
}

static int open_decoder(struct recorder *r)
{
	decoder_init(&r->decoder, false);
	for (size_t i = 0; i < perf_source_nr_attrs(r->source); i++) {
		size_t nr_ids;
		const uint64_t *ids = perf_source_ids(r->source, i, &nr_ids);

		if (decoder_add_attr(&r->decoder, perf_source_attr(r->source, i)))
			return -ENOMEM;
		for (size_t k = 0; k < nr_ids; k++)
			if (decoder_add_id(&r->decoder, ids[k], (uint32_t)i))
				return -ENOMEM;
	}
	return 0;
}

static int open_writer(struct recorder *r, struct err *err)
{
	const struct recorder_config *c = &r->config;
	struct buf command = { 0 };
	struct session_info info = {
		.tool_version = OPROFILE_VERSION,
		.hostname = r->machine.hostname,
		.os_release = r->machine.os_release,
		.machine = r->machine.arch,
		.cpu_desc = r->machine.cpu_desc,
		.boot_id = r->machine.boot_id,
		.vmlinux = c->vmlinux,
		.kernel_build_id = r->machine.kernel_build_id,
		.cpu_mhz = r->machine.cpu_mhz,
		.nr_cpus_online = r->machine.nr_cpus_online,
		.flags = c->session_flags,
		.clock_id = CLOCK_MONOTONIC,
		.start_ns = now_ns(CLOCK_MONOTONIC),
		.start_wall_ns = now_ns(CLOCK_REALTIME),
	};
	int result = -ENOMEM;

	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
		info.flags |= SESSION_BIG_ENDIAN;
	if (sizeof(void *) == 8)
		info.flags |= SESSION_64BIT;
	machine_quote_command(c->command, c->nr_command, &command);
	r->segment_path = session_next_path(c->dir->writing);
	if (r->segment_path && !command.failed) {
		info.command = (char *)command.data;
		result = segment_writer_open(r->segment_path, &info, &r->dict,
					     &r->writer, err);
	}
	buf_done(&command);
	return result;
}

/* Symbols and modules of the kernel that runs now.  Not having them is no reason not to
 * record: the report says what is missing. */
static void save_kernel(struct recorder *r)
{
	const struct session_dir *dir = r->config.dir;
	struct err err = { 0 };
	int result = kernel_files_save_kallsyms(dir->root, dir->writing,
						r->machine.boot_id, &err);

	if (result == -ENOSPC)
		log_say(LOG_WARNING,
			"no room in %s for the kernel's symbols (1 MB): kernel "
			"samples will have no names",
			dir->root);
	else if (result < 0)
		log_say(LOG_WARNING, "the kernel's symbols are not saved: %s",
			err.text);
	result = kernel_files_save_modules(dir->writing, &err);
	if (result < 0 && result != -ENOSPC)
		log_say(LOG_WARNING, "the list of modules is not saved: %s", err.text);
}

/* ---- the snapshot, and what comes in meanwhile ---- */

static int take_side_band(void *ctx, const void *record, size_t len)
{
	struct recorder *r = ctx;
	int result = side_band_add(&r->side_band, &r->decoder, record, len);

	if (!result && r->perf_data)
		result = perf_data_out_write(r->perf_data, record, len, r->err);
	if (result != -EBADMSG)
		return result;
	r->totals.undecodable++;
	return 0;
}

/* A record that says what was true before the recording. */
static int take_snapshot(void *ctx, const void *record, size_t len)
{
	struct recorder *r = ctx;
	struct record rec;
	int result;

	if (decoder_record(&r->decoder, record, len, &rec, NULL))
		return 0;
	rec.id.time_ns = 0;
	result = resolver_side_band(r->resolver, &rec);
	if (!result && r->perf_data)
		result = perf_data_out_write(r->perf_data, record, len, r->err);
	/* The side band fills its rings while /proc is read: it is fetched in between. */
	if (!result && !r->snapshot_done &&
	    now_ns(CLOCK_MONOTONIC) > r->next_flush_ns) {
		r->next_flush_ns = now_ns(CLOCK_MONOTONIC) + 20 * NS_PER_MS;
		result = perf_source_drain(r->source, PERF_SOURCE_SIDE_BAND,
					   take_side_band, r);
	}
	return result;
}

static void ask_proc(void *ctx, int32_t pid)
{
	struct recorder *r = ctx;
	struct snapshot_stats stats = { 0 };

	if (!r->config.on_exec)
		snapshot_process(r->snapshot, pid, &stats, NULL);
}

static void first_hit(void *ctx, const char *path, int32_t pid, uint64_t map_start,
		      uint64_t map_end, struct image *image)
{
	struct recorder *r = ctx;

	image_keeper_first_hit(&r->keeper, path, pid, map_start, map_end, image);
}

static int take_snapshots(struct recorder *r, struct err *err)
{
	const struct recorder_config *c = &r->config;
	const struct perf_event_attr *attr =
		perf_source_attr(r->source, perf_source_nr_attrs(r->source) - 1);
	size_t nr_ids;
	struct snapshot_config config = {
		.sample_type = attr->sample_type,
		.id = perf_source_ids(r->source, perf_source_nr_attrs(r->source) - 1,
				      &nr_ids)[0],
		.clock = CLOCK_MONOTONIC,
		.deadline_ns = now_ns(CLOCK_MONOTONIC) + SNAPSHOT_NS,
		.sink = take_snapshot,
		.ctx = r,
	};
	struct snapshot_stats stats = { 0 };
	int result = snapshot_new(&config, &r->snapshot);

	if (result)
		return err_set(err, result, "out of memory");
	result = snapshot_kernel(r->snapshot, err);
	if (result == -EACCES && !(c->session_flags & SESSION_USER_ONLY))
		log_say(LOG_WARNING, "kernel addresses are hidden "
				     "(kernel.kptr_restrict): kernel samples "
				     "will have no names");
	else if (result && result != -EACCES)
		return result;
	result = 0;
	if (!c->pids)
		result = snapshot_all(r->snapshot, &stats, err);
	for (size_t i = 0; c->pids && i < c->nr_pids && !result && !c->on_exec; i++) {
		result = snapshot_process(r->snapshot, c->pids[i], &stats, err);
		if (result == -EACCES || result == -ESRCH)
			result = 0;
	}
	if (stats.skipped)
		log_say(LOG_NOTE, "%u processes will be looked at when they first run",
			stats.skipped);
	r->snapshot_done = true;
	return result;
}

/* All threads of the processes, as far as they exist at this moment; those that they start
 * later are followed by the kernel (inherit). */
static int list_threads(const struct recorder_config *c, struct thread_list *threads,
			struct err *err)
{
	for (size_t i = 0; i < c->nr_pids; i++) {
		int result = thread_list_add(threads, c->pids[i]);

		if (result == -ESRCH && access("/proc/self", F_OK))
			return err_set(err, -ENOENT,
				       "/proc is not mounted: nothing can be "
				       "known of processes");
		if (result)
			return err_sys(err, result, "process %d", c->pids[i]);
	}
	return 0;
}

static int open_source(struct recorder *r, struct err *err)
{
	const struct recorder_config *c = &r->config;
	struct thread_list threads = { 0 };
	struct perf_source_config config = {
		.events = c->events,
		.nr_events = c->nr_events,
		.on_exec = c->on_exec,
		.chains = c->chains,
		.ring_pages = c->ring_pages,
	};
	int result = list_threads(c, &threads, err);

	if (c->pids) {
		config.tids = threads.list.at;
		config.nr_tids = threads.list.nr;
	}
	if (!result)
		result = perf_source_open(&config, &r->source, err);
	thread_list_done(&threads);
	return result;
}

static int open_tables(struct recorder *r, struct err *err)
{
	const struct recorder_config *c = &r->config;
	int result = dict_init(&r->dict);

	if (!result)
		result = open_decoder(r);
	for (size_t i = 0; i < c->nr_events && !result; i++)
		if (describe_event(&r->dict, &c->events[i], c->chains) == DICT_NONE)
			result = -ENOMEM;
	r->ops = (struct resolver_ops){ .first_hit = first_hit,
					.unknown_process = ask_proc,
					.ctx = r };
	if (!result)
		result = resolver_new(&r->dict, &r->ops, &r->resolver);
	return result ? err_set(err, result, "out of memory") : 0;
}

static int open_outputs(struct recorder *r, struct err *err)
{
	const struct recorder_config *c = &r->config;
	int result = open_writer(r, err);

	if (!result && c->perf_data)
		result = perf_data_out_open(c->perf_data, r->source, c->events,
					    c->nr_events, &r->perf_data, err);
	return result;
}

static void recorder_free(struct recorder *r)
{
	perf_source_close(r->source);
	snapshot_free(r->snapshot);
	resolver_free(r->resolver);
	image_keeper_done(&r->keeper);
	side_band_done(&r->side_band);
	buf_done(&r->held);
	decoder_done(&r->decoder);
	dict_done(&r->dict);
	free(r->segment_path);
	free(r);
}

int recorder_open(const struct recorder_config *config, struct recorder **ret_recorder,
		  struct err *err)
{
	struct recorder *r = calloc(1, sizeof(*r));
	int result;

	if (!r)
		return err_set(err, -ENOMEM, "out of memory");
	r->config = *config;
	r->totals.target_status = -1;
	r->err = err;
	machine_read(&r->machine);
	image_keeper_init(&r->keeper, config->dir, &r->machine.kernel_build_id);
	result = open_source(r, err);
	if (!result)
		result = open_tables(r, err);
	if (!result)
		result = open_outputs(r, err);
	if (!result) {
		save_kernel(r);
		result = take_snapshots(r, err);
	}
	if (result) {
		recorder_discard(r);
		return result;
	}
	r->round_ns = FIRST_ROUND_NS;
	r->next_flush_ns = now_ns(CLOCK_MONOTONIC) + r->round_ns;
	*ret_recorder = r;
	return 0;
}

/* ---- recording ---- */

int recorder_enable(struct recorder *r, bool on, struct err *err)
{
	int result = perf_source_enable(r->source, on);

	return result ? err_sys(err, result, "perf event %s", on ? "enable" : "disable")
		      : 0;
}

int recorder_poll_fd(const struct recorder *r)
{
	return perf_source_poll_fd(r->source);
}

int recorder_timeout_ms(const struct recorder *r)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC);

	return now >= r->next_flush_ns
		       ? 0
		       : (int)((r->next_flush_ns - now) / NS_PER_MS) + 1;
}

static int add_sample(struct recorder *r, const struct record *rec)
{
	struct sample sample;
	int result = resolver_sample(r->resolver, &r->decoder, rec, &sample);

	if (!result)
		result = segment_writer_add(r->writer, &sample);
	if (result)
		return err_set(r->err, result, "out of memory");
	r->totals.samples++;
	if (r->perf_data)
		perf_data_out_saw(r->perf_data, sample.time_ns);
	return 0;
}

static int take_record(struct recorder *r, const void *bytes, size_t len)
{
	struct record rec;

	if (decoder_record(&r->decoder, bytes, len, &rec, NULL)) {
		r->totals.undecodable++;
		return 0;
	}
	switch (rec.type) {
	case PERF_RECORD_SAMPLE:
		if (rec.id.time_ns <= r->frontier_ns)
			return add_sample(r, &rec);
		/* Younger than what is known of the side band. */
		buf_put(&r->held, bytes, len);
		return r->held.failed ? err_set(r->err, -ENOMEM, "out of memory") : 0;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		r->lost_in_records += rec.lost.lost;
		return 0;
	case PERF_RECORD_THROTTLE:
		r->totals.throttled++;
		return 0;
	default:
		return 0;
	}
}

static int take_sample(void *ctx, const void *bytes, size_t len)
{
	struct recorder *r = ctx;
	int result = take_record(r, bytes, len);

	if (!result && r->perf_data)
		result = perf_data_out_write(r->perf_data, bytes, len, r->err);
	return result;
}

/* What the last round held back lies behind the frontier now. */
static int take_held(struct recorder *r)
{
	struct buf held = r->held;
	int result = 0;

	r->held = (struct buf){ 0 };
	for (size_t at = 0; at < held.len && !result;) {
		struct perf_event_header header;

		memcpy(&header, held.data + at, sizeof(header));
		result = take_record(r, held.data + at, header.size);
		at += header.size;
	}
	buf_done(&held);
	return result;
}

static int drain(struct recorder *r)
{
	int result;

	/* Whatever happened before this moment is in the rings when they are looked at. */
	r->frontier_ns = now_ns(CLOCK_MONOTONIC);
	result = perf_source_drain(r->source, PERF_SOURCE_SIDE_BAND, take_side_band, r);
	if (!result &&
	    side_band_apply(&r->side_band, &r->decoder, r->resolver, r->frontier_ns))
		result = err_set(r->err, -ENOMEM, "out of memory");
	if (!result)
		result = take_held(r);
	if (!result)
		result = perf_source_drain(r->source, PERF_SOURCE_SAMPLES, take_sample,
					   r);
	resolver_frontier(r->resolver, r->frontier_ns);
	return result;
}

static void update_totals(struct recorder *r)
{
	r->totals.lost = r->lost_in_records;
	r->totals.lost_records = r->side_band.lost;
	r->totals.end_ns = now_ns(CLOCK_MONOTONIC);
	r->totals.recorder_cpu_ns = own_cpu_ns();
}

/* The kernel's counters know also of what was lost since the last LOST record.  Asked only
 * at the end: each costs an interrupt on its CPU. */
static void count_lost(struct recorder *r)
{
	uint64_t lost;

	if (!perf_source_lost(r->source, &lost) && lost > r->totals.lost)
		r->totals.lost = lost;
}

static int flush(struct recorder *r)
{
	int result = segment_writer_flush(r->writer, &r->totals, r->err);

	if (!result && r->perf_data)
		result = perf_data_out_round(r->perf_data, r->err);
	return result;
}

int recorder_round(struct recorder *r, struct err *err)
{
	uint64_t now;
	int result;

	r->err = err;
	result = drain(r);
	now = now_ns(CLOCK_MONOTONIC);
	if (!result && (now >= r->next_flush_ns ||
			segment_writer_pending(r->writer) >= FLUSH_SAMPLES)) {
		r->next_flush_ns = now + r->round_ns;
		r->round_ns = 2 * r->round_ns < ROUND_NS ? 2 * r->round_ns : ROUND_NS;
		update_totals(r);
		result = flush(r);
	}
	return result;
}

/* ---- the end ---- */

/* Everything that was sampled is in the rings now, and what it needs of the side band, too. */
static int drain_to_end(struct recorder *r)
{
	int result;

	perf_source_enable(r->source, false);
	result = drain(r);
	/* Sampling has stopped: what is held has nothing left to wait for. */
	r->frontier_ns = UINT64_MAX;
	if (!result)
		result = side_band_apply(&r->side_band, &r->decoder, r->resolver,
					 UINT64_MAX);
	if (!result)
		result = take_held(r);
	update_totals(r);
	count_lost(r);
	r->stopped = true;
	return result;
}

int recorder_stop(struct recorder *r, struct err *err)
{
	int result;

	r->err = err;
	result = drain_to_end(r);
	return result ? result : flush(r);
}

void recorder_discard(struct recorder *r)
{
	struct session_totals totals;
	char *path;
	uint64_t bytes;

	if (!r)
		return;
	if (!r->writer) {
		recorder_free(r);
		return;
	}
	path = r->segment_path;
	r->segment_path = NULL;
	recorder_close(r, -1, &totals, &bytes, NULL);
	(void)unlink(path);
	free(path);
}

int recorder_close(struct recorder *r, int target_status,
		   struct session_totals *ret_totals, uint64_t *ret_file_bytes,
		   struct err *err)
{
	int result, closed;

	r->err = err;
	result = r->stopped ? 0 : drain_to_end(r);
	r->totals.target_status = target_status;
	r->totals.finished = !result;
	image_keeper_save_lost(&r->keeper);
	if (r->perf_data) {
		closed = perf_data_out_close(r->perf_data, &r->dict, &r->machine,
					     r->config.command, r->config.nr_command,
					     err);
		result = result ? result : closed;
	}
	r->totals.recorder_cpu_ns = own_cpu_ns();
	closed = segment_writer_flush(r->writer, &r->totals, result ? NULL : err);
	result = result ? result : closed;
	*ret_totals = r->totals;
	/* What could not be written was not saved. */
	ret_totals->samples -= segment_writer_pending(r->writer);
	*ret_file_bytes = segment_writer_bytes(r->writer);
	closed = segment_writer_close(r->writer, &r->totals, result ? NULL : err);
	recorder_free(r);
	return result ? result : closed;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* open.c - opens a recording's events, tables and files, and takes the snapshot of running
 * processes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "capture/events/perf_attr.h"
#include "capture/source/perf_source.h"
#include "capture/source/snapshot.h"
#include "capture/system/kernel_files.h"
#include "capture/system/process_table.h"
#include "format/session/checksums.h"
#include "record/keep/session_dir.h"
#include "record/perf_data_out.h"
#include "record/priv.h"
#include "record/thread_list.h"
#include "resolve/jit/files.h"
#include "resolve/replay/stack_budget.h"
#include "resolve/space/procs.h"

enum {
	/* Length of the first round. Each round is twice as long as the previous one, up to the
	 * normal length. Short first rounds let the recorder open binaries while a short program
	 * still runs. */
	FIRST_ROUND_NS = 100 * NS_PER_MS,
	/* Time limit for the snapshot of existing processes. */
	SNAPSHOT_NS = 2 * NS_PER_S,
	/* Default memory limit for mappings: enough for about four million. */
	MAP_BYTES = 256 << 20,
	/* Attempts to open the events of all tasks while new tasks start. */
	OPEN_TRIES = 4,
	COUNTED_HZ = 1000, /* samples per second assumed for an event with a count */
	HIGHEST_PRIORITY = -20 /* the highest that SCHED_OTHER has */
};

static uint32_t describe_event(struct dict *dict, const struct event_request *e,
			       bool chains)
{
	struct event_desc desc = {
		.name = dict_string(dict, e->name),
		.about = dict_string(dict, e->about),
		.mask_about = dict_string(dict, e->mask_about),
		.type = e->attr.type,
		.config = e->attr.config,
		.config1 = e->attr.config1,
		.config2 = e->attr.config2,
		.count = e->count,
		.frequency_hz = e->frequency_hz,
		.unit_mask = e->unit_mask,
		.flags = (e->user ? EVENT_USER : 0) | (e->kernel ? EVENT_KERNEL : 0) |
			 (e->timer ? EVENT_TIMER : 0) | (chains ? EVENT_CHAINS : 0) |
			 (e->attr.precise_ip > 1 ? EVENT_PRECISE : 0) |
			 (e->member ? EVENT_MEMBER : 0),
	};

	return dict_event(dict, &desc);
}

static int recorder_open_decoder(struct recorder *r)
{
	decoder_init(&r->decoder, false);
	r->deferred.offered = perf_attr_bit(perf_source_attr(r->source, 0),
					    PERF_ATTR_DEFER_CALLCHAIN);
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

static int recorder_open_writer(struct recorder *r, struct err *err)
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
		.start_ns = clock_initial_ns(CLOCK_MONOTONIC),
		.start_wall_ns = clock_now_ns(CLOCK_REALTIME),
	};
	int result;

	r->clock_gap_ns = (int64_t)(info.start_wall_ns - info.start_ns);
	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
		info.flags |= SESSION_BIG_ENDIAN;
	if (sizeof(void *) == 8)
		info.flags |= SESSION_64BIT;
	machine_quote_command(c->command, c->nr_command, &command);
	/* If this fails, readers cannot detect the loss of the checksum list. Ignore the error: a
	 * full disk is reported elsewhere. */
	(void)checksums_begin(c->dir->writing);
	result = command.failed
			 ? err_set(err, -ENOMEM, "out of memory")
			 : session_next_path(c->dir->writing, &r->segment_path, err);
	if (!result) {
		info.command = (char *)command.data;
		result = segment_writer_open(r->segment_path, &info, &r->dict,
					     &r->writer, err);
	}
	buf_done(&command);
	return result;
}

/* Saves the symbols and modules of the running kernel. A failure does not stop the recording:
 * the report says what is missing. */
static void save_kernel(struct recorder *r)
{
	const struct session_dir *dir = r->config.dir;
	struct err err = { 0 };
	int result = kernel_files_save_kallsyms(dir->root, dir->writing,
						r->machine.boot_id, &err);

	if (result == -ENOSPC)
		log_say(LOG_WARNING,
			"no space in %s for the kernel's symbols (1 MB): "
			"kernel samples will have no names",
			dir->root);
	else if (result < 0)
		log_say(LOG_WARNING, "cannot save the kernel's symbols: %s", err.text);
	result = kernel_files_save_modules(dir->writing, &err);
	if (result < 0 && result != -ENOSPC)
		log_say(LOG_WARNING, "cannot save the list of modules: %s", err.text);
}

/* ---- the snapshot of running processes ---- */

/* Handles a record of the snapshot, which describes the state before the recording. */
static int take_snapshot(void *ctx, const void *record, size_t len)
{
	struct recorder *r = ctx;
	struct record rec;
	int result;

	if (r->snapshot_is_new)
		return recorder_take_side_band(r, record, len);
	if (decoder_record(&r->decoder, record, len, &rec, NULL))
		return 0;
	rec.id.time_ns = 0;
	result = resolver_side_band(r->resolver, &rec);
	recorder_keep_jit(r, &rec);
	if (!result && r->perf_data)
		result = perf_data_out_write(r->perf_data, record, len, r->err);
	/* While the snapshot reads /proc, new records fill the side-band rings, so drain those
	 * periodically. */
	if (!result && !r->snapshot_done &&
	    clock_initial_ns(CLOCK_MONOTONIC) > r->next_flush_ns) {
		r->next_flush_ns = clock_initial_ns(CLOCK_MONOTONIC) + 20 * NS_PER_MS;
		result = perf_source_drain(r->source, PERF_SOURCE_SIDE_BAND,
					   recorder_take_side_band, r);
	}
	return result;
}

static void ask_proc(void *ctx, int32_t pid)
{
	struct recorder *r = ctx;
	struct snapshot_stats stats = { 0 };

	snapshot_process(r->snapshot, pid, &stats, NULL);
}

static void name_cgroup(void *ctx, uint64_t id, int32_t pid)
{
	struct recorder *r = ctx;

	(void)snapshot_cgroup(r->snapshot, id, pid);
}

static uint64_t process_cgroup(void *ctx, int32_t pid)
{
	struct recorder *r = ctx;
	uint64_t id;

	return snapshot_process_cgroup(r->snapshot, pid, &id) ? 0 : id;
}

static int64_t user_of_process(void *ctx, int32_t pid)
{
	(void)ctx;
	return jit_uid(pid);
}

static void maps_lost(void *ctx, uint32_t user, size_t nr)
{
	(void)ctx;
	if (user == PROC_NO_USER)
		log_say(LOG_WARNING,
			"the mappings of %zu ended processes use too much memory: the rest of their samples is recorded as [unknown]",
			nr);
	else
		log_say(LOG_WARNING,
			"the mappings of %zu processes of user %u use too much memory: their samples are recorded as [unknown] from now on",
			nr, user);
}

static void stacks_cut(void *ctx, uint32_t user)
{
	(void)ctx;
	if (user == PROC_NO_USER)
		log_say(LOG_WARNING,
			"short-lived processes have very many different stacks: their stacks are cut after %d frames",
			STACK_BUDGET_FRAMES);
	else
		log_say(LOG_WARNING,
			"processes of user %u have very many different stacks: their stacks are cut after %d frames",
			user, STACK_BUDGET_FRAMES);
}

static void recorder_open_first_hit(void *ctx, const char *path, int32_t pid,
				    uint64_t map_start, uint64_t map_end,
				    struct image *image)
{
	struct recorder *r = ctx;

	image_store_first_hit(&r->image_store, path, pid, map_start, map_end, image);
}

static bool recorder_open_is_rewritten(void *ctx, const char *path,
				       const struct image *image)
{
	(void)ctx;
	return image_store_is_rewritten(path, image);
}

static bool recorder_open_is_memory(void *ctx, const struct record_mmap *mmap)
{
	const struct recorder *r = ctx;

	return image_store_is_memory(&r->image_store, mmap);
}

static void report_snapshot(const struct snapshot_stats *stats, uint64_t begin_ns)
{
	log_say(LOG_DEBUG,
		"existing: %u processes, %u threads, %u mappings; "
		"read in %llu ms, %u processes deferred, %u unreadable",
		stats->processes, stats->threads, stats->mappings,
		(unsigned long long)((clock_now_ns(CLOCK_MONOTONIC) - begin_ns) /
				     NS_PER_MS),
		stats->skipped, stats->unreadable);
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
		.deadline_ns = clock_now_ns(CLOCK_MONOTONIC) + SNAPSHOT_NS,
		.sink = take_snapshot,
		.ctx = r,
	};
	struct snapshot_stats stats = { 0 };
	uint64_t begin_ns = clock_now_ns(CLOCK_MONOTONIC);
	int result = snapshot_new(&config, &r->snapshot);

	if (result)
		return err_set(err, result, "out of memory");
	result = snapshot_kernel(r->snapshot, err);
	if (result == -EACCES && !(c->session_flags & SESSION_USER_ONLY))
		log_say(LOG_WARNING,
			"kernel addresses are hidden (kernel.kptr_restrict): "
			"kernel samples will have no names");
	else if (result && result != -EACCES)
		return result;
	result = 0;
	if (!c->pids)
		result = snapshot_all(r->snapshot, &stats, err);
	for (size_t i = 0; i < r->processes.nr && !result && !c->on_exec; i++) {
		result = snapshot_process(r->snapshot, r->processes.at[i], &stats, err);
		if (result == -EACCES || result == -ESRCH)
			result = 0;
	}
	if (stats.skipped)
		log_say(LOG_NOTE, "%u processes will be read when they first run",
			stats.skipped);
	r->snapshot_done = true;
	report_snapshot(&stats, begin_ns);
	return result;
}

static bool open_is_given(const pid_t *given, size_t nr, pid_t pid)
{
	for (size_t i = 0; i < nr; i++) {
		if (given[i] == pid)
			return true;
	}
	return false;
}

/* Adds the existing descendants of the configured processes. Skips this process and its children,
 * and processes that we have no permission to see. */
static int list_children(struct recorder *r)
{
	size_t nr_given = r->processes.nr, nr_hidden = 0;
	struct process_table table = { 0 };
	const pid_t self = getpid();
	int result = process_table_read(&table);

	for (size_t i = 0; !result && i < table.processes.nr; i++) {
		pid_t pid = table.processes.at[i].pid;

		/* The recorder itself can be a child of the shell that is recorded. */
		if (!process_is_below(&table, pid, r->config.pids, r->config.nr_pids) ||
		    open_is_given(r->processes.at, nr_given, pid) || pid == self ||
		    process_is_below(&table, pid, &self, 1))
			continue;
		if (!process_is_visible(pid))
			nr_hidden++;
		else if (!vec_push(&r->processes, pid))
			result = -ENOMEM;
	}
	process_table_done(&table);
	if (nr_hidden)
		log_say_once(
			LOG_NOTE,
			"%zu child processes belong to other users and are not recorded",
			nr_hidden);
	return result;
}

/* Lists the processes to record: those of the configuration and their existing descendants. A
 * command that has not started yet has none. */
static int list_processes(struct recorder *r, struct err *err)
{
	const struct recorder_config *c = &r->config;
	int result = 0;

	for (size_t i = 0; i < c->nr_pids; i++)
		if (!vec_push(&r->processes, c->pids[i]))
			return err_set(err, -ENOMEM, "out of memory");
	if (c->nr_pids && !c->on_exec)
		result = list_children(r);
	/* Continue without /proc: listing the threads then fails with a better message. */
	if (!result || result == -ENOENT)
		return 0;
	return err_sys(err, result, "cannot list the processes in '/proc'");
}

/* Lists all threads of the processes that exist at this moment. The kernel follows the threads
 * that they start later (inherit). */
static int list_threads(const struct recorder *r, struct thread_list *threads,
			struct err *err)
{
	const struct recorder_config *c = &r->config;

	for (size_t i = 0; i < r->processes.nr; i++) {
		int result = thread_list_add(threads, r->processes.at[i]);

		/* A child can end at any time. */
		if (result == -ESRCH && i >= c->nr_pids)
			continue;

		if (result == -ESRCH && access("/proc/self", F_OK))
			return err_set(
				err, -ENOENT,
				"/proc is not mounted: processes cannot be identified");
		if (result)
			return err_sys(err, result,
				       "cannot read the state of process %d",
				       r->processes.at[i]);
	}
	return 0;
}

/* Lists the processes to record and their threads from scratch. */
static int list_tasks(struct recorder *r, struct thread_list *threads, struct err *err)
{
	int result;

	r->processes.nr = 0;
	threads->list.nr = 0;
	result = list_processes(r, err);
	return result ? result : list_threads(r, threads, err);
}

/* Lists the tasks again after events were opened for the listed ones. Returns whether there are
 * new tasks: those that started after the first listing can be without events. */
static bool list_missed_tasks(struct recorder *r, struct thread_list *threads)
{
	struct thread_list opened = *threads;
	struct err ignored = { 0 };
	bool is_missed = false;

	*threads = (struct thread_list){ 0 };
	/* This fails if a process has ended. Then assume that no new tasks exist. */
	if (!list_tasks(r, threads, &ignored)) {
		for (size_t i = 0; i < threads->list.nr && !is_missed; i++)
			is_missed = !open_is_given(opened.list.at, opened.list.nr,
						   threads->list.at[i]);
	}
	thread_list_done(&opened);
	return is_missed;
}

static int recorder_open_source(struct recorder *r, struct err *err)
{
	const struct recorder_config *c = &r->config;
	struct thread_list threads = { 0 };
	struct perf_source_config config = {
		.events = c->events,
		.nr_events = c->nr_events,
		.on_exec = c->on_exec,
		.no_kernel = c->session_flags & SESSION_USER_ONLY,
		.no_build_ids = c->no_build_ids,
		.chains = c->chains,
		.user_regs = c->stack_bytes ? recorder_stacks_regs(r->machine.arch) : 0,
		.user_stack_bytes = c->stack_bytes,
		.ring_pages = c->ring_pages,
	};
	int result =
		c->stack_bytes && !config.user_regs
			? err_set(err, -EOPNOTSUPP,
				  "--callgraph=dwarf: unwinding is not supported on this machine (%s)",
				  r->machine.arch)
			: list_tasks(r, &threads, err);
	bool is_complete = false;

	for (unsigned int tries = 0; !result && !is_complete && tries < OPEN_TRIES;
	     tries++) {
		perf_source_close(r->source);
		r->source = NULL;
		if (c->pids) {
			config.tids = threads.list.at;
			config.nr_tids = threads.list.nr;
		}
		result = perf_source_open(&config, &r->source, err);
		is_complete = result || !c->pids || c->on_exec ||
			      !list_missed_tasks(r, &threads);
	}
	thread_list_done(&threads);
	return result;
}

/* Returns about how many samples all CPUs take per second. */
static uint64_t recorder_rate_hz(const struct recorder_config *c)
{
	uint64_t rate_hz = 0;

	for (size_t i = 0; i < c->nr_events; i++)
		rate_hz += c->events[i].frequency_hz ? c->events[i].frequency_hz
						     : COUNTED_HZ;
	return rate_hz * (uint64_t)get_nprocs();
}

static int open_tables(struct recorder *r, struct err *err)
{
	const struct recorder_config *c = &r->config;
	const struct recorder_files files = { &r->image_store, &r->jit_store, c->dir };
	int result = dict_init(&r->dict);

	if (!result)
		result = recorder_open_decoder(r);
	for (size_t i = 0; i < c->nr_events && !result; i++)
		if (describe_event(&r->dict, &c->events[i], c->chains) == DICT_NONE)
			result = -ENOMEM;
	r->ops = (struct resolver_ops){ .first_hit = recorder_open_first_hit,
					.is_rewritten = recorder_open_is_rewritten,
					.is_memory = recorder_open_is_memory,
					.unknown_process = c->on_exec ? NULL : ask_proc,
					.unknown_cgroup = name_cgroup,
					.process_cgroup = process_cgroup,
					.process_user = user_of_process,
					.maps_lost = maps_lost,
					.stacks_cut = stacks_cut,
					.ctx = r };
	if (!result)
		result = resolver_new(&r->dict, &r->ops, RESOLVE_CHAINS, &r->resolver);
	if (!result) {
		resolver_set_max_frames(r->resolver, c->max_frames);
		resolver_bound(r->resolver,
			       c->max_map_bytes ? c->max_map_bytes : MAP_BYTES);
	}
	if (!result && c->fair)
		resolver_limit_stacks(r->resolver, recorder_rate_hz(c));
	if (!result && c->stack_bytes)
		result = recorder_stacks_open(&r->stacks, r->resolver, &r->dict, &files,
					      r->machine.arch);
	if (!result)
		result = recorder_open_group(r);
	if (c->tables)
		recorder_stacks_share(&r->stacks, c->tables);
	return result ? err_set(err, result, "out of memory") : 0;
}

static int open_outputs(struct recorder *r, struct err *err)
{
	const struct recorder_config *c = &r->config;
	int result = recorder_open_writer(r, err);

	if (!result && c->perf_data)
		result = perf_data_out_open(c->perf_data, r->source, c->events,
					    c->nr_events, &r->perf_data, err);
	return result;
}

/* Raises the recorder's priority: copies of stacks fill a ring in a fraction of a second, and on a
 * busy machine a process can wait longer than that for a CPU. The profiled command was forked
 * before, so it keeps its priority. Without the permission, this only logs a message. */
static void take_precedence(const struct recorder *r)
{
	if (r->config.stack_bytes && setpriority(PRIO_PROCESS, 0, HIGHEST_PRIORITY))
		log_say(LOG_DEBUG, "the recorder's priority cannot be raised: %s",
			strerror(errno));
}

/* Logs what was requested from the kernel, and what it granted. */
static void report_opened(const struct recorder *r)
{
	const struct recorder_config *c = &r->config;
	struct perf_source_rings rings;

	for (size_t i = 0; i < c->nr_events; i++) {
		const struct event_request *e = &c->events[i];

		log_say(LOG_DEBUG,
			"event %s: type %u, config 0x%llx, %s %llu, in %s%s%s space",
			e->name, e->attr.type, (unsigned long long)e->attr.config,
			e->count ? "a sample every" : "samples a second:",
			(unsigned long long)(e->count ? e->count : e->frequency_hz),
			e->user ? "user" : "", e->user && e->kernel ? " and " : "",
			e->kernel ? "kernel" : "");
	}
	perf_source_rings(r->source, &rings);
	log_say(LOG_DEBUG,
		"rings of %zu CPUs: %zu kB each for samples, %zu kB for mappings and processes; "
		"%zu descriptors",
		rings.nr_cpus, rings.bytes[PERF_SOURCE_SAMPLES] / 1024,
		rings.bytes[PERF_SOURCE_SIDE_BAND] / 1024, rings.nr_fds);
	log_say(LOG_DEBUG, "writing %s", r->segment_path);
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
	if (config->one_of_many)
		r->cpu_begin_ns = clock_now_ns(CLOCK_PROCESS_CPUTIME_ID);
	r->err = err;
	machine_read(&r->machine);
	image_store_init(&r->image_store, config->dir, &r->machine.kernel_build_id);
	containers_init(&r->containers);
	r->image_store.containers = &r->containers;
	r->image_store.holder.is_patient = config->patient;
	r->own_copies.max_of_user = COPY_LIST_OF_USER_MAX;
	r->jit_store.mounts = &r->image_store.holder.mounts;
	result = recorder_open_source(r, err);
	if (!result)
		result = open_tables(r, err);
	if (!result)
		result = open_outputs(r, err);
	if (!result) {
		report_opened(r);
		take_precedence(r);
		r->frontier_ns = clock_initial_ns(CLOCK_MONOTONIC);
		result = recorder_look_at_modules(r);
	}
	if (!result) {
		save_kernel(r);
		result = take_snapshots(r, err);
	}
	if (recorder_judge(r, result)) {
		recorder_discard(r);
		return result;
	}
	r->round_ns = FIRST_ROUND_NS;
	r->next_flush_ns = clock_initial_ns(CLOCK_MONOTONIC) + r->round_ns;
	*ret_recorder = r;
	return 0;
}

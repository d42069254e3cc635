/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/replay/resolver.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/array.h"
#include "resolve/replay/resolver_priv.h"
#include "resolve/unwind/bare.h"

enum {
	HUGE_PAGE = 2 << 20,
	COPIED_MAX = 8 /* mappings that new memory is compared with */
};

static int make_mode_processes(struct resolver *r)
{
	r->kernel_unmapped = IMAGE_TABLE_FAILED;
	for (int w = 0; w < CPU_MODE_COUNT; w++) {
		r->mode_images[w] = IMAGE_TABLE_FAILED;
		if (w == CPU_MODE_USER)
			continue;
		r->mode_processes[w] = procs_new(&r->procs, CPU_MODE_PID - w, 0);
		if (!r->mode_processes[w])
			return -ENOMEM;
	}
	return 0;
}

/* Allocates a megabyte of caches that only chains need. Returns 0 or -ENOMEM. */
static int make_caches(struct resolver *r)
{
	if (r->depth != RESOLVE_CHAINS)
		return 0;
	r->frames = calloc(FRAME_CACHE, sizeof(*r->frames));
	r->callers = calloc(CALLERS_CACHE, sizeof(*r->callers));
	return r->frames && r->callers ? 0 : -ENOMEM;
}

int resolver_new(struct dict *dict, const struct resolver_ops *ops,
		 enum resolver_depth depth, struct resolver **ret_resolver)
{
	struct resolver *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->dict = dict;
	r->ops = ops;
	r->depth = depth;
	r->max_frames = CHAIN_MAX;
	procs_init(&r->procs, &r->names);
	image_table_init(&r->images, dict, &r->names, ops);
	cgroup_table_init(&r->cgroups, &r->names, ops && ops->unknown_cgroup);
	r->procs.pool.count_image = image_table_count;
	r->procs.pool.ctx = &r->images;
	if (name_pool_init(&r->names) || make_caches(r) || make_mode_processes(r)) {
		resolver_free(r);
		return -ENOMEM;
	}
	*ret_resolver = r;
	return 0;
}

void resolver_free(struct resolver *r)
{
	if (!r)
		return;
	procs_done(&r->procs);
	image_table_done(&r->images);
	cgroup_table_done(&r->cgroups);
	name_pool_done(&r->names);
	map_done(&r->asked);
	stack_budget_done(&r->stack_budget);
	free(r->frames);
	free(r->callers);
	stack_memo_done(&r->memo);
	unwind_bare_free(r->bare);
	free(r->pcs);
	free(r->rest);
	free(r->rest_pcs);
	free(r);
}

void resolver_set_max_frames(struct resolver *r, uint32_t max)
{
	r->max_frames = max && max < CHAIN_MAX ? max : CHAIN_MAX;
}

void resolver_name_back(struct resolver *r)
{
	r->name_back = true;
}

void resolver_has_guests(struct resolver *r)
{
	r->has_guests = true;
}

static int64_t resolver_user(void *ctx, int32_t pid)
{
	const struct resolver *r = ctx;

	return r->ops->process_user(r->ops->ctx, pid);
}

static size_t resolver_image_bytes(void *ctx, uint32_t image)
{
	const struct resolver *r = ctx;

	return image_table_bytes_per_map(&r->images, image);
}

static void resolver_maps_lost(void *ctx, uint32_t user, size_t nr)
{
	const struct resolver *r = ctx;

	if (r->ops->maps_lost)
		r->ops->maps_lost(r->ops->ctx, user, nr);
}

void resolver_bound(struct resolver *r, uint64_t max_bytes)
{
	r->is_bounded = true;
	procs_bound(&r->procs);
	if (r->ops && r->ops->process_user)
		r->map_shares =
			(struct map_shares){ .max_bytes = max_bytes,
					     .user = resolver_user,
					     .image_bytes = resolver_image_bytes,
					     .on_lost = resolver_maps_lost,
					     .ctx = r };
}

static void resolver_stacks_cut(void *ctx, uint32_t user)
{
	const struct resolver *r = ctx;

	if (r->ops->stacks_cut)
		r->ops->stacks_cut(r->ops->ctx, user);
}

void resolver_limit_stacks(struct resolver *r, uint64_t rate_hz)
{
	r->stack_budget = (struct stack_budget){ .rate_hz = rate_hz,
						 .on_cut = resolver_stacks_cut,
						 .ctx = r };
}

/* Returns an upper bound of the memory of all mappings: it includes names of programs and cgroups,
 * which are not mappings. */
static uint64_t resolver_map_bytes(const struct resolver *r)
{
	return (uint64_t)r->procs.pool.nr_used * SPACE_NODE_BYTES +
	       (uint64_t)r->images.nr_used * sizeof(struct image_entry) +
	       r->names.text_bytes;
}

struct resolver_kept resolver_kept(const struct resolver *r)
{
	return (struct resolver_kept){ .names = name_pool_count(&r->names),
				       .images = r->images.nr_used,
				       .old = r->procs.nr_old,
				       .processes = r->procs.by_slot.nr +
						    r->procs.threads_by_slot.nr };
}

uint64_t resolver_changed(const struct resolver *r)
{
	return r->changed;
}

uint32_t resolver_mode_image(struct resolver *r, enum cpu_mode cpu_mode)
{
	static const struct {
		enum image_kind kind;
		const char *name;
	} rows[CPU_MODE_COUNT] = {
		[CPU_MODE_KERNEL] = { IMAGE_KERNEL, "[kernel.kallsyms]" },
		[CPU_MODE_GUEST_KERNEL] = { IMAGE_GUEST_KERNEL, "[unknown]" },
		[CPU_MODE_GUEST_USER] = { IMAGE_GUEST_USER, "[unknown]" },
		[CPU_MODE_HYPERVISOR] = { IMAGE_HYPERVISOR, "[unknown]" },
	};
	struct image image = { .kind = rows[cpu_mode].kind };

	if (r->mode_images[cpu_mode] == IMAGE_TABLE_FAILED)
		r->mode_images[cpu_mode] =
			image_table_add_named(&r->images, &image, rows[cpu_mode].name);
	return r->mode_images[cpu_mode];
}

/* Returns the string for a thread without a name: ":" and its id, as in perf. */
uint32_t resolver_number_comm(struct resolver *r, struct proc_thread *thread)
{
	char comm[16];

	if (thread->number_comm == PROC_NO_COMM) {
		snprintf(comm, sizeof(comm), ":%d", thread->tid);
		thread->number_comm = r->name_back ? dict_own_string(r->dict, comm)
						   : dict_string(r->dict, comm);
	}
	return thread->number_comm;
}

/* Finds or creates the process. With `ask`, calls unknown_process() once for an unknown one. */
static struct process *get_process(struct resolver *r, int32_t pid, uint64_t time_ns,
				   bool ask)
{
	struct process *process = procs_find(&r->procs, pid, time_ns);

	if (process)
		return process;
	if (ask && pid > 0 && r->ops && r->ops->unknown_process &&
	    map_get(&r->asked, (uint32_t)pid, 0) == MAP_NONE) {
		if (map_set(&r->asked, (uint32_t)pid, 0, 1))
			return NULL;
		r->ops->unknown_process(r->ops->ctx, pid);
		process = procs_find(&r->procs, pid, time_ns);
		if (process)
			return process;
	}
	process = procs_new(&r->procs, pid, 0);
	if (process && pid <= 0)
		process->kernel = true;
	return process;
}

/* Adds a thread. `like`: the thread whose name it has at first, or NULL. If that one has no
 * name, the new thread has none either, and is named by its own tid later. */
static struct proc_thread *resolver_add_thread(struct resolver *r,
					       struct process *process, int32_t tid,
					       uint64_t time_ns,
					       const struct proc_thread *like)
{
	struct proc_thread *thread;
	uint32_t comm;

	if (like || tid != 0)
		return procs_new_thread(&r->procs, process, tid, time_ns,
					like ? thread_comm_at(like, time_ns)
					     : PROC_NO_COMM);
	comm = name_pool_get(&r->names, "swapper");
	if (comm == NAME_POOL_NONE)
		return NULL;
	thread = procs_new_thread(&r->procs, process, tid, time_ns, comm);
	name_pool_put(&r->names, comm);
	return thread;
}

struct proc_thread *resolver_thread(struct resolver *r, int32_t pid, int32_t tid,
				    uint64_t time_ns, bool ask)
{
	struct proc_thread *thread = procs_find_thread(&r->procs, tid, time_ns);
	struct process *process;

	if (thread && (thread->process->pid == pid || pid < 0))
		return thread;
	process = get_process(r, pid, time_ns, ask);
	if (!process)
		return NULL;
	thread = procs_find_thread(&r->procs, tid,
				   time_ns); /* unknown_process() may have added it */
	if (thread && thread->process->pid == pid)
		return thread;
	return resolver_add_thread(r, process, tid, 0, NULL);
}

/* Applies a mapping of a virtual machine's kernel. All machines share one, which exists from
 * the beginning. */
static int apply_guest_mmap(struct resolver *r, const struct record_mmap *m,
			    struct mapping *mapping)
{
	mapping->image = image_table_of_guest(&r->images, m);
	return mapping->image == IMAGE_TABLE_FAILED
		       ? -ENOMEM
		       : procs_map(&r->procs, r->mode_processes[CPU_MODE_GUEST_KERNEL],
				   0, mapping);
}

/* Limits the mappings of a process. Unmapping is not recorded, so a program that maps its files
 * at ever new addresses would fill the memory with stale mappings. */
static int bound_space(struct resolver *r, struct process *process, uint64_t time_ns)
{
	size_t kept;

	if (!r->is_bounded || r->is_renewing ||
	    ++process->nr_maps < SPACE_MAX + process->renewal_maps || !r->ops ||
	    !r->ops->unknown_process)
		return 0;
	process->nr_maps = 0;
	if (space_count(process_newest(process)->root) < SPACE_MAX)
		return 0;
	if (procs_clear(&r->procs, process, time_ns))
		return -ENOMEM;
	r->is_renewing = true;
	r->ops->unknown_process(r->ops->ctx, process->pid);
	r->is_renewing = false;
	/* Reading the mappings again costs about as much as RENEWAL_COST records for each of
	 * them. */
	kept = space_count(process_newest(process)->root);
	process->renewal_maps = RENEWAL_COST * (uint32_t)kept;
	return 0;
}

/* Returns whether memory at [start, end) can be a copy of the code of the file that was mapped
 * there. Unmapping is not recorded, so a library can be gone and the memory unrelated to it.
 * Memory counts as a copy if it has the same range as the mapping, or consists of huge pages
 * inside of it. */
static bool is_copy_of(const struct resolver *r, const struct proc_version *version,
		       const struct mapping *file, const struct mapping *memory)
{
	const struct image *image = &r->images.entries.at[file->image].image;

	if (image->kind != IMAGE_FILE)
		return false;
	/* The program itself stays mapped. With a ref_name, the mapping is already a copy, and
	 * its protection changes. */
	if (file->image == version->app || image->ref_name)
		return true;
	return (memory->start == file->start && memory->end == file->end) ||
	       (memory->start >= file->start && memory->end <= file->end &&
		memory->start % HUGE_PAGE == 0 && memory->end % HUGE_PAGE == 0);
}

/* Finds the files whose code was at the addresses of new anonymous memory, and was probably
 * copied there: programs do that to get huge pages. Returns the number of mappings, or a negative
 * errno. */
static int find_copied(struct resolver *r, const struct process *process,
		       const struct mapping *memory, struct mapping *ret_copies)
{
	const struct proc_version *version =
		&process->versions.at[process->versions.nr - 1];
	uint64_t at = memory->start;
	int nr = 0;

	for (int i = 0; i < COPIED_MAX && at < memory->end; i++) {
		struct space_hole hole = { 0 };
		const struct mapping *m = space_find_or_hole(version->root, at, &hole);
		struct mapping *copy = &ret_copies[nr];

		if (m && is_copy_of(r, version, m, memory)) {
			*copy = *m;
			copy->start = at;
			copy->pgoff = m->pgoff + (at - m->start);
			copy->end = m->end < memory->end ? m->end : memory->end;
			copy->counted = true;
			copy->image = image_table_of_copy(&r->images, m->image);
			if (copy->image == IMAGE_TABLE_FAILED)
				return -ENOMEM;
			nr++;
		}
		at = m ? m->end : hole.to;
	}
	return nr;
}

/* Maps anonymous memory, and the copies of code in it. */
static int map_memory(struct resolver *r, struct process *process, uint64_t time_ns,
		      const struct mapping *memory)
{
	struct mapping copies[COPIED_MAX];
	int nr = find_copied(r, process, memory, copies);
	int result = nr < 0 ? nr : procs_map(&r->procs, process, time_ns, memory);

	for (int i = 0; i < nr && !result; i++)
		result = procs_map(&r->procs, process, time_ns, &copies[i]);
	return result;
}

static int apply_mmap(struct resolver *r, const struct record *rec)
{
	const struct record_mmap *m = &rec->mmap;
	uint16_t mode = rec->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	bool kernel = m->pid == -1 || mode == PERF_RECORD_MISC_KERNEL;
	bool code = m->prot & PROT_EXEC;
	struct mapping mapping = { .start = m->start, .end = m->start + m->len };
	struct process *process;
	uint32_t app;
	int result;

	if (!m->len || mapping.end < mapping.start)
		return 0;
	if (mode == PERF_RECORD_MISC_GUEST_KERNEL)
		return apply_guest_mmap(r, m, &mapping);
	/* A record of a guest's program has pids of the guest, so it is ignored. Without guests,
	 * the mode can be wrong: perf inject of perf 7.0 to 7.3 wrote it when it added a build-id
	 * (--mmap2-buildids). */
	if (mode == PERF_RECORD_MISC_GUEST_USER && r->has_guests)
		return 0;
	mapping.image = image_table_of_mmap(&r->images, m, kernel);
	if (mapping.image == IMAGE_TABLE_FAILED)
		return -ENOMEM;
	mapping.counted = !kernel;
	if (kernel) {
		if (r->images.entries.at[mapping.image].image.kind == IMAGE_KERNEL)
			r->mode_images[CPU_MODE_KERNEL] = mapping.image;
		return procs_map(&r->procs, r->mode_processes[CPU_MODE_KERNEL],
				 rec->id.time_ns, &mapping);
	}
	mapping.pgoff = image_table_first_offset(m);
	process = get_process(r, m->pid, rec->id.time_ns, false);
	if (!process)
		return -ENOMEM;
	result = code && r->images.entries.at[mapping.image].image.kind == IMAGE_ANON
			 ? map_memory(r, process, rec->id.time_ns, &mapping)
			 : procs_map(&r->procs, process, rec->id.time_ns, &mapping);
	/* The first binary mapped after an exec is the program itself. */
	app = process->versions.at[process->versions.nr - 1].app;
	if (!result && code && app == PROC_NO_APP &&
	    r->images.entries.at[mapping.image].image.kind == IMAGE_FILE)
		procs_set_app(&r->procs, process, mapping.image);
	return result ? result : bound_space(r, process, rec->id.time_ns);
}

/* Gives a thread's first name to its earlier samples, because perf also counts the samples of a
 * thread without a name under the first name that it gets. */
static int name_back(struct resolver *r, struct proc_thread *thread, uint32_t comm)
{
	struct comm_version *first = &thread->comms.at[0];

	if (!r->name_back || first->comm != PROC_NO_COMM)
		return 0;
	first->comm = name_pool_share(&r->names, comm);
	if (thread->number_comm == PROC_NO_COMM) /* no sample used it */
		return 0;
	r->changed++;
	return dict_change_string(r->dict, thread->number_comm,
				  name_pool_text(&r->names, comm));
}

static int resolver_set_comm(struct resolver *r, const struct record_comm *c,
			     uint64_t time_ns, uint32_t comm)
{
	struct proc_thread *thread = resolver_thread(r, c->pid, c->tid, time_ns, false);

	if (!thread || name_back(r, thread, comm))
		return -ENOMEM;
	/* A thread other than the first one called exec: it takes over the id of the first
	 * thread, which has ended. */
	if (c->exec && thread->end_ns != UINT64_MAX)
		thread = procs_new_thread(&r->procs, thread->process, c->tid, time_ns,
					  comm);
	if (!thread || (c->exec && procs_exec(&r->procs, thread->process, time_ns)))
		return -ENOMEM;
	return procs_set_comm(&r->procs, thread, time_ns, comm);
}

static int apply_comm(struct resolver *r, const struct record *rec)
{
	uint32_t comm = name_pool_get(&r->names, rec->comm.comm);
	int result;

	if (comm == NAME_POOL_NONE)
		return -ENOMEM;
	result = resolver_set_comm(r, &rec->comm, rec->id.time_ns, comm);
	name_pool_put(&r->names, comm);
	return result;
}

/* Applies a FORK record from a snapshot, which only reports that the process exists (perf marks it
 * so). */
static int apply_known_fork(struct resolver *r, const struct record_task *t)
{
	struct process *process = procs_find(&r->procs, t->pid, UINT64_MAX);

	if (!process || process->end_ns != UINT64_MAX)
		process = procs_new(&r->procs, t->pid, 0);
	if (process)
		/* kthreadd has pid 2 and is the parent of all kernel threads */
		process->kernel = t->pid == 2 || t->ppid == 2;
	return process ? 0 : -ENOMEM;
}

static int apply_fork(struct resolver *r, const struct record *rec)
{
	const struct record_task *t = &rec->task;
	uint64_t time_ns = rec->id.has_time ? rec->id.time_ns : t->time_ns;
	struct proc_thread *parent = procs_find_thread(&r->procs, t->ptid, time_ns);
	struct process *process;

	if (rec->misc & PERF_RECORD_MISC_FORK_EXEC)
		return apply_known_fork(r, t);
	process = get_process(r, t->ppid, time_ns, true);
	if (process && t->pid != t->ppid)
		process = procs_fork(&r->procs, process, t->pid, time_ns);
	if (!process || !resolver_add_thread(r, process, t->tid, time_ns, parent))
		return -ENOMEM;
	return 0;
}

static int apply_exit(struct resolver *r, const struct record *rec)
{
	struct proc_thread *thread =
		procs_find_thread(&r->procs, rec->task.tid, rec->id.time_ns);

	if (thread)
		procs_exit(&r->procs, thread, rec->id.time_ns);
	return 0;
}

static int apply_ksymbol(struct resolver *r, const struct record *rec)
{
	const struct record_ksymbol *k = &rec->ksymbol;
	struct mapping mapping = { .start = k->addr, .end = k->addr + k->len };
	struct image image = { .kind = IMAGE_BPF,
			       .start = mapping.start,
			       .end = mapping.end };

	if (mapping.end <= mapping.start)
		return 0;
	if (k->unregister)
		return procs_unmap(&r->procs, r->mode_processes[CPU_MODE_KERNEL],
				   rec->id.time_ns, mapping.start, mapping.end);
	mapping.image = image_table_add_named(&r->images, &image, k->name);
	if (mapping.image == IMAGE_TABLE_FAILED)
		return -ENOMEM;
	mapping.counted = true;
	return procs_map(&r->procs, r->mode_processes[CPU_MODE_KERNEL], rec->id.time_ns,
			 &mapping);
}

static int apply_cgroup(struct resolver *r, const struct record *rec)
{
	return cgroup_table_set(&r->cgroups, rec->cgroup.id, rec->cgroup.path);
}

typedef int (*apply_fn)(struct resolver *r, const struct record *rec);

static const apply_fn side_band[] = {
	[PERF_RECORD_MMAP] = apply_mmap,     [PERF_RECORD_MMAP2] = apply_mmap,
	[PERF_RECORD_COMM] = apply_comm,     [PERF_RECORD_FORK] = apply_fork,
	[PERF_RECORD_EXIT] = apply_exit,     [PERF_RECORD_KSYMBOL] = apply_ksymbol,
	[PERF_RECORD_CGROUP] = apply_cgroup,
};

bool resolver_takes(uint32_t type)
{
	return type < COUNT_OF(side_band) && side_band[type];
}

int resolver_side_band(struct resolver *r, const struct record *rec)
{
	if (!resolver_takes(rec->type))
		return 0;
	r->steps++;
	return side_band[rec->type](r, rec);
}

void resolver_frontier(struct resolver *r, uint64_t time_ns)
{
	r->steps++;
	procs_prune(&r->procs, time_ns);
	map_shares_apply(&r->map_shares, &r->procs, resolver_map_bytes(r));
}

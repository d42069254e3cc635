/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resolver_samples.c - resolves samples, for resolver.h. */
#include <errno.h>

#include "base/containers/hash.h"
#include "resolve/replay/names.h"
#include "resolve/replay/resolver_priv.h"

enum {
	/* Addresses in the same range of this size are mostly in one mapping. */
	MAPPING_SHIFT = 21
};

static struct recent_thread *recent_slot(struct resolver *r, int32_t tid)
{
	return &r->recent[(uint32_t)tid & (RECENT_THREADS - 1)];
}

/* Returns the thread if it is one of the last samples' threads: few run at a time. */
static struct proc_thread *recent_thread(struct resolver *r, const struct record_id *id)
{
	const struct recent_thread *recent = recent_slot(r, id->tid);
	struct proc_thread *thread = recent->thread;

	if (recent->changes != r->procs.changes || !thread || thread->tid != id->tid ||
	    thread->process->pid != id->pid || id->time_ns < thread->start_ns)
		return NULL;
	return thread;
}

/* Returns the cached state of the sample's thread, if it is valid at that time, otherwise NULL. */
static struct recent_thread *still_true(struct resolver *r, const struct record_id *id)
{
	struct recent_thread *recent = recent_slot(r, id->tid);

	return recent->thread && recent->tid == id->tid && recent->pid == id->pid &&
			       recent->steps == r->steps &&
			       recent->changes == r->procs.changes &&
			       id->time_ns >= recent->since_ns
		       ? recent
		       : NULL;
}

static uint64_t later(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns > b_ns ? a_ns : b_ns;
}

/* Notes the newest thread with its tid; an older one is only valid for old times. */
static void note_thread(struct resolver *r, struct proc_thread *t)
{
	struct recent_thread *recent = recent_slot(r, t->tid);
	const struct proc_version *user = process_newest(t->process);
	const struct proc_version *kernel =
		process_newest(r->mode_processes[CPU_MODE_KERNEL]);
	bool known = recent->thread == t && recent->changes == r->procs.changes;

	if (known && recent->steps == r->steps)
		return;
	if (!known && t != procs_find_thread(&r->procs, t->tid, UINT64_MAX))
		return;
	*recent = (struct recent_thread){
		.thread = t,
		.pid = t->process->pid,
		.tid = t->tid,
		.changes = r->procs.changes,
		.steps = r->steps,
		.since_ns =
			later(later(t->start_ns, t->comms.at[t->comms.nr - 1].time_ns),
			      later(user->time_ns, kernel->time_ns)),
		.user = user,
		.kernel = kernel,
		.number = DICT_NONE,
	};
}

/* Converts the misc of a sample: PERF_RECORD_MISC_CPUMODE_MASK. */
static enum cpu_mode resolver_cpu_mode(uint16_t misc)
{
	static const uint8_t modes[PERF_RECORD_MISC_CPUMODE_MASK + 1] = {
		[PERF_RECORD_MISC_KERNEL] = CPU_MODE_KERNEL,
		[PERF_RECORD_MISC_USER] = CPU_MODE_USER,
		[PERF_RECORD_MISC_GUEST_KERNEL] = CPU_MODE_GUEST_KERNEL,
		[PERF_RECORD_MISC_GUEST_USER] = CPU_MODE_GUEST_USER,
	};

	return modes[misc & PERF_RECORD_MISC_CPUMODE_MASK];
}

static uint32_t unmapped_image(struct resolver *r, struct process *process)
{
	struct image image = { .kind = IMAGE_UNMAPPED, .pid = process->pid };

	if (process->unmapped == PROC_NO_APP)
		process->unmapped =
			image_table_add_named(&r->images, &image, "[unknown]");
	return process->unmapped;
}

/* Returns the entry for addresses in no mapping. If the kernel's addresses are known, addresses
 * outside the kernel and its modules do not belong to it, as in perf. */
static uint32_t unmapped_entry(struct resolver *r, const struct resolver_found *at,
			       enum cpu_mode cpu_mode)
{
	struct image image = { .kind = IMAGE_KERNEL_UNMAPPED };
	uint32_t whole;

	if (cpu_mode == CPU_MODE_USER)
		return unmapped_image(r, at->process);
	whole = resolver_mode_image(r, cpu_mode);
	if (cpu_mode != CPU_MODE_KERNEL || whole == IMAGE_TABLE_FAILED ||
	    !r->images.entries.at[whole].image.end)
		return whole;
	if (r->kernel_unmapped == IMAGE_TABLE_FAILED)
		r->kernel_unmapped =
			image_table_add_named(&r->images, &image, "[unknown]");
	return r->kernel_unmapped;
}

/* Returns the image (its number in the dict) and the offset of an address in mapping `m`, or
 * (NULL) in no mapping. Returns DICT_NONE if memory is short. */
static uint32_t resolver_samples_find_position(struct resolver *r,
					       const struct resolver_found *at,
					       uint64_t ip, enum cpu_mode cpu_mode,
					       const struct mapping *m,
					       uint64_t *ret_offset)
{
	uint32_t entry = m ? m->image : unmapped_entry(r, at, cpu_mode);

	if (entry == IMAGE_TABLE_FAILED)
		return DICT_NONE;
	*ret_offset = m ? ip - m->start + m->pgoff
			: ip - r->images.entries.at[entry].image.start;
	return image_table_hit(&r->images, entry, at->process->pid, m);
}

uint32_t resolver_frame(struct resolver *r, const struct resolver_found *at,
			uint64_t ip, enum cpu_mode cpu_mode, const struct mapping *m)
{
	uint64_t offset;
	uint32_t image =
		resolver_samples_find_position(r, at, ip, cpu_mode, m, &offset);

	return image == DICT_NONE ? DICT_NONE : dict_frame(r->dict, image, offset);
}

/* Returns the slot for an address in no mapping. Such a value is a small number, or a pointer to
 * data or text; values of similar size are in the same gap between mappings. */
static struct hole_slot *hole_slot(struct resolver *r, uint64_t ip)
{
	unsigned int bits = 63 - (unsigned int)__builtin_clzll(ip | 1);

	return &r->holes[bits / 8];
}

/* Finds the mapping of an address that is not in the mapping of `slot`. */
static const struct mapping *find_mapping(struct resolver *r,
					  const struct proc_version *version,
					  uint64_t ip, struct mapping_slot *slot)
{
	struct hole_slot *empty = hole_slot(r, ip);
	struct space_hole hole = { 0 };
	const struct mapping *m;

	if (empty->generation == version->generation && ip >= empty->hole.from &&
	    ip < empty->hole.to)
		return NULL;
	m = space_find_or_hole(version->root, ip, &hole);
	if (m)
		*slot = (struct mapping_slot){ version->generation, m };
	else
		*empty = (struct hole_slot){ version->generation, hole };
	return m;
}

const struct mapping *resolver_mapping(struct resolver *r,
				       const struct proc_version *version, uint64_t ip)
{
	uint64_t key = hash_quick(ip >> MAPPING_SHIFT, version->generation);
	struct mapping_slot *slot = &r->mappings[key % MAPPINGS];
	const struct mapping *m = slot->m;

	if (m && slot->generation == version->generation && ip >= m->start &&
	    ip < m->end)
		return m;
	return find_mapping(r, version, ip, slot);
}

static const struct mapping *leaf_mapping(struct resolver *r,
					  const struct resolver_found *at, uint64_t ip)
{
	return resolver_mapping(r, resolver_version(r, at, (enum cpu_mode)at->cpu_mode),
				ip);
}

/* Returns the stack that consists only of the sample's address. */
static uint32_t resolver_samples_leaf_stack(struct resolver *r,
					    const struct resolver_found *at,
					    uint64_t ip)
{
	enum cpu_mode cpu_mode = (enum cpu_mode)at->cpu_mode;
	const struct mapping *m;
	uint64_t offset;
	uint32_t image;

	if (at->has_leaf && at->leaf_image != DICT_NONE)
		return dict_leaf(r->dict, at->leaf_image, at->leaf_offset);
	m = at->has_leaf ? at->leaf : leaf_mapping(r, at, ip);
	image = resolver_samples_find_position(r, at, ip, cpu_mode, m, &offset);
	return image == DICT_NONE ? DICT_NONE : dict_leaf(r->dict, image, offset);
}

uint32_t resolver_leaf_frame(struct resolver *r, const struct resolver_found *at,
			     uint64_t ip)
{
	const struct mapping *m = at->has_leaf ? at->leaf : leaf_mapping(r, at, ip);

	return resolver_frame(r, at, ip, (enum cpu_mode)at->cpu_mode, m);
}

/* Returns the string of the cgroup's path; 0 if it is not known, or memory is short. */
static uint32_t cgroup_string(struct resolver *r, uint32_t name)
{
	uint32_t path = names_string(&r->names, r->dict, name);

	return path == DICT_NONE ? 0 : path;
}

/* Returns the string of a sample's cgroup; 0 if unknown. */
static uint32_t cgroup_of(struct resolver *r, struct process *process, int32_t pid,
			  uint64_t id)
{
	const struct resolver_ops *ops = r->ops;
	uint32_t name;

	if (!id && !process->cgroup_asked && ops && ops->process_cgroup && pid > 0) {
		process->cgroup_asked = true;
		process->cgroup = ops->process_cgroup(ops->ctx, pid);
	}
	id = id ? id : process->cgroup;
	if (!id)
		return 0;
	name = cgroup_table_get(&r->cgroups, id);
	if (name != NAME_POOL_NONE || !ops || !ops->unknown_cgroup)
		return cgroup_string(r, name);
	/* If memory is too short to note the id, the callback will be called again. */
	(void)cgroup_table_set(&r->cgroups, id, "");
	ops->unknown_cgroup(ops->ctx, id, pid);
	return cgroup_string(r, cgroup_table_get(&r->cgroups, id));
}

/* Adds the thread to the dict. `app` is an entry of the image table. */
static uint32_t make_thread(struct resolver *r, const struct proc_thread *t,
			    int32_t pid, uint32_t app)
{
	const struct thread thread = {
		.pid = pid,
		.tid = t->tid,
		.ns_pid = pid,
		.ns_tid = t->tid,
		.comm = t->last_comm,
		.app = app == PROC_NO_APP ? DICT_NONE
					  : image_table_hit(&r->images, app, pid, NULL),
		.cgroup = t->last_cgroup,
		.flags = (t->process->kernel ? THREAD_KERNEL : 0) |
			 (pid < 0 ? THREAD_EXITING : 0),
		.start_ns = t->process->start_ns,
	};

	return dict_thread(r->dict, &thread);
}

/* Returns the string of the thread's name at that time; DICT_NONE if memory is short. */
static inline uint32_t comm_at(struct resolver *r, struct proc_thread *t,
			       uint64_t time_ns)
{
	uint32_t comm = thread_comm_at(t, time_ns);

	return comm == PROC_NO_COMM ? resolver_number_comm(r, t)
				    : names_string(&r->names, r->dict, comm);
}

/* Returns the dict's thread for the state of this thread at that time. */
static uint32_t dict_thread_of(struct resolver *r, struct proc_thread *t, int32_t pid,
			       uint64_t time_ns, uint64_t cgroup_id)
{
	uint32_t comm = comm_at(r, t, time_ns);
	uint32_t app = process_app_at(t->process, time_ns);
	uint32_t cgroup = cgroup_of(r, t->process, pid, cgroup_id);

	if (app == PROC_NO_APP && t->process->kernel && pid >= 0)
		app = resolver_mode_image(r, CPU_MODE_KERNEL);
	if (t->last_thread != DICT_NONE && t->last_app == app && t->last_comm == comm &&
	    t->last_cgroup == cgroup)
		return t->last_thread;
	t->last_app = app;
	t->last_comm = comm;
	t->last_cgroup = cgroup;
	t->last_thread = comm != DICT_NONE ? make_thread(r, t, pid, app) : DICT_NONE;
	return t->last_thread;
}

static bool wants_chain(const struct resolver *r, const struct record *rec)
{
	return r->depth == RESOLVE_CHAINS &&
	       (rec->sample.nr_chain || resolver_can_unwind(r, &rec->sample));
}

/* Finds the mapping of a sample's address, and prefetches its slot in the dict's table, which
 * is the slowest memory access. */
static void find_leaf(struct resolver *r, struct resolver_found *f, uint64_t ip)
{
	const struct mapping *m = leaf_mapping(r, f, ip);
	uint32_t image = m ? r->images.entries.at[m->image].number : DICT_NONE;

	f->has_leaf = true;
	f->leaf = m;
	f->leaf_image = image;
	if (image == DICT_NONE)
		return;
	f->leaf_offset = ip - m->start + m->pgoff;
	dict_prefetch_frame(r->dict, image, f->leaf_offset);
}

/* Finds the thread and its address spaces if the last sample of the thread does not give them.
 * Returns 0 or -ENOMEM. */
static int find_thread_name(struct resolver *r, const struct record_id *id,
			    struct resolver_found *f)
{
	f->thread = recent_thread(r, id);
	if (!f->thread)
		f->thread = resolver_thread(r, id->pid, id->tid, id->time_ns, true);
	if (!f->thread)
		return -ENOMEM;
	f->process = f->thread->process;
	f->user = process_at(f->process, id->time_ns);
	f->kernel = process_at(r->mode_processes[CPU_MODE_KERNEL], id->time_ns);
	f->number = DICT_NONE;
	note_thread(r, f->thread);
	return 0;
}

int resolver_find(struct resolver *r, const struct record *rec,
		  struct resolver_found *ret_found)
{
	const struct record_sample *s = &rec->sample;
	const struct recent_thread *recent = still_true(r, &rec->id);
	struct resolver_found *f = ret_found;

	if (recent) {
		f->thread = recent->thread;
		f->process = f->thread->process;
		f->user = recent->user;
		f->kernel = recent->kernel;
		f->number = recent->cgroup == s->cgroup ? recent->number : DICT_NONE;
	} else if (find_thread_name(r, &rec->id, f)) {
		return -ENOMEM;
	}
	f->cpu_mode = (int)resolver_cpu_mode(rec->misc);
	f->changes = r->procs.changes;
	f->has_leaf = false;
	f->ahead = NULL;
	if (!wants_chain(r, rec))
		find_leaf(r, f, s->ip.v);
	return 0;
}

/* Returns the thread's number in the dict, and notes it for later samples. */
static uint32_t find_number(struct resolver *r, const struct record *rec,
			    const struct resolver_found *found)
{
	const struct record_id *id = &rec->id;
	uint64_t cgroup = rec->sample.cgroup;
	uint32_t number =
		dict_thread_of(r, found->thread, id->pid, id->time_ns, cgroup);
	struct recent_thread *recent = still_true(r, id);

	/* Samples of a thread that has ended do not contain its process, so the number is only
	 * valid for these samples. */
	if (recent && recent->thread == found->thread) {
		recent->cgroup = cgroup;
		recent->number = number;
	}
	return number;
}

/* Fills in a sample except for its stack. Returns 0 or -ENOMEM. */
static int resolver_samples_begin_sample(struct resolver *r, const struct record *rec,
					 const struct resolver_found *found,
					 struct sample *ret_sample)
{
	ret_sample->thread =
		found->number != DICT_NONE ? found->number : find_number(r, rec, found);
	ret_sample->stack = DICT_NONE;
	ret_sample->time_ns = rec->id.time_ns;
	ret_sample->period = rec->sample.period;
	ret_sample->event = rec->id.event;
	ret_sample->cpu = rec->id.cpu;
	return ret_sample->thread == DICT_NONE ? -ENOMEM : 0;
}

bool resolver_has_room(const struct resolver *r)
{
	return r->nr_chain <= CHAIN_ROOM - CHAIN_MAX;
}

int resolver_begin(struct resolver *r, const struct decoder *d,
		   const struct record *rec, struct resolver_found *found,
		   struct resolver_chain *chain, struct sample *ret_sample)
{
	/* A thread that no record had named was added, which can invalidate `found`. */
	if (found->changes != r->procs.changes) {
		if (resolver_find(r, rec, found))
			return -ENOMEM;
		resolver_chain_look(r, d, rec, found, chain);
	}
	r->nr_pcs = 0;
	r->later = false;
	if (resolver_samples_begin_sample(r, rec, found, ret_sample) ||
	    resolver_chain_frames(r, d, rec, found, chain))
		return r->later ? -EAGAIN : -ENOMEM;
	return 0;
}

void resolver_chains_end(struct resolver *r)
{
	r->nr_chain = 0;
}

void resolver_chains_lost(struct resolver *r)
{
	for (size_t i = 0; i < CALLERS_CACHE; i++)
		if (r->callers[i].of)
			r->callers[i] = (struct callers_slot){ 0 };
	resolver_chains_end(r);
}

static int finish_chain(struct resolver *r, const struct decoder *d,
			const struct record *rec, const struct resolver_found *found,
			struct sample *sample)
{
	struct resolver_chain chain;

	r->nr_chain = 0;
	resolver_chain_look(r, d, rec, found, &chain);
	if (resolver_chain_frames(r, d, rec, found, &chain))
		return r->later ? -EAGAIN : -ENOMEM;
	r->nr_chain = 0;
	sample->stack = resolver_chain_stack(r, &chain);
	return sample->stack == DICT_NONE ? -ENOMEM : 0;
}

int resolver_finish_leaf(struct resolver *r, const struct record *rec,
			 struct resolver_found *found, struct sample *ret_sample)
{
	/* A thread that no record had named was added, which can invalidate `found`. */
	if (found->changes != r->procs.changes && resolver_find(r, rec, found))
		return -ENOMEM;
	if (resolver_samples_begin_sample(r, rec, found, ret_sample))
		return -ENOMEM;
	ret_sample->stack = resolver_samples_leaf_stack(r, found, rec->sample.ip.v);
	return ret_sample->stack == DICT_NONE ? -ENOMEM : 0;
}

int resolver_finish(struct resolver *r, const struct decoder *d,
		    const struct record *rec, struct resolver_found *found,
		    struct sample *ret_sample)
{
	/* A thread that no record had named was added, which can invalidate `found`. */
	if (found->changes != r->procs.changes && resolver_find(r, rec, found))
		return -ENOMEM;
	r->here = *found;
	r->last_mapping = NULL;
	r->nr_pcs = 0;
	r->later = false;
	if (resolver_samples_begin_sample(r, rec, found, ret_sample))
		return -ENOMEM;
	if (r->depth == RESOLVE_THREADS)
		return 0;
	if (wants_chain(r, rec))
		return finish_chain(r, d, rec, found, ret_sample);
	ret_sample->stack = resolver_samples_leaf_stack(r, found, rec->sample.ip.v);
	return ret_sample->stack == DICT_NONE ? -ENOMEM : 0;
}

int resolver_sample(struct resolver *r, const struct decoder *d,
		    const struct record *rec, struct sample *ret_sample)
{
	struct resolver_found found;

	return resolver_find(r, rec, &found)
		       ? -ENOMEM
		       : resolver_finish(r, d, rec, &found, ret_sample);
}

/* Finds an address in the program before an exec: during the exec, registers still contain
 * addresses of the old program. */
static const struct mapping *find_before_exec(const struct resolver_found *at,
					      uint64_t address)
{
	const struct proc_version *first = at->process->versions.at;
	const struct proc_version *v = at->user;

	for (unsigned int i = 0; v > first && i < EXEC_VERSIONS; i++, v--)
		if (v->exec)
			return space_find(v[-1].root, address);
	return NULL;
}

int resolver_locate(struct resolver *r, uint16_t mode, uint64_t address,
		    struct resolver_position *ret_position)
{
	enum cpu_mode cpu_mode = resolver_cpu_mode(mode);
	const struct proc_version *version = resolver_version(r, &r->here, cpu_mode);
	const struct mapping *m = r->last_mapping;

	/* A sample's addresses are often in one mapping. */
	if (r->last_generation != version->generation || !m || address < m->start ||
	    address >= m->end) {
		m = space_find(version->root, address);
		if (!m && cpu_mode == CPU_MODE_USER)
			m = find_before_exec(&r->here, address);
		r->last_mapping = m;
		r->last_generation = version->generation;
	}
	ret_position->entry = RESOLVER_NOWHERE;
	ret_position->offset = address;
	ret_position->mapping = m;
	if (m) {
		ret_position->entry = m->image;
		ret_position->offset = address - m->start + m->pgoff;
	} else if (cpu_mode != CPU_MODE_USER) {
		ret_position->entry = unmapped_entry(r, &r->here, cpu_mode);
		if (ret_position->entry == IMAGE_TABLE_FAILED)
			return -ENOMEM;
		ret_position->offset -=
			r->images.entries.at[ret_position->entry].image.start;
	}
	return 0;
}

int resolver_image(struct resolver *r, const struct resolver_position *position,
		   uint32_t *ret_image)
{
	*ret_image = DICT_NONE;
	if (position->entry == RESOLVER_NOWHERE)
		return 0;
	*ret_image = image_table_hit(&r->images, position->entry, r->here.process->pid,
				     position->mapping);
	return *ret_image == DICT_NONE ? -ENOMEM : 0;
}

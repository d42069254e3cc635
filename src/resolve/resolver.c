#include "resolve/resolver.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/hash.h"
#include "resolve/images.h"
#include "resolve/procs.h"

enum {
	KERNEL_PID = -1000,      /* the kernel's own space, kept like a process's */
	DEFAULT_MAX_STACK = 127, /* kernel.perf_event_max_stack as shipped */
	CHAIN_MAX = 4096,        /* frames kept of one chain; more are cut */
	FRAME_CACHE = 8192,
	STACK_CACHE = 32768
};

/* (space, address) -> frame; most samples hit what was hit before. */
struct frame_slot {
	uint64_t generation;
	uint64_t ip;
	uint32_t frame;
	uint32_t leaf; /* stack of this frame alone, DICT_NONE before its first use */
};

/* (spaces, raw chain) -> stack */
struct stack_slot {
	uint64_t key;
	uint32_t stack;
};

struct resolver {
	struct dict *dict;
	const struct resolver_ops *ops;
	struct image_table images;
	struct procs procs;
	struct process *kernel;
	uint32_t kernel_image; /* image table entry, or IMAGE_TABLE_FAILED before */
	struct map cgroups;    /* id -> string */
	struct map asked;      /* pids that ops->unknown_process() was asked about */
	struct proc_thread *last_thread; /* of the last sample; good while ... */
	uint64_t last_changes;           /* ... procs.changes is this */
	struct frame_slot *frames;
	struct stack_slot *stacks;
	uint32_t chain[CHAIN_MAX]; /* frames of the chain at hand */
	bool chain_private;        /* ... whose leaf belongs to this process alone */
};

int resolver_new(struct dict *dict, const struct resolver_ops *ops,
		 struct resolver **ret_resolver)
{
	struct resolver *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->dict = dict;
	r->ops = ops;
	r->kernel_image = IMAGE_TABLE_FAILED;
	procs_init(&r->procs);
	image_table_init(&r->images, dict, ops);
	r->procs.pool.count_image = image_table_count;
	r->procs.pool.ctx = &r->images;
	r->frames = calloc(FRAME_CACHE, sizeof(*r->frames));
	r->stacks = calloc(STACK_CACHE, sizeof(*r->stacks));
	r->kernel = procs_new(&r->procs, KERNEL_PID, 0);
	if (!r->frames || !r->stacks || !r->kernel) {
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
	map_done(&r->cgroups);
	map_done(&r->asked);
	free(r->frames);
	free(r->stacks);
	free(r);
}

/* The kernel's entry, also where its address is hidden (kptr_restrict). */
static uint32_t kernel_image(struct resolver *r)
{
	struct image image = { .kind = IMAGE_KERNEL };

	if (r->kernel_image == IMAGE_TABLE_FAILED) {
		image.name = dict_string(r->dict, "[kernel.kallsyms]");
		r->kernel_image = image_table_add(&r->images, &image);
	}
	return r->kernel_image;
}

/* What perf calls a task whose name it does not know. */
static uint32_t number_comm(struct resolver *r, int32_t tid)
{
	char comm[16];

	if (tid == 0)
		return dict_string(r->dict, "swapper");
	snprintf(comm, sizeof(comm), ":%d", tid);
	return dict_string(r->dict, comm);
}

/* Finds or makes the process; asks the surroundings once about an unknown one. */
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

/* `like`: the thread whose name it has at first, or NULL. */
static struct proc_thread *add_thread(struct resolver *r, struct process *process,
				      int32_t tid, uint64_t time_ns,
				      const struct proc_thread *like)
{
	uint32_t comm = like ? thread_comm_at(like, time_ns) : number_comm(r, tid);

	return procs_new_thread(&r->procs, process, tid, time_ns, comm);
}

/* The thread of the last sample, if it is this one: threads run for many samples. */
static struct proc_thread *same_thread(const struct resolver *r, int32_t pid,
				       int32_t tid, uint64_t time_ns)
{
	struct proc_thread *last = r->last_thread;

	if (r->last_changes != r->procs.changes || !last || last->tid != tid ||
	    last->process->pid != pid || time_ns < last->start_ns)
		return NULL;
	return last;
}

static void note_thread(struct resolver *r, struct proc_thread *thread)
{
	/* Only the newest with its number: an older one is right for old times alone. */
	if (thread != procs_find_thread(&r->procs, thread->tid, UINT64_MAX))
		return;
	r->last_thread = thread;
	r->last_changes = r->procs.changes;
}

static struct proc_thread *get_thread(struct resolver *r, int32_t pid, int32_t tid,
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
				   time_ns); /* the asking may have made it */
	if (thread && thread->process->pid == pid)
		return thread;
	return add_thread(r, process, tid, 0,
			  procs_find_thread(&r->procs, pid, time_ns));
}

static int apply_mmap(struct resolver *r, const struct record *rec)
{
	const struct record_mmap *m = &rec->mmap;
	bool kernel = m->pid == -1 || (rec->misc & PERF_RECORD_MISC_CPUMODE_MASK) ==
					      PERF_RECORD_MISC_KERNEL;
	struct mapping mapping = { .start = m->start, .end = m->start + m->len };
	struct process *process;
	uint32_t app;
	int r_map;

	if (!(m->prot & PROT_EXEC) || !m->len || mapping.end < mapping.start)
		return 0;
	mapping.image = image_table_of_mmap(&r->images, m, kernel);
	if (mapping.image == IMAGE_TABLE_FAILED)
		return -ENOMEM;
	mapping.counted = image_table_is_instance(&r->images, mapping.image);
	if (kernel) {
		if (r->images.entries.at[mapping.image].image.kind == IMAGE_KERNEL)
			r->kernel_image = mapping.image;
		return procs_map(&r->procs, r->kernel, rec->id.time_ns, &mapping);
	}
	/* The kernel gives the address as offset of memory without a file. */
	if (m->path[0] == '/' && strncmp(m->path, "//", 2))
		mapping.pgoff = m->pgoff;
	process = get_process(r, m->pid, rec->id.time_ns, false);
	if (!process)
		return -ENOMEM;
	r_map = procs_map(&r->procs, process, rec->id.time_ns, &mapping);
	/* The first binary that is mapped behind an exec is the program itself. */
	app = process->versions.at[process->versions.nr - 1].app;
	if (!r_map && app == PROC_NO_APP &&
	    r->images.entries.at[mapping.image].image.kind == IMAGE_FILE)
		process->versions.at[process->versions.nr - 1].app = mapping.image;
	return r_map;
}

static int apply_comm(struct resolver *r, const struct record *rec)
{
	const struct record_comm *c = &rec->comm;
	uint64_t time_ns = rec->id.time_ns;
	struct proc_thread *thread = get_thread(r, c->pid, c->tid, time_ns, false);
	uint32_t comm = dict_string(r->dict, c->comm);

	/* Another thread than the first calls exec: it takes the number of the first one,
	 * which has ended. */
	if (thread && c->exec && thread->end_ns != UINT64_MAX)
		thread = procs_new_thread(&r->procs, thread->process, c->tid, time_ns,
					  comm);
	if (!thread || comm == DICT_NONE)
		return -ENOMEM;
	if (c->exec && procs_exec(&r->procs, thread->process, time_ns))
		return -ENOMEM;
	return procs_set_comm(&r->procs, thread, time_ns, comm);
}

/* A FORK that a snapshot made up says only that the process exists (perf marks it so). */
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
	if (!process || !add_thread(r, process, t->tid, time_ns, parent))
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
		return procs_unmap(&r->procs, r->kernel, rec->id.time_ns, mapping.start,
				   mapping.end);
	image.name = dict_string(r->dict, k->name);
	mapping.image = image_table_add(&r->images, &image);
	if (image.name == DICT_NONE || mapping.image == IMAGE_TABLE_FAILED)
		return -ENOMEM;
	mapping.counted = true;
	return procs_map(&r->procs, r->kernel, rec->id.time_ns, &mapping);
}

static int apply_cgroup(struct resolver *r, const struct record *rec)
{
	uint32_t path = dict_string(r->dict, rec->cgroup.path);

	if (path == DICT_NONE)
		return -ENOMEM;
	return map_set(&r->cgroups, rec->cgroup.id, 0, path);
}

typedef int (*apply_fn)(struct resolver *r, const struct record *rec);

static const apply_fn side_band[] = {
	[PERF_RECORD_MMAP] = apply_mmap,     [PERF_RECORD_MMAP2] = apply_mmap,
	[PERF_RECORD_COMM] = apply_comm,     [PERF_RECORD_FORK] = apply_fork,
	[PERF_RECORD_EXIT] = apply_exit,     [PERF_RECORD_KSYMBOL] = apply_ksymbol,
	[PERF_RECORD_CGROUP] = apply_cgroup,
};

int resolver_side_band(struct resolver *r, const struct record *rec)
{
	if (rec->type >= sizeof(side_band) / sizeof(*side_band) ||
	    !side_band[rec->type])
		return 0;
	return side_band[rec->type](r, rec);
}

void resolver_frontier(struct resolver *r, uint64_t time_ns)
{
	procs_prune(&r->procs, time_ns);
}

/* One sample's surroundings: which spaces its addresses belong to. */
struct where {
	struct process *process;
	const struct proc_version *user;
	const struct proc_version *kernel;
};

static uint32_t unmapped_image(struct resolver *r, struct process *process)
{
	struct image image = { .kind = IMAGE_UNMAPPED, .pid = process->pid };

	if (process->unmapped == PROC_NO_APP) {
		image.name = dict_string(r->dict, "[unknown]");
		process->unmapped = image_table_add(&r->images, &image);
	}
	return process->unmapped;
}

/* The frame of an address that lies in mapping `m`, or (NULL) in none. */
static uint32_t make_frame(struct resolver *r, const struct where *at, uint64_t ip,
			   bool kernel, const struct mapping *m)
{
	uint64_t offset = ip;
	uint32_t entry;

	if (m) {
		entry = m->image;
		offset = ip - m->start + m->pgoff;
	} else if (kernel) {
		entry = kernel_image(r);
		if (entry != IMAGE_TABLE_FAILED)
			offset = ip - r->images.entries.at[entry].image.start;
	} else {
		entry = unmapped_image(r, at->process);
	}
	if (entry == IMAGE_TABLE_FAILED)
		return DICT_NONE;
	entry = image_table_hit(&r->images, entry, at->process->pid, m);
	return entry == DICT_NONE ? DICT_NONE : dict_frame(r->dict, entry, offset);
}

enum frame_result {
	FRAME_FOUND,
	FRAME_UNMAPPED, /* in no mapping: not kept, unless it is the leaf */
	FRAME_NO_MEMORY
};

/* An address' frame, behind a cache.  What lies in no mapping becomes a frame only as a
 * leaf: in a chain it is where the walk went wrong, different in every process. */
static enum frame_result find_frame(struct resolver *r, const struct where *at,
				    uint64_t ip, bool kernel,
				    struct frame_slot **ret_slot)
{
	const struct proc_version *version = kernel ? at->kernel : at->user;
	uint64_t generation = version->generation;
	struct frame_slot *slot =
		&r->frames[hash_pair(ip, generation) & (FRAME_CACHE - 1)];
	const struct mapping *m;

	*ret_slot = slot;
	if (slot->ip == ip && slot->generation == generation)
		return FRAME_FOUND;
	m = space_find(version->root, ip);
	if (!m && !kernel)
		return FRAME_UNMAPPED;
	*slot = (struct frame_slot){ .generation = generation,
				     .ip = ip,
				     .frame = make_frame(r, at, ip, kernel, m),
				     .leaf = DICT_NONE };
	if (slot->frame != DICT_NONE)
		return FRAME_FOUND;
	slot->generation = 0;
	return FRAME_NO_MEMORY;
}

static uint32_t leaf_stack(struct resolver *r, const struct where *at, uint64_t ip,
			   bool kernel)
{
	struct frame_slot *slot;
	enum frame_result found = find_frame(r, at, ip, kernel, &slot);
	uint32_t frame;

	if (found == FRAME_NO_MEMORY)
		return DICT_NONE;
	if (found == FRAME_UNMAPPED) {
		frame = make_frame(r, at, ip, kernel, NULL);
		return frame == DICT_NONE ? DICT_NONE
					  : dict_stack(r->dict, STACK_ROOT, frame);
	}
	if (slot->leaf == DICT_NONE)
		slot->leaf = dict_stack(r->dict, STACK_ROOT, slot->frame);
	return slot->leaf;
}

/* The frame of the next address of a chain of `nr` so far, or DICT_NONE; *ret_cut: a return
 * address outside every executable mapping was no return address, code without frame
 * pointers used the register otherwise. */
static uint32_t chain_frame(struct resolver *r, const struct where *at, uint64_t ip,
			    bool kernel, uint32_t nr, bool *ret_cut)
{
	struct frame_slot *slot;
	enum frame_result found = find_frame(r, at, ip, kernel, &slot);

	*ret_cut = found == FRAME_UNMAPPED && nr;
	if (found == FRAME_FOUND)
		return slot->frame;
	if (found == FRAME_NO_MEMORY || nr)
		return DICT_NONE;
	r->chain_private = true;
	return make_frame(r, at, ip, kernel, NULL);
}

/* The frames of a chain, leaf first, into r->chain.  Returns their number, or DICT_NONE
 * when memory is short.  *ret_truncated: it goes on, but we cannot say how. */
static uint32_t chain_frames(struct resolver *r, const struct decoder *d,
			     const struct record *rec, const struct where *at,
			     bool *ret_truncated)
{
	const struct record_sample *s = &rec->sample;
	uint32_t max_stack = d->attrs.at[rec->id.event].sample_max_stack;
	bool kernel = false, cut = false;
	uint32_t nr = 0;

	r->chain_private = false;
	for (uint64_t i = 0; i < s->nr_chain; i++) {
		uint64_t ip = decoder_chain_at(d, s, i);

		if (ip >= PERF_CONTEXT_MAX) {
			kernel = ip == PERF_CONTEXT_KERNEL;
			continue;
		}
		cut = nr == CHAIN_MAX;
		if (!cut)
			r->chain[nr] = chain_frame(r, at, ip, kernel, nr, &cut);
		if (cut)
			break;
		if (r->chain[nr] == DICT_NONE)
			return DICT_NONE;
		nr++;
	}
	*ret_truncated = cut || nr >= (max_stack ? max_stack : DEFAULT_MAX_STACK);
	return nr;
}

static uint32_t chain_stack(struct resolver *r, const struct decoder *d,
			    const struct record *rec, const struct where *at,
			    bool kernel)
{
	const struct record_sample *s = &rec->sample;
	uint64_t key =
		hash_bytes(s->chain, s->nr_chain * sizeof(uint64_t),
			   hash_pair(at->user->generation, at->kernel->generation));
	struct stack_slot *slot = &r->stacks[key & (STACK_CACHE - 1)];
	bool truncated;
	uint32_t nr, stack;

	if (slot->key == key)
		return slot->stack;
	nr = chain_frames(r, d, rec, at, &truncated);
	if (nr == DICT_NONE)
		return DICT_NONE;
	if (!nr) /* markers only: the kernel cannot walk here (s390x) */
		return leaf_stack(r, at, s->ip.v, kernel);
	stack = truncated ? STACK_TRUNCATED : STACK_ROOT;
	while (nr && stack != DICT_NONE)
		stack = dict_stack(r->dict, stack, r->chain[--nr]);
	if (stack != DICT_NONE && !r->chain_private)
		*slot = (struct stack_slot){ .key = key, .stack = stack };
	return stack;
}

/* The dict's thread for what is true of this thread now. */
static uint32_t dict_thread_of(struct resolver *r, struct proc_thread *t, int32_t pid,
			       uint64_t time_ns, uint64_t cgroup_id)
{
	uint32_t comm = thread_comm_at(t, time_ns);
	uint32_t app = process_app_at(t->process, time_ns);
	uint32_t cgroup = map_get(&r->cgroups, cgroup_id, 0);
	struct thread thread = {
		.pid = pid, .tid = t->tid, .ns_pid = pid, .ns_tid = t->tid
	};

	if (app == PROC_NO_APP && t->process->kernel && pid >= 0)
		app = kernel_image(r);
	if (t->last_thread != DICT_NONE && t->last_app == app && t->last_comm == comm &&
	    t->last_cgroup == cgroup)
		return t->last_thread;
	thread.comm = comm;
	thread.app = app == PROC_NO_APP ? DICT_NONE
					: image_table_hit(&r->images, app, pid, NULL);
	thread.cgroup = cgroup == MAP_NONE ? 0 : cgroup;
	thread.flags = (t->process->kernel ? THREAD_KERNEL : 0) |
		       (pid < 0 ? THREAD_EXITING : 0);
	thread.start_ns = t->process->start_ns;
	t->last_thread = dict_thread(r->dict, &thread);
	t->last_app = app;
	t->last_comm = comm;
	t->last_cgroup = cgroup;
	return t->last_thread;
}

int resolver_sample(struct resolver *r, const struct decoder *d,
		    const struct record *rec, struct sample *ret_sample)
{
	const struct record_id *id = &rec->id;
	uint64_t time_ns = id->time_ns;
	struct proc_thread *thread = same_thread(r, id->pid, id->tid, time_ns);
	bool kernel =
		(rec->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
	struct where at;

	if (!thread) {
		thread = get_thread(r, id->pid, id->tid, time_ns, true);
		if (!thread)
			return -ENOMEM;
		note_thread(r, thread);
	}
	at.process = thread->process;
	at.user = process_at(at.process, time_ns);
	at.kernel = process_at(r->kernel, time_ns);
	ret_sample->thread =
		dict_thread_of(r, thread, id->pid, time_ns, rec->sample.cgroup);
	ret_sample->stack = rec->sample.nr_chain
				    ? chain_stack(r, d, rec, &at, kernel)
				    : leaf_stack(r, &at, rec->sample.ip.v, kernel);
	if (ret_sample->thread == DICT_NONE || ret_sample->stack == DICT_NONE)
		return -ENOMEM;
	ret_sample->time_ns = time_ns;
	ret_sample->period = rec->sample.period;
	ret_sample->event = id->event;
	ret_sample->cpu = id->cpu;
	return 0;
}

#include "resolve/space/procs.h"

#include <errno.h>
#include <stdlib.h>

/* Samples of a task go on for a moment after its EXIT record (do_exit() still runs). */
static const uint64_t linger_ns = 1000000000;

void procs_init(struct procs *p)
{
	*p = (struct procs){ 0 };
	space_pool_init(&p->pool);
}

static void free_process(struct procs *p, struct process *process)
{
	for (size_t i = 0; i < process->versions.nr; i++)
		space_put(&p->pool, process->versions.at[i].root);
	vec_done(&process->versions);
	free(process);
}

static void free_thread(struct proc_thread *thread)
{
	thread->process->nr_states--;
	vec_done(&thread->comms);
	free(thread);
}

void procs_done(struct procs *p)
{
	for (size_t i = 0; i < p->threads_by_slot.nr; i++)
		for (struct proc_thread *t = p->threads_by_slot.at[i], *next; t;
		     t = next) {
			next = t->older;
			free_thread(t);
		}
	for (size_t i = 0; i < p->by_slot.nr; i++)
		for (struct process *q = p->by_slot.at[i], *next; q; q = next) {
			next = q->older;
			free_process(p, q);
		}
	vec_done(&p->by_slot);
	vec_done(&p->threads_by_slot);
	vec_done(&p->history);
	vec_done(&p->thread_history);
	map_done(&p->pid_slot);
	map_done(&p->tid_slot);
	space_pool_done(&p->pool);
}

struct process *procs_find(const struct procs *p, int32_t pid, uint64_t time_ns)
{
	uint32_t slot = map_get(&p->pid_slot, (uint32_t)pid, 0);
	struct process *process;

	if (slot == MAP_NONE)
		return NULL;
	process = p->by_slot.at[slot];
	while (process && process->start_ns > time_ns && process->older)
		process = process->older;
	return process;
}

struct proc_thread *procs_find_thread(const struct procs *p, int32_t tid,
				      uint64_t time_ns)
{
	uint32_t slot = map_get(&p->tid_slot, (uint32_t)tid, 0);
	struct proc_thread *thread;

	if (slot == MAP_NONE)
		return NULL;
	thread = p->threads_by_slot.at[slot];
	while (thread && thread->start_ns > time_ns && thread->older)
		thread = thread->older;
	return thread;
}

/* Where the newest instance of a number is kept. */
static struct process **process_slot(struct procs *p, int32_t pid)
{
	bool is_new;
	struct map_slot *slot = map_at(&p->pid_slot, (uint32_t)pid, 0, &is_new);

	if (!slot)
		return NULL;
	if (is_new)
		slot->value_plus_1 = (uint32_t)p->by_slot.nr + 1;
	if (slot->value_plus_1 > p->by_slot.nr && !vec_push(&p->by_slot, NULL))
		return NULL;
	return &p->by_slot.at[slot->value_plus_1 - 1];
}

static struct proc_thread **thread_slot(struct procs *p, int32_t tid)
{
	bool is_new;
	struct map_slot *slot = map_at(&p->tid_slot, (uint32_t)tid, 0, &is_new);

	if (!slot)
		return NULL;
	if (is_new)
		slot->value_plus_1 = (uint32_t)p->threads_by_slot.nr + 1;
	if (slot->value_plus_1 > p->threads_by_slot.nr &&
	    !vec_push(&p->threads_by_slot, NULL))
		return NULL;
	return &p->threads_by_slot.at[slot->value_plus_1 - 1];
}

static void note_history(struct procs *p, struct process *process)
{
	/* Without the memory for the note the history just stays. */
	if (!process->has_history)
		process->has_history = vec_push(&p->history, process);
}

static void note_thread_history(struct procs *p, struct proc_thread *thread)
{
	if (!thread->has_history)
		thread->has_history = vec_push(&p->thread_history, thread);
}

/* Takes over the reference to `first->root`. */
static struct process *procs_add_process(struct procs *p, int32_t pid,
					 uint64_t start_ns,
					 const struct proc_version *first)
{
	struct process **slot = process_slot(p, pid);
	struct process *process = calloc(1, sizeof(*process));

	if (!slot || !process || !vec_push(&process->versions, *first)) {
		free(process);
		space_put(&p->pool, first->root);
		return NULL;
	}
	process->pid = pid;
	process->start_ns = start_ns;
	process->end_ns = UINT64_MAX;
	process->unmapped = PROC_NO_APP;
	process->instance = ++p->last_instance;
	process->older = *slot;
	if (*slot) {
		if ((*slot)->end_ns > start_ns)
			(*slot)->end_ns = start_ns;
		note_history(p, *slot);
	}
	*slot = process;
	return process;
}

struct process *procs_new(struct procs *p, int32_t pid, uint64_t start_ns)
{
	struct proc_version first = { .time_ns = start_ns,
				      .generation = ++p->last_generation,
				      .app = PROC_NO_APP };

	return procs_add_process(p, pid, start_ns, &first);
}

struct process *procs_fork(struct procs *p, struct process *parent, int32_t pid,
			   uint64_t time_ns)
{
	struct proc_version first = *process_at(parent, time_ns);
	struct process *child;

	first.time_ns = time_ns;
	space_get(first.root);
	child = procs_add_process(p, pid, time_ns, &first);
	if (child)
		child->kernel = parent->kernel;
	return child;
}

struct proc_thread *procs_new_thread(struct procs *p, struct process *process,
				     int32_t tid, uint64_t start_ns, uint32_t comm)
{
	struct proc_thread **slot = thread_slot(p, tid);
	struct proc_thread *thread = calloc(1, sizeof(*thread));
	struct comm_version first = { .time_ns = start_ns, .comm = comm };

	if (!slot || !thread || !vec_push(&thread->comms, first)) {
		free(thread);
		return NULL;
	}
	thread->tid = tid;
	thread->start_ns = start_ns;
	thread->end_ns = UINT64_MAX;
	thread->process = process;
	thread->last_thread = UINT32_MAX;
	thread->number_comm = PROC_NO_COMM;
	process->nr_states++;
	process->nr_live++;
	process->end_ns = UINT64_MAX;
	thread->older = *slot;
	p->changes++;
	if (*slot) {
		if ((*slot)->end_ns > start_ns)
			(*slot)->end_ns = start_ns;
		note_thread_history(p, *slot);
	}
	*slot = thread;
	return thread;
}

/* Opens a version; changes of the same moment fall into one. */
static struct proc_version *new_version(struct procs *p, struct process *process,
					uint64_t time_ns)
{
	struct proc_version *last = &process->versions.at[process->versions.nr - 1];
	struct proc_version next = *last;

	process->end_ns = UINT64_MAX;
	if (time_ns <= last->time_ns)
		return last;
	if (!vec_push(&process->versions, next))
		return NULL;
	note_history(p, process);
	last = &process->versions.at[process->versions.nr - 1];
	space_get(last->root);
	last->time_ns = time_ns;
	last->exec = false;
	return last;
}

static void replace_root(struct procs *p, struct proc_version *version,
			 struct space_node *root)
{
	space_put(&p->pool, version->root);
	version->root = root;
	version->generation = ++p->last_generation;
}

int procs_map(struct procs *p, struct process *process, uint64_t time_ns,
	      const struct mapping *m)
{
	struct proc_version *version = new_version(p, process, time_ns);
	struct space_node *root;

	if (!version || space_map(&p->pool, version->root, m, &root))
		return -ENOMEM;
	replace_root(p, version, root);
	return 0;
}

int procs_unmap(struct procs *p, struct process *process, uint64_t time_ns,
		uint64_t start, uint64_t end)
{
	struct proc_version *version = new_version(p, process, time_ns);
	struct space_node *root;

	if (!version || space_unmap(&p->pool, version->root, start, end, &root))
		return -ENOMEM;
	replace_root(p, version, root);
	return 0;
}

int procs_exec(struct procs *p, struct process *process, uint64_t time_ns)
{
	struct proc_version *version = new_version(p, process, time_ns);

	if (!version)
		return -ENOMEM;
	replace_root(p, version, NULL);
	version->app = PROC_NO_APP;
	version->exec = true;
	process->kernel = false;
	process->nr_live = 1; /* all other threads end before */
	return 0;
}

int procs_set_comm(struct procs *p, struct proc_thread *thread, uint64_t time_ns,
		   uint32_t comm)
{
	struct comm_version *last = &thread->comms.at[thread->comms.nr - 1];
	struct comm_version next = { .time_ns = time_ns, .comm = comm };

	if (last->comm == comm)
		return 0;
	if (time_ns <= last->time_ns) {
		last->comm = comm;
		return 0;
	}
	note_thread_history(p, thread);
	return vec_push(&thread->comms, next) ? 0 : -ENOMEM;
}

void procs_exit(struct procs *p, struct proc_thread *thread, uint64_t time_ns)
{
	struct process *process = thread->process;

	if (thread->end_ns != UINT64_MAX)
		return;
	thread->end_ns = time_ns;
	note_thread_history(p, thread);
	if (process->nr_live && --process->nr_live == 0) {
		process->end_ns = time_ns;
		note_history(p, process);
	}
}

const struct proc_version *process_old(const struct process *process, uint64_t time_ns)
{
	const struct proc_version *at = process->versions.at;
	size_t first = 0, end = process->versions.nr;

	while (end - first > 1) {
		size_t middle = first + (end - first) / 2;

		if (at[middle].time_ns <= time_ns)
			first = middle;
		else
			end = middle;
	}
	return &at[first];
}

uint32_t process_app_at(const struct process *process, uint64_t time_ns)
{
	const struct proc_version *end = process->versions.at + process->versions.nr;
	const struct proc_version *v = process_at(process, time_ns);

	for (; v->app == PROC_NO_APP && v + 1 < end && !v[1].exec; v++)
		;
	return v->app;
}

uint32_t thread_comm_at(const struct proc_thread *thread, uint64_t time_ns)
{
	size_t i = thread->comms.nr - 1;

	while (i && thread->comms.at[i].time_ns > time_ns)
		i--;
	return thread->comms.at[i].comm;
}

static bool prune_thread(struct procs *p, struct proc_thread *thread, uint64_t time_ns)
{
	size_t old = 0;

	if (thread->end_ns != UINT64_MAX) {
		struct proc_thread **link;

		if (time_ns < linger_ns || thread->end_ns > time_ns - linger_ns)
			return false;
		link = thread_slot(p, thread->tid);
		while (link && *link != thread)
			link = &(*link)->older;
		if (link)
			*link = thread->older;
		free_thread(thread);
		p->changes++;
		return true;
	}
	while (old + 1 < thread->comms.nr &&
	       thread->comms.at[old + 1].time_ns <= time_ns)
		old++;
	for (size_t i = old; old && i < thread->comms.nr; i++)
		thread->comms.at[i - old] = thread->comms.at[i];
	thread->comms.nr -= old;
	thread->has_history = thread->comms.nr > 1;
	return !thread->has_history;
}

static bool prune_process(struct procs *p, struct process *process, uint64_t time_ns)
{
	size_t old = 0;

	if (process->end_ns != UINT64_MAX) {
		struct process **link;

		if (process->nr_states || time_ns < linger_ns ||
		    process->end_ns > time_ns - linger_ns)
			return false;
		link = process_slot(p, process->pid);
		while (link && *link != process)
			link = &(*link)->older;
		if (link)
			*link = process->older;
		free_process(p, process);
		return true;
	}
	while (old + 1 < process->versions.nr &&
	       process->versions.at[old + 1].time_ns <= time_ns)
		space_put(&p->pool, process->versions.at[old++].root);
	for (size_t i = old; old && i < process->versions.nr; i++)
		process->versions.at[i - old] = process->versions.at[i];
	process->versions.nr -= old;
	process->has_history = process->versions.nr > 1;
	return !process->has_history;
}

void procs_prune(struct procs *p, uint64_t time_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->thread_history.nr; i++)
		if (!prune_thread(p, p->thread_history.at[i], time_ns))
			p->thread_history.at[kept++] = p->thread_history.at[i];
	p->thread_history.nr = kept;
	kept = 0;
	for (size_t i = 0; i < p->history.nr; i++)
		if (!prune_process(p, p->history.at[i], time_ns))
			p->history.at[kept++] = p->history.at[i];
	p->history.nr = kept;
}

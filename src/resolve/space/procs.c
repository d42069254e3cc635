/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/space/procs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

/* A task can have samples shortly after its EXIT record (do_exit() still runs). */
static const uint64_t linger_ns = NS_PER_S;

enum {
	/* If history is bounded: maximum number of versions of each process or thread ... */
	VERSIONS_MAX = 2048,
	/* ... and of old versions in total; above it, each keeps at most HISTORY_KEPT. */
	HISTORY_MAX = 65536,
	HISTORY_KEPT = 64
};

void procs_init(struct procs *p, struct name_pool *names)
{
	*p = (struct procs){ .names = names };
	space_pool_init(&p->pool);
}

void procs_bound(struct procs *p)
{
	p->is_bounded = true;
}

static void count_app(struct procs *p, uint32_t app, int change)
{
	if (app != PROC_NO_APP && p->pool.count_image)
		p->pool.count_image(p->pool.ctx, app, change);
}

static void procs_put_version(struct procs *p, const struct proc_version *version)
{
	space_put(&p->pool, version->root);
	count_app(p, version->app, -1);
}

/* Drops the `nr` oldest versions, which must not be all. */
static void drop_versions(struct procs *p, struct process *process, size_t nr)
{
	if (!nr)
		return;
	for (size_t i = 0; i < nr; i++)
		procs_put_version(p, &process->versions.at[i]);
	process->versions.nr -= nr;
	memmove(process->versions.at, process->versions.at + nr,
		process->versions.nr * sizeof(*process->versions.at));
	p->nr_old -= nr;
}

static void drop_comms(struct procs *p, struct proc_thread *thread, size_t nr)
{
	if (!nr)
		return;
	for (size_t i = 0; i < nr; i++)
		name_pool_put(p->names, thread->comms.at[i].comm);
	thread->comms.nr -= nr;
	memmove(thread->comms.at, thread->comms.at + nr,
		thread->comms.nr * sizeof(*thread->comms.at));
	p->nr_old -= nr;
}

static void free_process(struct procs *p, struct process *process)
{
	drop_versions(p, process, process->versions.nr - 1);
	procs_put_version(p, process_newest(process));
	vec_done(&process->versions);
	free(process);
}

static void free_thread(struct procs *p, struct proc_thread *thread)
{
	thread->process->nr_states--;
	drop_comms(p, thread, thread->comms.nr - 1);
	name_pool_put(p->names, thread->comms.at[0].comm);
	vec_done(&thread->comms);
	free(thread);
}

void procs_done(struct procs *p)
{
	for (size_t i = 0; i < p->threads_by_slot.nr; i++)
		for (struct proc_thread *t = p->threads_by_slot.at[i], *next; t;
		     t = next) {
			next = t->older;
			free_thread(p, t);
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

/* Returns the slot of the newest instance of a pid, which is added if the pid is new; NULL if
 * memory is short. */
static struct process **process_slot(struct procs *p, int32_t pid)
{
	bool is_new;
	struct map_slot *slot;

	if (!vec_grow(&p->by_slot))
		return NULL;
	slot = map_at(&p->pid_slot, (uint32_t)pid, 0, &is_new);
	if (!slot)
		return NULL;
	if (is_new) {
		p->by_slot.at[p->by_slot.nr++] = NULL;
		slot->value_plus_1 = (uint32_t)p->by_slot.nr;
	}
	return &p->by_slot.at[slot->value_plus_1 - 1];
}

static struct proc_thread **thread_slot(struct procs *p, int32_t tid)
{
	bool is_new;
	struct map_slot *slot;

	if (!vec_grow(&p->threads_by_slot))
		return NULL;
	slot = map_at(&p->tid_slot, (uint32_t)tid, 0, &is_new);
	if (!slot)
		return NULL;
	if (is_new) {
		p->threads_by_slot.at[p->threads_by_slot.nr++] = NULL;
		slot->value_plus_1 = (uint32_t)p->threads_by_slot.nr;
	}
	return &p->threads_by_slot.at[slot->value_plus_1 - 1];
}

/* Removes an instance. If that empties its slot, the last slot is moved there. */
static void remove_process(struct procs *p, const struct process *process)
{
	uint32_t slot = map_get(&p->pid_slot, (uint32_t)process->pid, 0);
	struct process **link = &p->by_slot.at[slot];
	struct process *last;

	while (*link != process)
		link = &(*link)->older;
	*link = process->older;
	if (p->by_slot.at[slot])
		return;
	map_remove(&p->pid_slot, (uint32_t)process->pid, 0);
	last = p->by_slot.at[--p->by_slot.nr];
	if (slot == p->by_slot.nr)
		return;
	p->by_slot.at[slot] = last;
	(void)map_set(&p->pid_slot, (uint32_t)last->pid, 0, slot); /* it exists */
}

static void remove_thread(struct procs *p, const struct proc_thread *thread)
{
	uint32_t slot = map_get(&p->tid_slot, (uint32_t)thread->tid, 0);
	struct proc_thread **link = &p->threads_by_slot.at[slot];
	struct proc_thread *last;

	while (*link != thread)
		link = &(*link)->older;
	*link = thread->older;
	if (p->threads_by_slot.at[slot])
		return;
	map_remove(&p->tid_slot, (uint32_t)thread->tid, 0);
	last = p->threads_by_slot.at[--p->threads_by_slot.nr];
	if (slot == p->threads_by_slot.nr)
		return;
	p->threads_by_slot.at[slot] = last;
	(void)map_set(&p->tid_slot, (uint32_t)last->tid, 0, slot); /* it exists */
}

static void note_history(struct procs *p, struct process *process)
{
	/* If out of memory, the history is just not pruned. */
	if (!process->has_history)
		process->has_history = vec_push(&p->history, process);
}

static void note_thread_history(struct procs *p, struct proc_thread *thread)
{
	if (!thread->has_history)
		thread->has_history = vec_push(&p->thread_history, thread);
}

/* Adds an instance of `pid`, because the kernel reuses pids. Takes over the references of `first`,
 * also on failure. Returns NULL if memory is short. */
static struct process *procs_add_process(struct procs *p, int32_t pid,
					 uint64_t start_ns,
					 const struct proc_version *first)
{
	struct process *process = calloc(1, sizeof(*process));
	struct process **slot = NULL;

	/* The slot is assigned last, so that no slot stays empty. */
	if (process && vec_push(&process->versions, *first))
		slot = process_slot(p, pid);
	if (!slot) {
		if (process)
			vec_done(&process->versions);
		free(process);
		procs_put_version(p, first);
		return NULL;
	}
	process->pid = pid;
	process->start_ns = start_ns;
	process->end_ns = UINT64_MAX;
	process->unmapped = PROC_NO_APP;
	process->user = -1;
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
	count_app(p, first.app, 1);
	child = procs_add_process(p, pid, time_ns, &first);
	if (!child)
		return NULL;
	child->kernel = parent->kernel;
	child->nr_maps = parent->nr_maps;
	child->user = parent->user;
	child->is_user_read = parent->is_user_read;
	child->has_lost_maps = parent->has_lost_maps;
	return child;
}

struct proc_thread *procs_new_thread(struct procs *p, struct process *process,
				     int32_t tid, uint64_t start_ns, uint32_t comm)
{
	struct proc_thread *thread = calloc(1, sizeof(*thread));
	struct comm_version first = { .time_ns = start_ns, .comm = comm };
	struct proc_thread **slot = NULL;

	if (thread && vec_push(&thread->comms, first))
		slot = thread_slot(p, tid);
	if (!slot) {
		if (thread)
			vec_done(&thread->comms);
		free(thread);
		return NULL;
	}
	name_pool_share(p->names, comm);
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

/* Begins a version of a process. Changes at the same time share a version. */
static struct proc_version *new_version(struct procs *p, struct process *process,
					uint64_t time_ns)
{
	struct proc_version *last = &process->versions.at[process->versions.nr - 1];
	struct proc_version next = *last;

	process->end_ns = UINT64_MAX;
	if (time_ns <= last->time_ns)
		return last;
	if (p->is_bounded && process->versions.nr >= VERSIONS_MAX)
		drop_versions(p, process, VERSIONS_MAX / 2);
	if (!vec_push(&process->versions, next))
		return NULL;
	p->nr_old++;
	note_history(p, process);
	last = &process->versions.at[process->versions.nr - 1];
	space_get(last->root);
	count_app(p, last->app, 1);
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
	struct proc_version *version;
	struct space_node *root;

	if (process->has_lost_maps)
		return 0;
	version = new_version(p, process, time_ns);
	if (!version || space_map(&p->pool, version->root, m, &root))
		return -ENOMEM;
	replace_root(p, version, root);
	return 0;
}

int procs_clear(struct procs *p, struct process *process, uint64_t time_ns)
{
	struct proc_version *version = new_version(p, process, time_ns);

	if (!version)
		return -ENOMEM;
	replace_root(p, version, NULL);
	return 0;
}

void procs_lose_maps(struct procs *p, struct process *process)
{
	drop_versions(p, process, process->versions.nr - 1);
	replace_root(p, &process->versions.at[0], NULL);
	process->has_lost_maps = true;
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

void procs_set_app(struct procs *p, struct process *process, uint32_t app)
{
	struct proc_version *last = &process->versions.at[process->versions.nr - 1];

	count_app(p, app, 1);
	count_app(p, last->app, -1);
	last->app = app;
}

int procs_exec(struct procs *p, struct process *process, uint64_t time_ns)
{
	struct proc_version *version = new_version(p, process, time_ns);

	if (!version)
		return -ENOMEM;
	replace_root(p, version, NULL);
	procs_set_app(p, process, PROC_NO_APP);
	version->exec = true;
	process->kernel = false;
	process->has_lost_maps = false;
	process->is_user_read =
		false; /* the user is read again: a login changes the user before it executes a
		        * program */
	process->nr_live = 1; /* all other threads have ended */
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
		name_pool_share(p->names, comm);
		name_pool_put(p->names, last->comm);
		last->comm = comm;
		return 0;
	}
	if (p->is_bounded && thread->comms.nr >= VERSIONS_MAX)
		drop_comms(p, thread, VERSIONS_MAX / 2);
	if (!vec_push(&thread->comms, next))
		return -ENOMEM;
	name_pool_share(p->names, comm);
	p->nr_old++;
	note_thread_history(p, thread);
	return 0;
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

uint32_t process_user(struct process *process,
		      int64_t (*read_user)(void *ctx, int32_t pid), void *ctx)
{
	int64_t user = -1;

	if (!process->is_user_read && process->end_ns == UINT64_MAX && process->pid > 0)
		user = read_user(ctx, process->pid);
	if (user >= 0) {
		process->user = user;
		process->is_user_read = true;
	}
	/* If the process ended before its user was read, use its parent's user, unless that is
	 * root, whose child can be a login of another user. */
	return process->is_user_read || process->user > 0 ? (uint32_t)process->user
							  : (uint32_t)PROC_NO_USER;
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
		if (time_ns < linger_ns || thread->end_ns > time_ns - linger_ns)
			return false;
		remove_thread(p, thread);
		free_thread(p, thread);
		p->changes++;
		return true;
	}
	while (old + 1 < thread->comms.nr &&
	       thread->comms.at[old + 1].time_ns <= time_ns)
		old++;
	drop_comms(p, thread, old);
	thread->has_history = thread->comms.nr > 1;
	return !thread->has_history;
}

static bool prune_process(struct procs *p, struct process *process, uint64_t time_ns)
{
	size_t old = 0;

	if (process->end_ns != UINT64_MAX) {
		if (process->nr_states || time_ns < linger_ns ||
		    process->end_ns > time_ns - linger_ns)
			return false;
		remove_process(p, process);
		free_process(p, process);
		return true;
	}
	while (old + 1 < process->versions.nr &&
	       process->versions.at[old + 1].time_ns <= time_ns)
		old++;
	drop_versions(p, process, old);
	process->has_history = process->versions.nr > 1;
	return !process->has_history;
}

/* Drops versions so that each instance has at most `kept` old ones. */
static void shorten_history(struct procs *p, size_t kept)
{
	for (size_t i = 0; i < p->thread_history.nr; i++) {
		struct proc_thread *thread = p->thread_history.at[i];

		if (thread->comms.nr > kept + 1)
			drop_comms(p, thread, thread->comms.nr - kept - 1);
	}
	for (size_t i = 0; i < p->history.nr; i++) {
		struct process *process = p->history.at[i];

		if (process->versions.nr > kept + 1)
			drop_versions(p, process, process->versions.nr - kept - 1);
	}
}

/* Shortens the longest histories first. */
static void bound_history(struct procs *p)
{
	for (size_t kept = HISTORY_KEPT; p->nr_old > HISTORY_MAX && kept; kept /= 2)
		shorten_history(p, kept);
	if (p->nr_old > HISTORY_MAX)
		shorten_history(p, 0);
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
	if (p->is_bounded && p->nr_old > HISTORY_MAX)
		bound_history(p);
}

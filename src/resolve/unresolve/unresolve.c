/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/unresolve/unresolve.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "resolve/unresolve/priv.h"

enum {
	/* Maximum length of a chain, which keeps the record below 64 KiB. */
	CHAIN_WORDS = 8000,
	INIT_PID = 1,
	KTHREADD_PID = 2 /* the parent of kernel threads */
};

int unresolve_new(const struct dict *d, const struct unresolve_ops *ops, bool cgroups,
		  struct unresolve **ret_unresolve)
{
	struct unresolve *u = calloc(1, sizeof(*u));

	if (!u)
		return -ENOMEM;
	u->dict = d;
	u->ops = ops;
	u->cgroups = cgroups;
	space_pool_init(&u->pool);
	*ret_unresolve = u;
	return 0;
}

void unresolve_free(struct unresolve *u)
{
	if (!u)
		return;
	space_pool_done(&u->pool);
	vec_done(&u->images);
	vec_done(&u->processes);
	vec_done(&u->threads);
	vec_done(&u->chain);
	map_done(&u->chunks);
	map_done(&u->by_pid);
	map_done(&u->by_tid);
	map_done(&u->cgroup_said);
	buf_done(&u->record);
	free(u);
}

static struct unresolve_process *find_process(struct unresolve *u, int32_t pid)
{
	const struct unresolve_process fresh = { .pid = pid };
	uint32_t at = map_get(&u->by_pid, (uint32_t)pid, 0);

	if (at != MAP_NONE)
		return &u->processes.at[at];
	if (map_set(&u->by_pid, (uint32_t)pid, 0, (uint32_t)u->processes.nr) ||
	    !vec_push(&u->processes, fresh))
		return NULL;
	return &u->processes.at[u->processes.nr - 1];
}

static struct unresolve_thread *find_thread(struct unresolve *u, int32_t tid)
{
	const struct unresolve_thread fresh = { .said = DICT_NONE };
	uint32_t at = map_get(&u->by_tid, (uint32_t)tid, 0);

	if (at != MAP_NONE)
		return &u->threads.at[at];
	if (map_set(&u->by_tid, (uint32_t)tid, 0, (uint32_t)u->threads.nr) ||
	    !vec_push(&u->threads, fresh))
		return NULL;
	return &u->threads.at[u->threads.nr - 1];
}

/* Begins another program, or another process with the same pid. perf forgets the old process at
 * a FORK, and the resolver of this project begins a new one at an exec. */
static int begin_process(struct unresolve *u, struct unresolve_process *p,
			 const struct thread *t, uint64_t time_ns)
{
	const struct unresolve_id id = { p->pid, p->pid, time_ns };
	bool kernel = t->flags & THREAD_KERNEL;
	struct unresolve_thread *leader = find_thread(u, p->pid);
	int r = 0;

	if (!leader)
		return -ENOMEM;
	/* If the pid was the tid of another process's thread, perf would lose the name without
	 * a FORK. */
	if (p->known || kernel || (leader->pid && leader->pid != p->pid))
		r = unresolve_write_fork(u, &id, kernel ? KTHREADD_PID : INIT_PID,
					 true);
	if (p->known) {
		space_put(&u->pool, p->mapped);
		p->mapped = NULL;
		p->epoch++;
	}
	p->known = true;
	p->app = t->app;
	p->start_ns = t->start_ns;
	*leader = (struct unresolve_thread){ .said = DICT_NONE,
					     .pid = p->pid,
					     .epoch = p->epoch };
	if (!r && !kernel)
		r = unresolve_write_comm(u, &id, dict_str(u->dict, t->comm), true);
	if (!r && t->app != DICT_NONE)
		r = unresolve_map_app(u, p, t->app, time_ns);
	return r;
}

/* Returns whether the name is perf's name for an unknown task. */
static bool is_default_name(const struct thread *t, const char *comm)
{
	char name[16];

	if (!t->tid)
		return !strcmp(comm, "swapper");
	snprintf(name, sizeof(name), ":%d", t->tid);
	return !strcmp(comm, name);
}

/* Writes the process and name of a thread, if they have changed. */
static int need_thread(struct unresolve *u, struct unresolve_process *p,
		       uint32_t number, uint64_t time_ns)
{
	const struct thread *t = &u->dict->threads.at[number];
	const struct unresolve_id id = { t->pid, t->tid, time_ns };
	const char *comm = dict_str(u->dict, t->comm);
	struct unresolve_thread *thread = find_thread(u, t->tid);
	bool first, forked = false;
	int r = 0;

	if (!thread)
		return -ENOMEM;
	/* perf gives a task without a name its default name (is_default_name()), which need not
	 * be written. After a FORK, however, perf gives the task its parent's name. */
	first = thread->said == DICT_NONE && !p->epoch && !(t->flags & THREAD_KERNEL);
	if (thread->said == number && thread->epoch == p->epoch)
		return 0;
	/* The thread belongs to a process that has begun another program, or its tid was reused. */
	if (t->tid > 0 && t->pid > 0 && t->tid != t->pid &&
	    (thread->epoch != p->epoch || (thread->pid && thread->pid != t->pid))) {
		r = unresolve_write_fork(u, &id, t->pid, false);
		forked = true;
	}
	*thread = (struct unresolve_thread){ .said = number,
					     .pid = t->pid,
					     .epoch = p->epoch };
	if (r || (first && !forked && is_default_name(t, comm)))
		return r;
	return unresolve_write_comm(u, &id, comm, false);
}

static int need_cgroup(struct unresolve *u, const struct unresolve_id *id,
		       uint32_t cgroup)
{
	if (!u->cgroups || !cgroup || map_get(&u->cgroup_said, cgroup, 0) != MAP_NONE)
		return 0;
	if (map_set(&u->cgroup_said, cgroup, 0, 1))
		return -ENOMEM;
	return unresolve_write_cgroup(u, id, cgroup, dict_str(u->dict, cgroup));
}

/* Fills u->chain, leaf first, with a marker at each change of the cpu mode. */
static int make_chain(struct unresolve *u, struct unresolve_process *p,
		      const struct sample *s)
{
	uint32_t stack = s->stack;
	uint64_t mark = 0;

	u->chain.nr = 0;
	while (stack >= STACK_FIRST && u->chain.nr < CHAIN_WORDS) {
		const struct stack *node = &u->dict->stacks.at[stack];
		struct unresolve_mode mode = unresolve_mode_of(u, node->frame);
		uint64_t ip;
		int r = unresolve_address(u, p, node->frame, s->time_ns, &ip);

		if (r)
			return r;
		if (mode.mark != mark && !vec_push(&u->chain, mode.mark))
			return -ENOMEM;
		mark = mode.mark;
		if (!vec_push(&u->chain, ip))
			return -ENOMEM;
		stack = node->parent;
	}
	return 0;
}

static bool unresolve_is_whole(const struct dict *d, const struct sample *s)
{
	return s->event < d->events.nr && s->thread < d->threads.nr &&
	       s->stack < d->stacks.nr && s->stack >= STACK_FIRST;
}

static int need_process(struct unresolve *u, const struct thread *t, uint64_t time_ns,
			struct unresolve_process **ret_process)
{
	struct unresolve_process *p = find_process(u, t->pid);

	if (!p)
		return -ENOMEM;
	*ret_process = p;
	/* Idle tasks and exiting tasks have no process. */
	if (t->pid <= 0 || (p->known && p->app == t->app && p->start_ns == t->start_ns))
		return 0;
	return begin_process(u, p, t, time_ns);
}

int unresolve_sample(struct unresolve *u, const struct sample *s)
{
	struct unresolve_process *p;
	const struct thread *t;
	struct unresolve_id id;
	uint64_t ip;
	int r;

	if (!unresolve_is_whole(u->dict, s))
		return -EINVAL;
	t = &u->dict->threads.at[s->thread];
	id = (struct unresolve_id){ t->pid, t->tid, s->time_ns };
	r = need_process(u, t, s->time_ns, &p);
	if (!r)
		r = need_thread(u, p, s->thread, s->time_ns);
	if (!r)
		r = need_cgroup(u, &id, t->cgroup);
	if (!r)
		r = make_chain(u, p, s);
	if (!r)
		r = unresolve_address(u, p, u->dict->stacks.at[s->stack].frame,
				      s->time_ns, &ip);
	if (r)
		return r;
	return unresolve_write_sample(
		u, s, &id,
		unresolve_mode_of(u, u->dict->stacks.at[s->stack].frame).cpumode, ip,
		t->cgroup);
}

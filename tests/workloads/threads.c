/* SPDX-License-Identifier: GPL-2.0-or-later */
/* threads [MS [WAIT]] - 64 threads at once, with eight functions, eight weights and separate
 * names. If WAIT is not 0, they start to work only when standard input ends, so that a
 * recorder can attach first. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "work.h"

enum {
	NR_THREADS = 64,
	NR_FUNCTIONS = 8,
	NR_CHUNKS = 5
};

WORK_FUNCTION(thread_work_0)
WORK_FUNCTION(thread_work_1)
WORK_FUNCTION(thread_work_2)
WORK_FUNCTION(thread_work_3)
WORK_FUNCTION(thread_work_4)
WORK_FUNCTION(thread_work_5)
WORK_FUNCTION(thread_work_6)
WORK_FUNCTION(thread_work_7)

static const work_fn functions[NR_FUNCTIONS] = {
	thread_work_0, thread_work_1, thread_work_2, thread_work_3,
	thread_work_4, thread_work_5, thread_work_6, thread_work_7,
};

struct job {
	pthread_t thread;
	unsigned int number;
	pid_t tid;
	uint64_t rounds;
	uint64_t cpu_ns;
};

static pthread_barrier_t ready, go;

static void *job_run(void *arg)
{
	struct job *job = arg;
	char name[16];

	job->tid = gettid();
	snprintf(name, sizeof(name), "worker-%02u", job->number);
	pthread_setname_np(pthread_self(), name);
	pthread_barrier_wait(&ready);
	pthread_barrier_wait(&go);
	for (int i = 0; i < NR_CHUNKS; i++)
		job->cpu_ns += work_timed(functions[job->number % NR_FUNCTIONS],
					  job->rounds / NR_CHUNKS);
	return NULL;
}

static void print_truth(const struct job *jobs)
{
	uint64_t total = 0, by_function[NR_FUNCTIONS] = { 0 };
	char values[64];

	for (int i = 0; i < NR_THREADS; i++) {
		total += jobs[i].cpu_ns;
		by_function[i % NR_FUNCTIONS] += jobs[i].cpu_ns;
	}
	for (int i = 0; i < NR_FUNCTIONS; i++) {
		snprintf(values, sizeof(values), "thread_work_%d", i);
		work_print_share("symbol", values, by_function[i], total);
	}
	for (int i = 0; i < NR_THREADS; i++) {
		int function = i % NR_FUNCTIONS;

		snprintf(values, sizeof(values), "worker-%02d,thread_work_%d", i,
			 function);
		work_print_share("comm,symbol", values, jobs[i].cpu_ns, total);
		snprintf(values, sizeof(values), "%d,thread_work_%d", jobs[i].tid,
			 function);
		work_print_share("tid,symbol", values, jobs[i].cpu_ns, total);
	}
	work_print_cpu("tid,symbol", total);
}

int main(int argc, char **argv)
{
	static struct job jobs[NR_THREADS];
	/* The weights are 1 to 8, eight times each: 288 in all. */
	uint64_t unit = work_rounds_per_ms() * work_argument(argc, argv, 1, 3000) / 288;

	pthread_barrier_init(&ready, NULL, NR_THREADS + 1);
	pthread_barrier_init(&go, NULL, NR_THREADS + 1);
	for (unsigned int i = 0; i < NR_THREADS; i++) {
		jobs[i].number = i;
		jobs[i].rounds = unit * (1 + i / NR_FUNCTIONS);
		if (pthread_create(&jobs[i].thread, NULL, job_run, &jobs[i]))
			work_die("pthread_create");
	}
	pthread_barrier_wait(&ready);
	while (work_argument(argc, argv, 2, 0) && getchar() != EOF)
		;
	pthread_barrier_wait(&go);
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(jobs[i].thread, NULL);
	print_truth(jobs);
	return 0;
}

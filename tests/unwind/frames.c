/* SPDX-License-Identifier: GPL-2.0-or-later */
/* frames.c - repeats all kinds of frames: leaf functions, frames of variable size, tail calls,
 * signals, recursion, the linker's stubs, the vdso, callbacks from libraries, threads. It is
 * built as C and, with exceptions, as C++. unwind/gdb_bt.py stops it at any instruction. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <alloca.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define STEP __attribute__((noinline, noclone)) static
#define KEEP(x) __asm__ volatile("" : : "r"(x) : "memory")

enum {
	NUMBERS = 24,
	ROUNDS = 100000000
};

static volatile sig_atomic_t nr_signals;
static int numbers[NUMBERS];

STEP int f_leaf(int a, int b)
{
	KEEP(&a);
	return a * 3 + b;
}

/* Uses all callee-saved registers. */
STEP long f_wide(long a, long b, long c, long d, long e, long f)
{
	long g = f_leaf((int)a, (int)b);
	long h = f_leaf((int)c, (int)d);
	long i = f_leaf((int)e, (int)f);

	return g * h + i * a + b * g + c * h + d * i + e + f_leaf((int)g, (int)h);
}

STEP long f_alloca(size_t n)
{
	char *at = (char *)alloca(n);

	memset(at, (int)n, n);
	KEEP(at);
	return at[n / 2] + f_leaf(at[0], at[n - 1]);
}

#ifndef __cplusplus
STEP long f_vla(int n)
{
	long at[n];

	for (int i = 0; i < n; i++)
		at[i] = f_leaf(i, n);
	KEEP(at);
	return at[n - 1];
}
#else
#define f_vla(n) f_alloca((size_t)(n)*8)
#endif

STEP long f_big_frame(int n)
{
	char at[20000];

	memset(at, n, sizeof(at));
	KEEP(at);
	return at[n] + f_leaf(n, at[0]);
}

/* Aligns the stack more than calls do. */
STEP long f_aligned(int n)
{
	char at[128] __attribute__((aligned(64)));

	memset(at, n, sizeof(at));
	KEEP(at);
	return f_vla(n) + at[n];
}

STEP long f_descend(int n)
{
	if (!n)
		return f_leaf(1, 2);
	return f_descend(n - 1) + f_wide(n, 2, 3, 4, 5, 6);
}

static int compare(const void *a, const void *b)
{
	return f_leaf(*(const int *)a, 0) - f_leaf(*(const int *)b, 0);
}

STEP void f_sort(int seed)
{
	for (int i = 0; i < NUMBERS; i++)
		numbers[i] = (seed * 31 + i * 17) % 101;
	qsort(numbers, NUMBERS, sizeof(numbers[0]), compare);
}

/* Ends with a tail call: the frame of this function no longer exists in the callee. */
STEP long f_tail(int n)
{
	KEEP(n);
	return f_descend(n & 3);
}

static void on_signal(int number)
{
	nr_signals += 1 + f_leaf(number, 1) % 2;
}

STEP void f_signal(void)
{
	raise(SIGUSR1);
}

STEP long f_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_nsec;
}

STEP long f_text(int n)
{
	char text[64];

	snprintf(text, sizeof(text), "%d %s %.3f", n, "word", n / 3.0);
	return strtol(text, NULL, 10) + (long)strlen(text);
}

STEP void f_memory(int n)
{
	void *at = malloc((size_t)n * 100 + 1);

	KEEP(at);
	free(at);
}

static jmp_buf far;

__attribute__((noreturn)) STEP void f_jump(int n)
{
	longjmp(far, n | 1);
}

/* The last instruction is a call that does not return. */
__attribute__((noreturn)) STEP void f_no_return(int n)
{
	KEEP(&n);
	f_jump(n);
}

STEP void f_far(int n)
{
	if (!setjmp(far))
		f_no_return(n);
}

#ifdef __cplusplus
struct guard {
	int *at;
	~guard()
	{
		*at += f_leaf(*at, 1);
	}
};

STEP int f_throw(int n)
{
	if (n & 1)
		throw n;
	return n;
}

STEP int f_cleanup(int n)
{
	int v = n;
	guard g = { &v };

	return f_throw(n) + v;
}

STEP int f_catch(int n)
{
	try {
		return f_cleanup(n);
	} catch (int e) {
		return f_leaf(e, n);
	}
}
#else
#define f_catch(n) f_leaf(n, 0)
#endif

static void *thread(void *at)
{
	for (int i = 0;; i++) {
		*(volatile long *)at += f_wide(i, f_alloca(16), 1, 1, 1, 1);
		f_sort(i);
	}
	return NULL;
}

STEP long f_round(int i)
{
	long v = f_wide(i, 1, 2, 3, 4, 5);

	f_sort(i);
	v += f_alloca((size_t)(16 + i % 100)) + f_vla(3 + i % 9) + f_aligned(3 + i % 7);
	v += f_big_frame(i % 50) + f_descend(i % 30) + f_tail(i);
	f_signal();
	f_memory(i % 50);
	f_far(i);
	v += f_clock() + f_text(i) + f_catch(i) + (long)sin((double)i);
	return v;
}

int main(int argc, char **argv)
{
	struct itimerval often = { { 0, 1000 }, { 0, 1000 } };
	struct sigaction action;
	long v = argc, other = 0;
	pthread_t id;

	memset(&action, 0, sizeof(action));
	action.sa_handler = on_signal;
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGVTALRM, &action, NULL);
	setitimer(ITIMER_VIRTUAL, &often, NULL);
	if (argc > 1 && pthread_create(&id, NULL, thread, &other))
		return 1;
	for (int i = 0; i < ROUNDS; i++)
		v += f_round(i);
	printf("%s %ld %ld\n", argv[0], v, other);
	return 0;
}

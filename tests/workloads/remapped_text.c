/* SPDX-License-Identifier: GPL-2.0-or-later */
/* remapped_text MS - copies a page of its code to anonymous memory at the same address, as
 * programs do to get huge pages, and uses MS of CPU time in it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "work.h"

enum {
	TURNS = 100000
};

/* Whole pages, so that the copy contains nothing else. */
__asm__(".section remapped, \"ax\"\n.balign 65536\nremapped_begin:\n.previous");

__attribute__((noinline, section("remapped"))) uint32_t remapped_work(uint32_t n);
__attribute__((noinline, section("remapped"))) uint32_t remapped_work(uint32_t n)
{
	uint32_t a = 1;

	while (n--)
		a = a * 1664525 + 1013904223;
	return a;
}

__asm__(".section remapped, \"ax\"\n.balign 65536\nremapped_end:\n.previous");

extern char remapped_begin[], remapped_end[];

static void remap(void)
{
	size_t len = (size_t)(remapped_end - remapped_begin);
	char *copy = malloc(len);

	if (!copy)
		work_die("malloc");
	memcpy(copy, remapped_begin, len);
	if (mmap(remapped_begin, len, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		work_die("mmap");
	memcpy(remapped_begin, copy, len);
	if (mprotect(remapped_begin, len, PROT_READ | PROT_EXEC))
		work_die("mprotect");
	free(copy);
}

int main(int argc, char **argv)
{
	uint64_t ms = strtoull(argc > 1 ? argv[1] : "500", NULL, 10);
	volatile uint32_t result;

	remap();
	puts("remapped");
	fflush(stdout);
	while ((uint64_t)clock() * 1000 / CLOCKS_PER_SEC < ms)
		result = remapped_work(TURNS);
	(void)result;
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dlopen_twins [MS] - loads two libraries in turn, each at the address where the other one
 * has just been unloaded, and works in them. */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

enum {
	NR_TURNS = 20
};

struct twin {
	const char *file;
	const char *function;
	const char *values;
	unsigned int weight;
	char *path;
	uint64_t cpu_ns;
};

/* Loads, works, unloads.  Returns the address that the library was loaded at. */
static uintptr_t twin_run(struct twin *twin, uint64_t rounds)
{
	void *lib = dlopen(twin->path, RTLD_NOW);
	struct link_map *map;
	uintptr_t base;
	work_fn run;

	if (!lib || dlinfo(lib, RTLD_DI_LINKMAP, &map)) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	base = map->l_addr;
	run = (work_fn)(uintptr_t)dlsym(lib, twin->function);
	if (!run) {
		fprintf(stderr, "%s: no %s\n", twin->path, twin->function);
		exit(1);
	}
	twin->cpu_ns += work_timed(run, rounds * twin->weight);
	dlclose(lib);
	return base;
}

int main(int argc, char **argv)
{
	struct twin twins[] = {
		{ "libtruth_x.so", "truth_x_work", "*/libtruth_x.so,truth_x_work", 3,
		  NULL, 0 },
		{ "libtruth_y.so", "truth_y_work", "*/libtruth_y.so,truth_y_work", 1,
		  NULL, 0 },
	};
	uint64_t ms = work_argument(argc, argv, 1, 2000);
	uint64_t rounds = work_rounds_per_ms() * ms / (4 * NR_TURNS), seed = 7;
	uintptr_t base, first = 0;

	for (int i = 0; i < 2; i++)
		twins[i].path = work_sibling(twins[i].file);
	for (int i = 0; i < 2 * NR_TURNS; i++) {
		base = twin_run(&twins[i % 2],
				rounds * (768 + work_random(&seed) % 513) / 1024);
		first = first ? first : base;
		if (base != first)
			work_skip("the two libraries were not loaded at the same "
				  "address");
	}
	for (int i = 0; i < 2; i++) {
		work_print_share("image,symbol", twins[i].values, twins[i].cpu_ns,
				 twins[0].cpu_ns + twins[1].cpu_ns);
		free(twins[i].path);
	}
	work_print_cpu("image,symbol", twins[0].cpu_ns + twins[1].cpu_ns);
	puts("absent image,symbol */libtruth_x.so,truth_y_work");
	puts("absent image,symbol */libtruth_y.so,truth_x_work");
	return 0;
}

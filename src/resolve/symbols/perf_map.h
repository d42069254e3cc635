/* perf_map.h - the text in which a JIT compiler tells of its code, /tmp/perf-PID.map: a line
 * "START SIZE NAME" for each function, both numbers hexadecimal
 * (tools/perf/Documentation/jit-interface.txt in Linux; docs/jit.md).
 * Layer: resolve.  Built once, then read-only. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/containers/vec.h"
#include "resolve/symbols/symtab.h"

/* One function, or what later lines left of it. */
struct perf_map_piece {
	uint64_t start;
	uint64_t end;
	uint64_t function; /* where the function itself starts */
	uint32_t name;     /* where its name begins in the text ... */
	uint32_t name_len; /* ... and how long it is */
};

struct perf_map {
	const char *text;                  /* borrowed */
	VEC(struct perf_map_piece) pieces; /* by address, none overlaps another */
	uint64_t nr_lines;
	uint64_t nr_bad; /* lines that were not of this form */
};

enum {
	PERF_MAP_NAME_MAX = 4096 /* bytes of a name; more is cut */
};

/* Reads the text, which stays the caller's and outlives the map; of more than 4 GiB only the
 * beginning.  Where functions overlap, the later line counts: memory is used again.
 * perf_map_done() in any case.  0 or -ENOMEM. */
int perf_map_read(struct perf_map *map, const char *text, size_t len);
void perf_map_done(struct perf_map *map);
/* A table of what lies in [start, end), with offsets from `first` and run-time addresses.
 * 0, -ENODATA (nothing: no table) or -ENOMEM. */
int perf_map_symtab(const struct perf_map *map, uint64_t start, uint64_t end,
		    uint64_t first, struct symtab **ret_tab);

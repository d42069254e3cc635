/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf_map.h - reads /tmp/perf-PID.map, in which a JIT compiler lists its functions. Each line
 * is "START SIZE NAME", with hexadecimal numbers (tools/perf/Documentation/jit-interface.txt in
 * Linux; docs/jit.md).
 * Layer: resolve. Built once, then read-only. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/containers/vec.h"
#include "resolve/symbols/symtab.h"

/* The part of a function that later lines do not overlap. */
struct perf_map_piece {
	uint64_t start;
	uint64_t end;
	uint64_t function; /* start of the function itself */
	uint32_t name;     /* offset of its name in the text ... */
	uint32_t name_len; /* ... and its length */
};

struct perf_map {
	const char *text;                  /* borrowed */
	VEC(struct perf_map_piece) pieces; /* by address, without overlaps */
	uint64_t nr_lines;
	uint64_t nr_bad; /* malformed lines */
};

enum {
	PERF_MAP_NAME_MAX = 4096 /* bytes of a name; the rest is cut */
};

/* Parses the text, which the caller keeps as long as the map; only its first 4 GiB. Where
 * functions overlap, the later line wins, because the compiler reused the memory. Returns 0 or
 * -ENOMEM; the caller calls perf_map_done() in both cases. */
int perf_map_read(struct perf_map *map, const char *text, size_t len);
void perf_map_done(struct perf_map *map);
/* Makes a table of the functions in [start, end), with offsets relative to `first` and run-time
 * addresses. Returns 0, -ENODATA (no function, *ret_tab is not set) or -ENOMEM. */
int perf_map_symtab(const struct perf_map *map, uint64_t start, uint64_t end,
		    uint64_t first, struct symtab **ret_tab);

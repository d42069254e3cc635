/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_jitdump.c - any bytes as a jitdump: its functions, their lines, and which function was
 * at which address at which time. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/jit/jitdump.h"
#include "resolve/jit/dump.h"
#include "resolve/jit/times.h"
#include "resolve/lines/jit_lines.h"
#include "resolve/unwind/jit.h"
#include "resolve/unwind/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int count_line(void *ctx, const struct jitdump_line *line)
{
	size_t *total = ctx;

	*total += strlen(line->file);
	return 0;
}

/* A lookup by address alone, at the last byte of each function, must find a function that
 * contains it. */
static void check_lines(const struct jitdump *d, const struct mapped *bytes)
{
	struct jit_lines *l;

	if (jit_lines_new(d, bytes, &l))
		abort();
	for (size_t i = 0; i < d->codes.nr && i < 64; i++) {
		uint64_t last = d->codes.at[i].address + d->codes.at[i].size - 1;
		const struct jitdump_code *code = jit_lines_code(l, last, NULL);
		const char *file;
		uint32_t line;

		if (last < d->codes.at[i].address)
			continue;
		if (!code || last - code->address >= code->size)
			abort();
		if (jit_lines_find(l, code, last, &file, &line) && !file)
			abort();
	}
	jit_lines_free(l);
}

static void check_codes(const struct jitdump *d, const uint8_t *data, size_t size)
{
	struct mapped bytes = { .bytes = data, .len = size };
	struct unwind_table *frames;
	struct symtab *tab = NULL;

	for (size_t i = 0; i < d->codes.nr; i++) {
		const struct jitdump_code *c = &d->codes.at[i];
		size_t total = 0;

		if ((size_t)c->name + c->name_len >= size || !c->size ||
		    (c->offset < JITDUMP_NO_BYTES &&
		     (c->offset > size || c->size > size - c->offset)))
			abort();
		(void)jitdump_lines(d, data, size, c, count_line, &total);
	}
	if (!unwind_jit_table(d, data, size, NULL, &frames))
		unwind_table_free(frames);
	if (!jit_dump_symtab(d, &bytes, &tab))
		symtab_free(tab);
	check_lines(d, &bytes);
}

static void check_times(const struct jitdump *d, int64_t shift)
{
	struct jit_times t;

	if (jit_times_make(&t, d, shift))
		abort();
	for (size_t i = 0; i < t.nr && i < 64; i++) {
		struct jit_found f =
			jit_times_find(&t, t.at[i].end - 1, t.at[i].time_ns);

		if (f.code != JITDUMP_NO_CODE &&
		    (f.code >= d->codes.nr || f.offset >= d->codes.at[f.code].size))
			abort();
		if (f.from_ns > t.at[i].time_ns || f.to_ns < t.at[i].time_ns)
			abort();
	}
	jit_times_done(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jitdump d;

	if (!jitdump_read(&d, data, size, NULL)) {
		check_codes(&d, data, size);
		check_times(&d, 0);
		check_times(&d, -1000);
	}
	jitdump_done(&d);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gmon.c - writes a gmon.out file for gprof.  The profile's keys are app, address and stack, and
 * it needs code locations (profile_options.code).  Samples do not contain numbers of calls.
 * Each call gets the number of samples below it: gprof distributes a function's time among its
 * callers by these numbers, so the result matches the samples. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aggregate/profile/profile.h"
#include "base/containers/sort_keys.h"
#include "base/err.h"
#include "base/files/io.h"
#include "format/foreign/gmon.h"
#include "present/export/export_writers.h"
#include "present/lines/options.h"
#include "present/lines/percent.h"
#include "resolve/elf/file.h"

enum {
	BIN_BYTES = 2,      /* bytes of code per bin ... */
	RISC_BIN_BYTES = 8, /* ... if all addresses are multiples of four */
	RISC_ALIGN = 4,
	BINS_MAX = 1 << 28
};

/* The message of OProfile's opgprof. */
static const char not_one[] =
	"error: specify exactly one binary to process and give an event: or count: "
	"specification if necessary";

struct call {
	uint32_t from, to; /* functions of the profile */
	uint64_t nr;
};

struct gmon_making {
	struct profile *p;
	uint32_t image; /* the image to write */
	double threshold;
	uint8_t *shown; /* by function: it reaches the threshold */
	/* (from, to) -> call; `more` of an entry: last row that counted it, + 1. */
	struct map call_by;
	VEC(struct call) calls;
	struct buf out;
};

/* ---- the binary ---- */

/* Returns the number of the innermost function of a row; DICT_NONE if it is unknown. */
static uint32_t write_gmon_leaf_of(const struct profile *p,
				   const struct profile_row *row)
{
	uint32_t node = profile_node(p, row->group);

	return node < p->calls.nodes.nr ? p->calls.nodes.at[node].function : DICT_NONE;
}

static uint32_t write_gmon_image_of(const struct profile *p,
				    const struct profile_row *row)
{
	uint32_t leaf = write_gmon_leaf_of(p, row);

	return leaf == DICT_NONE ? DICT_NONE : p->functions.at[leaf].image;
}

/* Returns whether the row is a call without samples (EVENT_CALLS). */
static bool write_gmon_is_call(const struct profile *p, const struct profile_row *row)
{
	return p->events.at[row->event].flags & EVENT_CALLS;
}

static bool is_own(struct profile *p, const struct profile_row *row)
{
	size_t app = (size_t)keys_find(p->options.keys, KEY_APP);
	uint32_t image = write_gmon_image_of(p, row);

	return image != DICT_NONE &&
	       !strcmp(strtab_get(&p->strings, p->images.at[image].name),
		       profile_text(p, row->group, app));
}

/* Returns the only image that the rows are in, or DICT_NONE if there are none or several.
 * `own`: considers only images that are the application itself. */
static uint32_t only_image(struct profile *p, bool own, size_t *ret_nr)
{
	uint32_t found = DICT_NONE;

	*ret_nr = 0;
	for (size_t i = 0; i < p->rows.nr; i++) {
		const struct profile_row *row = &p->rows.at[i];
		uint32_t image = write_gmon_image_of(p, row);

		if (image == DICT_NONE || image == found || !row->samples ||
		    write_gmon_is_call(p, row) || (own && !is_own(p, row)))
			continue;
		found = image;
		++*ret_nr;
	}
	return *ret_nr == 1 ? found : DICT_NONE;
}

static int choose_image(struct gmon_making *m, struct err *err)
{
	size_t nr;

	m->image = only_image(m->p, true, &nr);
	if (!nr)
		m->image = only_image(m->p, false, &nr);
	return nr == 1 ? 0 : err_set(err, -EINVAL, "%s", not_one);
}

static bool write_gmon_is_shown(const struct gmon_making *m,
				const struct profile_row *row)
{
	uint32_t leaf = write_gmon_leaf_of(m->p, row);

	return leaf != DICT_NONE && m->p->functions.at[leaf].image == m->image &&
	       m->shown[leaf] && row->samples && !write_gmon_is_call(m->p, row);
}

static int choose_functions(struct gmon_making *m)
{
	struct profile *p = m->p;
	uint64_t *sums = calloc(p->functions.nr + 1, sizeof(*sums));
	uint64_t all = 0;

	m->shown = calloc(p->functions.nr + 1, 1);
	if (!sums || !m->shown) {
		free(sums);
		return -ENOMEM;
	}
	for (size_t i = 0; i < p->rows.nr; i++) {
		uint32_t leaf = write_gmon_leaf_of(p, &p->rows.at[i]);

		if (leaf == DICT_NONE || p->functions.at[leaf].image != m->image ||
		    write_gmon_is_call(p, &p->rows.at[i]))
			continue;
		sums[leaf] += p->rows.at[i].samples;
		all += p->rows.at[i].samples;
	}
	for (size_t i = 0; i < p->functions.nr; i++)
		m->shown[i] = sums[i] && percent_of(sums[i], all) >= m->threshold;
	free(sums);
	return 0;
}

/* ---- bins ---- */

struct write_gmon_range {
	uint64_t low, high; /* the first and the last address */
	bool risc, any;
};

static uint64_t write_gmon_address_of(const struct profile *p,
				      const struct profile_row *row)
{
	return profile_value(p, row->group,
			     (size_t)keys_find(p->options.keys, KEY_ADDRESS));
}

static struct write_gmon_range find_range(const struct gmon_making *m)
{
	struct write_gmon_range r = { .risc = true };

	for (size_t i = 0; i < m->p->rows.nr; i++) {
		const struct profile_row *row = &m->p->rows.at[i];
		uint64_t at = write_gmon_address_of(m->p, row);

		if (!write_gmon_is_shown(m, row))
			continue;
		r.low = !r.any || at < r.low ? at : r.low;
		r.high = !r.any || at > r.high ? at : r.high;
		r.risc = r.risc && at % RISC_ALIGN == 0;
		r.any = true;
	}
	return r;
}

static int put_bins(struct gmon_making *m, const struct gmon *g, struct err *err)
{
	struct write_gmon_range range = find_range(m);
	struct gmon_bins bins = { .bin_bytes =
					  range.risc ? RISC_BIN_BYTES : BIN_BYTES };
	uint64_t *counts;

	if (!range.any)
		return 0;
	bins.low = range.low - range.low % bins.bin_bytes;
	if ((range.high - bins.low) / bins.bin_bytes >= BINS_MAX)
		return err_set(
			err, -EINVAL,
			"the addresses from %#llx to %#llx do not fit into a gmon.out file",
			(unsigned long long)range.low, (unsigned long long)range.high);
	bins.nr = (uint32_t)((range.high - bins.low) / bins.bin_bytes + 1);
	counts = calloc(bins.nr, sizeof(*counts));
	if (!counts)
		return err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < m->p->rows.nr; i++) {
		const struct profile_row *row = &m->p->rows.at[i];

		if (write_gmon_is_shown(m, row))
			counts[(write_gmon_address_of(m->p, row) - bins.low) /
			       bins.bin_bytes] += row->samples;
	}
	bins.counts = counts;
	gmon_put_bins(g, &bins);
	free(counts);
	return 0;
}

/* ---- calls ---- */

static bool has_code(const struct gmon_making *m, uint32_t function)
{
	const struct profile_function *f;

	if (function == DICT_NONE)
		return false;
	f = &m->p->functions.at[function];
	return f->image == m->image &&
	       (f->kind == FUNCTION_NAMED || f->kind == FUNCTION_UNNAMED);
}

/* Counts the samples of a row once, even if the call is repeated in its stack. */
static int write_gmon_add_call(struct gmon_making *m, struct call call,
			       uint32_t row_number)
{
	bool is_new;
	struct map_slot *slot = map_at(&m->call_by, call.from, call.to, &is_new);

	if (!slot)
		return -ENOMEM;
	if (is_new) {
		if (!vec_push(&m->calls, (struct call){ call.from, call.to, 0 }))
			return -ENOMEM;
		slot->value_plus_1 = (uint32_t)m->calls.nr;
	}
	if (slot->more == row_number)
		return 0;
	slot->more = row_number;
	m->calls.at[slot->value_plus_1 - 1].nr += call.nr;
	return 0;
}

static int write_gmon_add_calls(struct gmon_making *m, uint32_t row)
{
	const struct call_node *nodes = m->p->calls.nodes.at;
	const struct profile_row *r = &m->p->rows.at[row];

	for (uint32_t node = profile_node(m->p, r->group); node >= CALL_FIRST;
	     node = nodes[node].caller) {
		struct call call = { nodes[nodes[node].caller].function,
				     nodes[node].function, r->samples };

		if (has_code(m, call.from) && has_code(m, call.to) &&
		    write_gmon_add_call(m, call, row + 1))
			return -ENOMEM;
	}
	return 0;
}

/* Writes the calls sorted by caller, then by callee. */
static int write_gmon_put_calls(struct gmon_making *m, const struct gmon *g)
{
	const struct profile_function *f = m->p->functions.at;
	struct sort_key *keys = malloc((m->calls.nr + 1) * sizeof(*keys));
	int r = keys ? 0 : -ENOMEM;

	for (uint32_t i = 0; !r && i < m->calls.nr; i++)
		keys[i] = (struct sort_key){ f[m->calls.at[i].to].vma, i };
	if (!r)
		r = sort_keys(&keys, m->calls.nr);
	for (size_t i = 0; !r && i < m->calls.nr; i++)
		keys[i].at = f[m->calls.at[keys[i].index].from].vma;
	if (!r)
		r = sort_keys(&keys, m->calls.nr);
	for (size_t i = 0; !r && i < m->calls.nr; i++) {
		const struct call *call = &m->calls.at[keys[i].index];

		gmon_put_calls(g, f[call->from].vma, f[call->to].vma, call->nr);
	}
	free(keys);
	return r;
}

/* ---- the file ---- */

/* Returns the binary's address size and byte order, or 64-bit little-endian if the binary cannot
 * be read. */
static struct gmon layout_of(struct gmon_making *m)
{
	const struct profile_image *image = &m->p->images.at[m->image];
	const char *path =
		strtab_get(&m->p->strings, image->binary ? image->binary : image->name);
	struct gmon g = { .out = &m->out, .addr_bytes = sizeof(uint64_t) };
	int fd = io_open_regular(path, 0);
	struct elf_file elf;

	if (fd < 0)
		return g;
	if (!elf_file_init_fd(&elf, fd, NULL)) {
		g.addr_bytes = elf.is64 ? sizeof(uint64_t) : sizeof(uint32_t);
		g.big_endian = elf.swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
		elf_file_done(&elf);
	}
	close(fd);
	return g;
}

static int write_gmon_make(struct gmon_making *m, struct err *err)
{
	struct gmon g;
	int r = choose_image(m, err);

	if (r)
		return r;
	r = choose_functions(m);
	for (uint32_t i = 0; !r && i < m->p->rows.nr; i++)
		if (write_gmon_is_shown(m, &m->p->rows.at[i]) ||
		    write_gmon_is_call(m->p, &m->p->rows.at[i]))
			r = write_gmon_add_calls(m, i);
	if (r)
		return err_set(err, r, "out of memory");
	g = layout_of(m);
	gmon_put_header(&g);
	r = put_bins(m, &g, err);
	if (r)
		return r;
	if (write_gmon_put_calls(m, &g) || m->out.failed)
		return err_set(err, -ENOMEM, "out of memory");
	return 0;
}

int write_gmon(FILE *out, struct profile *p, const struct present_options *options,
	       struct err *err)
{
	struct gmon_making m = { .p = p, .threshold = options->threshold };
	int r = present_needs_one_event(p, "a gmon.out", err);

	if (!r)
		r = write_gmon_make(&m, err);
	if (!r)
		fwrite(m.out.data, 1, m.out.len, out);
	free(m.shown);
	map_done(&m.call_by);
	vec_done(&m.calls);
	buf_done(&m.out);
	return r;
}

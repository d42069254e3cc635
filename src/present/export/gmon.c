/* gmon.c - a gmon.out, for gprof.  The profile's keys are app, address and stack, and it knows
 * where code is (profile_options.code).
 *
 * Of calls samples tell no numbers.  Each has that of the samples below it: gprof shares a
 * function's time among its callers by these numbers, which is then what the samples say. */
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
	BIN_BYTES = 2,      /* of code ... */
	RISC_BIN_BYTES = 8, /* ... and where all addresses are multiples of four */
	RISC_ALIGN = 4,
	BINS_MAX = 1 << 28
};

/* oprofile-behaviour.md 1.3 */
static const char not_one[] =
	"error: specify exactly one binary to process and give an event: or count: "
	"specification if necessary";

struct call {
	uint32_t from, to; /* functions of the profile */
	uint64_t nr;
};

struct gmon_making {
	struct profile *p;
	uint32_t image; /* that is shown */
	double threshold;
	uint8_t *shown;     /* by function: it has enough samples */
	struct map call_by; /* (from, to); `more`: the row that counted it last, + 1 */
	VEC(struct call) calls;
	struct buf out;
};

/* ---- the one binary ---- */

/* DICT_NONE: nothing is known. */
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

static bool is_own(struct profile *p, const struct profile_row *row)
{
	size_t app = (size_t)keys_find(p->options.keys, KEY_APP);
	uint32_t image = write_gmon_image_of(p, row);

	return image != DICT_NONE &&
	       !strcmp(strtab_get(&p->strings, p->images.at[image].name),
		       profile_text(p, row->group, app));
}

/* The one image that the rows are in, DICT_NONE: none or several.  `own`: only where it is the
 * application itself. */
static uint32_t only_image(struct profile *p, bool own, size_t *ret_nr)
{
	uint32_t found = DICT_NONE;

	*ret_nr = 0;
	for (size_t i = 0; i < p->rows.nr; i++) {
		const struct profile_row *row = &p->rows.at[i];
		uint32_t image = write_gmon_image_of(p, row);

		if (image == DICT_NONE || image == found || !row->samples ||
		    (own && !is_own(p, row)))
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
	       m->shown[leaf] && row->samples;
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

		if (leaf == DICT_NONE || p->functions.at[leaf].image != m->image)
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
	uint64_t low, high; /* of the first and the last address */
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
			"addresses from %#llx to %#llx are too many for a gmon.out",
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

/* Counts the samples of a row once, however often the call is in its stack. */
static int write_gmon_add_call(struct gmon_making *m, struct call call, uint32_t turn)
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
	if (slot->more == turn)
		return 0;
	slot->more = turn;
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

/* By where they are from, then by what is called. */
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

/* ---- the whole ---- */

/* As the binary is; as this machine where that is not to be had. */
static struct gmon layout_of(struct gmon_making *m)
{
	const struct profile_image *image = &m->p->images.at[m->image];
	const char *path =
		strtab_get(&m->p->strings, image->binary ? image->binary : image->name);
	struct gmon g = { .out = &m->out, .addr_bytes = sizeof(uint64_t) };
	int fd = io_open(path, O_RDONLY, 0);
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
		if (write_gmon_is_shown(m, &m->p->rows.at[i]))
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

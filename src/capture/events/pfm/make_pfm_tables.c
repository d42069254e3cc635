/* SPDX-License-Identifier: GPL-2.0-or-later */
/* make_pfm_tables.c - a program for the build. It writes the arrays of events/pfm/pfm_tables.h from
 * the installed libpfm4. Without libpfm4 they are empty. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/containers/strtab.h"
#include "base/containers/vec.h"
#include "base/err.h"
#include "capture/events/catalog_priv.h"
#include "capture/events/cpu_types.h"
#include "capture/events/pfm/pfm_tables.h"

enum {
	NAME_BYTES = 512,
	TEXT_NONE = 0 /* number of "" in the string table */
};

/* The tables while they are built; their texts are numbers of a string table. */
struct make_event_pfm_tables_maker {
	struct strtab texts;
	VEC(struct pfm_table) tables;
	VEC(struct pfm_table_event) events;
	VEC(struct pfm_table_mask) masks;
	char *library;
	bool failed; /* out of memory */
};

static uint32_t text_number(struct make_event_pfm_tables_maker *m, const char *text)
{
	uint32_t number = text ? strtab_add(&m->texts, text) : TEXT_NONE;

	m->failed |= number == STRTAB_FAILED;
	return number;
}

/* Stores the config words of an event and returns true if they fit into the catalogue's row.
 * Otherwise, they are queried from the library when needed. Sets *ret_refused if libpfm4 cannot
 * encode the event. */
static bool make_event_pfm_tables_encode(const struct event_catalog *c,
					 const char *name, uint64_t ret_config[2],
					 bool *ret_refused)
{
	uint64_t config[3] = { 0 };
	int r = event_pfm_encode(c->pfm, c->cpu->pfm, name, config, NULL);

	*ret_refused = r != 0;
	if (r || config[2])
		return false;
	memcpy(ret_config, config, 2 * sizeof(config[0]));
	return true;
}

static void add_mask(struct make_event_pfm_tables_maker *m,
		     const struct event_catalog *c, const struct catalog_event *e,
		     const struct catalog_mask *mask)
{
	struct pfm_table_mask row = {
		.value = mask->value,
		.name = text_number(m, mask->name),
		.about = text_number(m, mask->about),
		.is = (mask->precise ? PFM_IS_PRECISE : 0u) |
		      (mask->is_default ? PFM_IS_DEFAULT : 0u),
	};
	char name[NAME_BYTES];
	bool refused;

	(void)snprintf(name, sizeof(name), "%s:%s", e->name, mask->name);
	if (make_event_pfm_tables_encode(c, name, row.config, &refused))
		row.is |= PFM_IS_KNOWN;
	m->failed |= !vec_push(&m->masks, row);
}

static void make_event_pfm_tables_add_event(struct make_event_pfm_tables_maker *m,
					    const struct event_catalog *c,
					    const struct catalog_event *e)
{
	struct pfm_table_event row = {
		.code = e->code,
		.name = text_number(m, e->name),
		.about = text_number(m, e->about),
		.same_as = text_number(m, e->same_as),
		.min_count = e->min_count,
		.nr_masks = (uint32_t)e->nr_masks,
		.is = e->precise ? PFM_IS_PRECISE : 0u,
	};
	bool refused;

	if (make_event_pfm_tables_encode(c, e->name, row.config, &refused))
		row.is |= PFM_IS_KNOWN;
	else if (refused && e->nr_masks)
		row.is |= PFM_IS_REFUSED;
	m->failed |= !vec_push(&m->events, row);
	for (size_t i = 0; i < e->nr_masks; i++)
		add_mask(m, c, e, event_catalog_mask(c, e, i));
}

static bool is_there(const struct make_event_pfm_tables_maker *m, const char *pmu)
{
	for (size_t i = 0; i < m->tables.nr; i++)
		if (!strcmp(strtab_get(&m->texts, m->tables.at[i].pmu), pmu))
			return true;
	return false;
}

/* Adds a table of the library. Omits it if the library lacks it. */
static int make_event_pfm_tables_add_table(struct make_event_pfm_tables_maker *m,
					   const struct cpu_type *cpu)
{
	struct event_catalog c = { .cpu = cpu };
	const char *library = NULL;
	int r = event_pfm_walk(&c, cpu->pfm, &library);
	struct pfm_table row = {
		.pmu = text_number(m, cpu->pfm),
		.nr_counters = c.nr_counters,
		.nr_events = (uint32_t)c.events.nr,
		.nr_masks = (uint32_t)c.masks.nr,
	};

	if (!r && !m->library)
		m->library = strdup(library);
	for (size_t i = 0; !r && i < c.events.nr; i++)
		make_event_pfm_tables_add_event(m, &c, &c.events.at[i]);
	if (!r && !vec_push(&m->tables, row))
		r = -ENOMEM;
	vec_done(&c.events);
	vec_done(&c.masks);
	event_pfm_close(c.pfm);
	return r == -ENOENT || r == -EOPNOTSUPP ? 0 : r;
}

/* ---- writing ---- */

static void write_text(FILE *out, const char *text)
{
	fputs("\t\"", out);
	for (; *text; text++) {
		unsigned char byte = (unsigned char)*text;

		if (byte < ' ' || byte > '~' || strchr("\"\\?", byte))
			fprintf(out, "\\%03o", byte);
		else
			putc(byte, out);
	}
	fputs("\\0\"\n", out);
}

/* Writes the strings and returns their offsets by number. */
static uint32_t *write_texts(FILE *out, const struct make_event_pfm_tables_maker *m)
{
	uint32_t *offsets = calloc(m->texts.strings.nr, sizeof(*offsets));
	uint32_t at = 0;

	if (!offsets)
		return NULL;
	fputs("static const char texts[] =\n", out);
	for (uint32_t i = 0; i < m->texts.strings.nr; i++) {
		const char *text = strtab_get(&m->texts, i);

		offsets[i] = at;
		at += (uint32_t)strlen(text) + 1;
		write_text(out, text);
	}
	fputs("\t\"\";\n", out);
	return offsets;
}

static void
make_event_pfm_tables_write_rows(FILE *out, const struct make_event_pfm_tables_maker *m,
				 const uint32_t *offsets)
{
	fputs("static const struct pfm_table tables[] = {\n", out);
	for (size_t i = 0; i < m->tables.nr; i++) {
		const struct pfm_table *t = &m->tables.at[i];

		fprintf(out, "{ %u, %u, %u, %u },\n", offsets[t->pmu], t->nr_counters,
			t->nr_events, t->nr_masks);
	}
	fputs("};\nstatic const struct pfm_table_event events[] = {\n", out);
	for (size_t i = 0; i < m->events.nr; i++) {
		const struct pfm_table_event *e = &m->events.at[i];

		fprintf(out,
			"{ %#" PRIx64 ", { %#" PRIx64 ", %#" PRIx64
			" }, %u, %u, %u, %u, %u, %u },\n",
			e->code, e->config[0], e->config[1], offsets[e->name],
			offsets[e->about], offsets[e->same_as], e->min_count,
			e->nr_masks, e->is);
	}
	fputs("};\nstatic const struct pfm_table_mask masks[] = {\n", out);
	for (size_t i = 0; i < m->masks.nr; i++) {
		const struct pfm_table_mask *k = &m->masks.at[i];

		fprintf(out,
			"{ %#" PRIx64 ", { %#" PRIx64 ", %#" PRIx64
			" }, %u, %u, %u },\n",
			k->value, k->config[0], k->config[1], offsets[k->name],
			offsets[k->about], k->is);
	}
	fputs("};\n", out);
}

static int write_tables(FILE *out, const struct make_event_pfm_tables_maker *m)
{
	uint32_t *offsets;

	fputs("/* Made from libpfm4 by make_event_pfm_tables. */\n"
	      "#include \"capture/events/pfm/pfm_tables.h\"\n",
	      out);
	if (!m->tables.nr) {
		fputs("const struct pfm_tables event_pfm_tables = { .library = \"\", .texts = \"\" };\n",
		      out);
		return 0;
	}
	offsets = write_texts(out, m);
	if (!offsets)
		return -ENOMEM;
	make_event_pfm_tables_write_rows(out, m, offsets);
	free(offsets);
	fputs("const struct pfm_tables event_pfm_tables = {\n\t.library =\n", out);
	write_text(out, m->library);
	fprintf(out,
		"\t, .library_id = %#" PRIx64 "ULL, .texts = texts,\n"
		"\t.tables = tables, .nr_tables = %zu, .events = events, .masks = masks };\n",
		event_pfm_file_id(m->library), m->tables.nr);
	return 0;
}

/* Returns whether the build machine supports perf_event_open(2). libpfm encodes for perf only
 * then. Otherwise no tables are written, because their config words would differ. */
static bool has_perf_events(void)
{
	return access("/proc/sys/kernel/perf_event_paranoid", F_OK) == 0;
}

static int make_event_pfm_tables_make(struct make_event_pfm_tables_maker *m,
				      const char *path)
{
	const struct cpu_type *cpu;
	FILE *out;
	int r = strtab_init(&m->texts);

	for (size_t i = 0; !r && has_perf_events() && (cpu = cpu_type_at(i)); i++)
		if (cpu->pfm && !is_there(m, cpu->pfm))
			r = make_event_pfm_tables_add_table(m, cpu);
	if (r || m->failed)
		return r ? r : -ENOMEM;
	out = fopen(path, "we");
	if (!out)
		return -errno;
	r = write_tables(out, m);
	if (fclose(out) && !r)
		r = -errno;
	return r;
}

int main(int argc, char **argv)
{
	struct make_event_pfm_tables_maker m = { 0 };
	int r;

	if (argc != 2) {
		fputs("Usage: make_event_pfm_tables OUT.c\n", stderr);
		return 1;
	}
	r = make_event_pfm_tables_make(&m, argv[1]);
	if (r)
		fprintf(stderr, "make_event_pfm_tables: %s\n", strerror(-r));
	strtab_done(&m.texts);
	vec_done(&m.tables);
	vec_done(&m.events);
	vec_done(&m.masks);
	free(m.library);
	return r != 0;
}

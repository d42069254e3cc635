/* SPDX-License-Identifier: GPL-2.0-or-later */
/* classic.c - tables of OProfile's event names (docs/events.md).
 *
 *     # comment
 *     include CPU-TYPE
 *     NAME CODE [min=COUNT] [MASK]...
 *
 * CODE is the event's number of the vendor, in hexadecimal. MASK is VALUE[+EXTRA][=NAME]: a unit
 * mask, the other bits of the config word that belong to it, and its name. The first mask is the
 * default. If that is "=NAME", the default is the mask NAME of the vendor's event with this
 * name. */
#include "capture/events/classic.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/parse.h"
#include "capture/events/catalog_priv.h"
#include "capture/events/cpu_types.h"

#define INCLUDE "include "

enum {
	TABLE_NAME_BYTES = 64,
	INCLUDE_DEPTH_MAX = 4
};

struct classic_reader {
	struct event_catalog *c;
	const char *where;
	unsigned int depth;
	struct err *err;
};

/* Returns the text of the table for a CPU type, or NULL. For "i386/skylake", its name is
 * "classic-i386-skylake". */
static const char *classic_text(const char *cpu)
{
	char name[TABLE_NAME_BYTES];

	(void)snprintf(name, sizeof(name), "classic-%s", cpu);
	for (char *at = name; *at; at++)
		if (*at == '/')
			*at = '-';
	return event_list_text(name);
}

bool event_classic_has(const struct cpu_type *cpu)
{
	return classic_text(cpu->name) != NULL;
}

static bool classic_is_x86(const struct cpu_type *cpu)
{
	return !strncmp(cpu->name, "i386/", 5) || !strncmp(cpu->name, "x86-64/", 7);
}

/* Converts an event code to the config word: on x86, bits 8 to 11 of the code are bits 32 to 35. */
static uint64_t classic_config(const struct cpu_type *cpu, uint64_t code)
{
	return classic_is_x86(cpu) ? (code & 0xff) | (code & 0xf00) << 24 : code;
}

/* Reads VALUE[+EXTRA][=NAME]. Returns false if the word does not have this form. */
static bool classic_read_mask(char *word, const struct catalog_event *e,
			      struct catalog_mask *ret_mask)
{
	char *name = strchr(word, '=');
	const char *at = word + 2;
	uint64_t extra = 0;

	if (strncmp(word, "0x", 2))
		return false;
	if (name)
		*name++ = '\0';
	if (!parse_hex_at(&at, &ret_mask->value))
		return false;
	if (!strncmp(at, "+0x", 3)) {
		at += 3;
		if (!parse_hex_at(&at, &extra))
			return false;
	}
	ret_mask->config = e->config | ret_mask->value << 8 | extra;
	ret_mask->name = name ? name : "";
	ret_mask->about = "";
	return !*at;
}

/* Parses the masks of a line and adds them to the last event. Returns NULL on success, "" if
 * memory is short, or an error message. */
static const char *classic_read_masks(struct event_catalog *c, char **save)
{
	struct catalog_event *e = &c->events.at[c->events.nr - 1];
	char *word;

	while ((word = strtok_r(NULL, " ", save))) {
		struct catalog_mask mask = { .is_default = !e->nr_masks };

		if (*word == '=' && !e->nr_masks && !e->default_name) {
			e->default_name = word + 1;
			continue;
		}
		mask.is_default &= !e->default_name;
		if (!classic_read_mask(word, e, &mask))
			return "not a unit mask";
		if (event_catalog_add_mask(c, &mask))
			return "";
	}
	return NULL;
}

/* Parses a line and adds its event. Returns the same as classic_read_masks(). */
static const char *classic_read_event(struct event_catalog *c, char *line)
{
	struct catalog_event e = { .about = "", .whole = true, .classic = true };
	char *save = NULL;
	const char *word;
	uint64_t code, min_count;

	e.name = strtok_r(line, " ", &save);
	word = strtok_r(NULL, " ", &save);
	if (!e.name || !word || strncmp(word, "0x", 2) || !parse_u64(word, &code))
		return "no name and code of an event";
	e.code = e.config = classic_config(c->cpu, code);
	e.min_count = event_min_count(e.name);
	if (save && !strncmp(save, "min=", 4)) {
		word = strtok_r(NULL, " ", &save);
		if (!parse_u64(word + 4, &min_count) || min_count > UINT32_MAX)
			return "not a minimum count";
		e.min_count = (uint32_t)min_count;
	}
	return event_catalog_add(c, &e) ? "" : classic_read_masks(c, &save);
}

static int classic_read(const struct classic_reader *r, const char *text);

/* Adds the events of another CPU type's table. Returns 0, -ENOENT without a message if there is no
 * such table, or the same as classic_read(). */
static int classic_include(const struct classic_reader *r, const char *cpu)
{
	struct classic_reader inner = *r;
	const char *text = classic_text(cpu);

	if (!text || r->depth == INCLUDE_DEPTH_MAX)
		return -ENOENT;
	inner.depth++;
	inner.where = cpu;
	return classic_read(&inner, text);
}

static int classic_read(const struct classic_reader *r, const char *text)
{
	char *copy = strdup(text);
	const char *bad = NULL;
	unsigned int number = 0;
	char *save = copy;
	int code;

	if (!copy || !vec_push(&r->c->texts, copy)) {
		free(copy);
		return err_set(r->err, -ENOMEM, "out of memory");
	}
	while (!bad && save) {
		char *line = strsep(&save, "\n");

		number++;
		if (!*line || *line == '#')
			continue;
		if (strncmp(line, INCLUDE, strlen(INCLUDE)) != 0) {
			bad = classic_read_event(r->c, line);
			continue;
		}
		code = classic_include(r, line + strlen(INCLUDE));
		if (code == -ENOENT)
			bad = "cannot include this table";
		else if (code)
			return code;
	}
	if (!bad)
		return 0;
	if (!*bad)
		return err_set(r->err, -ENOMEM, "out of memory");
	return err_set(r->err, -EBADMSG, "%s, line %u: %s", r->where, number, bad);
}

int event_classic_add_text(struct event_catalog *c, const char *where, const char *text,
			   struct err *err)
{
	struct classic_reader r = { .c = c, .where = where, .err = err };

	return classic_read(&r, text);
}

int event_classic_add(struct event_catalog *c, struct err *err)
{
	const char *text = classic_text(c->cpu->name);
	int r = text ? event_classic_add_text(c, c->cpu->name, text, err) : 0;

	return !r && text ? event_classic_describe(c) : r;
}

const struct catalog_event *event_classic_find(const struct event_catalog *c,
					       const char *name)
{
	const struct catalog_event *e = NULL;
	const struct catalog_event *found = NULL;

	while ((e = event_catalog_find(c, name, e))) {
		if (e->classic && !strcmp(e->name, name))
			return e;
		if (e->classic && !found)
			found = e;
	}
	return found;
}

/* ---- descriptions ---- */

/* An event or mask of another source that has the same config word as one of the table. */
struct classic_twin {
	uint64_t config;
	const struct catalog_event *event;
	/* NULL: `config` is that of the event without a mask. */
	const struct catalog_mask *mask;
};

struct classic_twins {
	VEC(struct classic_twin) all; /* sorted by config */
	bool failed;                  /* out of memory */
};

static int classic_twin_order(const void *left, const void *right)
{
	const struct classic_twin *a = left, *b = right;
	int order;

	if (a->config != b->config)
		return a->config < b->config ? -1 : 1;
	order = strcasecmp(a->event->name, b->event->name);
	if (order || !a->mask || !b->mask)
		return order ? order : (a->mask != NULL) - (b->mask != NULL);
	return strcasecmp(a->mask->name, b->mask->name);
}

/* Returns the config word of an event of libpfm with a mask. Does not use libpfm's config words,
 * which are only known if its tables are built in. Intel's event codes can already contain the
 * unit mask. */
static uint64_t classic_pfm_config(const struct event_catalog *c,
				   const struct catalog_event *e, uint64_t mask)
{
	uint64_t code = strncmp(c->cpu->name, "x86-64/", 7) != 0
				? e->code
				: classic_config(c->cpu, e->code);

	return code | mask << 8;
}

static void classic_twins_add(struct classic_twins *t, const struct event_catalog *c,
			      const struct catalog_event *e)
{
	struct classic_twin twin = { .event = e };

	if ((!e->nr_masks || e->whole) && (e->from_pfm || !e->config1)) {
		twin.config = e->from_pfm ? classic_pfm_config(c, e, 0) : e->config;
		t->failed |= !vec_push(&t->all, twin);
	}
	for (size_t i = 0; (twin.mask = event_catalog_mask(c, e, i)); i++) {
		if (!e->from_pfm && twin.mask->config1)
			continue;
		twin.config = e->from_pfm ? classic_pfm_config(c, e, twin.mask->value)
					  : twin.mask->config;
		t->failed |= !vec_push(&t->all, twin);
	}
}

/* Returns the first twin of that config word, or NULL. */
static const struct classic_twin *classic_twins_first(const struct classic_twins *t,
						      uint64_t config)
{
	size_t low = 0, high = t->all.nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (t->all.at[middle].config < config)
			low = middle + 1;
		else
			high = middle;
	}
	return low < t->all.nr && t->all.at[low].config == config ? &t->all.at[low]
								  : NULL;
}

static const struct classic_twin *classic_twins_next(const struct classic_twins *t,
						     const struct classic_twin *twin)
{
	const struct classic_twin *next = twin + 1;

	return next < t->all.at + t->all.nr && next->config == twin->config ? next
									    : NULL;
}

/* Returns a twin of that config word, preferably of an event with this name, or NULL. */
static const struct classic_twin *classic_twin_of(const struct classic_twins *t,
						  uint64_t config, const char *name)
{
	const struct classic_twin *first = classic_twins_first(t, config);
	const struct classic_twin *twin;

	for (twin = first; twin; twin = classic_twins_next(t, twin))
		if (!strcasecmp(twin->event->name, name))
			return twin;
	return first;
}

/* Abbreviations in the vendors' event names, and the words for descriptions; "" omits the word. */
static const struct {
	const char *word;
	const char *means;
} classic_words[] = {
	{ "addr", "address" },
	{ "alloc", "allocated" },
	{ "bcache", "board cache" },
	{ "br", "branch" },
	{ "brd", "burst read" },
	{ "btb", "branch target buffer" },
	{ "clk", "clock" },
	{ "cmpl", "completed" },
	{ "comp", "computational" },
	{ "cond", "conditional" },
	{ "ctr", "counter" },
	{ "cyc", "cycles" },
	{ "dcache", "data cache" },
	{ "dcu", "data cache unit" },
	{ "derat", "data ERAT" },
	{ "disp", "dispatched" },
	{ "div", "divide" },
	{ "dtlb", "data TLB" },
	{ "exe", "executed" },
	{ "exec", "executed" },
	{ "fin", "finished" },
	{ "flops", "floating-point operations" },
	{ "fp", "floating-point" },
	{ "fpu", "floating-point unit" },
	{ "fxu", "fixed-point unit" },
	{ "gct", "completion table" },
	{ "grp", "group" },
	{ "hw", "hardware" },
	{ "icache", "instruction cache" },
	{ "ierat", "instruction ERAT" },
	{ "ifetch", "instruction fetch" },
	{ "ifu", "instruction fetch unit" },
	{ "ild", "instruction length decoder" },
	{ "inst", "instructions" },
	{ "insn", "instructions" },
	{ "insts", "instructions" },
	{ "int", "interrupts" },
	{ "inval", "invalidate" },
	{ "io", "input and output" },
	{ "itlb", "instruction TLB" },
	{ "l1", "L1" },
	{ "l1d", "L1 data cache" },
	{ "l1i", "L1 instruction cache" },
	{ "l2", "L2" },
	{ "l3", "L3" },
	{ "ld", "loads" },
	{ "lsu", "load-store unit" },
	{ "mem", "memory" },
	{ "mispred", "mispredicted" },
	{ "mpred", "mispredicted" },
	{ "mrk", "marked" },
	{ "mul", "multiply" },
	{ "ops", "operations" },
	{ "pm", "" },
	{ "pred", "predicted" },
	{ "pref", "prefetch" },
	{ "prio", "priority" },
	{ "rd", "read" },
	{ "ref", "references" },
	{ "refs", "references" },
	{ "reg", "register" },
	{ "rej", "rejected" },
	{ "rfo", "read for ownership" },
	{ "rqsts", "requests" },
	{ "seg", "segment" },
	{ "simd", "SIMD" },
	{ "sse", "SSE" },
	{ "st", "stores" },
	{ "thrd", "thread" },
	{ "tlb", "TLB" },
	{ "trans", "transactions" },
	{ "uops", "micro-operations" },
	{ "wb", "write-back" },
	{ "wr", "write" },
};

static void classic_put_word(struct buf *text, const char *word, size_t len)
{
	const char *means = NULL;

	for (size_t i = 0; i < COUNT_OF(classic_words) && !means; i++)
		if (strlen(classic_words[i].word) == len &&
		    !strncasecmp(classic_words[i].word, word, len))
			means = classic_words[i].means;
	if (!len || (means && !*means))
		return;
	if (text->len)
		buf_put_u8(text, ' ');
	if (means)
		buf_put(text, means, strlen(means));
	for (size_t i = 0; !means && i < len; i++)
		buf_put_u8(text, (uint8_t)tolower((unsigned char)word[i]));
}

/* Describes an event by the words of its name: "ITLB_MISS_RETIRED" is "instruction TLB miss
 * retired". Returns NULL if there is not enough memory. */
static const char *classic_describe_name(struct event_catalog *c, const char *name)
{
	struct buf text = { 0 };
	char *copy;

	while (*name) {
		size_t len = strcspn(name, "_.");

		classic_put_word(&text, name, len);
		name += len + (name[len] != '\0');
	}
	buf_put_u8(&text, 0);
	copy = text.failed ? NULL : strdup((const char *)text.data);
	buf_done(&text);
	if (copy && vec_push(&c->texts, copy))
		return copy;
	free(copy);
	return NULL;
}

static const char *classic_about(struct event_catalog *c, const struct classic_twins *t,
				 const struct catalog_event *e)
{
	const struct catalog_event *other = event_catalog_find(c, e->name, NULL);
	const struct classic_twin *twin;

	for (; other; other = event_catalog_find(c, e->name, other))
		if (!other->classic && *other->about)
			return other->about;
	twin = classic_twin_of(
		t, e->nr_masks == 1 ? c->masks.at[e->first_mask].config : e->config,
		e->name);
	if (twin && twin->mask && *twin->mask->about)
		return twin->mask->about;
	if (twin && *twin->event->about)
		return twin->event->about;
	return classic_describe_name(c, e->name);
}

/* Sets the description, precision and counters of a mask from its twins. Returns false if memory
 * is short. */
static bool classic_describe_mask(struct event_catalog *c,
				  const struct classic_twins *t,
				  const struct catalog_event *e,
				  struct catalog_mask *mask)
{
	const struct classic_twin *twin = classic_twin_of(t, mask->config, e->name);
	const char *name = twin && twin->mask ? twin->mask->name : "";

	if (!twin) {
		mask->about = *mask->name ? classic_describe_name(c, mask->name)
					  : "see the vendor's manual";
		return mask->about != NULL;
	}
	mask->about = twin->mask ? twin->mask->about : twin->event->about;
	for (twin = classic_twins_first(t, mask->config); twin;
	     twin = classic_twins_next(t, twin)) {
		mask->precise |=
			twin->mask ? twin->mask->precise : twin->event->precise;
		if (!mask->counters)
			mask->counters = twin->mask ? twin->mask->counters
						    : twin->event->counters;
	}
	if (!*mask->name && !event_mask_named(c, e, name, strlen(name))) {
		mask->name = name;
		mask->name_len = (uint16_t)strlen(name);
	}
	return true;
}

int event_classic_describe(struct event_catalog *c)
{
	struct classic_twins t = { 0 };

	event_catalog_sort(c);
	for (size_t i = 0; i < c->events.nr; i++)
		if (!c->events.at[i].classic)
			classic_twins_add(&t, c, &c->events.at[i]);
	if (t.all.nr)
		qsort(t.all.at, t.all.nr, sizeof(t.all.at[0]), classic_twin_order);
	for (size_t i = 0; i < c->events.nr && !t.failed; i++) {
		struct catalog_event *e = &c->events.at[i];

		if (!e->classic)
			continue;
		for (size_t k = 0; k < e->nr_masks; k++)
			t.failed |= !classic_describe_mask(
				c, &t, e, &c->masks.at[e->first_mask + k]);
		e->about = classic_about(c, &t, e);
		t.failed |= !e->about;
	}
	vec_done(&t.all);
	return t.failed ? -ENOMEM : 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/export/script_fields.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "base/array.h"
#include "base/containers/closest_match.h"
#include "base/err.h"

enum {
	COMMON = SCRIPT_COMM | SCRIPT_TID | SCRIPT_CPU | SCRIPT_TIME | SCRIPT_EVENT,
	POSITION = SCRIPT_IP | SCRIPT_SYM | SCRIPT_SYMOFF | SCRIPT_DSO,
	MEMORY = SCRIPT_ADDR | SCRIPT_WEIGHT | SCRIPT_INS_LAT | SCRIPT_PHYS_ADDR |
		 SCRIPT_DATA_PAGE_SIZE | SCRIPT_CODE_PAGE_SIZE
};

static const struct script_fields_field {
	const char *name;
	const char *attr;     /* perf's name of sample_type */
	uint64_t sample_type; /* must be recorded; 0: always available */
	uint32_t field;
} fields[] = {
	{ "comm", NULL, 0, SCRIPT_COMM },
	{ "tid", "TID", PERF_SAMPLE_TID, SCRIPT_TID },
	{ "pid", "TID", PERF_SAMPLE_TID, SCRIPT_PID },
	{ "time", "TIME", PERF_SAMPLE_TIME, SCRIPT_TIME },
	{ "cpu", "CPU", PERF_SAMPLE_CPU, SCRIPT_CPU },
	{ "event", NULL, 0, SCRIPT_EVENT },
	{ "ip", "IP", PERF_SAMPLE_IP, SCRIPT_IP },
	{ "sym", "IP", PERF_SAMPLE_IP | PERF_SAMPLE_ADDR, SCRIPT_SYM },
	{ "dso", "IP", PERF_SAMPLE_IP | PERF_SAMPLE_ADDR, SCRIPT_DSO },
	{ "addr", "ADDR", PERF_SAMPLE_ADDR, SCRIPT_ADDR },
	{ "symoff", NULL, 0, SCRIPT_SYMOFF },
	{ "period", NULL, 0, SCRIPT_PERIOD },
	{ "brstack", "BRANCH_STACK", PERF_SAMPLE_BRANCH_STACK, SCRIPT_BRSTACK },
	{ "brstacksym", "BRANCH_STACK", PERF_SAMPLE_BRANCH_STACK, SCRIPT_BRSTACKSYM },
	{ "weight", "WEIGHT", PERF_SAMPLE_WEIGHT_TYPE, SCRIPT_WEIGHT },
	{ "ins_lat", "WEIGHT_STRUCT", PERF_SAMPLE_WEIGHT_STRUCT, SCRIPT_INS_LAT },
	{ "phys_addr", "PHYS_ADDR", PERF_SAMPLE_PHYS_ADDR, SCRIPT_PHYS_ADDR },
	{ "data_page_size", "DATA_PAGE_SIZE", PERF_SAMPLE_DATA_PAGE_SIZE,
	  SCRIPT_DATA_PAGE_SIZE },
	{ "code_page_size", "CODE_PAGE_SIZE", PERF_SAMPLE_CODE_PAGE_SIZE,
	  SCRIPT_CODE_PAGE_SIZE },
	{ "misc", NULL, 0, SCRIPT_MISC },
	{ "cgroup", "CGROUP", PERF_SAMPLE_CGROUP, SCRIPT_CGROUP },
};

enum {
	NR_FIELDS = COUNT_OF(fields)
};

/* Fields of perf that this program does not print, so that they are refused with a message. */
static const char *const refused[] = {
	"trace",      "srcline",    "iregs",       "uregs",          "flags",
	"data_src",   "bpf-output", "brstackinsn", "brstackinsnlen", "brstackoff",
	"callindent", "insn",       "insnlen",     "synth",          "metric",
	"srccode",    "ipc",        "tod",         "machine_pid",    "vcpu",
};

void script_fields_list(struct buf *out)
{
	for (size_t i = 0; i < NR_FIELDS; i++) {
		if (i)
			buf_put_u8(out, ',');
		buf_put(out, fields[i].name, strlen(fields[i].name));
	}
}

/* The parsed argument of -F. */
struct field_list {
	uint32_t set; /* replaces the defaults, if `replace` */
	uint32_t added;
	uint32_t removed;
	bool replace;
};

static bool script_fields_is_word(const char *name, const char *word, size_t len)
{
	return strlen(name) == len && !memcmp(name, word, len);
}

static const char *refused_field(const char *word, size_t len)
{
	for (size_t i = 0; i < COUNT_OF(refused); i++)
		if (script_fields_is_word(refused[i], word, len))
			return refused[i];
	return NULL;
}

static int unknown_field(const char *word, size_t len, struct err *err)
{
	char text[CLOSEST_WORD_MAX] = "";
	struct closest_match near = { .word = text };
	const char *known = refused_field(word, len);

	if (known)
		return err_set(err, -EINVAL,
			       "the field '%s' of perf script is not supported", known);
	memcpy(text, word, len < sizeof(text) ? len : sizeof(text) - 1);
	for (size_t i = 0; i < NR_FIELDS; i++)
		closest_match_try(&near, fields[i].name);
	return near.best
		       ? err_set(err, -EINVAL, "unknown field '%s': did you mean '%s'?",
				 text, near.best)
		       : err_set(err, -EINVAL, "unknown field '%s'", text);
}

/* Parses a field of -F; `sign` is '+', '-' or 0. */
static int field_list_add(struct field_list *w, char sign, const char *word, size_t len,
			  struct err *err)
{
	uint32_t field = 0;

	for (size_t i = 0; i < NR_FIELDS; i++)
		if (script_fields_is_word(fields[i].name, word, len))
			field = fields[i].field;
	/* Scripts remove fields that some events would print; removing one that is never printed
	 * is fine. */
	if (!field)
		return sign == '-' && refused_field(word, len)
			       ? 0
			       : unknown_field(word, len, err);
	if (!sign) {
		w->set |= field;
		return 0;
	}
	/* The last mention of a field counts. */
	w->added = sign == '+' ? w->added | field : w->added & ~field;
	w->removed = sign == '-' ? w->removed | field : w->removed & ~field;
	return 0;
}

/* Returns the sign before a word of "+x,-y", or '\0'. */
static char sign_at(const char *spec)
{
	if (*spec == '+' || *spec == '-')
		return *spec;
	return '\0';
}

static int parse(const char *spec, struct field_list *w, struct err *err)
{
	bool changes = sign_at(spec);

	w->replace = !changes;
	while (*spec) {
		char sign = sign_at(spec);
		size_t len;
		int r;

		if (!sign == changes)
			return err_set(
				err, -EINVAL,
				"--fields cannot combine a list of fields with fields that begin with '+' or '-'");
		spec += sign != 0;
		len = strcspn(spec, ",");
		r = field_list_add(w, sign, spec, len, err);
		if (r)
			return r;
		spec += len;
		spec += *spec == ',';
	}
	return 0;
}

static uint32_t defaults(const struct script_event *e, bool chains)
{
	if (e->type == PERF_TYPE_TRACEPOINT) {
		chains = chains && e->sample_type & PERF_SAMPLE_CALLCHAIN;
		return COMMON | (chains ? POSITION : 0);
	}
	return COMMON | POSITION | SCRIPT_PERIOD |
	       (e->type == PERF_TYPE_RAW ? MEMORY : 0);
}

/* Drops fields that the samples lack.  If the user named one, this is an error with perf's
 * message, which perf2bolt searches for. */
static int script_fields_check(const struct script_event *e, uint32_t asked,
			       uint32_t *set, struct err *err)
{
	for (size_t i = 0; i < NR_FIELDS; i++) {
		const struct script_fields_field *f = &fields[i];

		if (!(*set & f->field) || !f->sample_type ||
		    e->sample_type & f->sample_type)
			continue;
		if (asked & f->field)
			return err_set(
				err, -EINVAL,
				"Samples for '%s' event do not have %s attribute set. "
				"Cannot print '%s' field.",
				e->name, f->attr, f->name);
		*set &= ~f->field;
	}
	if (*set & SCRIPT_SYMOFF && !(*set & SCRIPT_SYM)) {
		if (asked & SCRIPT_SYMOFF)
			return err_set(err, -EINVAL,
				       "field 'symoff' needs field 'sym'");
		*set &= ~(uint32_t)SCRIPT_SYMOFF;
	}
	return 0;
}

/* Returns whether the event is perf's dummy event, which perf opens only for side-band records. */
static bool script_fields_is_dummy(const struct script_event *e)
{
	return e->type == PERF_TYPE_SOFTWARE && e->config == PERF_COUNT_SW_DUMMY;
}

static bool same_kind(const struct script_event *a, const struct script_event *b)
{
	/* All types of dynamic PMUs count as the same type. */
	return a->type == b->type ||
	       (a->type >= PERF_TYPE_MAX && b->type >= PERF_TYPE_MAX);
}

/* Returns the event whose fields are used for event `i`.  Like perf, uses the first event of a
 * type for all events of that type, so that lines look alike. */
static size_t decider(const struct script_event *events, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (same_kind(&events[k], &events[i]) &&
		    !script_fields_is_dummy(&events[k]))
			return k;
	return i;
}

int script_fields(const struct script_event *events, size_t nr, const char *spec,
		  bool chains, uint32_t *ret_fields, struct err *err)
{
	struct field_list w = { 0 };
	int r = spec ? parse(spec, &w, err) : 0;

	for (size_t i = 0; i < nr && !r; i++) {
		size_t k = decider(events, i);
		uint32_t set = w.replace ? w.set : defaults(&events[k], chains);

		if (k < i) {
			ret_fields[i] = ret_fields[k];
			continue;
		}
		set = (set | w.added) & ~w.removed;
		if (!script_fields_is_dummy(&events[i]))
			r = script_fields_check(&events[i], w.set | w.added, &set, err);
		ret_fields[i] = set;
	}
	return r;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pprof.c - writes a gzip'd Profile message for `go tool pprof` and others
 * (github.com/google/pprof, proto/profile.proto).  The profile's keys are the stack and the
 * labels.  A location is a function at a line; its address is where the function begins.
 * Messages are encoded here without a library: a field is (number << 3 | type) and a varint, or
 * a length and bytes. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "base/clock.h"
#include "base/containers/pairs.h"
#include "base/err.h"
#include "base/parse.h"
#include "base/utf8.h"
#include "present/calls/table.h"
#include "present/export/export_writers.h"
#include "present/lines/options.h"
#include "resolve/elf/gzip.h"

/* Field numbers, by message. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_DEFAULT_TYPE = 14,
	TYPE_TYPE = 1,
	TYPE_UNIT = 2,
	SAMPLE_LOCATIONS = 1,
	SAMPLE_VALUES = 2,
	SAMPLE_LABEL = 3,
	LABEL_KEY = 1,
	LABEL_STRING = 2,
	LABEL_NUMBER = 3,
	MAPPING_ID = 1,
	MAPPING_START = 2,
	MAPPING_LIMIT = 3,
	MAPPING_FILE = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_FILENAMES = 8,
	MAPPING_HAS_LINE_NUMBERS = 9,
	MAPPING_HAS_INLINES = 10,
	LOCATION_ID = 1,
	LOCATION_MAPPING = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4,
	LINE_FUNCTION = 1,
	LINE_LINE = 2,
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILE = 4,
	FUNCTION_START_LINE = 5,
};

enum {
	WIRE_VARINT = 0,
	WIRE_BYTES = 2,
	PAGE_BYTES = 4096,
	PACK_BYTES = 256 << 10 /* bytes compressed at once */
};

/* The source position of a symbol. */
struct source_at {
	/* Number of its function in the message; each function belongs to a single file. */
	uint32_t function;
	uint32_t line;
};

/* One step of a stack: from a node to its caller. */
struct stack_step {
	uint64_t location;
	uint32_t caller; /* node; 0: none */
};

struct write_pprof {
	FILE *file;
	struct gzip_packing *packing;
	struct profile *p;
	struct call_table calls;
	struct source_at *at;     /* by symbol */
	struct pairs function_by; /* (symbol without lines, file): number + 1 */
	struct stack_step *steps; /* by node */
	struct strtab strings;    /* of the message, in their order */
	struct buf out;           /* not yet compressed */
	struct buf packed;        /* compressed, not yet written */
	struct buf part;          /* the current message */
	struct buf inner;         /* a message nested in it */
	struct buf labels;        /* of the current samples */
	struct buf text;
	bool failed; /* memory is short */
};

/* ---- fields ---- */

static void write_pprof_put_number(struct buf *b, unsigned int field, uint64_t value)
{
	if (!value) /* A field with the default value, 0, is not encoded. */
		return;
	buf_put_varint(b, field << 3 | WIRE_VARINT);
	buf_put_varint(b, value);
}

static void write_pprof_put_bytes(struct buf *b, unsigned int field, const void *bytes,
				  size_t len)
{
	buf_put_varint(b, field << 3 | WIRE_BYTES);
	buf_put_varint(b, len);
	buf_put(b, bytes, len);
}

static void write_pprof_put_message(struct buf *b, unsigned int field,
				    struct buf *message)
{
	write_pprof_put_bytes(b, field, message->data, message->len);
	b->failed |= message->failed;
	buf_clear(message);
}

/* Adds a string.  The format requires UTF-8, so other bytes become U+FFFD. */
static uint32_t string_len(struct write_pprof *w, const char *text, size_t len)
{
	uint32_t number;

	buf_clear(&w->text);
	for (size_t i = 0; i < len;) {
		size_t n = utf8_next(text + i, len - i, NULL);

		if (n)
			buf_put(&w->text, text + i, n);
		else
			buf_put(&w->text, "\xef\xbf\xbd", 3);
		i += n ? n : 1;
	}
	buf_put_u8(&w->text, 0);
	if (w->text.failed) {
		w->failed = true;
		return 0;
	}
	number = strtab_add(&w->strings, (const char *)w->text.data);
	if (number == STRTAB_FAILED)
		w->failed = true;
	return number;
}

static uint32_t write_pprof_string(struct write_pprof *w, const char *text)
{
	return string_len(w, text, strlen(text));
}

static void write_pprof_put_string(struct write_pprof *w, struct buf *b,
				   unsigned int field, const char *text)
{
	write_pprof_put_number(b, field, write_pprof_string(w, text));
}

/* ---- types of values ---- */

static const struct profile_event *event_at(const struct write_pprof *w, size_t i)
{
	return &w->p->events.at[w->calls.events.at[i]];
}

static void write_pprof_put_type(struct write_pprof *w, unsigned int field,
				 const char *type, const char *unit)
{
	write_pprof_put_string(w, &w->part, TYPE_TYPE, type);
	write_pprof_put_string(w, &w->part, TYPE_UNIT, unit);
	write_pprof_put_message(&w->out, field, &w->part);
}

/* Writes two value types per event: its samples, and the quantity that they represent. */
static void put_types(struct write_pprof *w)
{
	const struct profile_event *first = event_at(w, 0);
	const uint64_t hz = profile_event_hz(first);
	bool one = w->calls.events.nr == 1;

	for (size_t i = 0; i < w->calls.events.nr; i++) {
		const char *name = profile_event_name(w->p, w->calls.events.at[i]);
		bool timer = event_at(w, i)->flags & EVENT_TIMER;
		bool values = profile_event_has_values(w->p, w->calls.events.at[i]);
		/* The two values must have different types, otherwise readers add them up. */
		bool plain = one && strcmp(name, "samples") != 0;
		char type[300];

		snprintf(type, sizeof(type), "%s%s", plain ? "" : name,
			 plain ? "samples" : "_samples");
		write_pprof_put_type(w, PROFILE_SAMPLE_TYPE, type, "count");
		write_pprof_put_type(w, PROFILE_SAMPLE_TYPE,
				     timer && one ? "cpu" : name,
				     timer ? "nanoseconds" : "count");
		if (!i)
			write_pprof_put_number(
				&w->out, PROFILE_DEFAULT_TYPE,
				write_pprof_string(w, values ? name : type));
	}
	write_pprof_put_type(w, PROFILE_PERIOD_TYPE,
			     first->flags & EVENT_TIMER
				     ? "cpu"
				     : profile_event_name(w->p, w->calls.events.at[0]),
			     first->flags & EVENT_TIMER ? "nanoseconds" : "count");
	write_pprof_put_number(&w->out, PROFILE_PERIOD,
			       first->count ? first->count
			       : hz         ? NS_PER_S / hz
					    : 1);
}

/* ---- mappings, functions and locations ---- */

/* The first and last start address of an image's functions that are used. */
struct extent {
	uint64_t first, last;
	bool used;
	bool has_lines;
};

static void put_mapping(struct write_pprof *w, uint32_t image, const struct extent *e)
{
	static const char digits[] = "0123456789abcdef";
	const struct profile_image *i = &w->p->images.at[image];
	const uint64_t page = ~(uint64_t)(PAGE_BYTES - 1);
	char id[2 * BUILD_ID_MAX + 1] = "";

	for (size_t n = 0; n < i->build_id.len; n++) {
		id[2 * n] = digits[i->build_id.bytes[n] >> 4];
		id[2 * n + 1] = digits[i->build_id.bytes[n] & 15];
		id[2 * n + 2] = 0;
	}
	write_pprof_put_number(&w->part, MAPPING_ID, image + 1);
	write_pprof_put_number(&w->part, MAPPING_START, e->first & page);
	/* The sum would overflow at the end of the address space. */
	write_pprof_put_number(&w->part, MAPPING_LIMIT,
			       e->last < page ? (e->last & page) + PAGE_BYTES
					      : UINT64_MAX);
	write_pprof_put_string(w, &w->part, MAPPING_FILE,
			       strtab_get(&w->p->strings, i->name));
	write_pprof_put_string(w, &w->part, MAPPING_BUILD_ID, id);
	write_pprof_put_number(&w->part, MAPPING_HAS_FUNCTIONS, 1);
	write_pprof_put_number(&w->part, MAPPING_HAS_FILENAMES, e->has_lines);
	write_pprof_put_number(&w->part, MAPPING_HAS_LINE_NUMBERS, e->has_lines);
	write_pprof_put_number(&w->part, MAPPING_HAS_INLINES, w->p->options.inlined);
	write_pprof_put_message(&w->out, PROFILE_MAPPING, &w->part);
}

static uint64_t write_pprof_address_of(const struct write_pprof *w,
				       const struct call_symbol *s)
{
	const struct profile_function *f;

	if (s->function == DICT_NONE)
		return 0;
	f = &w->p->functions.at[s->function];
	return f->kind == FUNCTION_NAMED || f->kind == FUNCTION_UNNAMED ? f->vma : 0;
}

static int put_mappings(struct write_pprof *w)
{
	struct extent *all = calloc(w->p->images.nr + 1, sizeof(*all));

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < w->calls.symbols.nr; i++) {
		const struct call_symbol *s = &w->calls.symbols.at[i];
		uint64_t at = write_pprof_address_of(w, s);
		struct extent *e;

		if (s->image == DICT_NONE)
			continue;
		e = &all[s->image];
		e->first = !e->used || at < e->first ? at : e->first;
		e->last = !e->used || at > e->last ? at : e->last;
		e->used = true;
		e->has_lines |= s->line != DICT_NONE;
	}
	for (uint32_t i = 0; i < w->p->images.nr; i++)
		if (all[i].used)
			put_mapping(w, i, &all[i]);
	free(all);
	return 0;
}

static enum function_kind symbol_kind(const struct write_pprof *w, uint32_t symbol)
{
	uint32_t function = w->calls.symbols.at[symbol].function;

	return function == DICT_NONE ? FUNCTION_OF_IMAGE
				     : w->p->functions.at[function].kind;
}

static bool is_inlined(const struct write_pprof *w, uint32_t node)
{
	return node &&
	       symbol_kind(w, w->calls.nodes.at[node].symbol) == FUNCTION_INLINED;
}

/* Returns the string of a symbol's file, and its line; both are 0 if unknown. */
static uint32_t file_of(struct write_pprof *w, uint32_t position, uint32_t *ret_line)
{
	const char *text =
		position == DICT_NONE ? "" : strtab_get(&w->p->strings, position);
	size_t len;

	*ret_line = 0;
	len = parse_source_position(text, ret_line);
	return len ? string_len(w, text, len) : 0;
}

/* Returns the line where the function begins, if it is in the file. */
static uint32_t start_line(struct write_pprof *w, uint32_t function, uint32_t file)
{
	uint32_t line;

	if (function == DICT_NONE || !file ||
	    file_of(w, w->p->functions.at[function].line, &line) != file)
		return 0;
	return line;
}

static void write_pprof_put_function(struct write_pprof *w, uint32_t symbol,
				     uint32_t number, uint32_t file)
{
	const struct call_symbol *s = &w->calls.symbols.at[symbol];
	enum function_kind kind = symbol_kind(w, symbol);
	const char *name = call_symbol_name(&w->calls, symbol);
	const char *raw = name;
	char *shown = NULL;

	if (kind == FUNCTION_NAMED || kind == FUNCTION_INLINED)
		raw = strtab_get(&w->p->strings, w->p->functions.at[s->function].raw);
	/* The format marks inlined functions elsewhere, so omit our suffix. */
	if (kind == FUNCTION_INLINED) {
		shown = profile_name_to_show(w->p, raw);
		name = shown ? shown : raw;
	}
	write_pprof_put_number(&w->part, FUNCTION_ID, number);
	write_pprof_put_string(w, &w->part, FUNCTION_NAME, name);
	write_pprof_put_string(w, &w->part, FUNCTION_SYSTEM_NAME, raw);
	write_pprof_put_number(&w->part, FUNCTION_FILE, file);
	write_pprof_put_number(&w->part, FUNCTION_START_LINE,
			       start_line(w, s->function, file));
	write_pprof_put_message(&w->out, PROFILE_FUNCTION, &w->part);
	free(shown);
}

/* Gives the symbol its line and its function.  A function needs a new entry for each file. */
static int pprof_add_symbol(struct write_pprof *w, uint32_t symbol)
{
	const struct call_symbol *s = &w->calls.symbols.at[symbol];
	struct source_at *at = &w->at[symbol];
	uint32_t file = file_of(w, s->line, &at->line);
	bool is_new;
	uint32_t *number_plus_1 = pairs_at(&w->function_by, s->whole, file, &is_new);

	if (!number_plus_1)
		return -ENOMEM;
	if (is_new) {
		*number_plus_1 = (uint32_t)w->function_by.nr + 1;
		write_pprof_put_function(w, symbol, *number_plus_1 - 1, file);
	}
	at->function = *number_plus_1 - 1;
	return 0;
}

/* Writes the functions of all symbols that nodes have. Symbols with lines are used only through
 * their line variants. Returns 0 or -ENOMEM. */
static int write_pprof_put_functions(struct write_pprof *w)
{
	const struct call_tree_node *nodes = w->calls.nodes.at;

	w->at = calloc(w->calls.symbols.nr + 1, sizeof(*w->at));
	if (!w->at)
		return -ENOMEM;
	for (size_t i = 1; i < w->calls.nodes.nr; i++)
		if (!w->at[nodes[i].symbol].function &&
		    pprof_add_symbol(w, nodes[i].symbol))
			return -ENOMEM;
	return 0;
}

static void write_pprof_put_line(struct write_pprof *w, uint32_t symbol)
{
	write_pprof_put_number(&w->inner, LINE_FUNCTION, w->at[symbol].function);
	write_pprof_put_number(&w->inner, LINE_LINE, w->at[symbol].line);
	write_pprof_put_message(&w->part, LOCATION_LINE, &w->inner);
}

static void begin_location(struct write_pprof *w, uint64_t number, uint32_t symbol)
{
	const struct call_symbol *s = &w->calls.symbols.at[symbol];

	write_pprof_put_number(&w->part, LOCATION_ID, number);
	write_pprof_put_number(&w->part, LOCATION_MAPPING,
			       s->image == DICT_NONE ? 0 : s->image + 1);
	write_pprof_put_number(&w->part, LOCATION_ADDRESS,
			       write_pprof_address_of(w, s));
}

/* Returns a node's location id.  A location is a symbol; an inlined node has its own location,
 * with all functions around it as lines, innermost first. */
static uint64_t location_of(const struct write_pprof *w, uint32_t node)
{
	return is_inlined(w, node) ? w->calls.symbols.nr + node
				   : w->calls.nodes.at[node].symbol + 1;
}

static uint32_t own_function_of(const struct write_pprof *w, uint32_t node)
{
	while (is_inlined(w, node) && w->calls.nodes.at[node].parent)
		node = w->calls.nodes.at[node].parent;
	return node;
}

static void put_locations(struct write_pprof *w)
{
	const struct call_tree_node *nodes = w->calls.nodes.at;

	for (uint32_t i = 0; i < w->calls.symbols.nr; i++) {
		if (!w->at[i].function || symbol_kind(w, i) == FUNCTION_INLINED)
			continue;
		begin_location(w, i + 1, i);
		write_pprof_put_line(w, i);
		write_pprof_put_message(&w->out, PROFILE_LOCATION, &w->part);
	}
	for (uint32_t i = 1; i < w->calls.nodes.nr; i++) {
		uint32_t own = own_function_of(w, i);

		if (!is_inlined(w, i))
			continue;
		begin_location(w, location_of(w, i), nodes[own].symbol);
		for (uint32_t up = i; up != own; up = nodes[up].parent)
			write_pprof_put_line(w, nodes[up].symbol);
		write_pprof_put_line(w, nodes[own].symbol);
		write_pprof_put_message(&w->out, PROFILE_LOCATION, &w->part);
	}
}

/* ---- samples ---- */

/* Writes a key of the profile other than the stack as a label. */
static void put_label(struct write_pprof *w, size_t key, uint32_t group)
{
	const struct key_row *row = w->p->options.keys->keys.at[key].row;
	int64_t number = (int64_t)profile_value(w->p, group, key);
	unsigned int field = LABEL_NUMBER;
	char text[32];

	if (row->id == KEY_STACK || (row->kind != KEY_TEXT && number < 0)) /* unknown */
		return;
	if (row->kind == KEY_TEXT || row->id == KEY_CPU)
		field = LABEL_STRING;
	/* Readers drop a number of 0, and interpret strings of digits as ranges. */
	snprintf(text, sizeof(text), "CPU %" PRId64, number);
	if (field == LABEL_STRING)
		number = write_pprof_string(w, row->kind == KEY_TEXT
						       ? profile_text(w->p, group, key)
						       : text);
	write_pprof_put_number(&w->inner, LABEL_KEY, write_pprof_string(w, row->name));
	write_pprof_put_number(&w->inner, field, (uint64_t)number);
	write_pprof_put_message(&w->labels, SAMPLE_LABEL, &w->inner);
}

/* Makes the labels of a `who`, which all of its samples share. */
static void make_labels(struct write_pprof *w, uint32_t group)
{
	buf_clear(&w->labels);
	for (size_t key = 0; key < w->p->nr_keys; key++)
		put_label(w, key, group);
	w->failed |= w->labels.failed;
}

/* Writes the rows of a stack, from `at` on.  Returns the index of the next stack. */
static size_t write_pprof_put_sample(struct write_pprof *w, size_t at)
{
	const struct call_table *t = &w->calls;
	uint32_t who = call_row_at(t, at)->who, leaf = call_row_at(t, at)->node;
	size_t end = at;

	for (uint32_t node = leaf; node; node = w->steps[node].caller)
		buf_put_varint(&w->inner, w->steps[node].location);
	write_pprof_put_message(&w->part, SAMPLE_LOCATIONS, &w->inner);
	for (size_t event = 0; event < w->calls.events.nr; event++) {
		const struct call_row *row =
			end < t->nr_rows ? call_row_at(t, end) : NULL;
		bool has = row && row->who == who && row->node == leaf &&
			   row->event == event;
		struct profile_sums sums = { 0 };

		if (has)
			sums = profile_sums(w->p, t->events.at[event], row->samples,
					    row->period);
		buf_put_varint(&w->inner, sums.samples);
		buf_put_varint(&w->inner, sums.period);
		end += has;
	}
	write_pprof_put_message(&w->part, SAMPLE_VALUES, &w->inner);
	if (!at || who != call_row_at(t, at - 1)->who)
		make_labels(w, t->whos.at[who]);
	buf_put(&w->part, w->labels.data, w->labels.len);
	write_pprof_put_message(&w->out, PROFILE_SAMPLE, &w->part);
	return end;
}

static int make_steps(struct write_pprof *w)
{
	size_t nr = w->calls.nodes.nr;

	w->steps = calloc(nr + 1, sizeof(*w->steps));
	if (!w->steps)
		return -ENOMEM;
	for (uint32_t i = 1; i < nr; i++)
		w->steps[i] = (struct stack_step){
			location_of(w, i),
			w->calls.nodes.at[own_function_of(w, i)].parent
		};
	return 0;
}

/* Compresses and writes the pending output, because the uncompressed whole is many times larger. */
static int write_pprof_pack(struct write_pprof *w, bool last)
{
	if (w->out.failed ||
	    gzip_pack(w->packing, w->out.data, w->out.len, last, &w->packed))
		return -ENOMEM;
	fwrite(w->packed.data, 1, w->packed.len, w->file);
	buf_clear(&w->out);
	buf_clear(&w->packed);
	return 0;
}

static int write_pprof_put_samples(struct write_pprof *w)
{
	int r = make_steps(w);

	for (size_t i = 0; !r && i < w->calls.nr_rows;) {
		i = write_pprof_put_sample(w, i);
		if (w->out.len >= PACK_BYTES)
			r = write_pprof_pack(w, false);
	}
	return r;
}

static int write_pprof_put_all(struct write_pprof *w)
{
	put_types(w);
	if (put_mappings(w) || write_pprof_put_functions(w))
		return -ENOMEM;
	put_locations(w);
	if (write_pprof_put_samples(w))
		return -ENOMEM;
	/* The strings are complete only after everything else, so they are written last. */
	for (uint32_t i = 0; i < w->strings.strings.nr; i++)
		write_pprof_put_bytes(&w->out, PROFILE_STRING, w->strings.strings.at[i],
				      strlen(w->strings.strings.at[i]));
	return w->failed || w->part.failed ? -ENOMEM : write_pprof_pack(w, true);
}

int write_pprof(FILE *out, struct profile *p, const struct present_options *options,
		struct err *err)
{
	struct write_pprof w = { .file = out, .p = p };
	int r = strtab_init(&w.strings);

	if (!r)
		r = call_table_make(&w.calls, p, options->threshold);
	w.packing = gzip_pack_new();
	if (!r)
		r = w.packing ? write_pprof_put_all(&w) : -ENOMEM;
	gzip_pack_free(w.packing);
	call_table_done(&w.calls);
	free(w.at);
	free(w.steps);
	pairs_done(&w.function_by);
	strtab_done(&w.strings);
	buf_done(&w.out);
	buf_done(&w.packed);
	buf_done(&w.part);
	buf_done(&w.inner);
	buf_done(&w.labels);
	buf_done(&w.text);
	return r ? err_set(err, r, "out of memory") : 0;
}

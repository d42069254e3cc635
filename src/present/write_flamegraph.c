/* write_flamegraph.c - a flame graph: a page that needs nothing but itself, or a picture.  The
 * profile's keys are host, session, comm, pid, tid and stack.
 *
 * The page's element #data holds JSON (pages/flamegraph.js reads it):
 *	events, images	names
 *	symbols		[name, number of its image or -1, 0 user 1 kernel 2 inlined 3 unknown]
 *	symbol, up	by node, callers in front: its symbol; how far in front its caller is
 *	who		[host, session, comm, pid, tid], as many of them as `levels` says
 *	rows		of each of them [nodes on, event, samples, ...]: a node is as many behind
 *			the one before, or behind 0, as the first number says */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile.h"
#include "base/err.h"
#include "flamegraph_page.h"
#include "present/call_table.h"
#include "present/html_text.h"
#include "present/json.h"
#include "present/writers.h"

enum {
	KIND_USER,
	KIND_KERNEL,
	KIND_INLINED,
	KIND_UNKNOWN,
	LEVELS = 5,
	/* With more, threads are not told apart, then processes ... */
	MOST_ROWS = 150000
};

struct flames {
	struct profile *p;
	struct call_table calls;
	struct json json;
	struct buf text;
	size_t keys[LEVELS];
	unsigned int levels;
	uint64_t *sums;        /* by node and event, of what is put at once */
	VEC(uint32_t) touched; /* of these, in any order */
	size_t nr_events;
};

/* ---- data ---- */

/* Text in a script element: "<" could end it. */
static void put_text(struct flames *f, const char *text)
{
	const char *end;

	buf_clear(&f->text);
	json_put_string(&f->text, text, strlen(text));
	buf_put_u8(&f->text, 0);
	if (f->text.failed)
		return;
	text = (const char *)f->text.data;
	if (!strchr(text, '<')) {
		json_raw(&f->json, text, strlen(text));
		return;
	}
	json_raw(&f->json, "", 0);
	for (; (end = strchr(text, '<')); text = end + 1) {
		fwrite(text, 1, (size_t)(end - text), f->json.out);
		fputs("\\u003c", f->json.out);
	}
	fputs(text, f->json.out);
}

static unsigned int kind_of(const struct flames *f, uint32_t symbol)
{
	uint32_t function = f->calls.symbols.at[symbol].function;

	if (function == DICT_NONE)
		return KIND_UNKNOWN;
	if (f->p->functions.at[function].kind == FUNCTION_INLINED)
		return KIND_INLINED;
	return call_symbol_in_kernel(&f->calls, symbol) ? KIND_KERNEL : KIND_USER;
}

static void put_names(struct flames *f)
{
	struct json *j = &f->json;

	json_name(j, "events");
	json_begin_array(j);
	for (size_t i = 0; i < f->calls.events.nr; i++)
		put_text(f, profile_event_name(f->p, f->calls.events.at[i]));
	json_end_array(j);
	json_name(j, "images");
	json_begin_array(j);
	for (size_t i = 0; i < f->p->images.nr; i++)
		put_text(f, strtab_get(&f->p->strings, f->p->images.at[i].name));
	json_end_array(j);
	json_name(j, "symbols");
	json_begin_array(j);
	for (uint32_t i = 0; i < f->calls.symbols.nr; i++) {
		uint32_t image = f->calls.symbols.at[i].image;

		json_begin_array(j);
		put_text(f, call_symbol_name(&f->calls, i));
		if (image == DICT_NONE)
			json_number(j, "-1");
		else
			json_u64(j, image);
		json_u64(j, kind_of(f, i));
		json_end_array(j);
	}
	json_end_array(j);
}

static void put_nodes(struct flames *f)
{
	const struct call_table *t = &f->calls;
	struct json *j = &f->json;

	json_name(j, "symbol");
	json_begin_array(j);
	json_u64(j, 0); /* the root has none */
	for (size_t i = 1; i < t->nodes.nr; i++)
		json_u64(j, t->nodes.at[i].symbol);
	json_end_array(j);
	json_name(j, "up");
	json_begin_array(j);
	for (size_t i = 0; i < t->nodes.nr; i++)
		json_u64(j, i - t->nodes.at[i].parent);
	json_end_array(j);
}

static bool same_who(const struct flames *f, uint32_t a, uint32_t b)
{
	for (unsigned int i = 0; i < f->levels; i++)
		if (profile_value(f->p, f->calls.whos.at[a], f->keys[i]) !=
		    profile_value(f->p, f->calls.whos.at[b], f->keys[i]))
			return false;
	return true;
}

/* Sums up the rows from `at` on that are alike at this level; returns where others begin. */
static size_t sum_up(struct flames *f, size_t at)
{
	const struct call_row *rows = f->calls.rows;
	uint32_t who = rows[at].who;

	f->touched.nr = 0;
	for (; at < f->calls.nr_rows && same_who(f, who, rows[at].who); at++) {
		size_t slot = rows[at].node * f->nr_events + rows[at].event;

		if (!rows[at].samples)
			continue;
		/* There is room: made so at the beginning. */
		if (!f->sums[slot])
			f->touched.at[f->touched.nr++] = (uint32_t)slot;
		f->sums[slot] += rows[at].samples;
	}
	return at;
}

static void forget_sums(struct flames *f)
{
	for (size_t i = 0; i < f->touched.nr; i++)
		f->sums[f->touched.at[i]] = 0;
}

static void choose_level(struct flames *f)
{
	for (f->levels = LEVELS; f->levels > 1; f->levels--) {
		size_t nr = 0;

		for (size_t i = 0; i < f->calls.nr_rows;) {
			i = sum_up(f, i);
			nr += f->touched.nr;
			forget_sums(f);
		}
		if (nr <= MOST_ROWS)
			return;
	}
}

static int compare_slots(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void put_group_rows(struct flames *f)
{
	uint32_t last = 0;

	qsort(f->touched.at, f->touched.nr, sizeof(*f->touched.at), compare_slots);
	json_begin_array(&f->json);
	for (size_t i = 0; i < f->touched.nr; i++) {
		uint32_t slot = f->touched.at[i];
		uint32_t node = slot / (uint32_t)f->nr_events;

		json_u64(&f->json, node - last);
		json_u64(&f->json, slot % f->nr_events);
		json_u64(&f->json, f->sums[slot]);
		last = node;
	}
	json_end_array(&f->json);
}

static void put_rows(struct flames *f)
{
	json_name(&f->json, "rows");
	json_begin_array(&f->json);
	for (size_t i = 0; i < f->calls.nr_rows;) {
		i = sum_up(f, i);
		put_group_rows(f);
		forget_sums(f);
	}
	json_end_array(&f->json);
}

static void put_who(struct flames *f, uint32_t who)
{
	uint32_t group = f->calls.whos.at[who];
	char number[32];

	json_begin_array(&f->json);
	for (unsigned int i = 0; i < f->levels; i++) {
		if (f->p->options.keys->keys.at[f->keys[i]].row->kind == KEY_TEXT) {
			put_text(f, profile_text(f->p, group, f->keys[i]));
			continue;
		}
		snprintf(number, sizeof(number), "%" PRId64,
			 (int64_t)profile_value(f->p, group, f->keys[i]));
		json_number(&f->json, number);
	}
	json_end_array(&f->json);
}

static void put_whos(struct flames *f)
{
	const struct call_row *rows = f->calls.rows;
	uint64_t nr_sessions = 0;
	uint32_t last = DICT_NONE;

	json_name(&f->json, "who");
	json_begin_array(&f->json);
	for (size_t i = 0; i < f->calls.nr_rows; i++) {
		if (i && same_who(f, rows[i - 1].who, rows[i].who))
			continue;
		put_who(f, rows[i].who);
		nr_sessions +=
			last == DICT_NONE ||
			profile_value(f->p, f->calls.whos.at[last], f->keys[1]) !=
				profile_value(f->p, f->calls.whos.at[rows[i].who],
					      f->keys[1]);
		last = rows[i].who;
	}
	json_end_array(&f->json);
	json_name(&f->json, "levels");
	json_u64(&f->json, f->levels);
	json_name(&f->json, "sessions");
	json_u64(&f->json, f->levels > 1 ? nr_sessions : 1);
}

static void put_data(struct flames *f)
{
	json_begin_object(&f->json);
	put_names(f);
	put_nodes(f);
	put_whos(f);
	put_rows(f);
	json_end_object(&f->json);
}

/* ---- the page ---- */

static const char page_head[] =
	"<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
	"<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; "
	"style-src-elem '" FLAMES_CSS_HASH
	"'; style-src-attr 'none'; script-src '" FLAMES_JS_HASH
	"'; base-uri 'none'; form-action 'none'\">\n"
	"<meta name=viewport content=\"width=device-width\">\n"
	"<meta name=referrer content=no-referrer>\n<title>Flame graph</title>\n"
	"<style>" FLAMES_CSS "</style>\n</head>\n<body>\n";

static const char page_body[] =
	"<label>Search <input id=search type=search "
	"title=\"a name or a regular expression (/)\"></label>\n"
	"<output id=found for=search></output>\n"
	"<label>Event <select id=event></select></label>\n"
	"<label>Merge <select id=merge></select></label>\n"
	"<label>Colours <select id=colours></select></label>\n"
	"<button id=reset title=\"all of it (Escape)\">Reset zoom</button>\n"
	"<button id=turn aria-pressed=false title=\"root above (i)\">Icicle</button>\n"
	"<button id=tables aria-pressed=true>Table</button>\n"
	"<button id=theme title=\"light or dark (t)\">&#9680;</button>\n"
	"<button id=asked title=\"keys (?)\">?</button>\n</header>\n<main>\n"
	"<div id=scroll><div id=tall></div><canvas id=flames tabindex=0 "
	"role=application "
	"aria-label=\"Flame graph: arrow keys go from function to function, Enter "
	"zooms; the "
	"table has the same numbers\" aria-describedby=detail></canvas></div>\n"
	"<section id=side aria-label=\"Functions\"><table><thead><tr>"
	"<th id=by-self><button>itself</button><th id=by-total><button>with "
	"calls</button>"
	"<th>function</thead><tbody id=rows></tbody></table></section>\n</main>\n"
	"<div id=detail role=status aria-live=polite></div>\n"
	"<dialog id=help><form method=dialog><dl><dt><kbd>&larr;</kbd> "
	"<kbd>&rarr;</kbd>"
	"<dd>beside<dt><kbd>&uarr;</kbd> <kbd>&darr;</kbd><dd>caller, or what is "
	"called most"
	"<dt><kbd>Enter</kbd>, click<dd>zoom<dt><kbd>u</kbd><dd>out by one"
	"<dt><kbd>Escape</kbd><dd>all of it<dt><kbd>/</kbd><dd>search"
	"<dt><kbd>i</kbd><dd>flames or icicles<dt><kbd>t</kbd><dd>light or dark</dl>"
	"<button>Close</button></form></dialog>\n"
	"<noscript>This page needs JavaScript; oprofile export flamegraph --svg makes "
	"a picture."
	"</noscript>\n";

static void put_page(struct flames *f)
{
	FILE *out = f->json.out;
	uint64_t all = 0;

	for (size_t i = 0; i < f->calls.events.nr; i++)
		all += f->p->events.at[f->calls.events.at[i]].samples;
	fputs(page_head, out);
	fprintf(out, "<header><h1>Flame graph of %" PRIu64 " samples</h1>\n", all);
	fputs(page_body, out);
	fputs("<script type=application/json id=data>", out);
	put_data(f);
	fputs("</script>\n<script>" FLAMES_JS "</script>\n</body>\n</html>\n", out);
}

static int make_room(struct flames *f)
{
	size_t nr;

	f->nr_events = f->calls.events.nr ? f->calls.events.nr : 1;
	nr = f->calls.nodes.nr * f->nr_events;
	if (nr > UINT32_MAX)
		return -ENOMEM;
	f->sums = calloc(nr + 1, sizeof(*f->sums));
	return f->sums && vec_reserve(&f->touched, nr + 1) ? 0 : -ENOMEM;
}

int write_flamegraph(FILE *out, struct profile *p,
		     const struct present_options *options, struct err *err)
{
	static const enum key_id ids[LEVELS] = { KEY_HOST, KEY_SESSION, KEY_COMM,
						 KEY_PID, KEY_TID };
	struct flames f = { .p = p, .json = { .out = out } };
	int r = call_table_make(&f.calls, p, options->threshold);

	for (size_t i = 0; i < LEVELS; i++)
		f.keys[i] = (size_t)keys_find(p->options.keys, ids[i]);
	if (!r)
		r = make_room(&f);
	if (!r) {
		choose_level(&f);
		put_page(&f);
	}
	if (!r && f.text.failed)
		r = -ENOMEM;
	free(f.sums);
	vec_done(&f.touched);
	buf_done(&f.text);
	call_table_done(&f.calls);
	return r ? err_set(err, r, "out of memory") : 0;
}

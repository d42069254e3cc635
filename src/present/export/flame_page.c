/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/export/flame_page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "flamegraph_page.h"

enum {
	KIND_USER,
	KIND_KERNEL,
	KIND_INLINED,
	KIND_UNKNOWN
};

int flame_page_make(struct flame_page *f, FILE *out, struct profile *p,
		    double threshold)
{
	int r;

	*f = (struct flame_page){ .p = p, .json = { .out = out } };
	r = call_table_make(&f->calls, p, threshold);
	if (r)
		return r;
	f->symbol_at = malloc((f->calls.symbols.nr + 1) * sizeof(*f->symbol_at));
	return f->symbol_at ? 0 : -ENOMEM;
}

void flame_page_done(struct flame_page *f)
{
	buf_done(&f->text);
	free(f->symbol_at);
	call_table_done(&f->calls);
}

uint64_t flame_page_samples(const struct flame_page *f)
{
	uint64_t all = 0;

	for (size_t i = 0; i < f->calls.events.nr; i++)
		all += f->p->events.at[f->calls.events.at[i]].samples;
	return all;
}

/* ---- data ---- */

/* Escapes "<" in the text, which could end the script element. */
void flame_page_text(struct flame_page *f, const char *text)
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

static unsigned int flame_page_kind_of(const struct flame_page *f, uint32_t symbol)
{
	uint32_t function = f->calls.symbols.at[symbol].function;

	if (function == DICT_NONE)
		return KIND_UNKNOWN;
	if (f->p->functions.at[function].kind == FUNCTION_INLINED)
		return KIND_INLINED;
	return call_symbol_in_kernel(&f->calls, symbol) ? KIND_KERNEL : KIND_USER;
}

/* Numbers the symbols of the page's nodes. */
static void number_symbols(struct flame_page *f, const uint32_t *number_of)
{
	const struct call_table *t = &f->calls;
	uint32_t nr = 0;

	for (size_t i = 0; i < t->symbols.nr; i++)
		f->symbol_at[i] = DICT_NONE;
	for (size_t i = 1; i < t->nodes.nr; i++)
		if (!number_of || number_of[i] != DICT_NONE)
			f->symbol_at[t->nodes.at[i].symbol] = 0;
	for (size_t i = 0; i < t->symbols.nr; i++)
		if (f->symbol_at[i] != DICT_NONE)
			f->symbol_at[i] = nr++;
}

static void flame_page_put_symbols(struct flame_page *f)
{
	struct json *j = &f->json;

	json_name(j, "symbols");
	json_begin_array(j);
	for (uint32_t i = 0; i < f->calls.symbols.nr; i++) {
		uint32_t image = f->calls.symbols.at[i].image;

		if (f->symbol_at[i] == DICT_NONE)
			continue;
		json_begin_array(j);
		flame_page_text(f, call_symbol_name(&f->calls, i));
		if (image == DICT_NONE)
			json_number(j, "-1");
		else
			json_u64(j, image);
		json_u64(j, flame_page_kind_of(f, i));
		json_end_array(j);
	}
	json_end_array(j);
}

static void flame_page_put_names(struct flame_page *f)
{
	struct json *j = &f->json;

	json_name(j, "events");
	json_begin_array(j);
	for (size_t i = 0; i < f->calls.events.nr; i++)
		flame_page_text(f, profile_event_name(f->p, f->calls.events.at[i]));
	json_end_array(j);
	json_name(j, "images");
	json_begin_array(j);
	for (size_t i = 0; i < f->p->images.nr; i++)
		flame_page_text(f, strtab_get(&f->p->strings, f->p->images.at[i].name));
	json_end_array(j);
}

void flame_page_calls(struct flame_page *f, const uint32_t *number_of)
{
	const struct call_table *t = &f->calls;
	struct json *j = &f->json;

	number_symbols(f, number_of);
	flame_page_put_names(f);
	flame_page_put_symbols(f);
	json_name(j, "symbol");
	json_begin_array(j);
	json_u64(j, 0); /* the root has no symbol */
	for (size_t i = 1; i < t->nodes.nr; i++)
		if (!number_of || number_of[i] != DICT_NONE)
			json_u64(j, f->symbol_at[t->nodes.at[i].symbol]);
	json_end_array(j);
	json_name(j, "up");
	json_begin_array(j);
	for (size_t i = 0; i < t->nodes.nr; i++) {
		uint32_t up = t->nodes.at[i].parent;

		if (!number_of)
			json_u64(j, i - up);
		else if (number_of[i] != DICT_NONE)
			json_u64(j, number_of[i] - number_of[up]);
	}
	json_end_array(j);
}

/* ---- the page ---- */

static const char page_controls[] =
	"<label>Search <input id=search type=search title=\"a name or a regular expression (/)\"></label>\n"
	"<output id=found for=search></output>\n"
	"<label>Event <select id=event></select></label>\n"
	"<label>Merge <select id=merge></select></label>\n"
	"<label>Colours <select id=colours></select></label>\n"
	"<button id=reset title=\"show everything (Escape)\">Reset zoom</button>\n"
	"<button id=turn aria-pressed=false title=\"root at the top (i)\">Icicle</button>\n"
	"<button id=tables aria-pressed=true>Table</button>\n"
	"<button id=theme title=\"light or dark (t)\">&#9680;</button>\n"
	"<button id=asked title=\"keys (?)\">?</button>\n"
	"</header>\n";

static const char page_main[] =
	"<main>\n"
	"<div id=scroll><div id=tall></div><canvas id=flames tabindex=0 role=application aria-label=\"Flame graph: "
	"arrow keys go from function to function, Enter zooms; "
	"the table has the same numbers\" aria-describedby=detail></canvas></div>\n"
	"<section id=side aria-label=\"Functions\"><table><thead><tr><th id=by-self><button>self</button><th id=by-total><button>total</button><th>function</thead><tbody id=rows></tbody></table></section>\n"
	"</main>\n"
	"<div id=detail role=status aria-live=polite></div>\n"
	"<dialog id=help><form method=dialog><dl><dt><kbd>&larr;</kbd> <kbd>&rarr;</kbd><dd>previous, next<dt><kbd>&uarr;</kbd> <kbd>&darr;</kbd><dd>caller, hottest callee<dt><kbd>Enter</kbd>, click<dd>zoom in<dt><kbd>u</kbd><dd>zoom out<dt><kbd>Escape</kbd><dd>reset zoom<dt><kbd>/</kbd><dd>search<dt><kbd>i</kbd><dd>flames or icicles<dt><kbd>t</kbd><dd>light or dark</dl><button>Close</button></form></dialog>\n"
	"<noscript>This page needs JavaScript; "
	"oprofile export flamegraph --svg makes a picture.</noscript>\n";

/* Writes the head of the page. The Content-Security-Policy has the hashes of all styles and
 * scripts. */
void flame_page_begin(struct flame_page *f, const struct flame_page_more *more)
{
	FILE *out = f->json.out;

	fprintf(out,
		"<!DOCTYPE html>\n"
		"<html lang=en>\n"
		"<head>\n"
		"<meta charset=utf-8>\n"
		"<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; "
		"style-src-elem '" FLAMES_CSS_HASH "' %s; "
		"style-src-attr 'none'; script-src '" FLAMES_JS_HASH "' %s; "
		"base-uri 'none'; form-action 'none'\">\n"
		"<meta name=viewport content=\"width=device-width\">\n"
		"<meta name=referrer content=no-referrer>\n<title>%s</title>\n",
		more->style_hash, more->script_hash, more->title);
	fputs("<style>" FLAMES_CSS "</style>\n", out);
	if (*more->style)
		fprintf(out, "<style>%s</style>\n", more->style);
	fputs("</head>\n<body>\n<header><h1>", out);
	if (more->heading)
		fputs(more->heading, out);
	else
		fprintf(out, "%s of %" PRIu64 " samples", more->title,
			flame_page_samples(f));
	fputs("</h1>\n", out);
	fputs(page_controls, out);
	fputs(more->body, out);
	fputs(page_main, out);
	fputs("<script type=application/json id=data>", out);
}

void flame_page_end(struct flame_page *f, const struct flame_page_more *more)
{
	FILE *out = f->json.out;

	fputs("</script>\n<script>" FLAMES_JS "</script>\n", out);
	if (*more->script)
		fprintf(out, "<script>%s</script>\n", more->script);
	fputs("</body>\n</html>\n", out);
}

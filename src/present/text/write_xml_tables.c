/* SPDX-License-Identifier: GPL-2.0-or-later */
/* write_xml_tables.c - writes the tables of opreport --xml: functions and, with details, their
 * addresses and code. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "present/lines/options.h"
#include "present/text/write_xml.h"
#include "present/text/write_xml_priv.h"
#include "resolve/code/code.h"
#include "resolve/symbols/symtab.h"

enum {
	VMA_DIGITS = 8,
	VMA_DIGITS_LONG = 16,
	CODE_MAX = 1 << 16 /* maximum bytes of a function */
};

static uint64_t write_xml_tables_start_of(const struct xml *x, uint32_t function)
{
	const struct profile *p = x->tree.p;

	return function < p->functions.nr ? p->functions.at[function].vma : 0;
}

void xml_put_symbol_table(struct xml *x)
{
	const struct xml_keys *keys = &x->tree.keys;

	fputs("<symboltable>\n", x->out);
	for (size_t i = 0; i < x->entries.nr; i++) {
		const struct entry *e = &x->entries.at[i];
		uint64_t start = write_xml_tables_start_of(x, e->function);

		fprintf(x->out, "<symboldata  id=\"%zu\" ", i);
		xml_put_attribute(x, "name", xml_text_of(x, e->group, keys->symbol));
		if (keys->line >= 0)
			xml_put_line(x, xml_text_of(x, e->group, keys->line), true);
		fprintf(x->out, "  startingaddr=\"%0*" PRIx64 "\"/>\n",
			start > UINT32_MAX ? VMA_DIGITS_LONG : VMA_DIGITS, start);
	}
	fputs("</symboltable>\n", x->out);
}

static int compare_shown(const void *a, const void *b)
{
	const struct shown *s = a, *t = b;

	if (s->entry != t->entry)
		return s->entry < t->entry ? -1 : 1;
	return s->position < t->position ? -1 : s->position > t->position;
}

/* Writes the source line, with its file if that differs from the file of the function. */
static void put_detail_line(struct xml *x, uint32_t group)
{
	const struct xml_keys *keys = &x->tree.keys;
	const char *position, *of;
	size_t len;
	bool other;

	if (keys->detail_line < 0)
		return;
	of = keys->line >= 0 ? xml_text_of(x, group, keys->line) : "";
	len = xml_file_bytes(of);
	position = xml_text_of(x, group, keys->detail_line);
	other = xml_file_bytes(position) != len || memcmp(position, of, len) != 0;
	xml_put_line(x, position, other);
}

/* Returns the hex digits of a number; the schema requires an even number of digits. */
static int whole_bytes(uint64_t value)
{
	int digits = 2;

	while (digits < VMA_DIGITS_LONG && value >> 4 * digits)
		digits += 2;
	return digits;
}

static void put_details(struct xml *x, const struct shown *shown)
{
	const struct xml_symbol *s = &x->tree.symbols.at[shown->position];
	const struct xml_detail *d = &x->tree.details.at[s->first_detail];
	uint64_t start = write_xml_tables_start_of(x, (uint32_t)s->function);
	size_t id = shown->first_id, next;

	for (size_t i = 0; i < s->nr_details; i = next) {
		memset(x->sums, 0, x->tree.classes.nr * sizeof(*x->sums));
		for (next = i; next < s->nr_details; next++) {
			if (d[next].address != d[i].address)
				break;
			x->sums[d[next].class] += d[next].samples;
		}
		fprintf(x->out, "<detaildata  id=\"%zu\" vmaoffset=\"%0*" PRIx64 "\"",
			id++, whole_bytes(d[i].address - start), d[i].address - start);
		put_detail_line(x, d[i].group);
		fputs(">\n", x->out);
		xml_put_counts(x, x->sums);
		fputs("</detaildata>\n", x->out);
	}
}

void xml_put_detail_table(struct xml *x)
{
	size_t nr = x->shown.nr;

	if (!nr)
		return;
	qsort(x->shown.at, nr, sizeof(*x->shown.at), compare_shown);
	fputs("<detailtable>\n", x->out);
	for (size_t i = 0; i < nr; i++) {
		uint32_t entry = x->shown.at[i].entry;

		if (!i || x->shown.at[i - 1].entry != entry)
			fprintf(x->out, "<symboldetails  id=\"%" PRIu32 "\">\n", entry);
		put_details(x, &x->shown.at[i]);
		if (i + 1 == nr || x->shown.at[i + 1].entry != entry)
			fputs("</symboldetails>\n", x->out);
	}
	fputs("</detailtable>\n", x->out);
}

/* Writes a function's entry in the table of bytes.  The first entry also opens the table. */
static void write_xml_tables_put_bytes(FILE *out, struct code *code, uint64_t start,
				       size_t id, bool *begun)
{
	uint64_t from;
	const struct symbol *s = code_symbol(code, start, &from);
	size_t len = s && from == start && s->size < CODE_MAX ? (size_t)s->size : 0;
	uint8_t *bytes = len ? malloc(len) : NULL;

	if (bytes)
		len = code_bytes(code, start, bytes, len);
	if (bytes && len) {
		if (!*begun)
			fputs("<bytestable>\n", out);
		*begun = true;
		fprintf(out, "<bytes  id=\"%zu\">", id);
		for (size_t i = 0; i < len; i++)
			fprintf(out, "%02X", bytes[i]);
		fputs("</bytes>\n", out);
	}
	free(bytes);
}

/* Writes the code of the functions image by image, so that each image is opened once. */
void xml_put_byte_table(struct xml *x)
{
	const struct profile *p = x->tree.p;
	bool begun = false;

	for (uint32_t image = 0; image < p->images.nr; image++) {
		const struct profile_image *from = &p->images.at[image];
		struct code *code = NULL;

		/* Do not warn about the kernel's missing code. */
		if (!from->nr_bytes && !*strtab_get(&p->strings, from->binary))
			continue;
		for (size_t i = 0; i < x->entries.nr; i++) {
			uint32_t f = x->entries.at[i].function;

			if (f >= p->functions.nr || p->functions.at[f].image != image ||
			    p->functions.at[f].kind != FUNCTION_NAMED)
				continue;
			if (!code)
				code = x->options->xml->code_of(x->options->xml->ctx,
								image);
			if (!code)
				break;
			write_xml_tables_put_bytes(x->out, code, p->functions.at[f].vma,
						   i, &begun);
		}
	}
	if (begun)
		fputs("</bytestable>\n", x->out);
}

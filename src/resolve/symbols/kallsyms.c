/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/symbols/kallsyms.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "resolve/symbols/module_name.h"
#include "resolve/symbols/symtab.h"
#include "resolve/symbols/symtab_priv.h"

enum {
	ADDRESS_DIGITS = 16,
	NAME_MAX_BYTES = 2048 /* the kernel's limit is 512 (KSYM_NAME_LEN) */
};

static int kallsyms_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* Parses the module after the name: " \t[name]", with any number of blanks. */
static void kallsyms_take_module(const char *at, const char *end,
				 struct kallsyms_line *line)
{
	line->module = NULL;
	line->module_len = 0;
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	if (end - at < 3 || *at != '[' || end[-1] != ']')
		return;
	line->module = at + 1;
	line->module_len = (size_t)(end - at) - 2;
}

static bool kallsyms_parse_line(const char *at, const char *end,
				struct kallsyms_line *ret_line)
{
	struct kallsyms_line line = { 0 };
	int nr_digits = 0;
	const char *name;

	while (at < end && kallsyms_hex_digit(*at) >= 0 &&
	       nr_digits <= ADDRESS_DIGITS) {
		line.address =
			line.address << 4 | (unsigned int)kallsyms_hex_digit(*at);
		nr_digits++;
		at++;
	}
	if (!nr_digits || nr_digits > ADDRESS_DIGITS || end - at < 4 || at[0] != ' ' ||
	    at[2] != ' ')
		return false;
	line.type = at[1];
	name = at + 3;
	for (at = name; at < end && *at != '\t' && *at != ' '; at++) {
		if (*at == '\0')
			return false;
	}
	line.name = name;
	line.name_len = (size_t)(at - name);
	if (!line.name_len || line.name_len > NAME_MAX_BYTES)
		return false;
	kallsyms_take_module(at, end, &line);
	*ret_line = line;
	return true;
}

/* Parses eight hex digits at once. Returns false if one of the characters is not a digit. */
static bool parse_8_digits(const char *at, uint64_t *ret)
{
	const uint64_t ones = 0x0101010101010101;
	uint64_t text, digits;

	memcpy(&text, at, sizeof(text));
	digits = (text & ones * 0x0f) + (text >> 6 & ones) * 9;
	/* Check: converting the digits back must yield the text ('0' is 48, 'a' is 39 more than
	 * ':'). */
	if ((digits & ones * 0xf0) ||
	    text != digits + ones * '0' + ((digits + ones * 6) >> 4 & ones) * 39)
		return false;
	if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
		digits = __builtin_bswap64(digits);
	digits = (digits | digits >> 4) & 0x00ff00ff00ff00ff;
	digits = (digits | digits >> 8) & 0x0000ffff0000ffff;
	*ret = (digits | digits >> 16) & 0xffffffff;
	return true;
}

/* Returns the position of the first byte below 0x21, or `end`. */
static const char *skip_graphic(const char *at, const char *end)
{
	const uint64_t ones = 0x0101010101010101;

	for (; end - at >= 8; at += 8) {
		uint64_t text;

		memcpy(&text, at, sizeof(text));
		if ((text - ones * 0x21) & ~text & ones * 0x80)
			break;
	}
	while (at < end && (unsigned char)*at > ' ')
		at++;
	return at;
}

/* Parses a line of the most frequent form, "0123456789abcdef t name\n" without a module.
 * Returns the start of the next line; NULL for other forms, which the caller parses in general. */
static const char *parse_usual(const char *at, const char *end,
			       struct kallsyms_line *ret_line)
{
	enum {
		NAME_AT = ADDRESS_DIGITS + 3
	};
	uint64_t high, low;
	const char *stop;

	if (end - at <= NAME_AT || at[ADDRESS_DIGITS] != ' ' ||
	    at[ADDRESS_DIGITS + 2] != ' ' || at[ADDRESS_DIGITS + 1] == '\n' ||
	    !parse_8_digits(at, &high) || !parse_8_digits(at + 8, &low))
		return NULL;
	stop = skip_graphic(at + NAME_AT, end);
	if (stop == end || *stop != '\n' || stop == at + NAME_AT ||
	    stop - at > NAME_MAX_BYTES)
		return NULL;
	*ret_line = (struct kallsyms_line){ .address = high << 32 | low,
					    .type = at[ADDRESS_DIGITS + 1],
					    .name = at + NAME_AT,
					    .name_len = (size_t)(stop - at) - NAME_AT };
	return stop + 1;
}

int kallsyms_next(const char *text, size_t len, size_t *pos,
		  struct kallsyms_line *ret_line)
{
	const char *at = text + *pos;
	const char *end;

	if (*pos >= len)
		return -1;
	end = parse_usual(at, text + len, ret_line);
	if (end) {
		*pos = (size_t)(end - text);
		return 1;
	}
	end = memchr(at, '\n', len - *pos);
	*pos = end ? (size_t)(end - text) + 1 : len;
	if (!end)
		end = text + len;
	return kallsyms_parse_line(at, end, ret_line);
}

/* Finds the module of a line, starting at its end: most lines have none, which one comparison
 * shows. */
static size_t module_at_end(const char *at, const char *end, const char **ret_module)
{
	const char *open;

	if (end == at || end[-1] != ']')
		return 0;
	open = memrchr(at, '[', (size_t)(end - at));
	if (!open)
		return 0;
	*ret_module = open + 1;
	return (size_t)(end - 1 - *ret_module);
}

/* Returns the length of the leading lines that name no module; a single memchr() finds it. */
static size_t lines_without_bracket(const char *text, size_t len)
{
	const char *bracket = len ? memchr(text, '[', len) : NULL;
	const char *line;

	if (!bracket)
		return len;
	line = memrchr(text, '\n', (size_t)(bracket - text));
	return line ? (size_t)(line - text) + 1 : 0;
}

int kallsyms_index(struct kallsyms_index *index, const char *text, size_t len)
{
	struct kallsyms_part part = { 0 };
	size_t pos = lines_without_bracket(text, len);

	*index = (struct kallsyms_index){ .text = text };
	part.end = pos; /* the kernel's lines come first, if there are any */
	while (pos < len) {
		const char *end = memchr(text + pos, '\n', len - pos);
		const char *module = NULL;
		size_t module_len;
		size_t next = end ? (size_t)(end - text) + 1 : len;

		module_len = module_at_end(text + pos, end ? end : text + len, &module);
		if (!module_name_equal(module, module_len, part.module,
				       part.module_len)) {
			if (part.end > part.begin && !vec_push(&index->parts, part))
				return -ENOMEM;
			part = (struct kallsyms_part){ module, module_len, pos, pos };
		}
		part.end = pos = next;
	}
	if (part.end > part.begin && !vec_push(&index->parts, part))
		return -ENOMEM;
	return 0;
}

const struct kallsyms_part *kallsyms_part(const struct kallsyms_index *index,
					  const char *module)
{
	size_t len = module ? strlen(module) : 0;

	for (size_t i = 0; i < index->parts.nr; i++) {
		const struct kallsyms_part *p = &index->parts.at[i];

		if (module_name_equal(p->module, p->module_len, module, len))
			return p;
	}
	return NULL;
}

const struct kallsyms_part *kallsyms_part_at(const struct kallsyms_index *index,
					     const char *module, uint64_t start,
					     uint64_t end)
{
	const struct kallsyms_part *first = kallsyms_part(index, module);

	for (const struct kallsyms_part *p = first;
	     p && p < index->parts.at + index->parts.nr; p++)
		if (module_name_equal(p->module, p->module_len, module,
				      strlen(module)) &&
		    kallsyms_fits(index->text + p->begin, p->end - p->begin, start,
				  end))
			return p;
	return first;
}

void kallsyms_index_done(struct kallsyms_index *index)
{
	vec_done(&index->parts);
}

static bool kallsyms_is_text(const struct kallsyms_line *line)
{
	char type = line->type;

	return (type == 't' || type == 'T' || type == 'w' || type == 'W') &&
	       line->name[0] != '$';
}

/* Returns the position of NAME where " NAME" ends a line, or NULL. */
static const char *kallsyms_find_name(const char *at, const char *end, const char *name)
{
	size_t len = strlen(name);

	while ((at = memmem(at, (size_t)(end - at), name, len))) {
		if (at[-1] == ' ' && (at + len == end || at[len] == '\n'))
			return at;
		at += len;
	}
	return NULL;
}

bool kallsyms_find(const char *text, size_t len, const char *name,
		   uint64_t *ret_address)
{
	struct kallsyms_line line;
	const char *found, *start;
	size_t pos;

	/* Begin with the second byte, because kallsyms_find_name() also reads the byte before a
	 * match, and a valid line begins with an address. */
	found = len ? kallsyms_find_name(text + 1, text + len, name) : NULL;
	if (!found)
		return false;
	start = memrchr(text, '\n', (size_t)(found - text));
	pos = start ? (size_t)(start - text) + 1 : 0;
	if (kallsyms_next(text, len, &pos, &line) <= 0 || !line.address)
		return false;
	*ret_address = line.address;
	return true;
}

bool kallsyms_has_addresses(const char *text, size_t len)
{
	struct kallsyms_line line;
	size_t pos = 0;
	int r;

	while ((r = kallsyms_next(text, len, &pos, &line)) >= 0)
		if (r && line.address && kallsyms_is_text(&line))
			return true;
	return false;
}

bool kallsyms_fits(const char *text, size_t len, uint64_t start, uint64_t end)
{
	enum {
		PAGE_BYTES = 4096
	};
	struct kallsyms_line line;
	uint64_t first = UINT64_MAX, last = 0;
	size_t pos = 0;
	int r;

	while ((r = kallsyms_next(text, len, &pos, &line)) >= 0) {
		if (!r || !kallsyms_is_text(&line))
			continue;
		if (line.address < first)
			first = line.address;
		if (line.address > last)
			last = line.address;
	}
	return first >= start && first - start < PAGE_BYTES && last < end;
}

static bool kallsyms_is_wanted(const struct kallsyms_line *line,
			       const struct symtab_kallsyms *from, size_t module_len)
{
	return kallsyms_is_text(line) && line->address >= from->start &&
	       module_name_equal(line->module, line->module_len, from->module,
				 module_len);
}

/* Returns where the section after a symbol begins, relative to `start`; 0: unknown. */
static uint64_t kallsyms_next_section(const struct symtab_kallsyms *from,
				      uint64_t address)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < from->nr_sections; i++) {
		uint64_t there = from->sections[i].address;

		if (there > address && there < next)
			next = there;
	}
	return next == UINT64_MAX ? 0 : next - from->start;
}

/* The receiver of the wanted lines. */
struct taker {
	char *names; /* the buffer for copies of the names */
	int (*take)(void *ctx, const struct symtab_candidate *s);
	void *ctx;
	size_t nr_hidden; /* lines without an address */
};

/* Calls take() for each wanted line. perf shows the last of several symbols at one address:
 * before it compares them, it makes each end where the next one begins, so that all but the
 * last are empty (symbols__fixup_end(), then symbols__fixup_duplicate()).
 * `names` has room for the whole text, because a name with its terminator is shorter than its
 * line. Returns the first result of take() that is not 0, else 0. */
static int kallsyms_take_lines(struct taker *t, const struct symtab_kallsyms *from)
{
	const size_t module_len = from->module ? strlen(from->module) : 0;
	struct kallsyms_line line;
	size_t pos = 0;
	int r;

	while ((r = kallsyms_next(from->text, from->len, &pos, &line)) >= 0) {
		struct symtab_candidate s;

		if (r && !line.address)
			t->nr_hidden++;
		if (!r || !line.address || !kallsyms_is_wanted(&line, from, module_len))
			continue;
		s = (struct symtab_candidate){ .offset = line.address - from->start,
					       .vaddr = line.address,
					       .limit = kallsyms_next_section(
						       from, line.address),
					       .by_order = true,
					       .name = t->names };
		memcpy(t->names, line.name, line.name_len);
		t->names[line.name_len] = '\0';
		t->names += line.name_len + 1;
		r = t->take(t->ctx, &s);
		if (r)
			return r;
	}
	return 0;
}

static int take_in_order(void *ctx, const struct symtab_candidate *s)
{
	return symtab_sorted_add(ctx, s);
}

static int take_candidate(void *ctx, const struct symtab_candidate *s)
{
	symtab_candidates *c = ctx;

	return vec_push(c, *s) ? 0 : -ENOMEM;
}

/* Fills the table from kallsyms. The kernel writes its symbols sorted by address, so they are added
 * directly. If the text has another order, it is read again and sorted. */
static int kallsyms_fill(struct symtab *tab, const struct symtab_kallsyms *from,
			 size_t *ret_hidden)
{
	struct symtab_sorted sorted = { .tab = tab };
	symtab_candidates candidates = { 0 };
	struct taker t = { tab->names, take_in_order, &sorted, 0 };
	int r = kallsyms_take_lines(&t, from);

	if (r == SYMTAB_UNSORTED) {
		tab->symbols.nr = 0;
		tab->aliases.nr = 0;
		t = (struct taker){ tab->names, take_candidate, &candidates, 0 };
		r = kallsyms_take_lines(&t, from);
		if (!r)
			r = symtab_build(tab, &candidates);
		vec_done(&candidates);
	} else {
		symtab_sorted_end(&sorted);
	}
	*ret_hidden = t.nr_hidden;
	return r;
}

int symtab_load_kallsyms(const struct symtab_kallsyms *from, struct symtab **ret_tab,
			 struct err *err)
{
	struct symtab *tab = calloc(1, sizeof(*tab));
	size_t hidden;
	int r;

	if (tab)
		tab->names = malloc(from->len + 1);
	if (!tab || !tab->names) {
		symtab_free(tab);
		return err_set(err, -ENOMEM, "out of memory");
	}
	tab->run_base = from->start;
	r = kallsyms_fill(tab, from, &hidden);
	if (r)
		err_set(err, r, "out of memory");
	else if (!symtab_count(tab) && hidden)
		r = err_set(
			err, -ENODATA,
			"kallsyms contains no addresses: the kernel hides them (kernel.kptr_restrict)");
	else if (!symtab_count(tab))
		r = err_set(err, -ENODATA, "no symbols of %s in kallsyms",
			    from->module ? from->module : "the kernel");
	if (r)
		symtab_free(tab);
	else
		*ret_tab = tab;
	return r;
}

#include "resolve/kallsyms.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "resolve/symtab.h"
#include "resolve/symtab_priv.h"

enum {
	ADDRESS_DIGITS = 16,
	NAME_MAX_BYTES = 2048 /* the kernel's own limit is 512 (KSYM_NAME_LEN) */
};

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* The name is over, and the module's follows: " \t[name]" with any blanks between. */
static void take_module(const char *at, const char *end, struct kallsyms_line *line)
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

static bool parse_line(const char *at, const char *end, struct kallsyms_line *ret_line)
{
	struct kallsyms_line line = { 0 };
	int nr_digits = 0;
	const char *name;

	while (at < end && hex_digit(*at) >= 0 && nr_digits <= ADDRESS_DIGITS) {
		line.address = line.address << 4 | (unsigned int)hex_digit(*at);
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
	take_module(at, end, &line);
	*ret_line = line;
	return true;
}

int kallsyms_next(const char *text, size_t len, size_t *pos,
		  struct kallsyms_line *ret_line)
{
	const char *at = text + *pos;
	const char *end;

	if (*pos >= len)
		return -1;
	end = memchr(at, '\n', len - *pos);
	*pos = end ? (size_t)(end - text) + 1 : len;
	if (!end)
		end = text + len;
	return parse_line(at, end, ret_line);
}

static bool same_module(const char *a, size_t a_len, const char *b, size_t b_len)
{
	if (a_len != b_len)
		return false;
	for (size_t i = 0; i < a_len; i++) {
		if ((a[i] == '-' ? '_' : a[i]) != (b[i] == '-' ? '_' : b[i]))
			return false;
	}
	return true;
}

/* The module in a line, found from its end: most lines have none and cost one look. */
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

int kallsyms_index(struct kallsyms_index *index, const char *text, size_t len)
{
	struct kallsyms_part part = { 0 };
	size_t pos = 0;

	*index = (struct kallsyms_index){ .text = text };
	while (pos < len) {
		const char *end = memchr(text + pos, '\n', len - pos);
		const char *module = NULL;
		size_t module_len;
		size_t next = end ? (size_t)(end - text) + 1 : len;

		module_len = module_at_end(text + pos, end ? end : text + len, &module);
		if (!same_module(module, module_len, part.module, part.module_len)) {
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

		if (same_module(p->module, p->module_len, module, len))
			return p;
	}
	return NULL;
}

void kallsyms_index_done(struct kallsyms_index *index)
{
	vec_done(&index->parts);
}

static bool is_text(const struct kallsyms_line *line)
{
	return strchr("tTwW", line->type) && line->type && line->name[0] != '$';
}

/* As perf reads the types: 'W' is weak, another capital global. */
static enum symtab_binding binding_of(char type)
{
	if (type == 'W')
		return SYMTAB_WEAK;
	return type == 'T' ? SYMTAB_GLOBAL : SYMTAB_LOCAL;
}

struct wanted {
	const char *module;
	size_t module_len;
	uint64_t start;
};

static bool is_wanted(const struct kallsyms_line *line, const struct wanted *w)
{
	return is_text(line) && line->address >= w->start &&
	       same_module(line->module, line->module_len, w->module, w->module_len);
}

/* Appends the wanted lines.  `names` has room for the whole text: a name and its terminator
 * are shorter than its line.  *ret_hidden counts lines without an address. */
static int take_lines(const char *text, size_t len, const struct wanted *w, char *names,
		      symtab_candidates *c, size_t *ret_hidden)
{
	struct kallsyms_line line;
	size_t pos = 0;
	int r;

	*ret_hidden = 0;
	while ((r = kallsyms_next(text, len, &pos, &line)) >= 0) {
		struct symtab_candidate s = { 0 };

		if (r == 0 || !is_wanted(&line, w)) {
			*ret_hidden += r && !line.address;
			continue;
		}
		if (!line.address) {
			++*ret_hidden;
			continue;
		}
		s.offset = line.address - w->start;
		s.vaddr = line.address;
		s.binding = binding_of(line.type);
		s.name = names;
		memcpy(names, line.name, line.name_len);
		names[line.name_len] = '\0';
		names += line.name_len + 1;
		if (!vec_push(c, s))
			return -ENOMEM;
	}
	return 0;
}

int symtab_load_kallsyms(const char *text, size_t len, const char *module,
			 uint64_t start, struct symtab **ret_tab, struct err *err)
{
	struct wanted w = { module, module ? strlen(module) : 0, start };
	symtab_candidates candidates = { 0 };
	struct symtab *tab = calloc(1, sizeof(*tab));
	size_t hidden;
	int r;

	if (tab)
		tab->names = malloc(len + 1);
	if (!tab || !tab->names) {
		r = err_set(err, -ENOMEM, "no memory");
		goto out;
	}
	tab->run_base = start;
	r = take_lines(text, len, &w, tab->names, &candidates, &hidden);
	if (!r)
		r = symtab_build(tab, &candidates);
	if (r)
		err_set(err, r, "no memory");
	else if (!symtab_count(tab) && hidden)
		r = err_set(err, -ENODATA,
			    "kallsyms without addresses (kernel.kptr_restrict)");
	else if (!symtab_count(tab))
		r = err_set(err, -ENODATA, "no symbols of %s in kallsyms",
			    module ? module : "the kernel");
	if (!r) {
		*ret_tab = tab;
		tab = NULL;
	}
out:
	vec_done(&candidates);
	symtab_free(tab);
	return r;
}

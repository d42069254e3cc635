/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/symbols/name_patterns.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/containers/vec.h"
#include "base/err.h"
#include "base/files/io.h"
#include "resolve/symbols/name_patterns_priv.h"

enum {
	FILE_MAX_BYTES = 1 << 20,
	PATTERN_MAX_BYTES = 1 << 16, /* after replacing definitions */
	NAME_MAX_BYTES = 16384,
	ROUNDS_MAX = 100,
	GROUPS_MAX = 36 /* \0 to \9, \a to \z */
};

struct definition {
	char *name;
	char *text;
};

struct rule {
	regex_t regex;
	char *replacement;
	/* Groups used by the replacement, plus 1 for the whole match. */
	size_t nr_groups;
	char *literal; /* text that every match contains; "" if none is known */
};

struct name_patterns {
	VEC(struct definition) definitions;
	VEC(struct rule) rules;
};

/* A file that is being read. */
struct name_patterns_reading {
	struct name_patterns *patterns;
	const char *path;
	unsigned int line;
	struct err *err;
};

static const char *name_patterns_skip_blanks(const char *at)
{
	return at + strspn(at, " \t\r");
}

static int group_number(char c)
{
	if (isdigit((unsigned char)c))
		return c - '0';
	return islower((unsigned char)c) ? c - 'a' + 10 : -1;
}

static int bad_line(const struct name_patterns_reading *in, const char *what)
{
	(void)err_set(in->err, -EINVAL, "%s:%u: %s", in->path, in->line, what);
	return -EINVAL;
}

static int no_memory(const struct name_patterns_reading *in)
{
	(void)err_set(in->err, -ENOMEM, "out of memory");
	return -ENOMEM;
}

static const char *find_definition(const struct name_patterns *p, const char *name,
				   size_t len)
{
	/* A later definition of the same name overrides an earlier one. */
	for (size_t i = p->definitions.nr; i-- > 0;) {
		const struct definition *d = &p->definitions.at[i];

		if (!strncmp(d->name, name, len) && !d->name[len])
			return d->text;
	}
	return NULL;
}

/* Appends the definition of "${name}"; `at` is after the "$". Returns the position after it, or
 * NULL. */
static const char *put_definition(const struct name_patterns *p, const char *at,
				  struct buf *out)
{
	size_t len = *at == '{' ? strcspn(at + 1, "}") : 0;
	const char *text = len ? find_definition(p, at + 1, len) : NULL;

	if (!text || at[len + 1] != '}')
		return NULL;
	buf_put(out, text, strlen(text));
	return at + len + 2;
}

/* Copies the text with definitions replaced; the caller frees *ret. */
static int expand(const struct name_patterns_reading *in, const char *text, char **ret)
{
	struct buf out = { 0 };

	while (text && *text && out.len < PATTERN_MAX_BYTES) {
		size_t len = *text == '\\' && text[1] ? 2 : 1;

		/* A "$" without "{" is the anchor at the end of the name. */
		if (*text == '$' && text[1] == '{') {
			text = put_definition(in->patterns, text + 1, &out);
			continue;
		}
		buf_put(&out, text, len);
		text += len;
	}
	buf_put(&out, "", 1);
	if (!text || *text || out.failed) {
		bool failed = out.failed;

		buf_done(&out);
		if (failed)
			return no_memory(in);
		return bad_line(
			in, text ? "the pattern is too long"
				 : "no such definition, or its closing } is missing");
	}
	*ret = (char *)out.data;
	return 0;
}

/* Returns the text between the quotes at *at (malloc'd), or NULL if none exists. The last
 * quote before `stop` ends the text, so that quotes in it need no escapes. */
static char *take_quoted(const char **at, const char *stop)
{
	const char *begin = *at;
	const char *end;

	if (*begin != '"')
		return NULL;
	end = stop ? stop : begin + strlen(begin);
	while (end > begin + 1 && end[-1] != '"')
		end--;
	if (end <= begin + 1)
		return NULL;
	*at = end;
	return strndup(begin + 1, (size_t)(end - begin) - 2);
}

static int check_replacement(const struct name_patterns_reading *in, struct rule *rule)
{
	rule->nr_groups = 1;
	for (const char *at = rule->replacement; *at; at++) {
		int group;

		if (*at != '\\' || *++at == '\\')
			continue;
		group = group_number(*at);
		if (group < 0)
			return bad_line(
				in, "a \\ in the replacement without a group number");
		if ((size_t)group > rule->regex.re_nsub)
			return bad_line(in, "the pattern has fewer groups");
		if ((size_t)group >= rule->nr_groups)
			rule->nr_groups = (size_t)group + 1;
	}
	return 0;
}

static void rule_done(struct rule *rule)
{
	regfree(&rule->regex);
	free(rule->replacement);
	free(rule->literal);
}

/* Inserts a rule at index `at`. Consumes `replacement` on success. */
static int add_rule(const struct name_patterns_reading *in, const char *pattern,
		    char *replacement, size_t at)
{
	struct name_patterns *p = in->patterns;
	struct rule rule = { .replacement = replacement };
	char text[160];
	int r = regcomp(&rule.regex, pattern, REG_EXTENDED);

	if (r) {
		regerror(r, &rule.regex, text, sizeof(text));
		return bad_line(in, text);
	}
	r = check_replacement(in, &rule);
	if (!r) {
		rule.literal = name_pattern_literal(pattern);
		if (!rule.literal || !vec_push(&p->rules, rule) || !p->rules.at)
			r = no_memory(in);
	}
	if (r) {
		rule.replacement = NULL;
		rule_done(&rule);
		return r;
	}
	memmove(&p->rules.at[at + 1], &p->rules.at[at],
		(p->rules.nr - 1 - at) * sizeof(rule));
	p->rules.at[at] = rule;
	return 0;
}

/* Consumes both texts on success. */
static int add_definition(const struct name_patterns_reading *in, char *name,
			  char *text)
{
	const struct definition d = { name, text };

	return vec_push(&in->patterns->definitions, d) ? 0 : no_memory(in);
}

/* Parses $name = "text". */
static int take_definition(const struct name_patterns_reading *in, const char *line)
{
	const char *at = line + 1;
	char *expanded = NULL;
	char *text = NULL;
	char *name;
	int r;

	while (isalnum((unsigned char)*at) || *at == '_')
		at++;
	name = strndup(line + 1, (size_t)(at - line - 1));
	at = name_patterns_skip_blanks(at);
	if (*at == '=') {
		at = name_patterns_skip_blanks(at + 1);
		text = take_quoted(&at, NULL);
	}
	if (!name || !text || !name[0] || *name_patterns_skip_blanks(at))
		r = bad_line(in, "a definition is: $name = \"text\"");
	else
		r = expand(in, text, &expanded);
	if (!r)
		r = add_definition(in, name, expanded);
	free(text);
	if (r) {
		free(name);
		free(expanded);
	}
	return r;
}

/* Returns the "=" between the two texts of a rule: the first one with quotes on both sides. */
static const char *find_middle(const char *line)
{
	for (const char *at = strchr(line + 1, '"'); at; at = strchr(at + 1, '"')) {
		const char *after = name_patterns_skip_blanks(at + 1);

		if (*after == '=' && *name_patterns_skip_blanks(after + 1) == '"')
			return after;
	}
	return NULL;
}

/* Parses "pattern" = "replacement". */
static int take_rule(const struct name_patterns_reading *in, const char *line,
		     size_t place)
{
	const char *middle = *line == '"' ? find_middle(line) : NULL;
	const char *at = line;
	char *pattern = middle ? take_quoted(&at, middle) : NULL;
	char *replacement;
	char *expanded = NULL;
	int r;

	at = middle ? name_patterns_skip_blanks(middle + 1) : line;
	replacement = middle ? take_quoted(&at, NULL) : NULL;
	if (!pattern || !replacement || *name_patterns_skip_blanks(at))
		r = bad_line(in, "a rule is: \"pattern\" = \"replacement\"");
	else
		r = expand(in, pattern, &expanded);
	if (!r)
		r = add_rule(in, expanded, replacement, place);
	free(pattern);
	free(expanded);
	if (r)
		free(replacement);
	return r;
}

int name_patterns_add(struct name_patterns *p, const char *path, const char *text,
		      struct err *err)
{
	struct name_patterns_reading in = { p, path, 0, err };
	size_t place = 0;
	int r = 0;

	while (!r && *text) {
		size_t len = strcspn(text, "\n");
		char *line = strndup(text, len);
		const char *at;

		text += len + (text[len] == '\n');
		in.line++;
		if (!line)
			return no_memory(&in);
		at = name_patterns_skip_blanks(line);
		if (*at == '$')
			r = take_definition(&in, at);
		else if (*at && *at != '#')
			r = take_rule(&in, at, place++);
		free(line);
	}
	return r;
}

int name_patterns_read(struct name_patterns *p, const char *path, struct err *err)
{
	int fd = io_open(path, O_RDONLY, 0);
	int r;

	if (fd < 0)
		return err_sys(err, fd, "cannot open '%s'", path);
	r = name_patterns_read_fd(p, fd, path, err);
	close(fd);
	return r;
}

int name_patterns_read_fd(struct name_patterns *p, int fd, const char *path,
			  struct err *err)
{
	struct buf text = { 0 };
	int r = io_read_fd(fd, &text, FILE_MAX_BYTES);

	buf_put_u8(&text, 0);
	if (!r && text.failed)
		r = -ENOMEM;
	if (r)
		r = err_sys(err, r, "cannot read '%s'", path);
	else
		r = name_patterns_add(p, path, (const char *)text.data, err);
	buf_done(&text);
	return r;
}

int name_patterns_new(struct name_patterns **ret_patterns, struct err *err)
{
	struct name_patterns *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return err_set(err, -ENOMEM, "out of memory");
	r = name_patterns_add(p, "stl.pat", name_patterns_stl, err);
	if (r) {
		name_patterns_free(p);
		return r;
	}
	*ret_patterns = p;
	return 0;
}

static void put_replacement(const struct rule *rule, const char *name,
			    const regmatch_t *groups, struct buf *out)
{
	for (const char *at = rule->replacement; *at; at++) {
		const regmatch_t *group;

		if (*at != '\\' || *++at == '\\') {
			buf_put(out, at, 1);
			continue;
		}
		group = &groups[group_number(*at)];
		if (group->rm_so >= 0)
			buf_put(out, name + group->rm_so,
				(size_t)(group->rm_eo - group->rm_so));
	}
}

/* Replaces the first match in *name, with `spare` as buffer. Returns false if there is no
 * match, or the result is too long. */
static bool replace_once(const struct rule *rule, struct buf *name, struct buf *spare)
{
	const char *text = (const char *)name->data;
	regmatch_t groups[GROUPS_MAX];
	struct buf old = *name;

	if (!strstr(text, rule->literal) ||
	    regexec(&rule->regex, text, rule->nr_groups, groups, 0))
		return false;
	buf_clear(spare);
	buf_put(spare, text, (size_t)groups[0].rm_so);
	put_replacement(rule, text, groups, spare);
	buf_put(spare, text + groups[0].rm_eo, strlen(text + groups[0].rm_eo) + 1);
	if (spare->failed || spare->len > NAME_MAX_BYTES)
		return false;
	*name = *spare;
	*spare = old;
	return true;
}

static bool apply_all(const struct name_patterns *p, struct buf *name,
		      struct buf *spare)
{
	bool changed = false;

	for (size_t i = 0; i < p->rules.nr; i++) {
		int n = 0;

		while (n < ROUNDS_MAX && replace_once(&p->rules.at[i], name, spare))
			n++;
		changed = changed || n;
	}
	return changed;
}

char *name_patterns_apply(const struct name_patterns *p, const char *name)
{
	size_t len = strlen(name);
	struct buf text = { 0 };
	struct buf spare = { 0 };
	int round = 0;

	if (len >= NAME_MAX_BYTES)
		return NULL;
	buf_put(&text, name, len + 1);
	while (!text.failed && round < ROUNDS_MAX && apply_all(p, &text, &spare))
		round++;
	buf_done(&spare);
	/* An empty name is not useful. */
	if (!round || text.len <= 1)
		buf_done(&text);
	return (char *)text.data;
}

void name_patterns_free(struct name_patterns *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->definitions.nr; i++) {
		free(p->definitions.at[i].name);
		free(p->definitions.at[i].text);
	}
	for (size_t i = 0; i < p->rules.nr; i++)
		rule_done(&p->rules.at[i]);
	vec_done(&p->definitions);
	vec_done(&p->rules);
	free(p);
}

/* name_patterns_literal.c - the parts of a pattern that a name must contain. */
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "resolve/symbols/name_patterns_priv.h"

/* What stands at `at` outside of groups. */
static bool name_patterns_literal_is_plain(const char *at)
{
	return *at && !strchr("[](){}.*+?|^$\\", *at);
}

/* At the "]" of a bracket expression, or at the end of the text. */
static const char *bracket_end(const char *at)
{
	at += at[1] == '^' ? 2 : 1;
	at += *at == ']';
	while (*at && *at != ']') {
		const char *class_end =
			strncmp(at, "[:", 2) == 0 ? strstr(at + 2, ":]") : NULL;

		at = class_end ? class_end + 2 : at + 1;
	}
	return at;
}

/* Behind a group or a bracket expression that begins at `at`. */
static const char *skip_part(const char *at)
{
	unsigned int depth = 0;

	do {
		if (*at == '\\' && at[1]) {
			at++;
		} else if (*at == '[') {
			at = bracket_end(at);
			if (!*at)
				return at;
		} else if (*at == '(') {
			depth++;
		} else if (*at == ')' && depth) {
			depth--;
		}
		at++;
	} while (depth && *at);
	return at;
}

/* One character that matches itself, and *ret_next behind it; else NULL and behind whatever
 * it is. */
static const char *take_literal(const char *at, const char **ret_next)
{
	const char *c = NULL;

	if (*at == '[' || *at == '(') {
		*ret_next = skip_part(at);
		return NULL;
	}
	if (*at == '{') {
		*ret_next = at + strcspn(at, "}");
		*ret_next += **ret_next == '}';
		return NULL;
	}
	if (name_patterns_literal_is_plain(at))
		c = at;
	else if (*at == '\\' && at[1] && ispunct((unsigned char)at[1]) &&
		 !strchr("<>`'", at[1]))
		c = ++at;
	else if (*at == '\\' && at[1])
		at++; /* \w, \<, \1: something else */
	*ret_next = at + 1;
	/* It may be missing, or be there several times. */
	if (c && **ret_next && strchr("*?{", **ret_next))
		c = NULL;
	return c;
}

/* "a|b" outside of groups: nothing is in all matches. */
static bool has_choice(const char *pattern)
{
	const char *next;

	for (const char *at = pattern; *at; at = next) {
		if (*at == '|')
			return true;
		take_literal(at, &next);
	}
	return false;
}

char *name_pattern_literal(const char *pattern)
{
	size_t len = strlen(pattern);
	char *best = calloc(1, len + 1);
	char *run = malloc(len + 1);
	size_t best_len = 0;
	size_t run_len = 0;
	const char *next;

	if (!best || !run) {
		free(best);
		free(run);
		return NULL;
	}
	if (has_choice(pattern))
		pattern = "";
	for (const char *at = pattern; *at; at = next) {
		const char *c = take_literal(at, &next);

		if (c)
			run[run_len++] = *c;
		if (run_len > best_len) {
			memcpy(best, run, run_len);
			best_len = run_len;
		}
		/* "a+" has an a, but what follows need not follow that one. */
		if (!c || *next == '+')
			run_len = 0;
	}
	free(run);
	return best;
}

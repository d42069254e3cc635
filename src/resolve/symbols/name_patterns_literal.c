/* SPDX-License-Identifier: GPL-2.0-or-later */
/* name_patterns_literal.c - finds text that every match of a pattern contains. */
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "resolve/symbols/name_patterns_priv.h"

/* Returns whether the character at `at`, outside of groups, matches itself. */
static bool name_patterns_literal_is_plain(const char *at)
{
	return *at && !strchr("[](){}.*+?|^$\\", *at);
}

/* Returns the "]" of a bracket expression, or the end of the text. */
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

/* Returns the position after the group or bracket expression that begins at `at`. */
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

/* Returns the next character if it matches exactly itself, else NULL. *ret_next is the position
 * after it, or after the element that is there instead. */
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
		at++; /* \w, \<, \1: not a literal */
	*ret_next = at + 1;
	/* The character is optional or can be repeated. */
	if (c && **ret_next && strchr("*?{", **ret_next))
		c = NULL;
	return c;
}

/* Returns whether there is "a|b" outside of groups: then no text is in all matches. */
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
		/* "a+" contains an a, but the next character need not follow this a. */
		if (!c || *next == '+')
			run_len = 0;
	}
	free(run);
	return best;
}

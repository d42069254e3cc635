/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_name_patterns.c - any bytes as a demangled name under the built-in rules, and as a file
 * of rules. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "resolve/symbols/name_patterns.h"
#include "resolve/symbols/name_patterns_priv.h"

enum {
	RULES_MAX = 256 /* bytes; longer rules would only test regcomp(3) */
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Skips texts that do not start like a file of rules, because compiling the built-in rules is
 * slow. */
static void read_rules(const char *text, size_t size)
{
	struct name_patterns *p;

	/* "a{255}{255}" makes regcomp use all memory. */
	if (!strchr("$\"#", text[0]) || size > RULES_MAX || strstr(text, "}{") ||
	    name_patterns_new(&p, NULL))
		return;
	(void)name_patterns_add(p, "own", text, NULL);
	free(name_patterns_apply(p, "std::map<int, a::b<c> >::f(long)"));
	name_patterns_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct name_patterns *builtin;
	char *text = malloc(size + 1);
	char *literal;

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	literal = name_pattern_literal(text);
	if (literal && strlen(literal) > size)
		abort();
	free(literal);
	if (!builtin && name_patterns_new(&builtin, NULL))
		builtin = NULL;
	if (builtin)
		free(name_patterns_apply(builtin, text));
	read_rules(text, size);
	free(text);
	return 0;
}

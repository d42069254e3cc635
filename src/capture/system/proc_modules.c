/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/system/proc_modules.h"

#include <stdio.h>
#include <string.h>

#include "base/parse.h"

enum {
	FIELD_NAME = 0,
	FIELD_BYTES = 1,
	FIELD_STATE = 4,
	FIELD_ADDRESS = 5,
	NR_FIELDS,
	NUMBER_BYTES = 32
};

struct word {
	const char *at;
	size_t len;
};

static size_t proc_modules_split(const char *line, size_t len,
				 struct word words[NR_FIELDS])
{
	size_t nr = 0;

	for (size_t i = 0; i < len && nr < NR_FIELDS; i++) {
		size_t begin = i;

		while (i < len && line[i] != ' ')
			i++;
		if (i > begin)
			words[nr++] = (struct word){ line + begin, i - begin };
	}
	return nr;
}

static bool number(const struct word *w, uint64_t *ret)
{
	char text[NUMBER_BYTES];

	if (w->len >= sizeof(text))
		return false;
	memcpy(text, w->at, w->len);
	text[w->len] = '\0';
	return parse_u64(text, ret);
}

static bool proc_modules_is_word(const struct word *w, const char *text)
{
	return w->len == strlen(text) && !memcmp(w->at, text, w->len);
}

static bool proc_modules_take_line(const char *line, size_t len,
				   struct proc_module *ret)
{
	struct word words[NR_FIELDS];
	const struct word *name = &words[FIELD_NAME];

	memset(ret, 0, sizeof(*ret));
	if (proc_modules_split(line, len, words) < NR_FIELDS ||
	    name->len >= sizeof(ret->name) || name->at[0] == '.' ||
	    memchr(name->at, '/', name->len) ||
	    !number(&words[FIELD_BYTES], &ret->bytes) ||
	    !number(&words[FIELD_ADDRESS], &ret->address))
		return false;
	memcpy(ret->name, name->at, name->len);
	ret->live = proc_modules_is_word(&words[FIELD_STATE], "Live");
	return true;
}

bool proc_modules_next(const char **at, struct proc_module *ret_module)
{
	while (**at) {
		const char *line = *at;
		size_t len = strcspn(line, "\n");

		*at = line + len + (line[len] == '\n');
		if (proc_modules_take_line(line, len, ret_module))
			return true;
	}
	return false;
}

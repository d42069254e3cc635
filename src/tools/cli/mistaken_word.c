/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/cli/mistaken_word.h"

#include <errno.h>
#include <stdbool.h>

#include "aggregate/selection/spec.h"
#include "base/err.h"
#include "recordings/sources.h"
#include "recordings/word_fault.h"
#include "tools/cli/command.h"

void mistaken_word_say(const struct report_sources *sources, const struct spec *spec,
		       int code)
{
	const struct spec_list *words = &spec->lists[SPEC_ANY_IMAGE];

	if (code != -ENOENT && code != -ENODATA)
		return;
	for (size_t i = 0; i < words->values.nr; i++) {
		const char *word = words->values.at[i];
		struct err err;

		if (report_source_is(word) ||
		    !word_fault(word, !sources->sessions.nr, &err))
			continue;
		command_error("%s (interpreted as the name of a binary)", err.text);
		return;
	}
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_record_form.c - any bytes as the form of the page that starts a recording. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "serve/page/record_form.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Options that a form can lead to; all other arguments follow "--". */
static int is_known_option(const char *word)
{
	static const char *const options[] = { "--session-dir=/dir",
					       "--event=",
					       "--frequency=",
					       "--callgraph=",
					       "--separate-thread",
					       "--separate-cpu",
					       "--separate=",
					       "--vmlinux=",
					       "--pid=",
					       "--system-wide",
					       "--start" };

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (!strncmp(word, options[i], strlen(options[i])))
			return 1;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct record_form form = { 0 };
	struct form_words w = { 0 };
	struct err err = { 0 };
	int r = record_form_parse((const char *)data, size, &form, &err);

	if (!r)
		r = record_form_words(&form, "/dir", &w, &err);
	assert(!r || (err.code && *err.text));
	for (size_t i = 2; !r && w.words.at[i] && strcmp(w.words.at[i], "--") != 0; i++)
		assert(is_known_option(w.words.at[i]));
	form_words_done(&w);
	record_form_done(&form);
	return 0;
}

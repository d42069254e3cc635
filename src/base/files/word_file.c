/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/files/word_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/files/io.h"

enum {
	FILE_MAX_BYTES = 64 << 20,
	DEPTH_MAX = 8
};

static bool push_copy(struct word_file *w, const char *word)
{
	if (!vec_grow(&w->words))
		return false;
	w->words.at[w->words.nr] = strdup(word);
	if (!w->words.at[w->words.nr])
		return false;
	w->words.nr++;
	return true;
}

/* Stores the next word of the text in `word`, without quotes. Returns false at the end. */
static bool word_file_next_word(const char **at, struct buf *word)
{
	const char *p = *at;
	char quote = 0;

	while (isspace((unsigned char)*p))
		p++;
	if (!*p)
		return false;
	buf_clear(word);
	for (; *p && (quote || !isspace((unsigned char)*p)); p++) {
		if (*p == '\\' && p[1])
			buf_put_u8(word, (uint8_t) * ++p);
		else if (quote ? *p == quote : (*p == '\'' || *p == '"'))
			quote = (char)(quote ? 0 : *p);
		else
			buf_put_u8(word, (uint8_t)*p);
	}
	buf_put_u8(word, '\0');
	*at = p;
	return true;
}

static int word_file_add_word(struct word_file *w, const char *word, int depth,
			      struct err *err)
{
	struct buf text = { 0 };
	struct buf part = { 0 };
	const char *at;
	int r = 0;

	if (word[0] != '@' || io_read_file(word + 1, &text, FILE_MAX_BYTES)) {
		buf_done(&text);
		return push_copy(w, word) ? 0 : err_set(err, -ENOMEM, "out of memory");
	}
	if (depth >= DEPTH_MAX) {
		buf_done(&text);
		return err_set(err, -E2BIG,
			       "'%s': argument files are nested too deeply", word + 1);
	}
	buf_put_u8(&text, '\0');
	at = (const char *)text.data;
	while (!r && !text.failed && word_file_next_word(&at, &part))
		r = part.failed
			    ? -ENOMEM
			    : word_file_add_word(w, (const char *)part.data,
						 depth + 1, // NOLINT(misc-no-recursion)
						 err);
	if (text.failed || r == -ENOMEM)
		r = err_set(err, -ENOMEM, "out of memory");
	buf_done(&part);
	buf_done(&text);
	return r;
}

int word_file_expand(struct word_file *w, int argc, char **argv, struct err *err)
{
	*w = (struct word_file){ 0 };
	for (int i = 0; i < argc; i++) {
		int r = i                       ? word_file_add_word(w, argv[i], 0, err)
			: push_copy(w, argv[i]) ? 0
						: -ENOMEM;

		if (r) {
			word_file_done(w);
			return r;
		}
	}
	w->argc = (int)w->words.nr;
	if (!vec_push(&w->words, NULL)) {
		word_file_done(w);
		return err_set(err, -ENOMEM, "out of memory");
	}
	w->argv = w->words.at;
	return 0;
}

void word_file_done(struct word_file *w)
{
	for (size_t i = 0; i < w->words.nr; i++)
		free(w->words.at[i]);
	vec_done(&w->words);
	*w = (struct word_file){ 0 };
}

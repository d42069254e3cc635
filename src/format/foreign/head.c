/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/foreign/head.h"

#include <ctype.h>
#include <string.h>

#include "format/foreign/foreign.h"

struct foreign_word foreign_head_text(const struct foreign_head *head)
{
	struct foreign_word w = { head->bytes, head->len };

	if (w.len >= 3 && !memcmp(w.at, "\xef\xbb\xbf", 3))
		w = (struct foreign_word){ w.at + 3, w.len - 3 };
	while (w.len && isspace((unsigned char)*w.at))
		w = (struct foreign_word){ w.at + 1, w.len - 1 };
	return w;
}

static bool head_line_begins(struct foreign_word line, const char *text)
{
	size_t len = strlen(text);

	return line.len >= len && !memcmp(line.at, text, len);
}

bool foreign_head_has_first(const struct foreign_head *head, const char *text)
{
	const char *at = head->bytes;
	struct foreign_word line;

	while (foreign_line(&at, head->bytes + head->lines_len, &line))
		if (line.len && line.at[0] != '#')
			return head_line_begins(line, text);
	return false;
}

bool foreign_head_has_line(const struct foreign_head *head, const char *text)
{
	const char *at = head->bytes;
	struct foreign_word line;

	while (foreign_line(&at, head->bytes + head->lines_len, &line))
		if (head_line_begins(line, text))
			return true;
	return false;
}

bool foreign_head_has_key(const struct foreign_head *head, const char *key)
{
	const char *at = head->bytes;
	const char *end = at + head->len;
	size_t len = strlen(key);

	while ((at = memmem(at, (size_t)(end - at), key, len))) {
		const char *after = at + len;

		at++;
		if (at < head->bytes + 2 || at[-2] != '"' || after == end ||
		    *after != '"')
			continue;
		do
			after++;
		while (after < end && isspace((unsigned char)*after));
		if (after < end && *after == ':')
			return true;
	}
	return false;
}

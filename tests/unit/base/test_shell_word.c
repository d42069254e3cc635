/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/shell_word.h"

#include <string.h>

#include "base/buf.h"
#include "unit.h"

static void expect_word(const char *word, const char *quoted)
{
	struct buf out = { 0 };

	shell_word_put(&out, word);
	assert_false(out.failed);
	assert_int_equal(out.len, strlen(quoted));
	assert_memory_equal(out.data, quoted, out.len);
	buf_done(&out);
}

static void quotes_words_with_special_characters(void **state)
{
	(void)state;
	expect_word("/usr/bin/a-b_c.so.1", "/usr/bin/a-b_c.so.1");
	expect_word("", "''");
	expect_word("a b", "'a b'");
	expect_word("$(rm)", "'$(rm)'");
	expect_word("it's", "'it'\\''s'");
	expect_word("a\nb", "'a\nb'");
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(quotes_words_with_special_characters),
	};

	return UNIT_RUN(cases);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/log.h"

#include <stddef.h>
#include <string.h>

#include "unit.h"

static size_t nr_said;
static char last[64];

static void sink(enum log_level level, const char *text)
{
	(void)level;
	nr_said++;
	strncpy(last, text, sizeof(last) - 1);
}

static void once_compares_the_text(void **state)
{
	(void)state;
	log_say_once(LOG_NOTE, "%s: nobody hears", "a");
	log_set_sink(sink);
	for (int i = 0; i < 3; i++)
		log_say_once(LOG_NOTE, "%s: is heard", "a");
	assert_int_equal(nr_said, 1);
	log_say_once(LOG_NOTE, "%s: is heard", "b");
	assert_int_equal(nr_said, 2);
	assert_string_equal(last, "b: is heard");
	/* A message that was dropped does not count as reported. */
	log_say_once(LOG_NOTE, "%s: nobody hears", "a");
	assert_int_equal(nr_said, 3);
	log_say(LOG_NOTE, "a: is heard");
	assert_int_equal(nr_said, 4);
}

/* If there are more messages than the log remembers, each one is reported every time. */
static void reports_suppressed_messages(void **state)
{
	size_t before;

	(void)state;
	for (int i = 0; i < 5000; i++)
		log_say_once(LOG_NOTE, "line %d", i);
	before = nr_said;
	log_say_once(LOG_NOTE, "line 1");
	assert_int_equal(nr_said, before);
	log_say_once(LOG_NOTE, "line 4999");
	assert_int_equal(nr_said, before + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(once_compares_the_text),
		cmocka_unit_test(reports_suppressed_messages),
	};

	return UNIT_RUN(tests);
}

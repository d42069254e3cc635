/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/system/module_watch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "unit.h"

static void parses_lines_of_modules(void **state)
{
	static const char text[] = "ext4 1003520 2 - Live 0xffffffffc0400000\n"
				   "\n"
				   "loop 40960 0 mbcache,jbd2, Loading 0xc0 (OE)\n"
				   "../x 1 0 - Live 0x1\n"
				   ".hidden 1 0 - Live 0x1\n"
				   "cut 1 0 - Live\n"
				   "bad size 0 - Live 0x1\n"
				   "late 7 0 - Unloading 0x0";
	const char *at = text;
	struct proc_module m;

	(void)state;
	assert_true(proc_modules_next(&at, &m));
	assert_string_equal(m.name, "ext4");
	assert_true(m.address == 0xffffffffc0400000 && m.bytes == 1003520 && m.live);
	assert_true(proc_modules_next(&at, &m));
	assert_string_equal(m.name, "loop");
	assert_true(m.address == 0xc0 && m.bytes == 40960 && !m.live);
	assert_true(proc_modules_next(&at, &m));
	assert_string_equal(m.name, "late");
	assert_true(m.address == 0 && !m.live);
	assert_false(proc_modules_next(&at, &m));
	assert_false(proc_modules_next(&at, &m));
}

/* A name that is too long is ignored, without affecting other lines. */
static void handles_long_names(void **state)
{
	char text[PROC_MODULE_NAME_MAX + 64];
	const char *at = text;
	struct proc_module m;

	(void)state;
	for (int len = PROC_MODULE_NAME_MAX - 1; len <= PROC_MODULE_NAME_MAX; len++) {
		at = text;
		memset(text, 'a', (size_t)len);
		(void)snprintf(text + len, sizeof(text) - (size_t)len,
			       " 1 0 - Live 0x1\nb 2 0 - Live 0x2\n");
		assert_true(proc_modules_next(&at, &m));
		assert_int_equal(m.bytes, len < PROC_MODULE_NAME_MAX ? 1 : 2);
	}
}

struct told {
	char text[256];
	int result;
};

static int note(void *ctx, enum module_event event, const struct proc_module *m)
{
	struct told *t = ctx;
	size_t len = strlen(t->text);

	(void)snprintf(t->text + len, sizeof(t->text) - len, "%c%s@%llx ",
		       event == MODULE_LOADED ? '+' : '=', m->name,
		       (unsigned long long)m->address);
	return t->result;
}

static void look(struct module_watch *w, const char *text, const char *expected)
{
	struct told t = { 0 };

	assert_int_equal(module_watch_take(w, text, note, &t), 0);
	assert_string_equal(t.text, expected);
}

static void reports_loaded_modules(void **state)
{
	struct module_watch w = { 0 };

	(void)state;
	look(&w, "a 1 0 - Live 0x10\nold 1 0 - Loading 0x90\n", "");
	look(&w, "a 1 2 - Live 0x10\nb 1 0 - Live 0x20\nz 1 0 - Live 0x0\n",
	     "+b@20 =b@20 ");
	look(&w, "b 1 0 - Live 0x20\nc 1 0 - Loading 0x30\na 1 0 - Live 0x10\n",
	     "+c@30 ");
	look(&w, "c 1 0 - Live 0x30\nb 1 0 - Live 0x20\n", "=c@30 ");
	/* A module is loaded at another address, and again at the first one. */
	look(&w, "c 1 0 - Live 0x40\na 1 0 - Live 0x10\n", "+c@40 =c@40 +a@10 =a@10 ");
	look(&w, "", "");
	look(&w, "c 1 0 - Live 0x40\n", "+c@40 =c@40 ");
	module_watch_done(&w);
}

static void remembers_modules_reported_by_the_kernel(void **state)
{
	struct module_watch w = { 0 };

	(void)state;
	look(&w, "", "");
	assert_false(module_watch_is_reported(&w));
	module_watch_reported(&w, "b", 700);
	module_watch_reported(&w, "b", 800);
	module_watch_reported(&w, "gone", 750);
	assert_true(module_watch_is_reported(&w));
	assert_int_equal(module_watch_time(&w, "b"), 800);
	assert_int_equal(module_watch_time(&w, "a"), 0);
	look(&w, "a 9 0 - Loading 0x10\nb 9 0 - Loading 0x20\n", "+a@10 +b@20 =b@20 ");
	assert_false(module_watch_is_reported(&w));
	/* Modules become smaller when they are live, but stay the same. */
	look(&w, "a 7 0 - Live 0x10\nb 7 0 - Live 0x20\n", "=a@10 ");
	/* A module that is larger, or at another address, is a different one. */
	look(&w, "a 10 0 - Live 0x10\nb 7 0 - Live 0x28\n", "+a@10 =a@10 +b@28 =b@28 ");
	module_watch_done(&w);
}

/* A module is live for a moment before its init sections are freed. */
static void recognizes_a_module_that_shrinks(void **state)
{
	struct module_watch w = { 0 };

	(void)state;
	look(&w, "", "");
	look(&w, "a 9 0 - Live 0x10\n", "+a@10 =a@10 ");
	look(&w, "a 7 0 - Live 0x10\n", "");
	look(&w, "a 7 0 - Live 0x10\n", "");
	/* A module shrinks only once: a smaller one is another module. */
	look(&w, "a 5 0 - Live 0x10\n", "+a@10 =a@10 ");
	/* Two modules in one text count as two, also at the next look. */
	look(&w, "b 9 0 - Live 0x20\nb 7 0 - Live 0x20\n", "+b@20 =b@20 +b@20 =b@20 ");
	look(&w, "b 9 0 - Live 0x20\nb 7 0 - Live 0x20\n", "");
	module_watch_done(&w);
}

static void passes_errors_on(void **state)
{
	struct module_watch w = { 0 };
	struct told t = { .result = -ENOSPC };

	(void)state;
	look(&w, "", "");
	assert_int_equal(module_watch_take(&w, "a 1 0 - Live 0x10\n", note, &t),
			 -ENOSPC);
	assert_string_equal(t.text, "+a@10 ");
	module_watch_done(&w);
}

/* The real list of this machine: neither the first look nor the next one reports any module. */
static void reads_the_real_list(void **state)
{
	struct module_watch w = { 0 };
	struct told t = { 0 };

	(void)state;
	assert_int_equal(module_watch_look(&w, note, &t), 0);
	assert_string_equal(t.text, "");
	assert_int_equal(module_watch_look(&w, note, &t), 0);
	module_watch_done(&w);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(parses_lines_of_modules),
		cmocka_unit_test(handles_long_names),
		cmocka_unit_test(reports_loaded_modules),
		cmocka_unit_test(remembers_modules_reported_by_the_kernel),
		cmocka_unit_test(recognizes_a_module_that_shrinks),
		cmocka_unit_test(passes_errors_on),
		cmocka_unit_test(reads_the_real_list),
	};

	return UNIT_RUN(cases);
}

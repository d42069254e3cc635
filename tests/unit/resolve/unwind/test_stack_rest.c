/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "resolve/unwind/stack_rest.h"
#include "resolve/unwind/unwind.h"

enum {
	WORDS = 16384,
	START = 0x7f0000,
	IN_WINDOW = 64, /* words that were copied */
	CODE = 0x400000 /* and a page after it */
};

/* A process: words from START up; memory after its stack is not mapped. */
struct process {
	uint64_t words[WORDS];
	uint64_t mapped; /* bytes */
	int32_t pid;
	unsigned int nr_copies;
};

static size_t copy(void *ctx, int32_t pid, uint64_t address, void *bytes, size_t len)
{
	struct process *p = ctx;
	uint64_t at = address - START;

	p->nr_copies++;
	if (pid != p->pid || at >= p->mapped)
		return 0;
	len = len < p->mapped - at ? len : (size_t)(p->mapped - at);
	memcpy(bytes, (const uint8_t *)p->words + at, len);
	return len;
}

static bool is_code(void *ctx, uint64_t address)
{
	(void)ctx;
	return address - CODE < 4096;
}

struct fixture {
	struct process process;
	uint64_t copied[IN_WINDOW];
	struct unwind_window window;
	struct stack_rest rest;
};

/* Every eighth word is a return address; the others are numbers. */
static struct fixture *begin(size_t words_copied)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	for (uint64_t i = 0; i < WORDS; i++)
		f->process.words[i] = i % 8 ? i : CODE + i % 4096;
	f->process.mapped = sizeof(f->process.words);
	f->process.pid = 7;
	memcpy(f->copied, f->process.words, sizeof(f->copied));
	f->window = (struct unwind_window){ .bytes = (const uint8_t *)f->copied,
					    .len = words_copied * sizeof(uint64_t),
					    .start = START };
	f->rest.copy = copy;
	f->rest.ctx = &f->process;
	f->rest.is_code = is_code;
	f->rest.pid = 7;
	stack_rest_begin(&f->rest, &f->window, true);
	return f;
}

static bool word_at(struct fixture *f, uint64_t word, uint64_t *ret_value)
{
	return stack_rest_read(&f->rest, START + word * 8, 8, ret_value);
}

static void reads_the_copy_first(void **state)
{
	struct fixture *f = begin(IN_WINDOW);
	uint64_t v = 0;

	(void)state;
	f->process.words[9] = 1000;
	assert_true(word_at(f, 9, &v));
	assert_true(v == 9);
	assert_true(stack_rest_read(&f->rest, START + 8 * 9, 4, &v));
	assert_true(v == 9);
	assert_false(stack_rest_read(&f->rest, START - 8, 8, &v));
	assert_false(stack_rest_read(&f->rest, START + 8 * 9, 2, &v));
	assert_int_equal(f->process.nr_copies, 0);
	free(f);
}

static void continues_in_the_process_if_its_stack_agrees(void **state)
{
	struct fixture *f = begin(IN_WINDOW);
	uint64_t v = 0;

	(void)state;
	assert_true(word_at(f, 48, &v));
	assert_true(word_at(f, 49, &v));
	/* This word is not a return address, so it may have changed. */
	f->process.words[49] = 1000;
	assert_true(word_at(f, IN_WINDOW, &v));
	assert_true(v == CODE + IN_WINDOW);
	/* Reads words that are further apart than one read, forwards and backwards. */
	assert_true(word_at(f, WORDS - 1, &v));
	assert_true(v == WORDS - 1);
	assert_true(word_at(f, IN_WINDOW + 1, &v));
	assert_true(v == IN_WINDOW + 1);
	assert_false(word_at(f, WORDS, &v));
	free(f);
}

static void rejects_a_stack_that_has_changed(void **state)
{
	struct fixture *f = begin(IN_WINDOW);
	uint64_t v = 0;

	(void)state;
	assert_true(word_at(f, 40, &v));
	assert_true(word_at(f, 48, &v));
	f->process.words[40] = CODE + 1;
	assert_false(word_at(f, IN_WINDOW, &v));
	/* The result stays the same for this stack. */
	f->process.words[40] = f->copied[40];
	assert_false(word_at(f, IN_WINDOW, &v));
	stack_rest_begin(&f->rest, &f->window, true);
	assert_true(word_at(f, 40, &v));
	assert_true(word_at(f, IN_WINDOW, &v));
	free(f);
}

static void an_ended_process_has_no_stack(void **state)
{
	struct fixture *f = begin(IN_WINDOW);
	uint64_t v = 0;

	(void)state;
	f->process.mapped = 0;
	assert_true(word_at(f, 48, &v));
	assert_false(word_at(f, IN_WINDOW, &v));
	free(f);
}

/* A frame that is larger than the copy: its whole end has to be equal. */
static void compares_the_end_without_return_addresses(void **state)
{
	struct fixture *f = begin(IN_WINDOW);
	uint64_t v = 0;

	(void)state;
	assert_true(word_at(f, IN_WINDOW, &v));
	assert_true(v == CODE + IN_WINDOW);
	stack_rest_begin(&f->rest, &f->window, true);
	f->process.words[IN_WINDOW - 1]++;
	assert_false(word_at(f, IN_WINDOW, &v));
	f->window.len = 0;
	stack_rest_begin(&f->rest, &f->window, true);
	assert_false(word_at(f, IN_WINDOW, &v));
	free(f);
}

static void reads_32_bit_stacks(void **state)
{
	struct fixture *f = begin(IN_WINDOW);
	uint64_t v = 0;

	(void)state;
	stack_rest_begin(&f->rest, &f->window, false);
	assert_true(stack_rest_read(&f->rest, START + 48 * 8, 4, &v));
	assert_true(v == CODE + 48);
	assert_true(stack_rest_read(&f->rest, START + IN_WINDOW * 8, 4, &v));
	assert_true(v == CODE + IN_WINDOW);
	f->process.words[48]++;
	stack_rest_begin(&f->rest, &f->window, false);
	assert_true(stack_rest_read(&f->rest, START + 48 * 8, 4, &v));
	assert_false(stack_rest_read(&f->rest, START + IN_WINDOW * 8, 4, &v));
	free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_the_copy_first),
		cmocka_unit_test(continues_in_the_process_if_its_stack_agrees),
		cmocka_unit_test(rejects_a_stack_that_has_changed),
		cmocka_unit_test(an_ended_process_has_no_stack),
		cmocka_unit_test(compares_the_end_without_return_addresses),
		cmocka_unit_test(reads_32_bit_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

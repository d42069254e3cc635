/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests the functions of a sample profile: which are the same, how counts are summed up, and
 * the text, in the order of LLVM's own writer (llvm/ProfileData/SampleProfWriter.cpp). */
#include "base/array.h"
#include "present/export/afdo_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "alloc_fail.h"
#include "unit.h"

/* llvm/IR/DebugInfoMetadata.h, encodeDiscriminator(): block, copies and copy, each after a bit. */
static void discriminators_have_blocks_and_copies(void **state)
{
	(void)state;
	assert_int_equal(afdo_at(7, 0).block, 0);
	assert_int_equal(afdo_at(7, 3 << 1).block, 3);
	assert_int_equal(afdo_at(0x12345, 0).line, 0x2345);
	/* More than five bits: the sixth one indicates seven more. */
	assert_int_equal(afdo_at(7, (100u & 0x1f) << 1 | 0x40 | (100u >> 5) << 7).block,
			 100);
	assert_int_equal(afdo_copies(0), 1);
	assert_int_equal(afdo_copies(1 | 4 << 2), 4);           /* no block, copies */
	assert_int_equal(afdo_copies(3 << 1 | 8 << 1 << 7), 8); /* both */
}

static void uses_names_of_the_source(void **state)
{
	static const char *const endings[] = {
		".llvm.123", ".part.0", ".cold", ".constprop.0.isra.1", ".lto_priv.7",
	};
	static const char *const unwritable[] = { "",   "a b", "a\n", "\x7f",
						  "1a", "!x",  ":",   ".cold x" };
	struct afdo_tree t = { 0 };
	uint32_t work;

	(void)state;
	assert_int_equal(afdo_tree_init(&t), 0);
	work = afdo_tree_name(&t, "work");
	for (size_t i = 0; i < COUNT_OF(endings); i++) {
		char name[64];

		snprintf(name, sizeof(name), "work%s", endings[i]);
		assert_int_equal(afdo_tree_name(&t, name), work);
	}
	for (size_t i = 0; i < COUNT_OF(unwritable); i++)
		assert_int_equal(afdo_tree_name(&t, unwritable[i]), AFDO_NONE);
	assert_string_equal(strtab_get(&t.names, afdo_tree_name(&t, ".cold")), ".cold");
	assert_false(afdo_tree_failed(&t));
	afdo_tree_done(&t);
}

static char *text_of(struct afdo_tree *t)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_int_equal(afdo_tree_write(t, out), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

/* Returns 0 or -ENOMEM. */
static int fill(struct afdo_tree *t)
{
	const struct afdo_at top = { 0 };
	uint32_t small = afdo_tree_node(t, AFDO_NONE, top, afdo_tree_name(t, "small"));
	uint32_t large = afdo_tree_node(t, AFDO_NONE, top, afdo_tree_name(t, "large"));
	uint32_t inlined, spot;

	if (small == AFDO_NONE || large == AFDO_NONE)
		return -ENOMEM;
	for (uint32_t line = 3; line > 0; line--) {
		spot = afdo_tree_spot(t, small, (struct afdo_at){ line, line & 1 });
		if (spot == AFDO_NONE)
			return -ENOMEM;
		afdo_tree_add(t, spot, line);
	}
	inlined = afdo_tree_node(t, large, (struct afdo_at){ 9, 2 },
				 afdo_tree_name(t, "inner"));
	spot = inlined == AFDO_NONE
		       ? AFDO_NONE
		       : afdo_tree_spot(t, inlined, (struct afdo_at){ 1, 0 });
	if (spot == AFDO_NONE)
		return -ENOMEM;
	/* Within a source the maximum counts; sources are added. */
	for (int source = 0; source < 2; source++) {
		afdo_tree_most(t, spot, 20);
		afdo_tree_most(t, spot, 50);
		afdo_tree_most(t, spot, 30);
		afdo_tree_settle(t);
	}
	spot = afdo_tree_spot(t, large, (struct afdo_at){ 4, 0 });
	if (spot == AFDO_NONE ||
	    afdo_tree_call(t, spot, afdo_tree_name(t, "small"), 5) ||
	    afdo_tree_call(t, spot, afdo_tree_name(t, "other"), 6) ||
	    afdo_tree_call(t, spot, afdo_tree_name(t, "small"), 2) ||
	    afdo_tree_call(t, AFDO_NONE, afdo_tree_name(t, "large"), 4))
		return -ENOMEM;
	return 0;
}

static void text_lists_functions_by_samples(void **state)
{
	struct afdo_tree t = { 0 };
	char *text;

	(void)state;
	assert_int_equal(afdo_tree_init(&t), 0);
	text = text_of(&t);
	assert_string_equal(text, "");
	free(text);
	assert_int_equal(fill(&t), 0);
	/* The functions large and small, and `other`, which was called. */
	assert_int_equal(afdo_tree_nr_functions(&t), 3);
	text = text_of(&t);
	assert_string_equal(text, "large:100:4\n"
				  " 4: 0 small:7 other:6\n"
				  " 9.2: inner:100\n"
				  "  1: 100\n"
				  "small:6:7\n"
				  " 1.1: 1\n"
				  " 2: 2\n"
				  " 3.1: 3\n"
				  "other:0:6\n");
	free(text);
	afdo_tree_done(&t);
}

static void equal_keys_share_a_node(void **state)
{
	const struct afdo_at at = { 5, 1 };
	struct afdo_tree t = { 0 };
	uint32_t name, node, inlined;

	(void)state;
	assert_int_equal(afdo_tree_init(&t), 0);
	name = afdo_tree_name(&t, "f");
	node = afdo_tree_node(&t, AFDO_NONE, (struct afdo_at){ 0 }, name);
	inlined = afdo_tree_node(&t, node, at, name);
	assert_int_not_equal(node, inlined);
	assert_int_equal(afdo_tree_node(&t, AFDO_NONE, (struct afdo_at){ 0 }, name),
			 node);
	assert_int_equal(afdo_tree_node(&t, node, at, name), inlined);
	assert_int_not_equal(afdo_tree_node(&t, node, (struct afdo_at){ 5, 2 }, name),
			     inlined);
	assert_int_equal(afdo_tree_spot(&t, node, at), afdo_tree_spot(&t, node, at));
	assert_int_not_equal(afdo_tree_spot(&t, node, at),
			     afdo_tree_spot(&t, inlined, at));
	afdo_tree_done(&t);
}

static void handles_allocation_failure(void **state)
{
	(void)state;
	for (unsigned long n = 1;; n++) {
		struct afdo_tree t = { 0 };
		int r;

		alloc_fail_at(n);
		r = afdo_tree_init(&t);
		if (!r)
			r = fill(&t);
		if (!alloc_fail_off()) {
			assert_int_equal(r, 0);
			afdo_tree_done(&t);
			break;
		}
		assert_true(r == -ENOMEM || afdo_tree_failed(&t));
		afdo_tree_done(&t);
	}
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(discriminators_have_blocks_and_copies),
		cmocka_unit_test(uses_names_of_the_source),
		cmocka_unit_test(text_lists_functions_by_samples),
		cmocka_unit_test(equal_keys_share_a_node),
		cmocka_unit_test(handles_allocation_failure),
	};

	return UNIT_RUN(cases);
}

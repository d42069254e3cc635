/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/session/dict.h"

#include <errno.h>
#include <string.h>

#include "alloc_fail.h"
#include "unit.h"

static void equal_entries_share_a_number(void **state)
{
	struct dict d;

	(void)state;
	assert_int_equal(dict_init(&d), 0);
	for (int turn = 0; turn < 2; turn++) {
		assert_int_equal(dict_string(&d, ""), 0);
		assert_int_equal(dict_string(&d, "a"), 1);
		assert_int_equal(dict_frame(&d, 3, 0x100), 0);
		assert_int_equal(dict_frame(&d, 3, 0x101), 1);
		assert_int_equal(dict_frame(&d, 4, 0x100), 2);
		assert_int_equal(dict_stack(&d, STACK_ROOT, 0), STACK_FIRST);
		assert_int_equal(dict_stack(&d, STACK_TRUNCATED, 0), STACK_FIRST + 1);
		assert_int_equal(dict_stack(&d, STACK_FIRST, 0), STACK_FIRST + 2);
	}
	assert_string_equal(dict_str(&d, 1), "a");
	assert_string_equal(dict_str(&d, 2), "");
	assert_string_equal(dict_str(&d, DICT_NONE), "");
	assert_int_equal(d.stacks.at[STACK_ROOT].frame, DICT_NONE);
	dict_done(&d);
}

static void identifies_images_by_build_id(void **state)
{
	struct image image = {
		.kind = IMAGE_FILE, .name = 0, .inode = 5, .mtime_ns = 6
	};
	struct dict d;

	(void)state;
	assert_int_equal(dict_init(&d), 0);
	assert_int_equal(dict_image(&d, &image), 0);
	image.mtime_ns = 7; /* replaced on disk */
	assert_int_equal(dict_image(&d, &image), 1);
	image.build_id.len = 2;
	assert_int_equal(dict_image(&d, &image), 2);
	image.mtime_ns = 8; /* a copy of the same file */
	assert_int_equal(dict_image(&d, &image), 2);
	image.build_id.bytes[1] = 1;
	assert_int_equal(dict_image(&d, &image), 3);
	/* Any file can claim this build-id. */
	assert_int_equal(dict_image_of_file(&d, &image), 3);
	image.inode++;
	assert_int_equal(dict_image(&d, &image), 3);
	assert_int_equal(dict_image_of_file(&d, &image), 4);
	assert_int_equal(dict_image_of_file(&d, &image), 4);
	image.build_id.len = 200; /* too many are cut */
	assert_int_equal(dict_image(&d, &image), 5);
	assert_int_equal(d.images.at[5].build_id.len, BUILD_ID_MAX);
	assert_int_equal(dict_image(&d, &image), 5);
	dict_done(&d);
}

static void threads_and_events_differ_in_any_field(void **state)
{
	struct thread thread = { .pid = 1, .tid = 1 };
	struct event_desc event = { .type = 1 };
	struct dict d;

	(void)state;
	assert_int_equal(dict_init(&d), 0);
	assert_int_equal(dict_thread(&d, &thread), 0);
	thread.comm = 1;
	assert_int_equal(dict_thread(&d, &thread), 1);
	thread.start_ns = 9;
	assert_int_equal(dict_thread(&d, &thread), 2);
	assert_int_equal(dict_thread(&d, &thread), 2);
	assert_int_equal(dict_event(&d, &event), 0);
	event.unit_mask = 1;
	assert_int_equal(dict_event(&d, &event), 1);
	assert_int_equal(dict_event(&d, &event), 1);
	dict_done(&d);
}

/* Adds one entry of each kind; returns the number of the last thread. */
static uint32_t fill(struct dict *d)
{
	uint32_t last = 0;

	for (uint32_t i = 0; i < 100 && last != DICT_NONE; i++) {
		char name[2] = { (char)('A' + i), '\0' };
		struct image image = { .kind = IMAGE_FILE, .inode = i };
		struct thread thread = { .pid = (int32_t)i };
		struct event_desc event = { .config = i };
		uint32_t frame = dict_frame(d, i, i);

		if (dict_string(d, name) == DICT_NONE ||
		    dict_image(d, &image) == DICT_NONE ||
		    dict_event(d, &event) == DICT_NONE || frame == DICT_NONE ||
		    dict_stack(d, STACK_ROOT, frame) == DICT_NONE)
			return DICT_NONE;
		last = dict_thread(d, &thread);
	}
	return last;
}

static void allocation_failure_is_reported_and_harmless(void **state)
{
	(void)state;
	for (unsigned long n = 1;; n++) {
		struct dict d;
		uint32_t last = DICT_NONE;
		int r;

		alloc_fail_at(n);
		r = dict_init(&d);
		if (!r)
			last = fill(&d);
		if (!alloc_fail_off()) {
			assert_int_equal(last, 99);
			dict_done(&d);
			break;
		}
		if (r) {
			assert_int_equal(r, -ENOMEM);
			continue;
		}
		assert_int_equal(last, DICT_NONE);
		assert_int_equal(fill(&d),
				 99); /* there is memory again: no number was lost */
		assert_int_equal(d.frames.nr, 100);
		assert_int_equal(d.stacks.nr, 100 + STACK_FIRST);
		assert_int_equal(d.images.nr, 100);
		dict_done(&d);
	}
}

/* Returns the end of a walk, and how many steps it took: DICT_NONE if a node does not exist. */
static uint32_t walk(const struct dict *d, uint32_t from, const uint32_t *frames,
		     uint32_t nr, uint32_t *ret_steps)
{
	struct dict_path path = { .frames = frames, .left = nr, .node = from };

	*ret_steps = 0;
	while (dict_path_step(d, &path))
		++*ret_steps;
	return path.left ? DICT_NONE : path.node;
}

/* A tree with 3 ** 6 paths, in depth-first order and then by depth: nodes that directly follow
 * their callers, and others. */
static void finds_paths_by_existing_nodes(void **state)
{
	enum {
		DEPTH = 6,
		NR_PATHS = 729
	};
	uint32_t frames[DEPTH], missing[DEPTH + 1], steps;
	struct dict d;

	(void)state;
	assert_int_equal(dict_init(&d), 0);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(dict_frame(&d, 1, i), i);
	for (int turn = 0; turn < 2; turn++)
		for (uint32_t i = 0; i < NR_PATHS; i++) {
			uint32_t root = i % 2 ? STACK_ROOT : STACK_TRUNCATED;
			uint32_t node = root;

			for (uint32_t at = DEPTH, rest = i; at--; rest /= 3)
				frames[at] = rest % 3;
			for (uint32_t at = DEPTH; at--;) {
				assert_true(turn || at ||
					    walk(&d, root, frames, DEPTH, &steps) ==
						    DICT_NONE);
				node = dict_stack(&d, node, frames[at]);
			}
			assert_int_equal(walk(&d, root, frames, DEPTH, &steps), node);
			/* One step prefetches and one reads, at most, for each node. */
			assert_true(steps <= 2 * DEPTH);
			assert_int_equal(walk(&d, node, frames, 0, &steps), node);
			assert_int_equal(steps, 0);
			/* A missing node is not created. */
			memcpy(missing + 1, frames, sizeof(frames));
			missing[0] = 3;
			assert_int_equal(walk(&d, root, missing, DEPTH + 1, &steps),
					 DICT_NONE);
		}
	assert_int_equal(d.frames.nr, 4);
	/* All nodes of all depths, under both roots. */
	assert_true(d.stacks.nr < STACK_FIRST + 2 * (3 * NR_PATHS / 2));
	dict_done(&d);
}

/* Stacks of single frames keep their numbers, whatever is added in between: nothing, a frame
 * without a stack, a caller. Offsets can have more than 32 bits. */
static void stacks_of_single_frames_keep_their_numbers(void **state)
{
	enum {
		NR = 300,
		NOTHING = NR
	};
	static const uint64_t bases[] = { 0, UINT32_MAX - 7, (uint64_t)5 << 40 };

	(void)state;
	for (int between = 0; between < 3; between++)
		for (uint32_t at = 0; at <= NOTHING; at += NOTHING / 4) {
			uint32_t stacks[NR];
			struct dict d;

			assert_int_equal(dict_init(&d), 0);
			for (uint32_t i = 0; i < NR; i++) {
				if (i == at && between == 1)
					dict_frame(&d, 9, 1);
				if (i == at && between == 2)
					dict_stack(&d,
						   i ? stacks[i - 1] : STACK_TRUNCATED,
						   dict_frame(&d, 9, 1));
				stacks[i] = dict_leaf(&d, i % 3, bases[i % 3] + i);
				assert_int_equal(d.stacks.at[stacks[i]].parent,
						 STACK_ROOT);
				assert_int_equal(
					d.frames.at[d.stacks.at[stacks[i]].frame]
						.offset,
					bases[i % 3] + i);
			}
			for (uint32_t i = 0; i < NR; i++) {
				uint32_t frame =
					dict_frame(&d, i % 3, bases[i % 3] + i);
				uint32_t steps;

				assert_int_equal(dict_leaf(&d, i % 3, bases[i % 3] + i),
						 stacks[i]);
				assert_int_equal(dict_stack(&d, STACK_ROOT, frame),
						 stacks[i]);
				assert_int_equal(
					walk(&d, STACK_ROOT, &frame, 1, &steps),
					stacks[i]);
				/* The same offset in another image is another frame. */
				assert_true(dict_frame(&d, 7, bases[i % 3] + i) >= NR);
			}
			dict_done(&d);
		}
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(equal_entries_share_a_number),
		cmocka_unit_test(identifies_images_by_build_id),
		cmocka_unit_test(threads_and_events_differ_in_any_field),
		cmocka_unit_test(allocation_failure_is_reported_and_harmless),
		cmocka_unit_test(finds_paths_by_existing_nodes),
		cmocka_unit_test(stacks_of_single_frames_keep_their_numbers),
	};

	return UNIT_RUN(cases);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "alloc_fail.h"
#include "base/buf.h"
#include "resolve/jit/stage.h"

#define PID 77
#define MEMORY 0x7000
#define CODE 0x7100

/* A dump with two functions at CODE, one from time 1000 and one from 2000 on. */
static int make_dump(void)
{
	const uint32_t header[] = { 0x4A695444, 1, 40, 62, 0, PID, 500, 0, 0, 0 };
	struct buf out = { 0 };
	int fd = memfd_create("dump", MFD_CLOEXEC);

	assert_true(fd >= 0);
	buf_put(&out, header, sizeof(header));
	for (uint64_t i = 0; i < 2; i++) {
		const uint32_t head[] = { 0, 56 + 2 + 16 };
		const uint64_t rest[] = { 1000 * (i + 1), 0, CODE, CODE, 16, i };

		buf_put(&out, head, sizeof(head));
		buf_put(&out, rest, sizeof(rest));
		buf_put(&out, i ? "b" : "a", 2);
		buf_put(&out, "0123456789abcdef", 16);
	}
	assert_int_equal(write(fd, out.data, out.len), out.len);
	buf_done(&out);
	return fd;
}

/* Offsets of the two functions in the dump: after the header, and after the first one. */
#define FIRST (40 + 56 + 2)
#define SECOND (FIRST + 16 + 56 + 2)

struct world {
	struct dict dict;
	struct jit_stage *stage;
	uint32_t memory; /* images */
	uint32_t program;
	uint32_t outer;     /* stack of the program alone */
	uint32_t leaf;      /* stack of the code, called by the program */
	uint32_t callee;    /* stack of the program, called by the code */
	uint32_t elsewhere; /* stack in memory that the dump does not know */
};

static int make_world(struct world *w)
{
	struct image memory = {
		.kind = IMAGE_ANON, .pid = PID, .start = MEMORY, .end = MEMORY + 0x1000
	};
	struct image program = { .kind = IMAGE_FILE };

	memset(w, 0, sizeof(*w));
	if (dict_init(&w->dict))
		return -ENOMEM;
	memory.name = dict_string(&w->dict, "//anon");
	program.name = dict_string(&w->dict, "/bin/program");
	w->memory = dict_image(&w->dict, &memory);
	w->program = dict_image(&w->dict, &program);
	w->outer = dict_stack(&w->dict, STACK_ROOT,
			      dict_frame(&w->dict, w->program, 0x10));
	w->leaf = dict_stack(&w->dict, w->outer,
			     dict_frame(&w->dict, w->memory, CODE - MEMORY + 4));
	w->callee =
		dict_stack(&w->dict, w->leaf, dict_frame(&w->dict, w->program, 0x20));
	w->elsewhere = dict_leaf(&w->dict, w->memory, 0x800);
	return jit_stage_new(&w->dict, &w->stage);
}

static void done_world(struct world *w)
{
	jit_stage_free(w->stage);
	dict_done(&w->dict);
}

static int add_dump(struct world *w, int fd, enum jit_clock clock, uint64_t mapped_ns)
{
	const struct jit_dump_source from = { .pid = PID,
					      .path = "/tmp/jit-77.dump",
					      .fd = fd,
					      .clock = clock,
					      .mapped_ns = mapped_ns };

	return jit_stage_add(w->stage, &from);
}

/* Returns the offset of the stack's frame in the dump; 0 if it is not in the dump. */
static uint64_t place_of(const struct world *w, uint32_t stack)
{
	const struct frame *f = &w->dict.frames.at[w->dict.stacks.at[stack].frame];

	return w->dict.images.at[f->image].kind == IMAGE_JIT ? f->offset : 0;
}

static void stacks_are_resolved_at_their_time(void **state)
{
	int fd = make_dump();
	struct world w;
	uint32_t first, second;

	(void)state;
	assert_int_equal(make_world(&w), 0);
	assert_false(jit_stage_is_needed(w.stage));
	assert_int_equal(add_dump(&w, fd, JIT_CLOCK_SAME, 0), 0);
	assert_true(jit_stage_is_needed(w.stage));
	first = jit_stage_stack(w.stage, w.leaf, 1500);
	second = jit_stage_stack(w.stage, w.leaf, 2000);
	assert_int_equal(place_of(&w, first), FIRST + 4);
	assert_int_equal(place_of(&w, second), SECOND + 4);
	assert_int_equal(w.dict.stacks.at[first].parent, w.outer);
	/* Times can come in any order, and equal calls give equal results. */
	assert_int_equal(jit_stage_stack(w.stage, w.leaf, 1999), first);
	assert_int_equal(jit_stage_stack(w.stage, w.leaf, 0), first);
	assert_int_equal(jit_stage_stack(w.stage, w.leaf, UINT64_MAX), second);
	/* A callee that is not JIT code gets the right caller, too. */
	assert_int_equal(
		w.dict.stacks.at[jit_stage_stack(w.stage, w.callee, 1500)].parent,
		first);
	assert_int_equal(
		w.dict.stacks.at[jit_stage_stack(w.stage, w.callee, 2500)].parent,
		second);
	done_world(&w);
	close(fd);
}

static void unknown_addresses_are_unchanged(void **state)
{
	int fd = make_dump();
	uint64_t offset = 0x800;
	struct world w;
	uint32_t image;

	(void)state;
	assert_int_equal(make_world(&w), 0);
	assert_int_equal(add_dump(&w, fd, JIT_CLOCK_SAME, 0), 0);
	assert_int_equal(jit_stage_stack(w.stage, w.outer, 1500), w.outer);
	assert_int_equal(jit_stage_stack(w.stage, w.elsewhere, 1500), w.elsewhere);
	assert_int_equal(jit_stage_stack(w.stage, STACK_ROOT, 1), STACK_ROOT);
	assert_int_equal(jit_stage_stack(w.stage, DICT_NONE, 1), DICT_NONE);
	image = w.memory;
	assert_int_equal(jit_stage_position(w.stage, &image, &offset, 1500), 0);
	assert_int_equal(image, w.memory);
	offset = CODE - MEMORY;
	assert_int_equal(jit_stage_position(w.stage, &image, &offset, 2500), 0);
	assert_int_equal(w.dict.images.at[image].kind, IMAGE_JIT);
	assert_int_equal(offset, SECOND);
	done_world(&w);
	close(fd);
}

static void handles_another_clock(void **state)
{
	int fd = make_dump();
	struct world w;

	(void)state;
	/* The dump was started at 500 of its own clock, and mapped at 10500 of the recording's
	 * clock. */
	assert_int_equal(make_world(&w), 0);
	assert_int_equal(add_dump(&w, fd, JIT_CLOCK_MAPPED, 10500), 0);
	assert_int_equal(place_of(&w, jit_stage_stack(w.stage, w.leaf, 11999)),
			 FIRST + 4);
	assert_int_equal(place_of(&w, jit_stage_stack(w.stage, w.leaf, 12000)),
			 SECOND + 4);
	done_world(&w);
	/* If the times of a dump cannot be compared, its last function at the address is used. */
	assert_int_equal(make_world(&w), 0);
	assert_int_equal(add_dump(&w, fd, JIT_CLOCK_NONE, 0), 0);
	assert_int_equal(place_of(&w, jit_stage_stack(w.stage, w.leaf, 1500)),
			 SECOND + 4);
	done_world(&w);
	close(fd);
}

static void handles_allocation_failure(void **state)
{
	int fd = make_dump();

	(void)state;
	for (unsigned long n = 1;; n++) {
		struct world w;
		int r;

		assert_int_equal(make_world(&w), 0);
		alloc_fail_at(n);
		r = add_dump(&w, fd, JIT_CLOCK_SAME, 0);
		if (!r && (jit_stage_stack(w.stage, w.callee, 1500) == DICT_NONE ||
			   jit_stage_stack(w.stage, w.callee, 2500) == DICT_NONE))
			r = -ENOMEM;
		if (!alloc_fail_off()) {
			assert_int_equal(r, 0);
			done_world(&w);
			break;
		}
		assert_int_equal(r, -ENOMEM);
		done_world(&w);
	}
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_are_resolved_at_their_time),
		cmocka_unit_test(unknown_addresses_are_unchanged),
		cmocka_unit_test(handles_another_clock),
		cmocka_unit_test(handles_allocation_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

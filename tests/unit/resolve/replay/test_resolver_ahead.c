/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks that stacks unwound ahead by threads are those found without them. */
#include "unit.h"

#include <string.h>
#include <sys/mman.h>

#include "base/array.h"
#include "resolve/replay/resolver_ahead.h"
#include "resolve/replay/resolver_priv.h"

enum {
	PID = 5,
	SAMPLES = 700,
	FRAMES = 12,
	STACK = 0x70000,
	STACK_WORDS = 2 * FRAMES + 2,
	PERF_BP = 6, /* x86-64's registers in perf's order */
	PERF_SP = 7,
	PERF_IP = 8,
	IMAGES = 3,
	ANON = IMAGES /* the location of anonymous memory */
};

/* Images are at 0x1000, 0x2000 ...; anonymous memory comes after them. */
static uint64_t position(unsigned int image)
{
	return 0x1000 * (1ULL + image);
}

/* A sample and the data that it points to. */
struct moment {
	struct record rec;
	uint64_t regs[3];
	uint64_t stack[STACK_WORDS];
};

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/* Makes frame pointers that lead to return addresses in any of the first `nr_positions`; the last
 * one is 0. */
static void make_moment(struct moment *m, unsigned int nr_positions, uint32_t *seed)
{
	unsigned int depth = 1 + next_random(seed) % FRAMES;

	memset(m, 0, sizeof(*m));
	for (unsigned int i = 0; i < depth; i++) {
		m->stack[2 * i] = STACK + 16 * (i + 1);
		m->stack[2 * i + 1] = position(next_random(seed) % nr_positions) +
				      0x10 + next_random(seed) % 64;
	}
	if (next_random(seed) % 8)
		m->stack[2 * depth - 2] = 0;
	else if (next_random(seed) % 2)
		m->stack[2 * depth - 1] = 0x999999; /* nothing is mapped there */
	m->regs[0] = STACK;
	m->regs[1] = STACK;
	m->regs[2] =
		position(next_random(seed) % nr_positions) + next_random(seed) % 64;
	m->rec.type = PERF_RECORD_SAMPLE;
	m->rec.misc = PERF_RECORD_MISC_USER;
	m->rec.id = (struct record_id){
		.pid = PID, .tid = PID, .time_ns = 100, .has_time = true
	};
	m->rec.sample.has = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	m->rec.sample.ip.v = m->regs[2];
	m->rec.sample.user_regs.abi = PERF_SAMPLE_REGS_ABI_64;
	m->rec.sample.user_regs.mask = 1 << PERF_BP | 1 << PERF_SP | 1 << PERF_IP;
	m->rec.sample.user_regs.values = (const uint8_t *)m->regs;
	m->rec.sample.user_stack.at = (const uint8_t *)m->stack;
	m->rec.sample.user_stack.len = sizeof(m->stack);
}

struct scene {
	struct dict dict;
	struct decoder decoder;
	struct resolver *resolver;
	int asked;
};

/* Returns no table for any binary, so frame pointers are followed. */
static const struct unwind_table *no_table(void *ctx, uint32_t image)
{
	struct scene *w = ctx;

	(void)image;
	w->asked++;
	return NULL;
}

static void map_image(struct scene *w, uint64_t start, const char *path)
{
	struct record rec = { .type = PERF_RECORD_MMAP2,
			      .id = { .time_ns = 1, .has_time = true } };

	rec.mmap = (struct record_mmap){ .pid = PID,
					 .tid = PID,
					 .start = start,
					 .len = 0x1000,
					 .prot = PROT_READ | PROT_EXEC,
					 .path = path };
	assert_int_equal(resolver_side_band(w->resolver, &rec), 0);
}

static void begin(struct scene *w)
{
	static const char *const paths[] = { "/bin/a", "/lib/b", "/lib/c", "//anon" };
	struct perf_event_attr attr = { .size = sizeof(attr) };
	const struct resolver_unwind unwind = { .table = no_table,
						.ctx = w,
						.machine = "x86_64" };

	memset(w, 0, sizeof(*w));
	decoder_init(&w->decoder, false);
	assert_int_equal(decoder_add_attr(&w->decoder, &attr), 0);
	assert_int_equal(dict_init(&w->dict), 0);
	assert_int_equal(resolver_new(&w->dict, NULL, RESOLVE_CHAINS, &w->resolver), 0);
	assert_int_equal(resolver_use_unwind(w->resolver, &unwind), 0);
	for (unsigned int i = 0; i < COUNT_OF(paths); i++)
		map_image(w, position(i), paths[i]);
}

static void end(struct scene *w)
{
	resolver_free(w->resolver);
	dict_done(&w->dict);
	decoder_done(&w->decoder);
}

/* Unwinds the stacks of `nr` samples ahead, and resolves the samples. Returns how many stacks were
 * found ahead. */
static size_t resolve_group(struct scene *w, struct resolver_ahead *a,
			    struct moment *moments, size_t nr, uint32_t *ret_stacks)
{
	static struct resolver_found found[RESOLVER_AHEAD_MAX];
	size_t nr_found = 0;

	for (size_t i = 0; i < nr; i++) {
		assert_int_equal(resolver_find(w->resolver, &moments[i].rec, &found[i]),
				 0);
		resolver_ahead_add(a, &moments[i].rec, &found[i]);
	}
	resolver_ahead_start(a);
	for (size_t i = 0; i < nr; i++) {
		struct sample s;

		/* resolver_find() for a new thread would invalidate a pointer that was fetched
		 * earlier. */
		found[i].ahead = resolver_ahead_get(a, i);
		nr_found += found[i].ahead->found;
		assert_int_equal(resolver_finish(w->resolver, &w->decoder,
						 &moments[i].rec, &found[i], &s),
				 0);
		ret_stacks[i] = s.stack;
	}
	return nr_found;
}

static struct moment moments[SAMPLES];
static uint32_t one[SAMPLES], many[SAMPLES];

static void compare_with_threads(unsigned int nr_threads)
{
	struct scene alone, together;
	struct resolver_ahead *a;
	uint32_t seed = 7;
	size_t nr_found = 0;

	begin(&alone);
	begin(&together);
	for (size_t i = 0; i < SAMPLES; i++) {
		struct sample s;

		make_moment(&moments[i], ANON + (i % 4 == 0), &seed);
		assert_int_equal(resolver_sample(alone.resolver, &alone.decoder,
						 &moments[i].rec, &s),
				 0);
		one[i] = s.stack;
	}
	assert_int_equal(resolver_ahead_new(together.resolver, &together.decoder,
					    nr_threads, &a),
			 0);
	for (size_t i = 0, nr; i < SAMPLES; i += nr) {
		nr = 1 + next_random(&seed) % RESOLVER_AHEAD_MAX;
		nr = nr < SAMPLES - i ? nr : SAMPLES - i;
		nr_found += resolve_group(&together, a, &moments[i], nr, &many[i]);
	}
	resolver_ahead_free(a);
	/* At least half of the stacks are in binaries only, and those of the first group are not
	 * found ahead. */
	assert_true(nr_found > SAMPLES / 4);
	assert_true(nr_found < SAMPLES);
	assert_memory_equal(one, many, sizeof(one));
	assert_memory_equal(resolver_unwind_ends(alone.resolver),
			    resolver_unwind_ends(together.resolver),
			    UNWIND_ENDS * sizeof(uint64_t));
	assert_true(resolver_unwind_ends(alone.resolver)[UNWIND_END_ROOT] > 0);
	assert_true(resolver_unwind_ends(alone.resolver)[UNWIND_END_ADDRESS] > 0);
	assert_int_equal(alone.dict.stacks.nr, together.dict.stacks.nr);
	assert_int_equal(alone.dict.frames.nr, together.dict.frames.nr);
	assert_int_equal(alone.dict.images.nr, together.dict.images.nr);
	end(&alone);
	end(&together);
}

static void same_as_without(void **state)
{
	(void)state;
	compare_with_threads(1);
	compare_with_threads(3);
}

/* The current stack of a process: it includes the end of the copy, and the rest. */
static struct moment *live;

static size_t copy_live(void *ctx, int32_t pid, uint64_t address, void *bytes,
			size_t len)
{
	uint64_t at = address - live->regs[1];

	(void)ctx;
	(void)pid;
	if (address < live->regs[1] || at >= sizeof(live->stack))
		return 0;
	if (len > sizeof(live->stack) - at)
		len = sizeof(live->stack) - at;
	memcpy(bytes, (const uint8_t *)live->stack + at, len);
	return len;
}

/* A stack that is longer than its copy is completed, even if it was unwound ahead. */
static void completes_a_stack_unwound_ahead(void **state)
{
	const struct resolver_unwind unwind = { .table = no_table,
						.copy = copy_live,
						.machine = "x86_64" };
	struct resolver_unwind with = unwind;
	struct resolver_ahead *a;
	struct scene w;
	uint32_t seed = 5;
	unsigned int nr_whole = 0;

	(void)state;
	begin(&w);
	with.ctx = &w;
	assert_int_equal(resolver_use_unwind(w.resolver, &with), 0);
	assert_int_equal(resolver_ahead_new(w.resolver, &w.decoder, 1, &a), 0);
	for (int turn = 0; turn < 64; turn++) {
		uint64_t found = resolver_unwind_rests(w.resolver).found;
		size_t nr_ahead;

		live = &moments[0];
		make_moment(live, IMAGES, &seed);
		(void)resolve_group(&w, a, live, 1, &one[0]);
		live->rec.sample.user_stack.len = sizeof(live->stack) / 2;
		nr_ahead = resolve_group(&w, a, live, 1, &many[0]);
		if (resolver_unwind_rests(w.resolver).found == found)
			continue;
		assert_int_equal(many[0], one[0]);
		nr_whole += (unsigned int)nr_ahead;
	}
	assert_true(nr_whole > 0);
	resolver_ahead_free(a);
	end(&w);
}

/* The memory of a process that has ended is not read. */
static void does_not_read_memory_of_ended_processes(void **state)
{
	const struct record ended = { .type = PERF_RECORD_EXIT,
				      .id = { .time_ns = 200, .has_time = true },
				      .task = { .pid = PID, .tid = PID } };
	struct resolver_unwind with = { .table = no_table,
					.copy = copy_live,
					.machine = "x86_64" };
	struct scene w;
	uint32_t seed = 5;

	(void)state;
	begin(&w);
	with.ctx = &w;
	assert_int_equal(resolver_use_unwind(w.resolver, &with), 0);
	live = &moments[0];
	for (int ends = 0; ends < 2; ends++) {
		uint64_t tried = resolver_unwind_rests(w.resolver).tried;

		for (int turn = 0; turn < 64; turn++) {
			struct sample s;

			make_moment(live, IMAGES, &seed);
			live->rec.sample.user_stack.len = sizeof(live->stack) / 2;
			assert_int_equal(
				resolver_sample(w.resolver, &w.decoder, &live->rec, &s),
				0);
		}
		assert_int_equal(resolver_unwind_rests(w.resolver).tried == tried,
				 ends);
		assert_int_equal(resolver_side_band(w.resolver, &ended), 0);
	}
	end(&w);
}

/* Stacks through unknown binaries are left to the resolver, as always those in anonymous
 * memory. */
static void unwinds_only_known_binaries_ahead(void **state)
{
	struct resolver_ahead *a;
	struct scene w;
	uint32_t seed = 3;
	int asked;

	(void)state;
	begin(&w);
	assert_int_equal(resolver_ahead_new(w.resolver, &w.decoder, 2, &a), 0);
	for (size_t i = 0; i < RESOLVER_AHEAD_MAX; i++)
		make_moment(&moments[i], IMAGES, &seed);
	for (size_t i = 0; i < RESOLVER_AHEAD_MAX; i++)
		moments[i].regs[2] = position(0);
	assert_int_equal(resolve_group(&w, a, moments, RESOLVER_AHEAD_MAX, many), 0);
	asked = w.asked;
	assert_true(asked > 0);
	assert_int_equal(resolve_group(&w, a, moments, RESOLVER_AHEAD_MAX, many),
			 RESOLVER_AHEAD_MAX);
	assert_int_equal(w.asked, asked);
	for (size_t i = 0; i < RESOLVER_AHEAD_MAX; i++)
		moments[i].regs[2] = position(ANON);
	for (int turn = 0; turn < 3; turn++)
		assert_int_equal(
			resolve_group(&w, a, moments, RESOLVER_AHEAD_MAX, many), 0);
	/* A sample without registers is ignored. */
	moments[1].rec.sample.has = 0;
	moments[0].regs[2] = position(1);
	assert_int_equal(resolve_group(&w, a, moments, 2, many), 1);
	resolver_ahead_free(a);
	resolver_ahead_free(NULL);
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_as_without),
		cmocka_unit_test(completes_a_stack_unwound_ahead),
		cmocka_unit_test(does_not_read_memory_of_ended_processes),
		cmocka_unit_test(unwinds_only_known_binaries_ahead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Records of several CPUs' rings, each in order of time, become one row of all. */
#include "unit.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "alloc_fail.h"
#include "decode/record.h"
#include "resolve/replay/resolver_priv.h"
#include "resolve/replay/side_band.h"

enum {
	MANY = 300,
	TIMES = 23, /* so that of many records some have the same */
};

struct rings_world {
	struct dict dict;
	struct decoder decoder;
	struct resolver_ops ops;
	struct resolver *resolver;
	struct side_band side_band;
	size_t seen; /* names that applied() has given */
	uint64_t last_id;
};

static void begin(struct rings_world *w)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.sample_type = PERF_SAMPLE_TIME,
		.sample_id_all = 1,
	};

	*w = (struct rings_world){ 0 };
	decoder_init(&w->decoder, false);
	assert_int_equal(decoder_add_attr(&w->decoder, &attr), 0);
	assert_int_equal(dict_init(&w->dict), 0);
	assert_int_equal(resolver_new(&w->dict, &w->ops, RESOLVE_CHAINS, &w->resolver),
			 0);
	w->seen = w->resolver->names.names.nr;
}

static void end(struct rings_world *w)
{
	side_band_done(&w->side_band);
	resolver_free(w->resolver);
	dict_done(&w->dict);
	decoder_done(&w->decoder);
}

static void add_bytes(struct rings_world *w, const void *bytes, size_t len)
{
	struct record rec;

	assert_int_equal(decoder_record(&w->decoder, bytes, len, &rec, NULL), 0);
	assert_int_equal(side_band_add(&w->side_band, &rec, bytes, len), 0);
}

/* A CGROUP record as the kernel writes it: each is of another cgroup, so that its name is kept. */
static void add(struct rings_world *w, uint64_t time_ns, const char *path)
{
	struct {
		struct perf_event_header header;
		uint64_t id;
		char path[16];
		uint64_t time_ns;
	} raw = {
		.header = { .type = PERF_RECORD_CGROUP, .size = sizeof(raw) },
		.id = ++w->last_id,
		.time_ns = time_ns,
	};

	snprintf(raw.path, sizeof(raw.path), "%s", path);
	add_bytes(w, &raw, sizeof(raw));
}

static void add_lost(struct rings_world *w, uint64_t lost)
{
	struct {
		struct perf_event_header header;
		uint64_t id, lost, time_ns;
	} raw = {
		.header = { .type = PERF_RECORD_LOST, .size = sizeof(raw) },
		.lost = lost,
		.time_ns = 1,
	};

	add_bytes(w, &raw, sizeof(raw));
}

static int apply(struct rings_world *w, uint64_t frontier_ns)
{
	return side_band_apply(&w->side_band, &w->decoder, w->resolver, frontier_ns);
}

/* The names that were applied since the last call, in their order: each is a new one, which the
 * resolver gets when its record is applied. */
static const char *applied(struct rings_world *w)
{
	static char text[MANY * 8];
	size_t len = 0;

	text[0] = '\0';
	for (; w->seen < w->resolver->names.names.nr; w->seen++)
		len += (size_t)snprintf(
			text + len, sizeof(text) - len, "%s%s", len ? " " : "",
			name_pool_text(&w->resolver->names, (uint32_t)w->seen));
	return text;
}

static void runs_become_one(void **state)
{
	struct rings_world w;

	(void)state;
	begin(&w);
	add(&w, 10, "a");
	add(&w, 40, "b");
	add(&w, 70, "c");
	add(&w, 20, "d");
	add(&w, 40, "e");
	add(&w, 50, "f");
	add(&w, 5, "g");
	add(&w, 40, "h");
	add(&w, 60, "i");
	add(&w, 90, "j");
	assert_int_equal(apply(&w, 100), 0);
	assert_string_equal(applied(&w), "g a d b e h f i c j");
	assert_int_equal(w.side_band.entries.nr, 0);
	assert_int_equal(apply(&w, 200), 0);
	assert_string_equal(applied(&w), "");
	end(&w);
}

/* Nothing is left behind, and it comes with what arrives later. */
static void what_is_younger_waits(void **state)
{
	struct rings_world w;

	(void)state;
	begin(&w);
	add(&w, 30, "a");
	add(&w, 70, "b");
	add(&w, 20, "c");
	add(&w, 50, "d");
	add(&w, 90, "e");
	assert_int_equal(apply(&w, 10), 0);
	assert_string_equal(applied(&w), "");
	assert_int_equal(apply(&w, 50), 0);
	assert_string_equal(applied(&w), "c a d");
	assert_int_equal(w.side_band.entries.nr, 2);
	add(&w, 60, "f");
	add(&w, 90, "g");
	add(&w, 70, "h");
	add(&w, 80, "i");
	assert_int_equal(apply(&w, 89), 0);
	assert_string_equal(applied(&w), "f b h i");
	assert_int_equal(apply(&w, UINT64_MAX), 0);
	assert_string_equal(applied(&w), "e g");
	end(&w);
}

/* The names of those from one time to before another, as they are to be applied. */
static const char *model(const uint64_t *time_ns, size_t nr, uint64_t from, uint64_t to)
{
	static char text[MANY * 8];
	size_t len = 0;

	text[0] = '\0';
	for (uint64_t t = from; t < to; t++)
		for (size_t i = 0; i < nr; i++)
			if (time_ns[i] == t)
				len += (size_t)snprintf(text + len, sizeof(text) - len,
							"%s%zu", len ? " " : "", i);
	return text;
}

static void many_runs_become_one(void **state)
{
	(void)state;
	for (size_t nr = 1; nr <= MANY; nr += 1 + nr / 4) {
		uint64_t time_ns[MANY], seed = nr;
		struct rings_world w;

		begin(&w);
		for (size_t i = 0; i < nr; i++) {
			char name[16];

			seed = seed * 6364136223846793005u + 1442695040888963407u;
			time_ns[i] = (seed >> 33) % TIMES;
			snprintf(name, sizeof(name), "%zu", i);
			add(&w, time_ns[i], name);
		}
		for (uint64_t t = 0; t < TIMES; t += 5) {
			assert_int_equal(apply(&w, t + 4), 0);
			assert_string_equal(applied(&w), model(time_ns, nr, t, t + 5));
		}
		assert_int_equal(w.side_band.entries.nr, 0);
		end(&w);
	}
}

static void lost_records_are_counted(void **state)
{
	struct rings_world w;

	(void)state;
	begin(&w);
	add_lost(&w, 3);
	add(&w, 10, "a");
	add_lost(&w, 4);
	assert_int_equal(apply(&w, 10), 0);
	assert_string_equal(applied(&w), "a");
	assert_true(w.side_band.lost == 7);
	end(&w);
}

/* Without memory to sort them, all of them wait. */
static void short_memory_loses_nothing(void **state)
{
	struct rings_world w;

	(void)state;
	begin(&w);
	add(&w, 30, "a");
	add(&w, 20, "b");
	add(&w, 10, "c");
	alloc_fail_at(1);
	assert_int_equal(apply(&w, 40), -ENOMEM);
	assert_true(alloc_fail_off());
	assert_string_equal(applied(&w), "");
	assert_int_equal(apply(&w, 40), 0);
	assert_string_equal(applied(&w), "c b a");
	end(&w);
}

/* Nor are those lost that wait, when there is none to move them to the front. */
static void short_memory_leaves_what_waits(void **state)
{
	bool failed = true;

	(void)state;
	for (unsigned long n = 1; failed; n++) {
		struct rings_world w;

		begin(&w);
		add_lost(&w, 1);
		for (char i = 'a'; i <= 'h'; i++)
			add(&w, (uint64_t)i, (char[]){ i, '\0' });
		alloc_fail_at(n);
		assert_int_equal(apply(&w, 5), 0);
		failed = alloc_fail_off();
		assert_int_equal(w.side_band.entries.nr, 8);
		assert_int_equal(apply(&w, UINT64_MAX), 0);
		assert_string_equal(applied(&w), "a b c d e f g h");
		assert_true(n > 1 || failed);
		end(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_become_one),
		cmocka_unit_test(what_is_younger_waits),
		cmocka_unit_test(many_runs_become_one),
		cmocka_unit_test(lost_records_are_counted),
		cmocka_unit_test(short_memory_loses_nothing),
		cmocka_unit_test(short_memory_leaves_what_waits),
	};

	return UNIT_RUN(tests);
}

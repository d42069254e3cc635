/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Applies random profile specifications to random samples: the profile must select the samples
 * that a model selects, which parses the specification and matches each sample separately. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "aggregate/read/profile_feed.h"
#include "base/array.h"
#include "base/err.h"

#include "unit.h"

enum {
	NR_SPECS = 2000,
	NR_SAMPLES = 2500,
	NR_THREADS = 14,
	NR_CPUS = 12,
	MAX_WORDS = 5,
	WORD_MAX = 512,
	MAX_VALUES = 24,
	BEFORE_US = 5, /* from the session's start to the first sample */
	START_NS = 1000000,
	FIRST_NS = START_NS + BEFORE_US * 1000
};

#define VMLINUX "/boot/vmlinux-6.1"

/* An image as recorded, and the names that can select it. */
static const struct model_image {
	enum image_kind kind;
	const char *recorded;
	const char *names[3]; /* the first one is its name in OProfile's layouts */
	bool kernel;
} images[] = {
	{ IMAGE_KERNEL,
	  "[kernel.kallsyms]",
	  { VMLINUX, "[kernel.kallsyms]", "/no-vmlinux" },
	  true },
	{ IMAGE_MODULE, "ext4", { "/ext4", "[ext4]" }, true },
	{ IMAGE_MODULE, "[nf_tables]", { "/nf_tables", "[nf_tables]" }, true },
	{ IMAGE_FILE, "/usr/bin/make", { "/usr/bin/make" }, false },
	{ IMAGE_FILE, "/usr/bin/gmake", { "/usr/bin/gmake" }, false },
	{ IMAGE_FILE, "/opt/a,b", { "/opt/a,b" }, false },
	{ IMAGE_FILE, "/opt/c[1]", { "/opt/c[1]" }, false },
	{ IMAGE_FILE, "/lib/libc.so.6", { "/lib/libc.so.6" }, false },
	{ IMAGE_FILE, "/opt/lib/libc.so.6", { "/opt/lib/libc.so.6" }, false },
	{ IMAGE_FILE,
	  "/lib/libm.so.6 (deleted)",
	  { "/lib/libm.so.6 (deleted)" },
	  false },
	{ IMAGE_VDSO, "[vdso]", { "[vdso]" }, false },
	{ IMAGE_ANON,
	  "//anon",
	  { "anon (tgid:7 range:0x1000-0x2000)", "[JIT] tid 7", "//anon" },
	  false },
	{ IMAGE_ANON,
	  "[heap]",
	  { "[heap] (tgid:7 range:0x1000-0x2000)", "[JIT] tid 7", "[heap]" },
	  false },
};

static const struct {
	const char *name;
	uint64_t count, unit_mask;
} events[] = {
	{ "TIMER", 0, 0 },    { "CLK", 100000, 0 },   { "CLK", 50000, 0 },
	{ "CLK", 50000, 15 }, { "L2_MISS", 6000, 1 }, { "L2_MISS", 6000, 0x41 },
};

static const char *const comms[] = { "make", "gmake", "a,b", "worker/0", "" };

enum {
	NR_IMAGES = COUNT_OF(images),
	NR_EVENTS = COUNT_OF(events),
	NR_COMMS = COUNT_OF(comms)
};

/* A sample in the model; -1 for damaged values. */
struct model_sample {
	int number;
	int image;
	int app;
	bool kernel_app;
	int event;
	int64_t tgid, tid, cpu;
	const char *comm;
};

struct world {
	struct dict dict;
	uint64_t time_ns[NR_SAMPLES];
	uint64_t period[NR_SAMPLES];
	uint32_t thread[NR_SAMPLES];
	uint32_t event[NR_SAMPLES];
	uint32_t stack[NR_SAMPLES];
	uint32_t cpu[NR_SAMPLES];
	struct model_sample samples[NR_SAMPLES];
};

static uint64_t seed;

static uint32_t roll(uint32_t sides)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % sides;
}

/* ---- the samples ---- */

static void make_threads(struct world *w, const uint32_t *numbers,
			 struct model_sample *threads)
{
	for (int i = 0; i < NR_THREADS; i++) {
		struct model_sample *m = &threads[i];
		struct thread t = { 0 };

		*m = (struct model_sample){ .app = -1, .comm = comms[roll(NR_COMMS)] };
		m->tgid = i == 0 ? -1 : 5 + i / 3;
		m->tid = i == 0 ? -1 : 5 + i;
		m->kernel_app = i % 6 == 1;
		if (!m->kernel_app && i % 5)
			m->app = 3 + (int)roll(4);
		t.pid = (int32_t)m->tgid;
		t.tid = (int32_t)m->tid;
		t.comm = dict_string(&w->dict, m->comm);
		t.flags = m->kernel_app ? THREAD_KERNEL : 0;
		t.app = m->app < 0 ? DICT_NONE : numbers[m->app];
		assert_int_equal(dict_thread(&w->dict, &t), i);
	}
}

static void make_events(struct world *w)
{
	for (uint32_t i = 0; i < NR_EVENTS; i++) {
		struct event_desc e = {
			.name = dict_string(&w->dict, events[i].name),
			.count = events[i].count,
			.unit_mask = events[i].unit_mask,
			.config = i,
		};

		assert_int_equal(dict_event(&w->dict, &e), i);
	}
}

static void make_sample(struct world *w, size_t i, const struct model_sample *threads,
			const uint32_t *stacks)
{
	static const struct model_sample unknown = {
		.app = -1, .tgid = -1, .tid = -1, .comm = ""
	};
	uint32_t thread = roll(NR_THREADS + 1);
	struct model_sample *m = &w->samples[i];

	*m = thread < NR_THREADS ? threads[thread] : unknown;
	m->image = (int)roll(NR_IMAGES);
	m->event = (int)roll(NR_EVENTS);
	m->cpu = roll(NR_CPUS);
	/* References that a damaged file leaves invalid. */
	if (!roll(50))
		m->image = -1;
	/* Only early samples have an invalid event. Late samples have few events, and are
	 * counted by other code. */
	if (!roll(20) && i < NR_SAMPLES / 3)
		m->event = -1;
	else if (i > NR_SAMPLES / 3)
		m->event %= 3;
	if (!roll(50))
		m->cpu = -1;
	m->number = (int)i;
	w->time_ns[i] = FIRST_NS + i * 1000;
	w->period[i] = 1;
	w->thread[i] = thread < NR_THREADS ? thread : DICT_NONE;
	w->stack[i] = m->image < 0 ? DICT_NONE : stacks[m->image];
	w->event[i] = m->event < 0 ? DICT_NONE : (uint32_t)m->event;
	w->cpu[i] = m->cpu < 0 ? DICT_NONE : (uint32_t)m->cpu;
}

static int make_world(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct model_sample threads[NR_THREADS];
	uint32_t numbers[NR_IMAGES];
	uint32_t stacks[NR_IMAGES];

	if (!w || dict_init(&w->dict))
		return -1;
	seed = 2026;
	for (uint32_t i = 0; i < NR_IMAGES; i++) {
		struct image image = {
			.kind = images[i].kind,
			.name = dict_string(&w->dict, images[i].recorded),
		};

		if (image.kind == IMAGE_ANON) {
			image.pid = 7;
			image.start = 0x1000;
			image.end = 0x2000;
		}
		numbers[i] = dict_image(&w->dict, &image);
		stacks[i] = dict_stack(&w->dict, STACK_ROOT,
				       dict_frame(&w->dict, numbers[i], 16));
	}
	make_threads(w, numbers, threads);
	make_events(w);
	for (size_t i = 0; i < NR_SAMPLES; i++)
		make_sample(w, i, threads, stacks);
	*state = w;
	return 0;
}

static int free_world(void **state)
{
	struct world *w = *state;

	dict_done(&w->dict);
	free(w);
	return 0;
}

/* ---- the model: words ---- */

struct model_words {
	char words[MAX_WORDS][WORD_MAX];
	int nr;
};

/* The values of a comma list, unescaped. */
struct model_values {
	char at[MAX_VALUES][WORD_MAX];
	int nr;
};

static void split(const char *list, struct model_values *values)
{
	size_t len = 0;

	for (;; list++) {
		if (*list && (*list != ',' || list[-1] == '\\')) {
			len -= *list == ','; /* replaces the backslash */
			values->at[values->nr][len++] = *list;
			continue;
		}
		values->at[values->nr][len] = '\0';
		values->nr += len != 0;
		len = 0;
		if (!*list)
			return;
	}
}

/* Gets the values after the last word with the tag, or for "" those of all words without a tag. */
static void values_of(const struct model_words *words, const char *tag,
		      struct model_values *values)
{
	size_t len = strlen(tag);

	values->nr = 0;
	for (int i = 0; i < words->nr; i++) {
		const char *word = words->words[i];
		size_t letters = strspn(word, "abcdefghijklmnopqrstuvwxyz-");
		bool bare = word[letters] != ':';

		if (!len && bare) {
			split(word, values);
		} else if (len && !bare && letters == len && !strncmp(word, tag, len)) {
			values->nr = 0;
			split(word + len + 1, values);
		}
	}
}

/* ---- the model: matching ---- */

static bool in_set(const char **pattern, char c)
{
	const char *p = *pattern + 1;
	bool not = *p == '!';
	bool found = false;

	for (p += not ; *p != ']'; p++) {
		if (p[1] == '-' && p[2] != ']') {
			found |= p[0] <= c && c <= p[2];
			p += 2;
		} else {
			found |= *p == c;
		}
	}
	*pattern = p + 1;
	return found != not ;
}

static bool glob(const char *p, const char *s)
{
	for (; *p; s++) {
		if (*p == '*') {
			do {
				if (glob(p + 1, s))
					return true;
			} while (*s++);
			return false;
		}
		if (!*s)
			return false;
		if (*p == '[') {
			if (!in_set(&p, *s))
				return false;
			continue;
		}
		if (*p == '?') {
			p++;
			continue;
		}
		p += *p == '\\' && p[1];
		if (*p++ != *s)
			return false;
	}
	return !*s;
}

static bool model_match(const char *pattern, const char *name)
{
	size_t len = strlen(pattern);

	if (!strcmp(pattern, name))
		return true;
	if (pattern[0] == '[' && strcspn(pattern, "]") == len - 1)
		return false;
	return glob(pattern, name);
}

static bool text_wanted(const struct model_values *values, const char *text,
			bool or_all)
{
	for (int i = 0; i < values->nr; i++) {
		if (model_match(values->at[i], text) ||
		    (or_all && !strcmp(values->at[i], "all")))
			return true;
	}
	return !values->nr;
}

static bool number_wanted(const struct model_values *values, int64_t number)
{
	for (int i = 0; i < values->nr; i++) {
		char *end;

		if (!strcmp(values->at[i], "all") ||
		    strtoll(values->at[i], &end, 0) == number)
			return true;
	}
	return !values->nr;
}

static bool image_is(const struct model_values *values, int image)
{
	for (int i = 0; image >= 0 && i < values->nr; i++) {
		const char *pattern = values->at[i];

		for (int n = 0; n < 3 && images[image].names[n]; n++) {
			const char *name = images[image].names[n];
			const char *slash = strrchr(name, '/');

			if (model_match(pattern, name))
				return true;
			if (slash && !strchr(pattern, '/') &&
			    model_match(pattern, slash + 1))
				return true;
		}
	}
	return false;
}

/* Returns the end of a span in nanoseconds after the first sample. Percentages are multiples of
 * 0.5, which give whole values: 2499 intervals of a microsecond. */
static double model_moment(const char *text, double open)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text)
		return open;
	if (*end == '%')
		return v >= 100 ? 1e15 : v * (NR_SAMPLES - 1) * 10;
	v *= !strncmp(end, "us", 2) ? 1e3 : !strncmp(end, "ms", 2) ? 1e6 : 1e9;
	/* A sample before the first moment counts as a sample at this moment. */
	return v > 0 ? v - BEFORE_US * 1000 : -1e15;
}

static bool span_has(const char *text, double at)
{
	const char *dash = strchr(text, '-');
	const char *slash = strchr(text, '/');
	double width = strtod(text, NULL) * (NR_SAMPLES - 1) * 10;
	double number = slash ? strtod(slash + 1, NULL) : 1;
	double to = number * width;

	if (dash)
		/* Round, as fractions of seconds are not exact. */
		return at > model_moment(text, -1e15) - 0.4 &&
		       at < model_moment(dash + 1, 1e15) - 0.4;
	if (to >= (NR_SAMPLES - 1) * 1000)
		to = 1e15;
	return at >= (number - 1) * width && at < to;
}

static bool time_wanted(const struct model_values *values, int number)
{
	for (int i = 0; i < values->nr; i++) {
		if (!strcmp(values->at[i], "all") ||
		    span_has(values->at[i], number * 1000))
			return true;
	}
	return !values->nr;
}

/* Evaluates all lists of a specification. */
struct model_spec {
	struct model_values any, image, exclude, lib, lib_exclude;
	struct model_values event, count, unit_mask, comm, tgid, tid, cpu;
	struct model_values symbol, symbol_exclude, time;
};

static void read_words(const struct model_words *words, struct model_spec *spec)
{
	values_of(words, "", &spec->any);
	values_of(words, "image", &spec->image);
	values_of(words, "image-exclude", &spec->exclude);
	values_of(words, "lib-image", &spec->lib);
	values_of(words, "lib-image-exclude", &spec->lib_exclude);
	values_of(words, "event", &spec->event);
	values_of(words, "count", &spec->count);
	values_of(words, "unit-mask", &spec->unit_mask);
	values_of(words, "comm", &spec->comm);
	values_of(words, "tgid", &spec->tgid);
	values_of(words, "tid", &spec->tid);
	values_of(words, "cpu", &spec->cpu);
	values_of(words, "symbol", &spec->symbol);
	values_of(words, "symbol-exclude", &spec->symbol_exclude);
	values_of(words, "time", &spec->time);
}

static bool images_wanted(const struct model_spec *spec, const struct model_sample *m,
			  bool *ret_top)
{
	int app = m->kernel_app ? 0 : m->app < 0 ? m->image : m->app;
	bool kernel = m->image >= 0 && images[m->image].kernel;

	*ret_top = false;
	if (image_is(&spec->exclude, app) || image_is(&spec->exclude, m->image) ||
	    image_is(&spec->lib_exclude, m->image))
		return false;
	if (spec->lib.nr && !image_is(&spec->lib, m->image))
		return false;
	if (spec->any.nr && !image_is(&spec->any, app) &&
	    !image_is(&spec->any, m->image))
		return false;
	if (spec->image.nr && !image_is(&spec->image, app) &&
	    !(kernel && image_is(&spec->image, m->image)))
		return false;
	*ret_top = kernel &&
		   (image_is(&spec->any, m->image) || image_is(&spec->image, m->image));
	return true;
}

/* Returns whether the model selects the function; without symbols, the image stands for its
 * functions. */
static bool symbol_wanted(const struct model_spec *spec, const struct model_sample *m)
{
	const char *name = m->image < 0 ? "[damaged]" : images[m->image].names[0];

	return text_wanted(&spec->symbol, name, false) &&
	       (!spec->symbol_exclude.nr ||
		!text_wanted(&spec->symbol_exclude, name, false));
}

/* Returns the application under which the sample is shown; NULL: it is not shown. */
static const char *model_app(const struct model_spec *spec,
			     const struct model_sample *m)
{
	bool top;

	if (m->event < 0 || !text_wanted(&spec->event, events[m->event].name, true) ||
	    !number_wanted(&spec->count, (int64_t)events[m->event].count) ||
	    !number_wanted(&spec->unit_mask, (int64_t)events[m->event].unit_mask) ||
	    !text_wanted(&spec->comm, m->comm, false) ||
	    !number_wanted(&spec->tgid, m->tgid) ||
	    !number_wanted(&spec->tid, m->tid) || !number_wanted(&spec->cpu, m->cpu) ||
	    !symbol_wanted(spec, m) || !time_wanted(&spec->time, m->number) ||
	    !images_wanted(spec, m, &top))
		return NULL;
	if (m->kernel_app && !top)
		return VMLINUX;
	if (m->app >= 0 && !top)
		return images[m->app].names[0];
	return m->image < 0 ? "[damaged]" : images[m->image].names[0];
}

/* ---- random words ---- */

static void put_text(char *out, const char *text)
{
	size_t len = strlen(out);

	snprintf(out + len, WORD_MAX - len, "%s", text);
}

static void put_char(char *out, char c)
{
	size_t len = strlen(out);

	if (c == ',' || (c == '\\' && roll(2)))
		out[len++] = '\\';
	out[len++] = c;
	out[len] = '\0';
}

/* Copies a name from a bracket to its end, either as wildcards or unchanged. */
static void put_bracket(char *out, const char **name)
{
	if (roll(2)) {
		put_text(out, "\\[");
		return;
	}
	for (; **name != ']'; (*name)++)
		put_char(out, **name);
	put_char(out, ']');
}

/* Makes a pattern from a name: some letters become wildcards, some are changed. */
static void put_pattern(char *out, const char *name)
{
	const char *slash = strrchr(name, '/');

	if (slash && roll(3) == 0)
		name = slash + 1;
	if (roll(3) == 0) {
		for (; *name; name++)
			put_char(out, *name);
		return;
	}
	for (; *name; name++) {
		uint32_t how = *name == '[' ? 20 : roll(20);

		if (how == 0) {
			put_text(out, "*");
			name += roll((uint32_t)strlen(name));
		} else if (how == 1) {
			put_text(out, "?");
		} else if (how == 2 && *name >= 'a' && *name <= 'y') {
			snprintf(out + strlen(out), 16, "[%s%c-%c]", roll(4) ? "" : "!",
				 'a', *name + (char)roll(2));
		} else if (how == 3 && roll(4) == 0) {
			put_text(out, "x");
		} else if (*name == '[') {
			/* Sets are always closed, as glibc's treatment of others is special. */
			put_bracket(out, &name);
		} else {
			put_char(out, *name);
		}
	}
}

static const char *random_image(void)
{
	const struct model_image *image = &images[roll(NR_IMAGES)];
	const char *name = image->names[roll(3)];

	return name ? name : image->names[0];
}

static void put_number(char *out, const char *tag)
{
	uint64_t v = roll(24);
	bool id = tag[0] != 'u' && strcmp(tag, "count") != 0;

	if (!roll(12)) {
		put_text(out, "all");
		return;
	}
	if (id && !roll(8)) {
		put_text(out, "-1");
		return;
	}
	if (!strcmp(tag, "count") && roll(5))
		v = events[roll(NR_EVENTS)].count;
	if (!strcmp(tag, "unit-mask") && roll(5))
		v = events[roll(NR_EVENTS)].unit_mask;
	snprintf(out + strlen(out), 32, roll(3) ? "%llu" : "0x%llx",
		 (unsigned long long)v);
}

static void put_share(char *out, uint32_t halves)
{
	snprintf(out + strlen(out), 16, roll(2) || halves % 2 ? "%u.%u%%" : "%u%%",
		 halves / 2, halves % 2 * 5);
}

static void put_moment(char *out, uint32_t us)
{
	uint32_t form = roll(4);

	if (!form)
		snprintf(out + strlen(out), 16, "%uus", us);
	else
		snprintf(out + strlen(out), 16,
			 form == 1   ? "%u.%03ums"
			 : form == 2 ? "0.%03u%03us"
				     : "0.%03u%03u",
			 us / 1000, us % 1000);
}

/* Spans of both kinds, with open ends, and slices. */
static void put_span(char *out)
{
	uint32_t form = roll(10);
	uint32_t from = roll(200);
	uint32_t to = from + 1 + roll(200 - from);

	if (form == 0) {
		put_text(out, "all");
	} else if (form < 3) {
		put_share(out, to);
		if (roll(2))
			snprintf(out + strlen(out), 16, "/%u", 1 + roll(1 + 199 / to));
	} else if (form < 6) {
		if (form > 3)
			put_share(out, from);
		put_text(out, "-");
		if (form < 5)
			put_share(out, to);
	} else if (form < 9) {
		if (form > 6)
			put_moment(out, from * 13);
		put_text(out, "-");
		if (form < 8)
			put_moment(out, to * 13);
	} else {
		put_share(out, from);
		put_text(out, "-");
		put_moment(out, to * 13);
	}
}

static const char *random_function(void)
{
	return roll(20) ? images[roll(NR_IMAGES)].names[0] : "[damaged]";
}

static void put_value(char *out, const char *tag)
{
	if (!strcmp(tag, "time")) {
		put_span(out);
		return;
	}
	if (!strncmp(tag, "symbol", 6)) {
		put_pattern(out, random_function());
		return;
	}
	if (!strcmp(tag, "comm"))
		put_pattern(out, comms[roll(NR_COMMS)]);
	else if (!strcmp(tag, "event") && !roll(12))
		put_text(out, "all");
	else if (!strcmp(tag, "event"))
		put_pattern(out, events[roll(NR_EVENTS)].name);
	else if (!*tag || strstr(tag, "image"))
		put_pattern(out, random_image());
	else
		put_number(out, tag);
}

static void random_word(char *out)
{
	static const char *const tags[] = { "",          "",
					    "image",     "image-exclude",
					    "lib-image", "lib-image-exclude",
					    "event",     "count",
					    "unit-mask", "comm",
					    "tgid",      "tid",
					    "cpu",       "symbol",
					    "time",      "symbol-exclude" };
	const char *tag = tags[roll(COUNT_OF(tags))];
	uint32_t nr = 1 + roll(3);

	snprintf(out, WORD_MAX, "%s%s", tag, *tag ? ":" : "");
	for (uint32_t i = 0; i < nr; i++) {
		if (i)
			put_text(out, ",");
		put_value(out, tag);
	}
	/* A single empty value is refused, which another test checks. */
	if (!out[strcspn(out, ":")] || !out[strcspn(out, ":") + 1] ||
	    out[strcspn(out, ":") + 1] == ',')
		put_text(out, *tag ? "0" : "");
	if (!*out || *out == ',')
		snprintf(out, WORD_MAX, "x");
}

static void random_words(struct model_words *words)
{
	words->nr = 0;
	for (uint32_t left = 1 + roll(MAX_WORDS); left; left--) {
		bool twice = false;

		random_word(words->words[words->nr]);
		for (int i = 0; i < words->nr; i++)
			twice |= !strcmp(words->words[i], words->words[words->nr]);
		words->nr += !twice;
	}
}

/* ---- the comparison ---- */

static void run_profile(struct world *w, struct spec *spec, struct profile *p,
			struct key_list *keys)
{
	static const struct session_info info = { .hostname = "",
						  .vmlinux = VMLINUX,
						  .cpu_desc = "" };
	const struct profile_options options = { .keys = keys, .spec = spec };
	const struct profile_source source = {
		.dict = &w->dict,
		.info = &info,
		.session = "s",
		.start_ns = START_NS,
		.first_ns = FIRST_NS,
		.last_ns = FIRST_NS + (NR_SAMPLES - 1) * 1000,
	};
	const struct sample_batch batch = { NR_SAMPLES, w->time_ns, w->period,
					    w->thread,  w->event,   w->stack,
					    w->cpu };

	assert_int_equal(profile_init(p, &options), 0);
	assert_int_equal(profile_begin(p, &source), 0);
	assert_int_equal(profile_add(p, &batch, NULL), 0);
	assert_int_equal(profile_end(p, NULL), 0);
	profile_finish(p);
}

/* Every sample has a different time, so a row is a sample. */
static void compare(struct world *w, struct profile *p, const struct model_words *words,
		    uint64_t *nr_selected)
{
	static const char *got[NR_SAMPLES];
	static struct model_spec spec;

	memset(got, 0, sizeof(got));
	for (size_t i = 0; i < p->rows.nr; i++) {
		uint32_t group = p->rows.at[i].group;

		assert_int_equal(p->rows.at[i].samples, 1);
		got[profile_value(p, group, 0) / 1000 - BEFORE_US] =
			profile_text(p, group, 1);
	}
	read_words(words, &spec);
	for (size_t i = 0; i < NR_SAMPLES; i++) {
		const char *want = model_app(&spec, &w->samples[i]);

		*nr_selected += want != NULL;
		if (!want == !got[i] && (!want || !strcmp(want, got[i])))
			continue;
		for (int k = 0; k < words->nr; k++)
			print_message("word: %s\n", words->words[k]);
		fail_msg("sample %zu: model '%s', profile '%s'", i, want ? want : "-",
			 got[i] ? got[i] : "-");
	}
}

/* Compares the sums of profiles with fewer groups, whose samples are counted by other code. */
static void compare_sums(struct world *w, struct profile *p,
			 const struct model_words *words)
{
	static struct model_spec spec;
	uint64_t all = 0;

	read_words(words, &spec);
	for (size_t r = 0; r < p->rows.nr; r++) {
		const char *app = profile_text(p, p->rows.at[r].group, 0);
		const char *event = profile_event_name(p, p->rows.at[r].event);
		const struct profile_event *e = &p->events.at[p->rows.at[r].event];
		uint64_t samples = 0;

		for (size_t i = 0; i < NR_SAMPLES; i++) {
			const struct model_sample *m = &w->samples[i];
			const char *want = model_app(&spec, m);

			samples += want && !strcmp(want, app) &&
				   !strcmp(events[m->event].name, event) &&
				   events[m->event].count == e->count &&
				   events[m->event].unit_mask == e->unit_mask;
		}
		assert_int_equal(p->rows.at[r].samples, samples);
		all += samples;
	}
	assert_int_equal(p->samples, all);
}

static void random_specifications_select_what_the_model_selects(void **state)
{
	struct world *w = *state;
	struct key_list keys = { 0 };
	struct key_list coarse = { 0 };
	uint64_t nr_selected = 0;
	int nr_partial = 0;

	assert_int_equal(keys_parse(&keys, "time:1us,app", NULL), 0);
	assert_int_equal(keys_parse(&coarse, "app", NULL), 0);
	for (int n = 0; n < NR_SPECS; n++) {
		struct model_words words;
		struct spec spec = { 0 };
		struct profile p;
		struct err err = { 0 };
		uint64_t all;

		random_words(&words);
		for (int i = 0; i < words.nr; i++) {
			if (spec_add(&spec, words.words[i], &err))
				fail_msg("%s: %s", words.words[i], err.text);
		}
		run_profile(w, &spec, &p, &keys);
		compare(w, &p, &words, &nr_selected);
		nr_partial += p.rows.nr && p.rows.nr < NR_SAMPLES * 9 / 10;
		all = p.samples;
		profile_done(&p);
		run_profile(w, &spec, &p, &coarse);
		assert_int_equal(p.samples, all);
		/* Every eighth specification is enough for slow checks. */
		if (n % 8 == 0)
			compare_sums(w, &p, &words);
		profile_done(&p);
		spec_done(&spec);
	}
	keys_done(&keys);
	keys_done(&coarse);
	/* The words can select or reject samples. */
	assert_true(nr_partial > NR_SPECS / 3);
	print_message("# %d specifications, %d select a part, %llu samples in all\n",
		      NR_SPECS, nr_partial, (unsigned long long)nr_selected);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test_setup_teardown(
			random_specifications_select_what_the_model_selects, make_world,
			free_world),
	};

	return UNIT_RUN(cases);
}

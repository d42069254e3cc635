/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_spec.c - any bytes as the arguments of a profile specification, one per line, and the
 * selection that the specification makes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/count/classes.h"
#include "aggregate/selection/spec.h"
#include "base/err.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	WORD_MAX = 200, /* fnmatch(3) is slow for globs with many stars */
	WORDS_MAX = 50
};

/* A refusal must have a message of one line. */
static void check_refusal(int r, const struct err *err)
{
	if (r != -EINVAL && r != -ENOMEM)
		abort();
	if (!*err->text || strchr(err->text, '\n'))
		abort();
}

static void check_lists(const struct spec *spec)
{
	for (size_t i = 0; i < SPEC_COUNT; i++) {
		const struct spec_list *list = &spec->lists[i];

		if (list->numbers.nr > list->values.nr)
			abort();
		for (size_t k = 0; k < list->values.nr; k++) {
			if (!*list->values.at[k])
				abort();
		}
	}
}

static void select_some(const struct spec *spec)
{
	static const struct image_names kernel = {
		{ "/no-vmlinux", "[kernel.kallsyms]" }, true
	};
	static const struct image_names file = { { "/usr/lib/a,b[c].so.6" }, false };
	unsigned int app = spec_image_bits(spec, &file);
	unsigned int image = spec_image_bits(spec, &kernel);
	bool top;

	if (!spec_has_images(spec) && !spec_wants_image(spec, app, image, &top))
		abort();
	if (spec_wants_image(spec, image, app, &top) && top)
		abort(); /* only the kernel and its modules can be separate entries */
	spec_wants_image(spec, app, app, &top);
	spec_wants_event(spec, "CPU_CLK_UNHALTED", 100000, 0x41);
	spec_wants_thread(spec, 1, -1, "make");
	spec_wants_cpu(spec, -1);
	spec_wants_session(spec, "current");
	spec_columns(spec);
	spec_wants_symbol(spec, "_Z4turnPKci", "turn(char const*, int)");
	for (size_t i = 0; i < spec->spans.nr; i++) {
		const struct session_span session = { 5, 7, UINT64_MAX, 9, 5 };

		spec_span_range(&spec->spans.at[i], &session);
	}
	if (spec->spans.nr > spec->lists[SPEC_TIME].values.nr)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct spec spec = { 0 };
	char word[WORD_MAX + 1];
	size_t pos = 0;

	for (int nr = 0; pos <= size && nr < WORDS_MAX; nr++) {
		const uint8_t *end =
			pos < size ? memchr(data + pos, '\n', size - pos) : NULL;
		size_t len = (end ? (size_t)(end - data) : size) - pos;
		struct err err = { 0 };
		unsigned int merge = 0;
		int r;

		memcpy(word, data + pos, len < WORD_MAX ? len : WORD_MAX);
		word[len < WORD_MAX ? len : WORD_MAX] = '\0';
		pos += len + 1;
		r = spec_add(&spec, word, &err);
		if (r)
			check_refusal(r, &err);
		if (classes_parse_merge(word, &merge, &err) == 0 && !merge)
			abort();
	}
	check_lists(&spec);
	select_some(&spec);
	spec_done(&spec);
	return 0;
}

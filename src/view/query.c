/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/query.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/err.h"
#include "view/query_priv.h"

static const struct {
	const char *name;
	view_query_fn *answer;
} view_queries[] = {
	{ "info", view_query_info },         { "values", view_query_values },
	{ "timeline", view_query_timeline }, { "heat", view_query_heat },
	{ "tree", view_query_tree },         { "table", view_query_table },
	{ "function", view_query_function }, { "source", view_query_source },
	{ "quality", view_query_quality },   { "text", view_query_text },
};

int view_answer_no_memory(const struct view_answer *a)
{
	return err_set(a->err, -ENOMEM, "out of memory");
}

void view_answer_numbers(struct view_answer *a, const char *name,
			 const uint64_t *numbers, size_t nr)
{
	json_name(&a->json, name);
	json_u64s(&a->json, numbers, nr);
}

void view_answer_signed(struct view_answer *a, const char *name, int64_t number)
{
	char digits[24];

	(void)snprintf(digits, sizeof(digits), "%" PRId64, number);
	if (name)
		json_name(&a->json, name);
	json_number(&a->json, digits);
}

/* Returns the samples of each function (malloc'd), or NULL. */
static uint64_t *view_answer_samples(const struct view_data *d)
{
	uint64_t *samples = calloc(d->functions.nr + 1, sizeof(*samples));

	for (size_t i = 0; samples && i < d->node_of.nr; i++)
		samples[d->nodes.at[d->node_of.at[i]].function] += d->count_of.at[i];
	return samples;
}

int view_answer_function(const struct view_answer *a, uint32_t *ret_function)
{
	const struct view_data *d = &a->m->data;
	const char *symbol = view_params_get(a->params, "symbol");
	const char *image = view_params_get(a->params, "image");
	uint64_t *samples;
	uint32_t found = VIEW_NONE;

	if (!symbol)
		return err_set(a->err, -EINVAL, "the parameter 'symbol' is missing");
	samples = view_answer_samples(d);
	if (!samples)
		return view_answer_no_memory(a);
	for (uint32_t i = 0; i < d->functions.nr; i++) {
		if (!view_function_is(a->m, i, symbol) ||
		    (image && strcmp(view_function_image(d, i), image) != 0))
			continue;
		if (found == VIEW_NONE || samples[i] > samples[found])
			found = i;
	}
	free(samples);
	if (found == VIEW_NONE)
		return err_set(a->err, -ENOENT, "there is no function '%s'%s%s", symbol,
			       image ? " in " : "", image ? image : "");
	*ret_function = found;
	return 0;
}

int view_answer_make(struct view_answer *a, view_query_fn *fn, struct buf *out)
{
	char *text = NULL;
	size_t len = 0;
	int r;

	a->json.out = open_memstream(&text, &len);
	if (!a->json.out)
		return view_answer_no_memory(a);
	r = fn(a);
	if ((ferror(a->json.out) | fclose(a->json.out)) && !r)
		r = view_answer_no_memory(a);
	if (!r) {
		buf_put(out, text, len);
		r = out->failed ? view_answer_no_memory(a) : 0;
	}
	free(text);
	return r;
}

int view_query(struct view_model *m, const char *name, const struct view_param *params,
	       size_t nr, struct buf *out, struct err *err)
{
	const struct view_params all = { params, nr };
	struct view_answer a = { .m = m, .params = &all, .err = err };

	for (size_t i = 0; i < COUNT_OF(view_queries); i++)
		if (!strcmp(view_queries[i].name, name))
			return view_answer_make(&a, view_queries[i].answer, out);
	return err_set(err, -ENOENT, "unknown query '%s'", name);
}

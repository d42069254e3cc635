/* SPDX-License-Identifier: GPL-2.0-or-later */
/* query_priv.h - the query functions, and helpers to write their answers.
 * Layer: view; private to query*.c. */
#pragma once
#include "present/lines/json.h"
#include "view/params.h"
#include "view/tree.h"

struct buf;
struct err;

/* A query while it is answered. */
struct view_answer {
	struct view_model *m;
	const struct view_params *params;
	struct json json;
	struct err *err;
};

/* Each writes the answer to a->json: "text" as plain text, the others as a JSON value. Returns 0,
 * or a negative errno with a message in a->err. */
typedef int view_query_fn(struct view_answer *a);
view_query_fn view_query_info, view_query_values, view_query_timeline, view_query_heat,
	view_query_tree, view_query_function, view_query_table, view_query_source,
	view_query_quality, view_query_text;

/* Calls `fn` and appends its answer to `out`. Returns the result of `fn`, or -ENOMEM with a
 * message. */
int view_answer_make(struct view_answer *a, view_query_fn *fn, struct buf *out);
int view_answer_no_memory(const struct view_answer *a);
/* Write a member of an object: an array of numbers, or a number. If `name` of
 * view_answer_signed() is NULL, only write the number. */
void view_answer_numbers(struct view_answer *a, const char *name,
			 const uint64_t *numbers, size_t nr);
void view_answer_signed(struct view_answer *a, const char *name, int64_t number);
/* Stores the function that the parameters `symbol` and `image` name. If several match, for example
 * because `image` is missing, stores the one with the most samples. Returns 0, or -EINVAL or
 * -ENOENT with a message. */
int view_answer_function(const struct view_answer *a, uint32_t *ret_function);
/* Writes the members of an object for a tree, with its images and symbols. Returns 0 or -ENOMEM. */
int view_answer_put_tree(struct view_answer *a, const struct view_tree *tree);
/* Writes "images", and "symbols" of the functions with wanted[function] != 0, and replaces
 * wanted[function] by the symbol's number plus 1.  Returns 0 or -ENOMEM. */
int view_answer_put_symbols(struct view_answer *a, uint32_t *wanted);
/* Writes the answer to "source" of a function. `handed_on`: the answer is for other users, so leave
 * out sources that not every user can read. Returns 0, or a negative errno with a message. */
int view_answer_put_source(struct view_answer *a, uint32_t function, bool handed_on);

/* text_writers.h - tables, trees, CSV, JSON and XML.
 * Layer: present.
 * 0, -ENOMEM, or -EINVAL: the profile cannot be shown in this form.  Errors of `out` are found by
 * ferror(). */
#pragma once
#include <stdio.h>

struct err;
struct present_options;
struct profile;

int write_summary(FILE *out, struct profile *p, const struct present_options *options,
		  struct err *err);
int write_symbols(FILE *out, struct profile *p, const struct present_options *options,
		  struct err *err);
int write_table(FILE *out, struct profile *p, const struct present_options *options,
		struct err *err);
int write_csv(FILE *out, struct profile *p, const struct present_options *options,
	      struct err *err);
/* Of a profile with options.call_graph, keys image and symbol, as it is read. */
int write_tree(FILE *out, struct profile *p, const struct present_options *options,
	       struct err *err);
int write_tree_csv(FILE *out, struct profile *p, const struct present_options *options,
		   struct err *err);
int write_tree_json(FILE *out, struct profile *p, const struct present_options *options,
		    struct err *err);
/* Of a profile with the keys app, image, symbol; after call_graph_make() with callers and
 * callees. */
int write_xml(FILE *out, struct profile *p, const struct present_options *options,
	      struct err *err);
int write_json(FILE *out, struct profile *p, const struct present_options *options,
	       struct err *err);

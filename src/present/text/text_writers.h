/* SPDX-License-Identifier: GPL-2.0-or-later */
/* text_writers.h - writes tables, trees, CSV, JSON and XML.
 * Layer: present.  Each returns 0, -ENOMEM, or -EINVAL with a message if the profile cannot be
 * shown in this format.  The caller checks `out` with ferror(). */
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
/* Writes the call tree to `out`; returns 0 or a negative errno with a message. The profile needs
 * options.call_graph and the keys image and symbol, in the state in which it was read. */
int write_tree(FILE *out, struct profile *p, const struct present_options *options,
	       struct err *err);
int write_tree_csv(FILE *out, struct profile *p, const struct present_options *options,
		   struct err *err);
int write_tree_json(FILE *out, struct profile *p, const struct present_options *options,
		    struct err *err);
/* Writes the report as XML to `out`; returns 0 or a negative errno with a message. The profile
 * needs the keys app, image and symbol.  For calls, run call_graph_make() with callers and callees
 * before. */
int write_xml(FILE *out, struct profile *p, const struct present_options *options,
	      struct err *err);
/* Writes the quality of a profile, which needs options.quality. */
int write_quality(FILE *out, struct profile *p, const struct present_options *options,
		  struct err *err);
int write_quality_json(FILE *out, struct profile *p,
		       const struct present_options *options, struct err *err);
int write_json(FILE *out, struct profile *p, const struct present_options *options,
	       struct err *err);

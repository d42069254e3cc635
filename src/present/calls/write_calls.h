/* SPDX-License-Identifier: GPL-2.0-or-later */
/* write_calls.h - writes each function with its callers and callees.
 * Layer: present.  Each returns 0, -ENOMEM, or -EINVAL with a message if the profile cannot be
 * shown in this format.  The caller checks `out` with ferror(). */
#pragma once
#include <stdio.h>

struct err;
struct present_options;
struct profile;

/* Writes the report of callers and callees to `out`. Call call_graph_make() before. Returns 0 or a
 * negative errno with a message. */
int write_calls(FILE *out, struct profile *p, const struct present_options *options,
		struct err *err);
int write_calls_csv(FILE *out, struct profile *p, const struct present_options *options,
		    struct err *err);
int write_calls_json(FILE *out, struct profile *p,
		     const struct present_options *options, struct err *err);

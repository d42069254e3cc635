/* write_calls.h - each function with its callers and callees.
 * Layer: present.
 * 0, -ENOMEM, or -EINVAL: the profile cannot be shown in this form.  Errors of `out` are found by
 * ferror(). */
#pragma once
#include <stdio.h>

struct err;
struct present_options;
struct profile;

/* Of a profile after call_graph_make(). */
int write_calls(FILE *out, struct profile *p, const struct present_options *options,
		struct err *err);
int write_calls_csv(FILE *out, struct profile *p, const struct present_options *options,
		    struct err *err);
int write_calls_json(FILE *out, struct profile *p,
		     const struct present_options *options, struct err *err);

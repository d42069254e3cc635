/* export_writers.h - the formats of other tools.
 * Layer: present.
 * 0, -ENOMEM, or -EINVAL: the profile cannot be shown in this form.  Errors of `out` are found by
 * ferror(). */
#pragma once
#include <stdio.h>

struct err;
struct present_options;
struct profile;

int write_folded(FILE *out, struct profile *p, const struct present_options *options,
		 struct err *err);
int write_pprof(FILE *out, struct profile *p, const struct present_options *options,
		struct err *err);
int write_speedscope(FILE *out, struct profile *p,
		     const struct present_options *options, struct err *err);
int write_chrome(FILE *out, struct profile *p, const struct present_options *options,
		 struct err *err);
int write_firefox(FILE *out, struct profile *p, const struct present_options *options,
		  struct err *err);
int write_flamegraph(FILE *out, struct profile *p,
		     const struct present_options *options, struct err *err);
int write_heatmap(FILE *out, struct profile *p, const struct present_options *options,
		  struct err *err);
int write_flame_svg(FILE *out, struct profile *p, const struct present_options *options,
		    struct err *err);
int write_gmon(FILE *out, struct profile *p, const struct present_options *options,
	       struct err *err);

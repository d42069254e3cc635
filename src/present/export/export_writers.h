/* SPDX-License-Identifier: GPL-2.0-or-later */
/* export_writers.h - writers for the formats of other tools.
 * Layer: present.
 * Each returns 0, -ENOMEM, or -EINVAL with a message if the profile cannot be shown in this
 * format.  The caller checks `out` with ferror(). */
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

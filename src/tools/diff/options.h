/* SPDX-License-Identifier: GPL-2.0-or-later */
/* options.h - the options of `oprofile diff`.
 * Layer: tools. */
#pragma once
#include "tools/report/options.h"

struct diff_options {
	struct report_options
		report; /* first, for the rows of tools/report/options.h */
	const char *by; /* NULL: symbol */
	struct word_list base, new;
	const char *per;  /* NULL: total */
	const char *work; /* NULL: not given */
	const char *min_effect;
	const char *fail_above;
	const char *confidence;
	const char *history; /* directory; NULL: two sides */
	const char *svg;     /* directory; NULL: not given */
	bool markdown;
	bool tree;
	bool flamegraph;
};

extern const struct option_row diff_rows[];

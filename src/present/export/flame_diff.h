/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flame_diff.h - writes the flame graph of a comparison as a page.
 * Layer: present. */
#pragma once
#include <stdio.h>

struct diff_view;

/* Writes the page for a comparison of call trees. Returns 0 or -ENOMEM. The caller checks `out`
 * with ferror(). */
int write_diff_flamegraph(FILE *out, const struct diff_view *v);

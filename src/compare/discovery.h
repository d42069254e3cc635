/* SPDX-License-Identifier: GPL-2.0-or-later */
/* discovery.h - controls the false-discovery rate over the rows of a comparison.
 * Layer: compare. */
#pragma once
#include <stddef.h>

/* Converts p values in place to the lowest false-discovery rates at which their rows count as
 * changed (Benjamini and Hochberg, 1995). NAN marks a row that was not tested; such values stay.
 * Returns 0 or -ENOMEM. */
int discovery_adjust(double *p, size_t nr);

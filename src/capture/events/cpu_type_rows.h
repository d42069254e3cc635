/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpu_type_rows.h - the table for cpu_types.h.
 * Layer: capture, private to cpu_types.c. */
#pragma once
#include <stddef.h>

#include "capture/events/cpu_types.h"

extern const struct cpu_type cpu_type_rows[];
extern const size_t cpu_type_nr_rows;

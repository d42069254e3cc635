/* SPDX-License-Identifier: GPL-2.0-or-later */
/* header.h - writes the lines above a text report: the CPU, and the events with their sampling
 * rates.
 * Layer: present. */
#pragma once
#include <stdio.h>

struct report_lines;
struct profile;

/* Writes OProfile's header: the CPU and the events. */
void header_write(FILE *out, const struct profile *p, const struct report_lines *lines);
